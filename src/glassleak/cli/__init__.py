"""The command line; one module per command."""

from glassleak.cli._main import main

__all__ = ["main"]
