"""``glassleak audit FOLDER``: many models, one line each."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from glassleak.audit import Policy
from glassleak.cli._common import (
    EXIT_BAD_INPUT,
    EXIT_DONE,
    EXIT_NOT_ASSESSED,
    EXIT_RISK,
    errors_to,
    output,
    say,
)
from glassleak.errors import AuditError
from glassleak.fleet import Entry, Fleet, audit_folder
from glassleak.report import printable

EXIT_CODES = {
    "fix": EXIT_RISK,
    "refer": EXIT_RISK,
    "error": EXIT_BAD_INPUT,
    "not assessed": EXIT_NOT_ASSESSED,
    "release": EXIT_DONE,
}
_COLOURS = {"release": "green", "fix": "red", "refer": "yellow"}
_ONE_ONLY = ("data", "holdout", "target", "quasi_identifiers", "sensitive", "resume", "sacro")
_OUT = "glassleak-audits"


def run_folder(arguments: argparse.Namespace, policy: Policy) -> int:
    """Audit every model file; the gravest outcome decides the exit code."""
    for name in _ONE_ONLY:
        if getattr(arguments, name) is not None:
            raise AuditError(f"--{name.replace('_', '-')} is for one model, not for a folder")
    if arguments.html:
        raise AuditError("--html takes no file name for a folder: pages go where results go")
    out = arguments.out or _OUT
    console = errors_to(sys.stderr)
    fleet = audit_folder(
        arguments.model,
        out,
        schema=arguments.schema,
        policy=policy,
        budget_seconds=arguments.budget,
        trust=arguments.trust,
        seed=arguments.seed,
        html=arguments.html is not None,
        redact=arguments.redact,
        jobs=1 if arguments.jobs is None else arguments.jobs,
        backend=arguments.backend or "loky",
        scheduler=arguments.scheduler,
        progress=lambda entry, done, total: _tell(console, entry, done, total),
    )
    if arguments.json == "-":
        sys.stdout.write(json.dumps(fleet.to_document(), indent=2) + "\n")
    elif arguments.json:
        from glassleak._files import write_text

        write_text(arguments.json, json.dumps(fleet.to_document(), indent=2) + "\n")
    if not arguments.quiet and arguments.json != "-":
        _show(fleet, output(), Path(out))
    return EXIT_CODES[fleet.worst]


def _tell(console: Console, entry: Entry, done: int, total: int) -> None:
    if console.is_terminal:
        say(console, f"{done}/{total} {entry.verdict or 'error'}: {printable(entry.file)}")


def _show(fleet: Fleet, console: Console, out: Path) -> None:
    table = Table(box=None, padding=(0, 2), show_header=True, header_style="bold")
    for column in ("verdict", "model", "why"):
        table.add_column(column)
    for entry in fleet.entries:
        verdict = entry.verdict or "error"
        why = entry.error or (entry.reasons[0] if entry.reasons else "")
        table.add_row(
            Text(verdict, style=_COLOURS.get(verdict, "magenta")),
            Text(printable(entry.file)),
            Text(printable(why)),
        )
    console.print(table)
    parts = [f"{number} {name}" for name, number in fleet.totals.items() if number]
    say(console, f"\n{len(fleet.entries)} models: {', '.join(parts) or 'none'}")
    if fleet.found.others:
        say(console, f"{fleet.found.others} files with other endings were not looked at")
    pages = ", summary.html" if fleet.settings.html else ""
    say(console, f"results: {printable(out)} (summary.json, summary.csv{pages})")
