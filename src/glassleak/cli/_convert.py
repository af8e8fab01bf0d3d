"""``glassleak convert``."""

from __future__ import annotations

import argparse
import sys

from glassleak.cli._common import EXIT_DONE, add_reading_arguments, output, say
from glassleak.readers import read
from glassleak.report import printable

NAME = "convert"
HELP = "rewrite a model as glassleak JSON: data only, nothing that could run"
DESCRIPTION = """Read a model and write it in glassleak's own JSON form.

The result holds structure, counts and, for bagged forests, the seeds of the draws; nothing else
the file may have retained.  It is what every analysis works on, and it can be read, diffed and
passed on without trusting anyone."""
EXAMPLE = """examples:
  glassleak convert model.skops -o model.json
  glassleak convert model.joblib --trust sandbox -o model.json
  glassleak convert model.skops | jq .n_rows"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_reading_arguments(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="where to (default: standard output)"
    )
    parser.add_argument("--packed", action="store_true",
                        help="arrays as base64: smaller and faster, not readable")  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Read and write."""
    model = read(arguments.model, trust=arguments.trust)
    text = model.to_json(arguments.output, packed=arguments.packed)
    if arguments.output:
        wrote = f"wrote {printable(arguments.output)}: {type(model).__name__}"
        say(output(), f"{wrote}, {len(text):,} bytes")
    else:
        sys.stdout.write(text + "\n")
    return EXIT_DONE
