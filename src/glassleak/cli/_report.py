"""``glassleak report``."""

from __future__ import annotations

import argparse
import sys

from glassleak._files import write_text
from glassleak.cli._common import EXIT_DONE, output, say
from glassleak.report import printable, read_record, render_html

NAME = "report"
HELP = "a page for people from the JSON record of an earlier audit"
DESCRIPTION = """Write the report of an earlier audit as one HTML page, for a browser or printing.

The record is the file that 'glassleak audit --json' wrote; the model is not needed."""
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
    page = render_html(read_record(arguments.record), redact=arguments.redact)
    if arguments.html == "-":
        sys.stdout.write(page)
    else:
        write_text(arguments.html, page)
        say(output(), f"report: {printable(arguments.html)}")
    return EXIT_DONE
