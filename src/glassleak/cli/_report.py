"""``glassleak report``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from glassleak._files import write_text
from glassleak.cli._common import EXIT_DONE, output, say
from glassleak.errors import AuditError
from glassleak.report import printable, read_record, render_record

NAME = "report"
HELP = "a page for people from the JSON record of earlier audits"
DESCRIPTION = """Write the report of an earlier audit as one HTML page, for a browser or printing.

The record is the file that 'glassleak audit --json' wrote, or the summary.json of a folder of
models.  The models are not needed."""
EXAMPLE = """examples:
  glassleak report report.json --html report.html
  glassleak report report.json --html report.html --redact

exit codes: 0 done, 2 wrong use or bad input"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("record", metavar="RECORD", help="JSON file written by 'glassleak audit'")
    parser.add_argument("--html", metavar="FILE", default="-",
                        help="where to write the page (default: standard output)")  # fmt: skip
    parser.add_argument("--redact", action="store_true",
                        help="leave the values of reconstructed rows out of the file")  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Read, check, write."""
    page = _page(arguments)
    if arguments.html == "-":
        # Plain ASCII: standard output may have any encoding.
        sys.stdout.write(page.encode("ascii", "xmlcharrefreplace").decode())
    else:
        write_text(arguments.html, page)
        say(output(), f"report: {printable(arguments.html)}")
    return EXIT_DONE


def _page(arguments: argparse.Namespace) -> str:
    document = read_record(arguments.record)
    try:
        return render_record(document, redact=arguments.redact)
    except AuditError as error:
        raise AuditError(f"{Path(arguments.record).name}: {error}") from None
