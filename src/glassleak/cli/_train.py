"""``glassleak train``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.status import Status
from rich.table import Table

from glassleak._files import write_text
from glassleak.cli._common import EXIT_DONE, EXIT_RISK, errors_to, output, read_table, say
from glassleak.errors import SchemaError
from glassleak.schema import Schema

if TYPE_CHECKING:
    from glassleak.learners.private import PrivateRuleListClassifier
    from glassleak.learners.private.verify import Verdict

NAME = "train"
HELP = "train a rule list that may be published: differentially private, with its account"
DESCRIPTION = """Train a differentially private rule list on a table (CSV); write it as a model.

Rules are chosen among those the schema offers, never mined from the data, and published with
counts that carry exact discrete noise.  The account says what every look at the data cost.

--curve shows accuracy against epsilon on your data before you decide.  It looks at the data many
times without paying: keep its numbers to yourself.
--verify runs the learner thousands of times on two tables that differ by one person and tries to
catch it leaking more than it claims."""
EXAMPLE = """examples:
  glassleak train people.csv --target income --schema schema.toml --epsilon 1 -o model.json
  glassleak train people.csv --target income --curve 0.1,0.5,1,2,5
  glassleak train people.csv --target income --epsilon 1 --verify
  glassleak audit model.json

exit codes: 0 done, 1 --verify refuted the claim, 2 wrong use or bad input"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("table", metavar="CSV", help="training table, one line per person")
    parser.add_argument("--target", required=True, metavar="COLUMN", help="what to predict")
    parser.add_argument("--epsilon", type=float, default=1.0,
                        help="budget; less is more private (default: %(default)g)")  # fmt: skip
    parser.add_argument("--length", type=int, default=4, metavar="RULES",
                        help="rules before the default one (default: %(default)d)")  # fmt: skip
    parser.add_argument("--width", type=int, default=2, metavar="1|2",
                        help="most conditions in a rule (default: %(default)d)")  # fmt: skip
    parser.add_argument("--criterion", choices=("errors", "gini"), default="errors",
                        help="what rules should make small (default: %(default)s)")  # fmt: skip
    parser.add_argument("--schema", metavar="FILE",
                        help="public bounds of the columns (default: all are 0 or 1)")  # fmt: skip
    parser.add_argument("--curve", metavar="EPSILONS",
                        help="only show accuracy for these, e.g. 0.1,1,10 (spends nothing, "
                        "protects nothing)")  # fmt: skip
    parser.add_argument("--runs", type=int, default=20,
                        help="splits per epsilon for --curve (default: %(default)d)")  # fmt: skip
    parser.add_argument("--verify", action="store_true",
                        help="also try to refute the privacy claim")  # fmt: skip
    parser.add_argument("--draws", type=int, default=10_000,
                        help="fits on each table for --verify (default: %(default)d)")  # fmt: skip
    parser.add_argument("-o", "--output", metavar="FILE",
                        help="write the model as JSON (no code in it)")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Train, save, show; or only show the curve."""
    from glassleak.learners.private import PrivateRuleListClassifier

    frame = read_table(Path(arguments.table))
    if arguments.target not in frame.columns:
        raise SchemaError(f"the table has no column {arguments.target!r}")
    table, labels = frame.drop(columns=[arguments.target]), frame[arguments.target]
    text = table.select_dtypes(exclude=["number", "bool"]).columns
    if len(text):
        raise SchemaError(
            f"column {str(text[0])!r} holds text; encode it as columns of 0 and 1 first"
        )
    learner = PrivateRuleListClassifier(
        arguments.epsilon, arguments.length, arguments.width, criterion=arguments.criterion,
        schema=Schema.from_toml(arguments.schema) if arguments.schema else None,
    )  # fmt: skip
    try:
        if arguments.curve:
            return _curve(learner, table, labels, arguments)
        learner.fit(table, labels)
        verdicts = _verify(learner, arguments.draws) if arguments.verify else []
    except ValueError as error:
        raise SchemaError(str(error)) from None
    if arguments.output:
        write_text(Path(arguments.output), learner.to_model().to_json())
    refuted = any(v.refuted for v in verdicts)
    if arguments.json:
        sys.stdout.write(json.dumps(_document(learner, verdicts), indent=2) + "\n")
    else:
        _show(learner, verdicts, arguments.output)
    return EXIT_RISK if refuted else EXIT_DONE


def _verify(learner: PrivateRuleListClassifier, draws: int) -> list[Verdict]:
    from glassleak.learners.private.verify import cases_of, verify

    with Status("verifying", console=errors_to(sys.stderr)) as status:
        return verify(cases_of(learner), draws=draws, progress=lambda step, _: status.update(step))


def _curve(learner: Any, table: Any, labels: Any, arguments: argparse.Namespace) -> int:
    from glassleak.learners.private import privacy_curve

    try:
        epsilons = [float(part) for part in arguments.curve.split(",")]
    except ValueError:
        raise SchemaError(f"--curve: {arguments.curve!r} is not a list of numbers") from None
    with Status("training", console=errors_to(sys.stderr)) as status:
        points = privacy_curve(
            learner, table, labels, epsilons, runs=arguments.runs,
            progress=lambda step, _: status.update(step),
        )  # fmt: skip
    if arguments.json:
        sys.stdout.write(json.dumps([vars(p) for p in points], indent=2) + "\n")
        return EXIT_DONE
    shown = Table(box=None, padding=(0, 2, 0, 0))
    for heading in ("epsilon", "test accuracy", "± of the mean", "worst run", ""):
        shown.add_column(heading, justify="right" if heading else "left")
    for point in points:
        bar = "█" * round(40 * max(0.0, point.accuracy - 0.5) * 2)
        shown.add_row(f"{point.epsilon:g}", f"{point.accuracy:.4f}", f"{point.error:.4f}",
                      f"{point.worst:.4f}", bar)  # fmt: skip
    console = output()
    console.print(shown)
    console.print("[dim]not private: these numbers looked at the data without paying for it[/]")
    return EXIT_DONE


def _document(learner: PrivateRuleListClassifier, verdicts: list[Verdict]) -> dict[str, Any]:
    return {
        "rules": learner.rules_,
        "counts": learner.counts_.tolist(),
        "classes": learner.classes_.tolist(),
        "noise_scale": learner.noise_scale_,
        "privacy": learner.privacy_,
        "ledger": learner.ledger_,
        "verification": [
            {"part": v.name, "claim": v.claim, "epsilon_at_least": v.bound.epsilon,
             "confidence": v.bound.confidence, "draws": v.bound.draws, "refuted": v.refuted}
            for v in verdicts
        ],
    }  # fmt: skip


def _show(learner: PrivateRuleListClassifier, verdicts: list[Verdict], saved: str | None) -> None:
    console = output()
    console.print(escape(learner.to_text()), soft_wrap=True)
    privacy = learner.privacy_
    console.print(
        f"\n[bold]ε = {privacy['epsilon']:g}[/], pure (δ = 0), against {privacy['neighbours']}"
    )
    for line in learner.ledger_:
        console.print(f"  {line['epsilon']:<8.4g} {line['what']} ({line['mechanism']})")
    console.print("it holds if")
    for assumption in privacy["assumptions"]:
        console.print(f"  • {escape(assumption)}")
    for verdict in verdicts:
        outcome = "[bold red]refuted[/]" if verdict.refuted else "not refuted"
        console.print(
            f"verified {verdict.name}: claims {verdict.claim:g}, at least "
            f"{verdict.bound.epsilon:.3f} in {verdict.bound.draws:,} draws: {outcome}"
        )
    if saved:
        say(console, f"wrote {saved}")
