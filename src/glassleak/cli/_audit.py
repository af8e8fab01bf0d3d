"""``glassleak audit``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from rich.status import Status
from rich.text import Text

from glassleak._files import write_text
from glassleak.audit import Audit, Policy, audit, json_schema, sacro_document
from glassleak.cli._audit_folder import run_folder
from glassleak.cli._audit_tables import read_data
from glassleak.cli._common import (
    EXIT_DONE,
    EXIT_NOT_ASSESSED,
    EXIT_RISK,
    add_reading_arguments,
    errors_to,
    output,
    say,
)
from glassleak.errors import AuditError, GlassleakError
from glassleak.fleet import BACKENDS
from glassleak.report import print_audit, printable

NAME = "audit"
HELP = "what does this model give away, and may it be published?"
DESCRIPTION = """Audit a model file, or every model file in a folder.

No training data is needed and no code in the file is run.

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
  glassleak audit model.skops --policy ours.toml
  glassleak audit model.skops --data train.csv --holdout test.csv --target income
  glassleak audit models/ --out audits --jobs 2

exit codes: 0 release, 1 fix or refer, 2 wrong use or bad input, 4 not assessed
of a folder: 1 if any model is to be fixed or referred, else 2 if any could not be opened,
else 4 if any was not assessed, else 0"""

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


class _PrintPolicy(argparse.Action):
    """Print the policy named before it on the line, or the default one, and leave."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, *_: object
    ) -> None:
        try:
            sys.stdout.write(_policy(namespace).to_toml())
        except GlassleakError as error:
            parser.error(str(error))
        parser.exit()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_reading_arguments(parser)
    parser.add_argument("--schema", metavar="FILE", help="schema file (see 'glassleak schema')")
    _add_policy_arguments(parser)
    _add_data_arguments(parser)
    parser.add_argument(
        "--budget", type=float, default=60, metavar="SECONDS",
        help="time for all analyses of a model together (default: %(default)g)",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="for whatever is random (default: 0)")
    parser.add_argument("--resume", metavar="FOLDER",
                        help="keep finished analyses there, and go on where an interrupted audit "
                        "of the same model stopped")  # fmt: skip
    parser.add_argument("--json", metavar="FILE",
                        help="write the full report as JSON; '-' for standard output")  # fmt: skip
    parser.add_argument(
        "--html", metavar="FILE", nargs="?", const="",
        help="write the report as one page for a browser or for printing (for a folder: without "
        "FILE, one page per model and a summary)",
    )  # fmt: skip
    parser.add_argument(
        "--redact",
        action="store_true",
        help="leave values of reconstructed rows out of that page (JSON keeps them)",
    )
    parser.add_argument(
        "--sacro", metavar="FILE", help="write results in the layout of SACRO-ML's attack reports"
    )
    parser.add_argument("--quiet", action="store_true", help="no summary on the terminal")
    _add_folder_arguments(parser)
    parser.add_argument("--json-schema", nargs=0, action=_PrintJsonSchema,
                        help="print the JSON Schema of the report and exit")  # fmt: skip
    parser.add_argument(
        "--print-policy", nargs=0, action=_PrintPolicy,
        help="print the policy in force (give --policy first) and exit",
    )  # fmt: skip


def _add_policy_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("policy", "thresholds given here override those of the file")
    group.add_argument(
        "--policy", metavar="FILE",
        help="policy file, or the name of a shipped policy: default, sacro",
    )  # fmt: skip
    group.add_argument(
        "--min-people", type=int, metavar="N",
        help=f"fewest people a published group may describe (default: {Policy().min_people})",
    )  # fmt: skip
    group.add_argument(
        "--allow-pure-leaves", action="store_true", default=None,
        help="let groups pass in which everybody has the same class",
    )  # fmt: skip
    group.add_argument(
        "--allow-small-classes", action="store_true", default=None,
        help="let classes with few people pass inside large enough groups",
    )  # fmt: skip


