"""``glassleak schema``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from glassleak.cli._common import EXIT_DONE, output
from glassleak.errors import SchemaError
from glassleak.readers import read
from glassleak.schema import Attribute, Bins, Categorical, Schema

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
        schema = Schema.infer(read(source, trust=arguments.trust))
    if arguments.output:
        schema.to_toml(arguments.output)
    invalid = _check(schema, arguments) if arguments.check else None
    if arguments.json:
        sys.stdout.write(json.dumps(_summary(schema, invalid), indent=2) + "\n")
    else:
        _show(schema, invalid, arguments.output)
    return EXIT_DONE


def _table(path: Path, drop: list[str]) -> Any:
    import pandas as pd

    if not path.is_file():
        raise SchemaError(f"no table at {str(path)!r}")
    try:
        frame = pd.read_csv(path)
    except (ValueError, UnicodeDecodeError) as error:
        raise SchemaError(f"{path.name} is not a readable CSV table: {error}") from None
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
        "profiles": None if profiles is None else str(profiles),
        "guesses": [vars(g) for g in schema.guesses],
        "invalid_rows": None if invalid is None else invalid[0],
    }


def _show(schema: Schema, invalid: tuple[int, int] | None, saved: str | None) -> None:
    console = output()
    table = Table(box=None, padding=(0, 2))
    for heading in ("attribute", "kind", "levels", "columns"):
        table.add_column(heading, overflow="fold")
    for attribute in schema:
        size = f"{attribute.size:,}" if attribute.size is not None else "continuous"
        table.add_row(escape(attribute.name), attribute.kind, size, escape(_columns(attribute)))
    console.print(table)
    profiles = schema.n_profiles
    console.print(
        f"\nvalid profiles: {profiles:,}"
        if profiles is not None
        else "\nvalid profiles: not finite (a numeric attribute declares no resolution)"
    )
    if schema.guesses:
        console.print(f"\n[bold]{len(schema.guesses)} guesses[/] (edit the schema where you know better)")
        for guess in schema.guesses:
            console.print(
                f"  [bold]{escape(guess.attribute)}[/]: {escape(guess.what)} "
                f"[dim]({escape(guess.source)}: {escape(guess.reason)})[/]"
            )
    if invalid is not None:
        console.print(f"\n{invalid[0]:,} of {invalid[1]:,} rows match no profile")
    if saved:
        console.print(f"\nwrote {escape(saved)}")


def _columns(attribute: Attribute) -> str:
    if isinstance(attribute, Categorical | Bins) and len(attribute.columns) > 1:
        return ", ".join(attribute.columns)
    return attribute.columns[0] if attribute.columns != (attribute.name,) else ""
