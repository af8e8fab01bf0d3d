"""``glassleak audit``."""

from __future__ import annotations

import argparse
import json
import sys

from rich.status import Status
from rich.text import Text

from glassleak.audit import Audit, Policy, audit, json_schema
from glassleak.cli._common import (
    EXIT_DONE,
    EXIT_NOT_ASSESSED,
    EXIT_RISK,
    add_reading_arguments,
    errors_to,
    output,
    say,
)
from glassleak.report import print_audit, printable

NAME = "audit"
HELP = "what does this model give away, and may it be published?"
DESCRIPTION = """Audit a model file.  No training data is needed and no code in the file is run.

The answer is one of
  release       nothing the policy forbids was found and every needed question was answered
  fix           do not publish as it is; the findings say what to change
  refer         a person has to decide; the reasons are listed
  not assessed  glassleak cannot judge this kind of model"""
EXAMPLE = """examples:
  glassleak audit model.skops
  glassleak audit model.skops --html report.html --json report.json
  glassleak audit model.joblib --trust sandbox
  glassleak audit model.skops --min-people 5 --json - | jq .verdict

exit codes: 0 release, 1 fix or refer, 2 wrong use or bad input, 4 not assessed"""

EXIT_CODES = {
    "release": EXIT_DONE,
    "fix": EXIT_RISK,
    "refer": EXIT_RISK,
    "not assessed": EXIT_NOT_ASSESSED,
}


class _PrintJsonSchema(argparse.Action):
    """Like ``--version``: print and leave, whatever else is on the line."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        sys.stdout.write(json.dumps(json_schema(), indent=2) + "\n")
        parser.exit()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_reading_arguments(parser)
    parser.add_argument("--schema", metavar="FILE", help="schema file (see 'glassleak schema')")
    parser.add_argument(
        "--min-people", type=int, default=Policy().min_people, metavar="N",
        help="fewest people a published group may describe (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--allow-pure-leaves", action="store_true",
        help="let groups pass in which everybody has the same class",
    )  # fmt: skip
    parser.add_argument(
        "--allow-small-classes", action="store_true",
        help="let classes with few people pass inside large enough groups",
    )  # fmt: skip
    parser.add_argument(
        "--budget", type=float, default=60, metavar="SECONDS",
        help="time for all analyses together (default: %(default)g)",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="for whatever is random (default: 0)")
    parser.add_argument("--json", metavar="FILE",
                        help="write the full report as JSON; '-' for standard output")  # fmt: skip
    parser.add_argument(
        "--html", metavar="FILE", help="write the report as one page for a browser or for printing"
    )
    parser.add_argument(
        "--redact", action="store_true", help="leave values of reconstructed rows out of that page"
    )
    parser.add_argument("--quiet", action="store_true", help="no summary on the terminal")
    parser.add_argument("--json-schema", nargs=0, action=_PrintJsonSchema,
                        help="print the JSON Schema of the report and exit")  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Audit, show, save; the verdict decides the exit code."""
    policy = Policy(
        arguments.min_people, arguments.allow_pure_leaves, arguments.allow_small_classes
    )
    result = _audit_with_progress(arguments, policy)
    if arguments.json == "-":
        # Plain ASCII: standard output may have any encoding.
        sys.stdout.write(json.dumps(result.to_document(), indent=2, allow_nan=False) + "\n")
    elif arguments.json:
        result.to_json(arguments.json)
    if arguments.html:
        result.to_html(arguments.html, redact=arguments.redact)
    if not arguments.quiet and arguments.json != "-":
        print_audit(result, output())
        if arguments.html:
            say(output(), f"\nreport: {printable(arguments.html)}")
        if arguments.json:
            say(output(), f"\nfull report: {printable(arguments.json)}")
    return EXIT_CODES[result.verdict]


def _audit_with_progress(arguments: argparse.Namespace, policy: Policy) -> Audit:
    opening = Text(f"opening {printable(arguments.model)}")
    with Status(opening, console=errors_to(sys.stderr)) as status:
        return audit(
            arguments.model,
            schema=arguments.schema,
            policy=policy,
            budget_seconds=arguments.budget,
            trust=arguments.trust,
            seed=arguments.seed,
            progress=lambda name, _state: status.update(f"analysing: {name}"),
        )
