"""``glassleak compare``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.status import Status
from rich.table import Table
from rich.text import Text

from glassleak.audit import Policy, audit
from glassleak.cli._common import EXIT_DONE, EXIT_RISK, errors_to, output, read_table, say
from glassleak.cli._sanitise import answers_for
from glassleak.compare import Comparison, compare_records
from glassleak.errors import AuditError, GlassleakError
from glassleak.report import printable, read_record
from glassleak.sanitise import agreement, load_estimator

NAME = "compare"
HELP = "two models, or two audits, side by side: is the second worse?"
DESCRIPTION = """Compare two models, or the JSON records of two audits.

Shows both verdicts, which findings are gone, new or changed, how much is proved and how much
remains uncertain, and, for two scikit-learn models saved with skops, whether they predict the same.

The second is worse if its verdict is graver (release, refer, fix); with equal verdicts, if it has
something new to fix, more people are proved, or less uncertainty remains; or if it could not be
assessed and the first could."""
EXAMPLE = """examples:
  glassleak compare model.skops clean.skops
  glassleak compare model.skops clean.skops --data test.csv
  glassleak compare released.audit.json candidate.skops --json

exit codes: 0 the second is not worse, 1 it is worse, 2 wrong use or bad input"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("before", metavar="A", help="model file, or JSON record of an audit")
    parser.add_argument("after", metavar="B", help="model file, or JSON record of an audit")
    parser.add_argument("--trust", choices=("none", "sandbox"), default="none",
                        help="as in 'glassleak audit' (default: none)")  # fmt: skip
    parser.add_argument("--schema", metavar="FILE", help="schema file for both models")
    parser.add_argument("--policy", metavar="FILE",
                        help="policy file, or the name of a shipped one, for both")  # fmt: skip
    parser.add_argument("--data", metavar="CSV", help="people to compare predictions on")
    parser.add_argument("--budget", type=float, default=60, metavar="SECONDS",
                        help="for each audit (default: %(default)g)")  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="for whatever is random (default: 0)")
    parser.add_argument("--json", action="store_true", help="print the comparison as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Audit what is not audited yet, compare, show; the exit code says whether B is worse."""
    if not 0 <= arguments.seed < 2**32:
        raise AuditError(f"--seed must be between 0 and 2**32 - 1, got {arguments.seed}")
    policy = Policy() if arguments.policy is None else Policy.from_toml(arguments.policy)
    with Status("auditing", console=errors_to(sys.stderr)) as status:
        records = []
        for path in (arguments.before, arguments.after):
            status.update(Text(f"auditing {printable(path)}"))
            records.append(_record(path, arguments, policy))
        found = compare_records(*records)
        status.update("comparing predictions")
        predictions = _predictions(arguments)
    mixed = _different_terms(*records)
    if arguments.json:
        document = found.to_document() | {"predictions": predictions, "notes": mixed}
        sys.stdout.write(json.dumps(document, indent=2, allow_nan=False) + "\n")
    else:
        _show(found, predictions, mixed)
    return EXIT_RISK if found.worse else EXIT_DONE


def _record(path: str, arguments: argparse.Namespace, policy: Policy) -> dict[str, Any]:
    if _is_record(Path(path)):
        return read_record(path)
    done = audit(
        path, schema=arguments.schema, policy=policy, budget_seconds=arguments.budget,
        trust=arguments.trust, seed=arguments.seed,
    )  # fmt: skip
    return done.to_document()


def _is_record(path: Path) -> bool:
    """Whether a file is JSON of an audit and not of a model; its first lines tell."""
    try:
        with path.open("rb") as stream:
            return b'"glassleak-audit"' in stream.read(400)
    except OSError:  # the audit says what is wrong with it
        return False


def _different_terms(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Audits made in different ways can differ for that reason alone."""
    notes = []
    if one["policy"] != other["policy"]:
        notes.append("the two audits followed different policies")
    notes += [
        f"the two audits were not given the same {setting}"
        for setting in ("schema", "data", "holdout")
        if one["settings"].get(setting) != other["settings"].get(setting)
    ]
    if one["tool"]["version"] != other["tool"]["version"]:
        notes.append("the two audits were made with different versions of glassleak")
    return notes


def _predictions(arguments: argparse.Namespace) -> dict[str, Any]:
    """Whether both predict the same, where both can be built, or why that is not known."""
    table = read_table(Path(arguments.data)) if arguments.data else None
    try:
        models = [load_estimator(path) for path in (arguments.before, arguments.after)]
    except GlassleakError as error:
        return {"compared": False, "why": str(error)}
    columns = [_columns(model) for model in models]
    if columns[0] != columns[1]:
        return {"compared": False, "why": "the models have different columns"}
    names = columns[0]
    if table is not None and isinstance(names, list):
        absent = [n for n in names if n not in table.columns]
        if absent:
            raise AuditError(f"the table has no column {absent[0]!r} of the models")
        table = table[names]
    if table is not None:
        for model in models:
            answers_for(model, table)
    found = agreement(models[0], models[1], table, arguments.seed)
    return {
        "compared": True,
        "identical": found.identical,
        "inputs": found.inputs,
        "different": found.different,
        "rows": found.rows,
        "different_rows": found.different_rows,
        "probabilities_identical": found.scores,
    }


def _columns(model: Any) -> list[str] | int:
    names = getattr(model, "feature_names_in_", None)
    return int(model.n_features_in_) if names is None else [str(n) for n in names]


def _show(found: Comparison, predictions: dict[str, Any], notes: list[str]) -> None:
    console = output()
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("")
    for name in found.names:
        table.add_column(Text(printable(name)))
    table.add_row("verdict", *(Text(v, "bold") for v in found.verdicts))
    table.add_row("numbers of people", *found.counts)
    for figure in found.figures:
        table.add_row(figure.name, _number(figure.before), _number(figure.after))
    console.print(table)
    for heading, changes in (("gone", found.gone), ("new", found.new), ("changed", found.changed)):
        if not changes:
            continue
        console.print(f"\n[bold]{heading}[/]")
        for change in changes:
            said = change.after if change.before is None else change.before
            if change.before is not None and change.after is not None:
                said = f"{change.before} → {change.after}"
            effect = change.effect_after or change.effect_before
            say(console, f"  {effect:<6}{printable(said or '', 300)}")
    say(console, "\npredictions: " + _said(predictions))
    for note in notes:
        say(console, f"note: {note}")
    word = "worse" if found.worse else "not worse"
    say(
        console,
        f"{printable(found.names[1])} is {word}: {printable('; '.join(found.reasons), 600)}",
    )


def _number(value: float | int | None) -> str:
    if value is None:
        return "not assessed"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def _said(predictions: dict[str, Any]) -> str:
    if not predictions["compared"]:
        return f"not compared ({printable(predictions['why'], 300)})"
    where = f"{predictions['inputs']:,} inputs around the thresholds"
    if predictions["rows"]:
        where += f" and {predictions['rows']:,} rows"
    if predictions["identical"]:
        return f"identical on {where}"
    rows = "" if not predictions["rows"] else f", {predictions['different_rows']:,} of the rows"
    return f"different for {predictions['different']:,} of {where}{rows}"
