"""``glassleak paper``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from glassleak.cli._common import EXIT_DONE, errors_to, output, say
from glassleak.errors import GlassleakError
from glassleak.papers import PAPERS, Item, Options, Output, Paper, Sheet

NAME = "paper"
HELP = "regenerate the tables and figures of a published paper, next to its own numbers"
DESCRIPTION = """Regenerate a published table or figure and set it beside the printed numbers.

Every finished run is kept in the output folder, so an interrupted command continues where it
stopped, and tables that share runs share their results.  Without --table or --figure the command
lists what there is.  If GLASSLEAK_REFERENCE names a folder with the authors' own runs, ours are
also compared with them one by one."""
EXAMPLE = """examples:
  glassleak paper forests
  glassleak paper forests --table 2
  glassleak paper forests --figure 2 --preset full --out results

exit codes: 0 done, 2 wrong use or bad input"""


class UnknownItemError(GlassleakError, ValueError):
    """The paper has no such table or figure, or it cannot be regenerated."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("paper", choices=sorted(PAPERS), metavar="PAPER",
                        help=f"which paper: {', '.join(sorted(PAPERS))}")  # fmt: skip
    parser.add_argument("--table", type=int, action="append", default=[], metavar="N",
                        help="table to regenerate; may be given several times")  # fmt: skip
    parser.add_argument("--figure", type=int, action="append", default=[], metavar="N",
                        help="figure to regenerate; may be given several times")  # fmt: skip
    parser.add_argument("--all", action="store_true", help="every table and figure there is")
    parser.add_argument("--preset", choices=("quick", "full"), default="quick",
                        help="quick: one seed, a few minutes; full: every run of the paper, "
                        "hours (default: %(default)s)")  # fmt: skip
    parser.add_argument("--budget", type=_positive, metavar="SECONDS",
                        help="time allowed for each run (default: the preset's)")  # fmt: skip
    parser.add_argument("--ours-only", action="store_true",
                        help="do not run the published formulations again")  # fmt: skip
    parser.add_argument("--out", default="paper-output", metavar="FOLDER",
                        help="for results and finished runs (default: %(default)s)")  # fmt: skip
    parser.add_argument("--fresh", action="store_true", help="forget the finished runs first")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Regenerate what was asked for, or list what there is."""
    paper = PAPERS[arguments.paper]
    items = _chosen(paper, arguments)
    if not items:
        return _list(paper, as_json=arguments.json)
    folder = Path(arguments.out)
    if arguments.fresh:
        paper.log_path(folder).unlink(missing_ok=True)
    documents = []
    for item in items:
        result, files = _regenerate(paper, item, arguments, folder)
        if arguments.json:
            documents.append(_document(paper, item, result, files))
            continue
        _show(result)
        for file in files:
            say(output(), f"wrote {file}")
    if arguments.json:
        sys.stdout.write(json.dumps(documents, indent=2) + "\n")
    return EXIT_DONE


def _chosen(paper: Paper, arguments: argparse.Namespace) -> list[Item]:
    if arguments.all:
        return list(paper.items)
    wanted = [("table", n) for n in arguments.table] + [("figure", n) for n in arguments.figure]
    items = []
    for kind, number in wanted:
        item = paper.find(kind, number)
        if item is None:
            known = ", ".join(i.label for i in paper.items)
            raise UnknownItemError(
                f"{paper.name} has no {kind} {number} to regenerate; there are {known}.  "
                f"{paper.left_out}"
            )
        if item not in items:
            items.append(item)
    return items


def _regenerate(
    paper: Paper, item: Item, arguments: argparse.Namespace, folder: Path
) -> tuple[Output, tuple[Path, ...]]:
    columns = (
        TextColumn(f"[bold]{item.label}[/]"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=errors_to(sys.stderr), transient=True) as bar:
        task = bar.add_task("", total=None)

        def tell(done: int, total: int, label: str) -> None:
            bar.update(task, completed=done, total=total, description=escape(label))

        options = Options(
            folder=folder, preset=arguments.preset, budget_seconds=arguments.budget,
            ours_only=arguments.ours_only, progress=tell,
        )  # fmt: skip
        try:
            return paper.regenerate(item, options)
        except KeyboardInterrupt:
            errors_to(sys.stderr).print(
                "stopped; finished runs are kept, the same command continues"
            )
            raise


def _show(result: Output) -> None:
    _print_sheet(result.sheet)
    # Hundreds of lines: the file has them, the terminal what they amount to.
    for note in result.runs.notes if result.runs else ():
        output().print(f"  • {escape(note)}")


def _print_sheet(sheet: Sheet) -> None:
    console = output()
    titles, rows = sheet.cells(terminal=True)
    table = Table(title=escape(sheet.title), title_justify="left", box=None,
                  padding=(0, 1, 0, 0))  # fmt: skip
    for i, column in enumerate(c for c in sheet.columns if c.terminal):
        table.add_column(escape(titles[i]), justify="left" if column.form == "text" else "right",
                         overflow="fold", no_wrap=i == 0)  # fmt: skip
    for row in rows:
        table.add_row(*[escape(cell) for cell in row])
    console.print(table)
    for note in sheet.notes:
        console.print(f"  • {escape(note)}")


def _document(paper: Paper, item: Item, result: Output, files: tuple[Path, ...]) -> dict[str, Any]:
    return {
        "paper": paper.name,
        "item": item.label,
        "title": result.sheet.title,
        "rows": [dict(row) for row in result.sheet.rows],
        "notes": [*result.sheet.notes, *(result.runs.notes if result.runs else ())],
        "files": [str(file) for file in files],
    }


def _list(paper: Paper, *, as_json: bool) -> int:
    if as_json:
        items = [{"item": i.label, "about": i.about} for i in paper.items]
        sys.stdout.write(json.dumps(items, indent=2) + "\n")
        return EXIT_DONE
    console = output()
    console.print(f"[bold]{escape(paper.title)}[/]")
    for item in paper.items:
        console.print(f"  --{item.kind} {item.number}   {escape(item.about)}")
    console.print(escape(paper.left_out))
    return EXIT_DONE


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a positive number of seconds")
    return value
