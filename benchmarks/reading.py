"""How long and how much memory it takes to read a large forest, and to audit a typical one.

Each measurement runs in a process of its own, so that peak memory is that of the reading.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

NAME = "reading"
HELP = "time and memory to read a 1,000-tree forest, beside skops itself; one audit"
SECONDS, GIGABYTES, AUDIT_SECONDS = 5.0, 1.0, 20.0
DEPTH = 20
ROOT = Path(__file__).resolve().parents[1]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--trees", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=5000, help="training rows (default: 5,000)")
    parser.add_argument("--no-audit", action="store_true", help="only measure reading")


def run(arguments: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _train(folder, arguments.trees, arguments.rows)
        kept = _reading(folder)
        if not arguments.no_audit:
            kept = _audit(folder) and kept
    return 0 if kept else 1


def _train(folder: Path, trees: int, rows: int) -> None:
    """A deep forest on Adult, with categories as numbers."""
    import skops.io
    from sklearn.ensemble import RandomForestClassifier

    from glassleak import datasets

    adult = datasets.load("adult")
    data = adult.data.head(rows).copy()
    for column in data.columns:
        if data[column].dtype.kind != "i":
            data[column] = data[column].astype("category").cat.codes
    started = time.perf_counter()
    forest = RandomForestClassifier(trees, random_state=0, n_jobs=-1)
    forest.fit(data, adult.target.head(rows))
    depths = [member.get_depth() for member in forest.estimators_]
    nodes = sum(member.tree_.node_count for member in forest.estimators_)
    (folder / "forest.pickle").write_bytes(pickle.dumps(forest))
    skops.io.dump(forest, folder / "forest.skops")
    size = (folder / "forest.skops").stat().st_size / 1e6
    spent = time.perf_counter() - started
    print(f"{trees:,} trees of depth {min(depths)} to {max(depths)}, {nodes:,} nodes, trained on "
          f"{rows:,} people and saved in {spent:.1f} s; .skops: {size:.0f} MB")  # fmt: skip
    if sorted(depths)[len(depths) // 2] < DEPTH:
        raise SystemExit(f"half of the trees have a depth below {DEPTH}: give more --rows")


def _reading(folder: Path) -> bool:
    measured = {
        "gl.read(estimator)": _measure("live", folder / "forest.pickle"),
        "gl.read(.skops)": _measure("skops file", folder / "forest.skops"),
        "skops.io.load(.skops)": _measure("skops itself", folder / "forest.skops"),
    }
    print(f"\n{'':24}{'seconds':>9}{'more MB':>9}{'peak MB':>9}")
    for name, m in measured.items():
        print(f"{name:24}{m['seconds']:9.2f}{m['grown'] / 1e6:9.0f}{m['peak'] / 1e6:9.0f}")
    ours, theirs = measured["gl.read(.skops)"], measured["skops.io.load(.skops)"]
    print(f"\nreading takes {ours['seconds'] / theirs['seconds']:.2f} times as long as loading "
          f"with skops, and {ours['peak'] / theirs['peak']:.2f} times its memory")  # fmt: skip
    live = measured["gl.read(estimator)"]
    checks = {
        f"the estimator is read in less than {SECONDS:g} s": live["seconds"] < SECONDS,
        f"the file is read in less than {SECONDS:g} s": ours["seconds"] < SECONDS,
        f"the estimator takes less than {GIGABYTES:g} GB more": live["grown"] < GIGABYTES * 1e9,
        f"the file takes less than {GIGABYTES:g} GB in all": ours["peak"] < GIGABYTES * 1e9,
    }
    for promise, holds in checks.items():
        print(f"{'ok    ' if holds else 'FAILED'} {promise}")
    return all(checks.values())


def _audit(folder: Path) -> bool:
    """From file to verdict, for scikit-learn's default forest on all of Adult."""
    import skops.io
    from sklearn.ensemble import RandomForestClassifier

    from glassleak import datasets

    adult = datasets.load("adult", variant="binary")
    forest = RandomForestClassifier(random_state=0, n_jobs=-1).fit(adult.data, adult.target)
    path = folder / "default.skops"
    skops.io.dump(forest, path)
    measured = _measure("audit", path)
    holds = measured["seconds"] < AUDIT_SECONDS
    print(f"\naudit of RandomForestClassifier() on {len(adult.data):,} people: "
          f"{measured['verdict']}, {measured['seconds']:.1f} s, "
          f"{measured['peak'] / 1e6:.0f} MB at most")  # fmt: skip
    print(f"{'ok    ' if holds else 'FAILED'} the audit takes less than {AUDIT_SECONDS:g} s")
    return holds


def _measure(what: str, path: Path) -> dict[str, Any]:
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)]),
    }
    result = subprocess.run(
        [sys.executable, "-m", "benchmarks._measure", what, str(path)],
        env=environment, stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    answer: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return answer
