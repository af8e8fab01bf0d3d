"""``glassleak reconstruct``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.status import Status

from glassleak.cli._common import (
    EXIT_BUDGET,
    EXIT_DONE,
    add_reading_arguments,
    errors_to,
    output,
    read_table,
)
from glassleak.errors import BudgetExhaustedError
from glassleak.knowledge import assumed_schema
from glassleak.readers import read
from glassleak.reconstruction import (
    Reconstruction,
    exact_cells,
    reconstruct,
)
from glassleak.schema import Schema

NAME = "reconstruct"
HELP = "reconstruct the training rows from the published counts, with proof"
DESCRIPTION = """Reconstruct the training set of a tree, a rule list or a forest.

Without bagging the table is sent through the model before it is returned and reproduces every
published count; the certificate says whether it is the only such table, and how many people are
provably in the training set whatever else is unknown.  A bagged forest whose seeds are stored
gives its rows back in their original order; without seeds the most likely table is returned."""
EXAMPLE = """examples:
  glassleak reconstruct model.skops
  glassleak reconstruct model.skops --schema schema.toml -o rows.csv --bounds certain.csv
  glassleak reconstruct model.skops --truth people.csv        # how wrong is it?
  glassleak reconstruct model.skops --multiplicities unknown  # do without stored seeds
  glassleak reconstruct model.skops --formulation rows-cp     # the published method

exit codes: 0 done, 2 wrong use or bad input, 3 budget exhausted without a table"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_reading_arguments(parser)
    parser.add_argument("--schema", metavar="FILE", help="schema file (default: inferred)")
    parser.add_argument("--formulation", default="auto",
                        choices=("auto", "cells", "search", "rows-cp", "rows-milp"),
                        help="cells and search are glassleak's own; the others are as "
                        "published")  # fmt: skip
    parser.add_argument("--multiplicities", default="auto", choices=("auto", "known", "unknown"),
                        help="bagged forests: repeat the draws from stored seeds where possible "
                        "(auto), insist on it, or do without (default: auto)")  # fmt: skip
    parser.add_argument("--n-rows", type=int, metavar="N",
                        help="training rows, where a model does not say")  # fmt: skip
    parser.add_argument("--budget", type=float, default=60, metavar="SECONDS",
                        help="(default: %(default)g)")  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="for whatever is random (default: 0)")
    parser.add_argument("--truth", metavar="CSV", help="the real table: report the error")
    parser.add_argument("-o", "--output", metavar="CSV",
                        help="write the rows, their class and the confidence in each")  # fmt: skip
    parser.add_argument("--bounds", metavar="CSV",
                        help="write the least and largest count of every possible row")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Reconstruct, save, show."""
    model = read(arguments.model, trust=arguments.trust)
    schema = Schema.from_toml(arguments.schema) if arguments.schema else assumed_schema(model)
    try:
        with Status("reading the counts", console=errors_to(sys.stderr)) as status:
            found = reconstruct(
                model, schema, formulation=arguments.formulation, seed=arguments.seed,
                multiplicities=arguments.multiplicities, n_rows=arguments.n_rows,
                budget_seconds=arguments.budget, all_bounds=bool(arguments.bounds),
                progress=lambda step, _share: status.update(step),
            )  # fmt: skip
    except BudgetExhaustedError as error:
        errors_to(sys.stderr).print(f"[bold red]no answer:[/] {escape(str(error))}")
        return EXIT_BUDGET
    summary = _summary(found, inferred=not arguments.schema)
    if arguments.truth:
        truth = read_table(Path(arguments.truth)).loc[:, list(model.columns)]
        right = exact_cells(truth, found.table, schema)
        summary["error"] = right.error
        summary["share_of_values_right"] = right.share
        if right.n_numbers:
            summary["share_of_numbers_right"] = right.share_of_numbers
    if arguments.output:
        table = found.table.assign(**{"class": found.labels, "confidence": found.confidence})
        table.to_csv(arguments.output, index=False)
    if arguments.bounds:
        found.certificate.bounds.to_csv(arguments.bounds, index=False)
    if arguments.json:
        sys.stdout.write(json.dumps(summary, indent=2) + "\n")
    else:
        _show(found, summary, arguments)
    return EXIT_DONE


def _summary(found: Reconstruction, *, inferred: bool) -> dict[str, Any]:
    certificate = found.certificate
    return {
        "status": found.status,
        "rows": len(found.table),
        "certain_rows": certificate.certain_rows,
        "certain_up_to_indistinguishable_values": certificate.certain_in_part,
        "unique": certificate.unique,
        "proof": certificate.proof,
        "statements": list(certificate.statements),
        "schema": "inferred from the model" if inferred else "given",
        "formulation": found.formulation,
        "seconds": round(found.seconds, 3),
        "values": found.values_told or None,
        "details": {key: value for key, value in found.details.items() if key != "values"},
    }


def _right(summary: dict[str, Any]) -> str:
    """Shares of values that equal the real ones, in words."""
    text = f"{summary['share_of_values_right']:.1%} of all values"
    if "share_of_numbers_right" in summary:
        text += f", {summary['share_of_numbers_right']:.1%} of the numbers"
    return text


def _show(found: Reconstruction, summary: dict[str, Any], arguments: argparse.Namespace) -> None:
    console = output()
    console.print(f"[bold]{summary['rows']:,} rows[/], {found.status}, in {found.seconds:.1f} s")
    for line in summary["statements"]:
        console.print(f"  • {escape(line)}")
    if summary["schema"].startswith("inferred"):
        console.print("  [dim]which profiles are possible was inferred from the model; "
                      "--schema makes it certain[/]")  # fmt: skip
    if "error" in summary:
        console.print(f"  error against the real table: {summary['error']:.4f} of all values")
        console.print(f"  right to the last digit: {_right(summary)}")
    for path in (arguments.output, arguments.bounds):
        if path:
            console.print(f"wrote {escape(path)}")
