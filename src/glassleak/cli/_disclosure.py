"""``glassleak disclosure``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.status import Status

from glassleak.cli._common import (
    EXIT_DONE,
    EXIT_NOT_ASSESSED,
    add_reading_arguments,
    errors_to,
    output,
    read_table,
    say,
)
from glassleak.cli._disclosure_figure import check_figure_path, write_figure
from glassleak.disclosure import Disclosure, disclosure
from glassleak.errors import UnsupportedModelError
from glassleak.models import Model, MultiwayTree
from glassleak.readers import read
from glassleak.report import printable

if TYPE_CHECKING:
    import pandas as pd

NAME = "disclosure"
HELP = "what the model says about the sensitive value of people one knows"
DESCRIPTION = """Estimate the sensitive value of everybody whose other values are known.

The adversary knows the model, and the columns it predicts from (quasi-identifiers) for everybody
in the training set: from a register, say.  The model's class is the sensitive value.  Of all
distributions that fit what the model publishes, the most uncertain one is the most unbiased
estimate (maximum entropy); beside it stands what is certain, whatever else is unknown.

What the model publishes about its leaves decides most:
  labels   the class each leaf predicts
  rates    also how often that is wrong
  counts   how many people of every class the leaf holds (what scikit-learn stores)
Split facts add that every split was the best of all candidates, if the learner's settings make
that true; where they do not, the facts are left out, and it is said so."""
EXAMPLE = """examples:
  glassleak disclosure model.skops --quasi-identifiers people.csv --sensitive income
  glassleak disclosure model.skops --quasi-identifiers people.csv --truth income --csv out.csv
  glassleak disclosure tree.json --quasi-identifiers people.csv --level rates --plot out.svg

people.csv has the model's columns (encoded as for training), one line per person of the training
set; with --people N, column N says how many people a line stands for.  If it also has the
sensitive column, that is used to say how right the estimate is, never to make it.

exit codes: 0 done, 2 wrong use or bad input, 4 not assessed (the model does not publish enough)"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_reading_arguments(parser)
    parser.add_argument("--quasi-identifiers", metavar="CSV", required=True,
                        help="the known people: the model's columns, one line each")  # fmt: skip
    parser.add_argument("--sensitive", metavar="NAME",
                        help="what the class is called; a column of that name is the "
                        "truth")  # fmt: skip
    parser.add_argument("--level", choices=("labels", "rates", "counts"), default="counts",
                        help="what is published about leaves (default: %(default)s)")  # fmt: skip
    parser.add_argument("--split-facts", default="auto", metavar="WHICH",
                        choices=("auto", "yes", "no", "gini", "entropy", "gain_ratio"),
                        help="auto: if the model's settings make them true; yes: fail if they do "
                        "not; no; or the measure you know every split was best by: gini, entropy, "
                        "gain_ratio")  # fmt: skip
    parser.add_argument("--margin", action="store_true",
                        help="how many people have each value is published, too")  # fmt: skip
    parser.add_argument("--truth", metavar="COLUMN", help="column with the real values")
    parser.add_argument("--people", metavar="COLUMN",
                        help="column that says how many people a line stands for")  # fmt: skip
    parser.add_argument("--bounds", choices=("auto", "leaves", "splits", "none"), default="auto",
                        help="what proved counts use: leaves alone, or split facts, too, which "
                        "can take long (default: auto)")  # fmt: skip
    parser.add_argument("--budget", type=float, default=60, metavar="SECONDS",
                        help="(default: %(default)g)")  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="for whatever is random (default: 0)")
    parser.add_argument("--top", type=int, default=0, metavar="K",
                        help="show the K people split facts say most about")  # fmt: skip
    parser.add_argument("--csv", metavar="CSV", help="write the estimate for every line")
    parser.add_argument("--plot", metavar="FILE",
                        help="draw the estimates and how many people are how certain "
                        "(.svg, .png, .pdf)")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Estimate, save, show."""
    figure = check_figure_path(arguments.plot) if arguments.plot else None
    wish: Any = {"yes": True, "no": False}.get(arguments.split_facts, arguments.split_facts)
    try:
        model = read(arguments.model, trust=arguments.trust)
        table = _table(model, Path(arguments.quasi_identifiers))
        with Status("estimating", console=errors_to(sys.stderr)) as status:
            found = disclosure(
                model, table, arguments.sensitive, arguments.level, wish,
                truth=arguments.truth, people=arguments.people,
                margin=True if arguments.margin else None,
                bounds=False if arguments.bounds == "none" else arguments.bounds,
                budget_seconds=arguments.budget, seed=arguments.seed,
                progress=lambda step, _share: status.update(escape(step)),
            )  # fmt: skip
    except UnsupportedModelError as error:
        errors_to(sys.stderr).print(f"[bold magenta]not assessed:[/] {escape(str(error))}")
        return EXIT_NOT_ASSESSED
    if arguments.csv:
        _lines(found, table).to_csv(arguments.csv, index=False)
    if figure is not None:
        write_figure(found, figure)
    if arguments.json:
        sys.stdout.write(json.dumps(found.to_document(), indent=2, allow_nan=False) + "\n")
    else:
        _show(found, arguments)
    return EXIT_DONE


def _table(model: Model, path: Path) -> pd.DataFrame:
    """The people; where the model's levels are text, "1" and "NA" are text as well."""
    text = (
        [c for c, levels in zip(model.columns, model.levels, strict=True)
         if all(isinstance(level, str) for level in levels)]
        if isinstance(model, MultiwayTree)
        else []
    )  # fmt: skip
    if not text:
        return read_table(path)
    return read_table(path, dtype=dict.fromkeys(text, str), keep_default_na=False)


