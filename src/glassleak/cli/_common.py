"""What the commands share: exit codes, consoles, arguments."""

from __future__ import annotations

import argparse
import sys
from typing import IO

from rich.console import Console

EXIT_DONE, EXIT_RISK, EXIT_BAD_INPUT, EXIT_BUDGET, EXIT_NOT_ASSESSED = 0, 1, 2, 3, 4


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Keeps examples as written and shows defaults where there are any."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30, width=96)


def output() -> Console:
    """Standard output; plain text when it is not a terminal."""
    return Console(file=sys.stdout, highlight=False, width=None if sys.stdout.isatty() else 100)


def errors_to(stream: IO[str]) -> Console:
    """A console for messages that are not the result."""
    return Console(file=stream, highlight=False, width=None if stream.isatty() else 100)


def add_reading_arguments(parser: argparse.ArgumentParser) -> None:
    """``MODEL`` and ``--trust``."""
    parser.add_argument("model", metavar="MODEL", help="model file: .skops, glassleak JSON, "
                        "LightGBM text or JSON, XGBoost JSON, CORELS rule list; pickle or joblib "
                        "with --trust sandbox")  # fmt: skip
    parser.add_argument("--trust", choices=("none", "sandbox"), default="none",
                        help="'sandbox' also opens pickle and joblib files: decoded without "
                        "running their code, in a locked-down process (default: none)")  # fmt: skip
