"""``glassleak demo``."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from glassleak import datasets
from glassleak.audit import Audit, audit
from glassleak.cli._common import EXIT_DONE, output, say
from glassleak.errors import AuditError
from glassleak.report import print_audit, printable

NAME = "demo"
HELP = "train models on real data, save them, and audit the files"
DESCRIPTION = """Train three models on the embedded Adult table with scikit-learn, save them the way
people publish models, and audit the files as a stranger would: without the data."""
EXAMPLE = """examples:
  glassleak demo
  glassleak demo --rows 2000 --output demo-output"""


# Of a bagged forest on all of Adult more time finds more rows; a demonstration should not wait.
_BUDGET_SECONDS = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument(
        "--rows", type=int, default=None, help="training rows (default: all 48,842)"
    )
    parser.add_argument("--output", metavar="FOLDER", default="demo-output",
                        help="where models and reports go (default: %(default)s)")  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="of the models (default: 0)")


def run(arguments: argparse.Namespace) -> int:
    """Train, save, audit."""
    import skops.io

    if arguments.rows is not None and arguments.rows < 2:
        raise AuditError("--rows: a model needs two people at least")
    console = output()
    folder = Path(arguments.output)
    folder.mkdir(parents=True, exist_ok=True)
    table = datasets.load("adult", variant="binary")
    data, target = table.data, table.target
    if arguments.rows:
        data, target = data.head(arguments.rows), target.head(arguments.rows)
    say(
        console,
        f"Adult (UCI): {len(data):,} people, {data.shape[1]} columns; is income over 50K?\n",
    )
    found: list[tuple[str, float, Audit]] = []
    for name, model in _models(arguments.seed):
        say(console, f"training {printable(name)}, saving it with skops, auditing the file …")
        started = time.perf_counter()
        model.fit(data, target)
        trained = time.perf_counter() - started
        file = folder / f"{type(model).__name__}.skops"
        skops.io.dump(model, file)
        result = audit(file, budget_seconds=_BUDGET_SECONDS)
        result.to_json(file.with_suffix(".audit.json"))
        found.append((name, trained, result))
    console.print()
    worst = next(entry for entry in found if entry[0].startswith("ExtraTrees"))
    print_audit(worst[2], console)
    console.print(_comparison(found))
    say(console, f"\nmodels and full reports: {printable(folder)}")
    say(console, f"try:  glassleak audit {printable(folder)}/ExtraTreesClassifier.skops")
    return EXIT_DONE


def _models(seed: int) -> list[tuple[str, Any]]:
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
    from sklearn.tree import DecisionTreeClassifier

    careful = {"max_depth": 4, "min_samples_leaf": 200}
    return [
        ("RandomForestClassifier()", RandomForestClassifier(random_state=seed)),
        ("ExtraTreesClassifier()", ExtraTreesClassifier(random_state=seed)),
        (
            "DecisionTreeClassifier(max_depth=4, min_samples_leaf=200)",
            DecisionTreeClassifier(random_state=seed, **careful),
        ),
    ]


def _comparison(found: list[tuple[str, float, Audit]]) -> Table:
    table = Table(title="\nThe three models", title_justify="left", title_style="bold", box=None,
                  padding=(0, 2))  # fmt: skip
    for heading in ("model", "verdict", "smallest", "people proved"):
        table.add_column(heading)
    table.add_column("train, audit", justify="right")
    for name, trained, result in found:
        evidence = {f.id: f.evidence for f in result.findings}
        smallest = evidence.get("structure.shape", {}).get("smallest", "?")
        rows = evidence.get("reconstruction.rows")
        proved = f"{rows['certain_rows']:,} of {rows['rows']:,}" if rows else "not assessed"
        table.add_row(
            Text(name), result.verdict, f"{smallest}", proved,
            f"{trained:.1f} s, {result.seconds:.1f} s",
        )  # fmt: skip
    return table
