"""Six kinds of model audited from the file alone, and the fix of one of them.

A single tree, a default forest, a bagged forest without seeds, extremely randomised trees, a rule
list and a private rule list, each as scikit-learn's skops and as glassleak's JSON.  Beside the
decision stands the one an output checker would give, and the time.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

NAME = "audit"
HELP = "decisions on six kinds of model from the file alone, with seconds"
# What is expected, and the finding that has to be behind it.
EXPECTED = {
    "tree": ("fix", "structure.small-groups"),
    "default forest": ("fix", "reconstruction.rows"),
    "forest without seeds": ("fix", "structure.small-groups"),
    "extra trees": ("fix", "reconstruction.rows"),
    "rule list": ("fix", "structure.small-groups"),
    "private rule list": ("release", "privacy.claim"),
    "extra trees, sanitised": ("refer", None),
    "large leaves": ("release", None),
    "large leaves, sanitised": ("release", None),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dataset", action="append", choices=("adult", "compas"),
                        help="(default: both)")  # fmt: skip
    parser.add_argument("--rows", type=int, default=1000, help="people (default: %(default)s)")
    parser.add_argument("--budget", type=float, default=55, help="seconds (default: %(default)g)")
    parser.add_argument("--only", action="append", choices=sorted(EXPECTED), help="(default: all)")
    parser.add_argument("--seed", type=int, default=0, help="of the sample and the models")


def run(arguments: argparse.Namespace) -> int:
    """Audit and print; 1 when a decision is another than expected or takes over a minute."""
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for dataset in arguments.dataset or ("adult", "compas"):
            made = models(dataset, arguments.rows, arguments.seed)
            for name, estimator in made:
                if arguments.only and name not in arguments.only:
                    continue
                for kind in ("skops", "json"):
                    path = _saved(estimator, Path(folder) / f"{name}.{kind}")
                    lines.append({"dataset": dataset, "model": name, "file": kind}
                                 | _measure(path, name, arguments.budget))  # fmt: skip
                    print(pd.DataFrame(lines[-1:]).to_string(index=False, header=len(lines) == 1))
    kept = all(line["as expected"] and line["seconds"] <= 60 for line in lines)
    print("\nevery decision as expected, within a minute" if kept else "\nPROMISE BROKEN")
    return 0 if kept else 1


def models(dataset: str, rows: int, seed: int) -> Iterator[tuple[str, Any]]:
    """The models, fitted on a sample of the table."""
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
    from sklearn.tree import DecisionTreeClassifier

    import glassleak as gl
    from glassleak import datasets
    from glassleak.learners import GreedyRuleListClassifier, PrivateRuleListClassifier

    table = datasets.load(dataset, variant="binary")
    X = table.data.sample(rows, random_state=seed).reset_index(drop=True)
    y = table.target.sample(rows, random_state=seed).reset_index(drop=True)
    yield "tree", DecisionTreeClassifier(random_state=seed).fit(X, y)
    yield "default forest", RandomForestClassifier(random_state=seed).fit(X, y)
    unseeded = RandomForestClassifier(random_state=seed).fit(X, y)
    unseeded.random_state = None
    for tree in unseeded.estimators_:
        tree.random_state = None
    yield "forest without seeds", unseeded
    extra = ExtraTreesClassifier(random_state=seed).fit(X, y)
    yield "extra trees", extra
    yield "rule list", GreedyRuleListClassifier().fit(X, y)
    yield "private rule list", PrivateRuleListClassifier(epsilon=1.0).fit(X, y)
    yield "extra trees, sanitised", gl.sanitise(extra)
    large = DecisionTreeClassifier(max_leaf_nodes=4, min_samples_leaf=50, random_state=seed)
    yield "large leaves", large.fit(X, y)
    yield "large leaves, sanitised", gl.sanitise(large)


def _saved(estimator: Any, path: Path) -> Path:
    import glassleak as gl

    if path.suffix == ".json":
        gl.read(estimator).to_json(path)
    else:
        import skops.io

        skops.io.dump(estimator, path)
    return path


def _measure(path: Path, name: str, budget: float) -> dict[str, Any]:
    import glassleak as gl

    started, busy = time.perf_counter(), time.process_time()
    audit = gl.audit(path, budget_seconds=budget)
    decision, finding = EXPECTED[name]
    behind = {r.finding for r in audit.reasons}
    return {
        "decision": audit.verdict,
        "as expected": audit.verdict == decision and (finding is None or finding in behind),
        "seconds": round(time.perf_counter() - started, 1),
        "processor": round(time.process_time() - busy, 1),
        "first reason": audit.reasons[0].text[:60] if audit.reasons else "",
    }
