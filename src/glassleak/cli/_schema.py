"""``glassleak schema``."""

from __future__ import annotations

import argparse
import json
import math
import sys
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from glassleak.cli._common import EXIT_DONE, output, read_table, say
from glassleak.errors import SchemaError
from glassleak.readers import read
from glassleak.report import printable
from glassleak.schema import Attribute, Bins, Categorical, Schema

if TYPE_CHECKING:
    import pandas as pd

NAME = "schema"
HELP = "guess, show or check which profiles are possible"
DESCRIPTION = """Guess a schema from a table (CSV) or from a model alone, or show a schema file.

A schema says which combinations of values a person can have: which columns belong to one
attribute, which range a number has.  Every guess is listed with its reason; edit the TOML file
where you know better."""
EXAMPLE = """examples:
  glassleak schema people.csv --target income -o schema.toml
  glassleak schema model.skops -o schema.toml
  glassleak schema schema.toml --check people.csv"""


# Nobody reads a table of thousands of lines.
_SHOWN = 200


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("source", metavar="SOURCE", help="table (.csv), model, or schema (.toml)")
    parser.add_argument("--target", action="append", default=[], metavar="COLUMN",
                        help="column of the table that is no attribute (repeatable)")  # fmt: skip
    parser.add_argument("--check", metavar="CSV", help="report rows no profile matches")
    parser.add_argument("--trust", choices=("none", "sandbox"), default="none",
                        help="for models in pickle or joblib files")  # fmt: skip
    parser.add_argument("-o", "--output", metavar="FILE", help="write the schema as TOML")
    parser.add_argument("--json", action="store_true", help="print a summary as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Obtain a schema, show it, optionally save it and check a table against it."""
    source = Path(arguments.source)
    if source.suffix == ".toml":
        schema = Schema.from_toml(source)
    elif source.suffix == ".csv":
        schema = Schema.infer(_table(source, arguments.target))
    else:
        schema = Schema.infer(read(source, trust=arguments.trust).split_evidence())
    if arguments.output:
        schema.to_toml(arguments.output)
    invalid = _check(schema, arguments) if arguments.check else None
    if arguments.json:
        sys.stdout.write(json.dumps(_summary(schema, invalid), indent=2) + "\n")
    else:
        _show(schema, invalid, arguments.output)
    return EXIT_DONE


def _table(path: Path, drop: list[str]) -> pd.DataFrame:
    frame = read_table(path)
    missing = [c for c in drop if c not in frame.columns]
    if missing:
        raise SchemaError(f"the table has no column {missing[0]!r}")
    return frame.drop(columns=drop)


def _check(schema: Schema, arguments: argparse.Namespace) -> tuple[int, int]:
    frame = _table(Path(arguments.check), arguments.target)
    bad = schema.invalid_rows(frame)
    return int(bad.sum()), len(bad)


def _summary(schema: Schema, invalid: tuple[int, int] | None) -> dict[str, Any]:
    profiles = schema.n_profiles
    return {
        "attributes": [
            {"name": a.name, "kind": a.kind, "columns": list(a.columns), "levels": a.size}
            for a in schema
        ],
        # Decimal writes integers of any size; str() refuses those of thousands of digits.
        "profiles": None if profiles is None else str(Decimal(profiles)),
        "guesses": [vars(g) for g in schema.guesses],
        "invalid_rows": None if invalid is None else invalid[0],
    }


def _show(schema: Schema, invalid: tuple[int, int] | None, saved: str | None) -> None:
    console = output()
    table = Table(box=None, padding=(0, 2))
    for heading in ("attribute", "kind", "levels", "columns"):
        table.add_column(heading, overflow="fold")
    for attribute in schema.attributes[:_SHOWN]:
        size = f"{attribute.size:,}" if attribute.size is not None else "continuous"
        name, columns = (Text(printable(t)) for t in (attribute.name, _columns(attribute)))
        table.add_row(name, attribute.kind, size, columns)
    console.print(table)
    _say_more(console, len(schema.attributes))
    profiles = schema.n_profiles
    console.print(
        f"\nvalid profiles: {_shown(profiles)}"
        if profiles is not None
        else "\nvalid profiles: not finite (a numeric attribute declares no resolution)"
    )
    if schema.guesses:
        console.print(
            f"\n[bold]{len(schema.guesses)} guesses[/] (edit the schema where you know better)"
        )
        for guess in schema.guesses[:_SHOWN]:
            why = f" ({printable(guess.source)}: {printable(guess.reason)})"
            console.print(
                Text.assemble(
                    ("  ", ""),
                    (printable(guess.attribute), "bold"),
                    f": {printable(guess.what)}",
                    (why, "dim"),
                )
            )
        _say_more(console, len(schema.guesses))
    if invalid is not None:
        console.print(f"\n{invalid[0]:,} of {invalid[1]:,} rows match no profile")
    if saved:
        say(console, f"\nwrote {printable(saved)}")


def _say_more(console: Console, total: int) -> None:
    if total > _SHOWN:
        console.print(f"  … and {total - _SHOWN:,} more; --json has them all")


def _shown(number: int) -> str:
    """`number` with separators, or its order of magnitude when nobody would read the digits."""
    return f"{number:,}" if number < 10**30 else f"about 10^{math.log10(number):.1f}"


def _columns(attribute: Attribute) -> str:
    if isinstance(attribute, Categorical | Bins) and len(attribute.columns) > 1:
        return ", ".join(attribute.columns)
    return attribute.columns[0] if attribute.columns != (attribute.name,) else ""
