"""What the commands share: exit codes, consoles, arguments."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from glassleak.errors import SchemaError

if TYPE_CHECKING:
    import pandas as pd

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


def say(console: Console, text: str) -> None:
    """Print `text` as it is: without markup, and without breaking a path over lines."""
    console.print(Text(text), soft_wrap=True)


def add_reading_arguments(parser: argparse.ArgumentParser) -> None:
    """``MODEL`` and ``--trust``."""
    parser.add_argument("model", metavar="MODEL", help="model file: .skops, glassleak JSON, "
                        "LightGBM text or JSON, XGBoost JSON, CORELS rule list; pickle or joblib "
                        "with --trust sandbox")  # fmt: skip
    parser.add_argument("--trust", choices=("none", "sandbox"), default="none",
                        help="'sandbox' also opens pickle and joblib files: decoded without "
                        "running their code, in a locked-down process (default: none)")  # fmt: skip


def read_table(path: Path, **options: Any) -> pd.DataFrame:
    """A CSV file as a table, with a typed error; `options` are those of `pandas.read_csv`."""
    import pandas as pd

    if not path.is_file():
        raise SchemaError(f"no table at {str(path)!r}")
    try:
        table: pd.DataFrame = pd.read_csv(path, **options)
    except (ValueError, UnicodeDecodeError) as error:
        raise SchemaError(f"{path.name} is not a readable CSV table: {error}") from None
    return table