def _lines(found: Disclosure, table: pd.DataFrame) -> pd.DataFrame:
    """The table given, with the estimate and what follows from it."""
    posterior = found.posterior.iloc[found.per_person["quasi_identifier"]]
    out = table.reset_index(drop=True)
    for klass in found.classes:
        out[f"P({klass})"] = posterior[klass].to_numpy()
    for name in found.per_person.columns:
        if name not in ("quasi_identifier", "people"):
            out[name] = found.per_person[name].to_numpy()
    return out


def _show(found: Disclosure, arguments: argparse.Namespace) -> None:
    console, o = output(), found.overall
    console.print(
        f"[bold]{o.people:,} people[/], {o.quasi_identifiers:,} different quasi-identifiers; "
        f"{escape(printable(str(found.certificate)))}, in {found.seconds:.1f} s"
    )
    for assumption in found.assumptions:
        console.print(f"  [dim]{escape(printable(assumption, 500))}[/]")
    if found.status == "partial":
        console.print("  [yellow]the budget ended before every split fact was satisfied[/]")
    name = escape(printable(found.sensitive, 60))
    console.print(f"\nhow sure the estimate is of their {name} ({o.classes} values):")
    for share, people, right, wrong in (
        ("90 % or more", o.likely, o.likely_right, o.likely_wrong),
        ("100 %", o.sure, o.sure_right, o.sure_wrong),
    ):
        checked = "" if right is None else f" ({right:,} rightly, {wrong:,} wrongly)"
        console.print(f"  {share:>14}  {people:,} people{checked}")
    if o.certain is not None:
        console.print(f"  {'proved':>14}  {o.certain:,} people: the same in every table that fits")
    console.print(
        f"  uncertainty left: {o.entropy:.4f} nats a person, as of {o.effective_values:.2f} "
        "equally likely values"
    )
    console.print(
        f"  least diversity: {o.distinct_l} possible values, entropy l = {o.entropy_l:.2f}; "
        f"α = {o.alpha:.3f}, k = {o.k:,}, t = {o.t:.3f}"
    )
    if o.d_overall is not None:
        console.print(
            f"  divergence from the truth: {o.d_overall:.4f} nats "
            f"({o.d_overall_without_split_facts:.4f} without split facts); "
            "[bold]lower means more is disclosed[/]"
        )
    if arguments.top > 0:
        console.print("\nwho split facts say most about:")
        shown = found.top_effects(arguments.top).reset_index()
        say(console, "\n".join(printable(line, 400) for line in shown.to_string().splitlines()))
    for path in (arguments.csv, arguments.plot):
        if path:
            say(console, f"wrote {path}")
