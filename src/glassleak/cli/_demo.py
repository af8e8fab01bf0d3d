"""``glassleak demo``."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from rich.markup import escape

from glassleak import datasets
from glassleak.audit import audit
from glassleak.cli._common import EXIT_DONE, output, say
from glassleak.errors import AuditError
from glassleak.report import print_audit, printable

NAME = "demo"
HELP = "train a forest on real data, save it, and audit the file"
DESCRIPTION = """Train scikit-learn's default random forest on the embedded Adult table, save it the
way people publish models, and audit the file as a stranger would: without the data."""
EXAMPLE = """examples:
  glassleak demo
  glassleak demo --rows 2000 --output demo-output"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument(
        "--rows", type=int, default=None, help="training rows (default: all 48,842)"
    )
    parser.add_argument("--output", metavar="FOLDER", default="demo-output",
                        help="where model and report go (default: %(default)s)")  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="of the forest (default: 0)")


def run(arguments: argparse.Namespace) -> int:
    """Train, save, audit."""
    import skops.io
    from sklearn.ensemble import RandomForestClassifier

    if arguments.rows is not None and arguments.rows < 2:
        raise AuditError("--rows: a model needs two people at least")
    console = output()
    folder = Path(arguments.output)
    folder.mkdir(parents=True, exist_ok=True)
    table = datasets.load("adult", variant="binary")
    data, target = table.data, table.target
    if arguments.rows:
        data, target = data.head(arguments.rows), target.head(arguments.rows)
    console.print(
        f"[bold]1.[/] Train RandomForestClassifier() on Adult: {len(data):,} people, "
        f"{data.shape[1]} columns"
    )
    started = time.perf_counter()
    forest = RandomForestClassifier(random_state=arguments.seed).fit(data, target)
    console.print(f"   trained in {time.perf_counter() - started:.1f} s")
    model = folder / "forest.skops"
    skops.io.dump(forest, model)
    shown = escape(printable(model))
    console.print(f"[bold]2.[/] Save it as {shown} ({model.stat().st_size / 1e6:.1f} MB)")
    console.print("[bold]3.[/] Audit the file, without the data:  "
                  f"[bold]glassleak audit {shown}[/]\n")  # fmt: skip
    result = audit(model)
    report = folder / "report.json"
    result.to_json(report)
    print_audit(result, console)
    say(console, f"\nfull report: {printable(report)}   ({result.seconds:.1f} s)")
    return EXIT_DONE
