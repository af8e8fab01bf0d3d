"""``glassleak``: parse, dispatch, and turn every expected failure into one line and a code."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from glassleak._version import __version__
from glassleak.cli import _audit, _convert, _datasets, _demo, _schema
from glassleak.cli._common import EXIT_BAD_INPUT, HelpFormatter, errors_to
from glassleak.errors import GlassleakError

_COMMANDS = (_demo, _audit, _convert, _schema, _datasets)


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
        command.set_defaults(run=module.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    arguments = _parser().parse_args(argv)
    try:
        code: int = arguments.run(arguments)
        return code
    except GlassleakError as error:
        errors_to(sys.stderr).print(f"[bold red]error:[/] {_one_line(error)}", soft_wrap=True)
        return EXIT_BAD_INPUT
    except OSError as error:
        where = f" {error.filename}:" if error.filename else ""
        errors_to(sys.stderr).print(f"[bold red]error:[/]{where} {error.strerror or error}")
        return EXIT_BAD_INPUT
    except KeyboardInterrupt:
        errors_to(sys.stderr).print("stopped")
        return 130


def _one_line(error: Exception) -> str:
    from rich.markup import escape

    return escape(str(error))