def _add_data_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("data", "for questions a model alone cannot answer")
    group.add_argument("--data", metavar="FILE", help="the training data as CSV, in the form the "
                       "model was trained on")  # fmt: skip
    group.add_argument("--target", metavar="COLUMN", help="the column with the class")
    group.add_argument("--holdout", metavar="FILE",
                       help="CSV of others from the same population, to see whether members of the "
                       "training data can be told from them")  # fmt: skip
    group.add_argument("--quasi-identifiers", metavar="A,B,...",
                       help="columns an outsider may know")  # fmt: skip
    group.add_argument("--sensitive", metavar="NAME", help="what the class is called")


def _add_folder_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("folders", "when MODEL is a folder")
    group.add_argument("--out", metavar="FOLDER",
                       help="where results go (default: glassleak-audits); what is there and has "
                       "not changed is not audited again")  # fmt: skip
    group.add_argument("--jobs", type=int, metavar="N", help="models at a time (default: 1)")
    group.add_argument(
        "--backend", choices=BACKENDS,
        help="where they run (default: loky, processes on this machine)",
    )  # fmt: skip
    group.add_argument("--scheduler", metavar="ADDRESS",
                       help="of a running Dask scheduler or Ray head")  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Audit, show, save; the verdict decides the exit code."""
    if arguments.redact and arguments.html is None:
        # Nobody should believe that the JSON record has been redacted.
        raise AuditError("--redact is for the page that --html writes; records keep all values")
    if Path(arguments.model).is_dir():
        return run_folder(arguments, _policy(arguments))
    _refuse(arguments, _FOLDER_ONLY, "is for folders of models")
    if arguments.html == "":
        raise AuditError("--html needs a file name here: one page is written")
    result = _audit_with_progress(arguments)
    if arguments.json == "-":
        # Plain ASCII: standard output may have any encoding.
        sys.stdout.write(json.dumps(result.to_document(), indent=2, allow_nan=False) + "\n")
    elif arguments.json:
        result.to_json(arguments.json)
    if arguments.html:
        result.to_html(arguments.html, redact=arguments.redact)
    if arguments.sacro:
        write_text(arguments.sacro, json.dumps(sacro_document(result), indent=2) + "\n")
    if not arguments.quiet and arguments.json != "-":
        print_audit(result, output())
        if arguments.html:
            say(output(), f"\nreport: {printable(arguments.html)}")
        if arguments.json:
            say(output(), f"\nfull report: {printable(arguments.json)}")
    return EXIT_CODES[result.verdict]


_FOLDER_ONLY = ("out", "jobs", "backend", "scheduler")


def _refuse(arguments: argparse.Namespace, names: tuple[str, ...], why: str) -> None:
    for name in names:
        if getattr(arguments, name) is not None:
            raise AuditError(f"--{name.replace('_', '-')} {why}")


def _policy(arguments: argparse.Namespace) -> Policy:
    named = getattr(arguments, "policy", None)
    policy = Policy() if named is None else Policy.from_toml(named)
    given = {
        name: getattr(arguments, name)
        for name in ("min_people", "allow_pure_leaves", "allow_small_classes")
        if getattr(arguments, name, None) is not None
    }
    return policy.with_changes("command line", **given)


def _audit_with_progress(arguments: argparse.Namespace) -> Audit:
    data = None if arguments.data is None else read_data(arguments.data)
    holdout = None if arguments.holdout is None else read_data(arguments.holdout)
    known = arguments.quasi_identifiers
    opening = Text(f"opening {printable(arguments.model)}")
    with Status(opening, console=errors_to(sys.stderr)) as status:
        return audit(
            arguments.model,
            schema=arguments.schema,
            data=data,
            holdout=holdout,
            policy=_policy(arguments),
            budget_seconds=arguments.budget,
            target=arguments.target,
            quasi_identifiers=None if known is None else [c.strip() for c in known.split(",")],
            sensitive=arguments.sensitive,
            trust=arguments.trust,
            seed=arguments.seed,
            resume=arguments.resume,
            progress=lambda name, _state: status.update(f"analysing: {name}"),
        )
