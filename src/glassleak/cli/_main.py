"""``glassleak``: parse, dispatch, and turn every expected failure into one line and a code."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence

from rich.text import Text

from glassleak._version import __version__
from glassleak.cli import (
    _audit,
    _compare,
    _convert,
    _datasets,
    _demo,
    _disclosure,
    _paper,
    _reconstruct,
    _report,
    _sanitise,
    _schema,
    _train,
    _uncertainty,
)
from glassleak.cli._common import EXIT_BAD_INPUT, HelpFormatter, errors_to
from glassleak.errors import GlassleakError
from glassleak.report import printable

_COMMANDS = (
    _demo,
    _audit,
    _report,
    _reconstruct,
    _uncertainty,
    _disclosure,
    _sanitise,
    _compare,
    _train,
    _convert,
    _schema,
    _datasets,
    _paper,
)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="glassleak",
        description="How much of its training data does a published tree or rule model give away?",
        epilog="start with:  glassleak demo\nthen:        glassleak audit model.skops\n\n"
        "exit codes: 0 done (audit: release), 1 audit says fix or refer, 2 wrong use or bad "
        "input,\n3 budget exhausted without an answer, 4 not assessed",
        formatter_class=HelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"glassleak {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for module in _COMMANDS:
        command = commands.add_parser(
            module.NAME, help=module.HELP, description=module.DESCRIPTION,
            epilog=module.EXAMPLE, formatter_class=HelpFormatter,
        )  # fmt: skip
        module.add_arguments(command)
        command.set_defaults(run=module.run, refuse=command.error)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    _survive_any_encoding()
    arguments, unknown = _parser().parse_known_args(argv)
    if unknown:
        # argparse would show the usage of the program, where that of the command helps.
        arguments.refuse(f"unrecognized arguments: {' '.join(unknown)}")
    try:
        code: int = arguments.run(arguments)
        return code
    except GlassleakError as error:
        return _complain(str(error))
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _complain(f"{where}{error.strerror or error}")
    except KeyboardInterrupt:
        errors_to(sys.stderr).print("stopped")
        return 130


def _complain(message: str) -> int:
    text = Text.assemble(("error:", "bold red"), " ", printable(message, 2000))
    errors_to(sys.stderr).print(text, soft_wrap=True)
    return EXIT_BAD_INPUT


def _survive_any_encoding() -> None:
    """Where standard output cannot show a character, spell it out instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
