"""``glassleak train``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.status import Status

from glassleak._files import write_text
from glassleak.cli._common import EXIT_DONE, EXIT_RISK, errors_to, read_table
from glassleak.cli._train_show import Checked, document, show, show_curve
from glassleak.errors import SchemaError
from glassleak.schema import Schema

NAME = "train"
HELP = "train a model that may be published: differentially private, with its account"
DESCRIPTION = """Train a rule list, tree or small forest on a table (CSV); write it as a model.

Private learners (the default) choose among conditions the schema offers, never mined from the data,
and publish counts that carry exact discrete noise.  The account says what every look at the data
cost.  How private is a number, epsilon: no published model becomes more than exp(epsilon) times
likelier because you took part.  0.1 hides a person well, 1 is a common choice, 10 promises little.

  private-rule-list  few rules, read from the top; accurate even at small epsilon (default)
  private-tree       complete tree; needs more people for the same epsilon
  private-forest     several trees, each on its own people; needs most people
  greedy, optimal    rule lists WITHOUT privacy, to see what privacy costs: audit before release

--curve shows accuracy against epsilon on your data before you decide.  It looks at the data many
times without paying: keep its numbers to yourself.
--verify runs the learner thousands of times on two tables that differ by one person and tries to
catch it leaking more than it claims; --self-test breaks it on purpose to show that it would."""
EXAMPLE = """examples:
  glassleak train people.csv --target income --schema schema.toml --epsilon 1 -o model.json
  glassleak train people.csv --target income --curve 0.1,0.5,1,2,5
  glassleak train people.csv --target income --learner private-tree --depth 3 --verify
  glassleak train people.csv --target income --learner greedy -o plain.json
  glassleak audit model.json

exit codes: 0 done, 1 --verify refuted the claim or --self-test missed a broken learner, 2 wrong use
or bad input"""

PRIVATE = ("private-rule-list", "private-tree", "private-forest")
LEARNERS = (*PRIVATE, "greedy", "optimal")
RULE_LISTS = ("private-rule-list", "greedy", "optimal")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("table", metavar="CSV", help="training table, one line per person")
    parser.add_argument("--target", required=True, metavar="COLUMN", help="what to predict")
    parser.add_argument("--learner", choices=LEARNERS, default=LEARNERS[0], metavar="NAME",
                        help=f"{', '.join(LEARNERS)} (default: %(default)s)")  # fmt: skip
    parser.add_argument("--epsilon", type=float,
                        help="privacy budget; less is more private (default: 1)")  # fmt: skip
    parser.add_argument("--length", type=int, metavar="RULES",
                        help="of rule lists, rules before the default (default: 4)")  # fmt: skip
    parser.add_argument("--width", type=int, metavar="1|2",
                        help="of rule lists, most conditions in a rule (default: 2; optimal: 1)"
                        )  # fmt: skip
    parser.add_argument("--depth", type=int,
                        help="of trees and forests, questions in a row (default: 3)")  # fmt: skip
    parser.add_argument("--trees", type=int, help="of forests (default: 5)")
    parser.add_argument("--delta", type=float,
                        help="of forests: put everybody into every tree and promise (epsilon, "
                        "delta) instead of pure epsilon, which pays off from about ten trees on"
                        )  # fmt: skip
    parser.add_argument("--criterion", choices=("errors", "gini"),
                        help="of private learners, what a choice should make small (default: "
                        "errors for lists, gini for trees)")  # fmt: skip
    parser.add_argument("--support", type=float, metavar="SHARE",
                        help="of greedy and optimal, fewest people under a rule (default: 0.01)"
                        )  # fmt: skip
    parser.add_argument("--schema", metavar="FILE",
                        help="public bounds of the columns (default: all are 0 or 1)")  # fmt: skip
    parser.add_argument("--classes", metavar="A,B,…",
                        help="the classes there can be (default: those in the table, which then "
                        "count as public)")  # fmt: skip
    parser.add_argument("--curve", metavar="EPSILONS",
                        help="only show accuracy for these, e.g. 0.1,1,10 (spends nothing, "
                        "protects nothing)")  # fmt: skip
    parser.add_argument("--runs", type=int, default=20,
                        help="splits per epsilon for --curve (default: %(default)d)")  # fmt: skip
    parser.add_argument("--verify", action="store_true",
                        help="also try to refute the privacy claim")  # fmt: skip
    parser.add_argument("--self-test", action="store_true",
                        help="also break the learner on purpose, and see that each way is caught"
                        )  # fmt: skip
    parser.add_argument("--draws", type=int, default=10_000,
                        help="fits on each table for --verify and --self-test (default: "
                        "%(default)d)")  # fmt: skip
    parser.add_argument("-o", "--output", metavar="FILE",
                        help="write the model as JSON (no code in it)")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Train, save, show; or only show the curve."""
    _check(arguments)
    frame = read_table(Path(arguments.table))
    if arguments.target not in frame.columns:
        raise SchemaError(f"the table has no column {arguments.target!r}")
    table, labels = frame.drop(columns=[arguments.target]), frame[arguments.target]
    learner = _learner(arguments, labels)
    text = table.select_dtypes(exclude=["number", "bool"]).columns
    if len(text):
        raise SchemaError(
            f"column {str(text[0])!r} holds text; encode it as columns of 0 and 1 first"
        )
    try:
        if arguments.curve:
            return _curve(learner, table, labels, arguments)
        learner.fit(table, labels)
        checked = _checked(learner, arguments)
    except ValueError as error:
        raise SchemaError(str(error)) from None
    if arguments.output:
        write_text(Path(arguments.output), learner.to_model().to_json())
    if arguments.json:
        sys.stdout.write(json.dumps(document(learner, checked), indent=2) + "\n")
    else:
        show(learner, checked, arguments.output)
    return EXIT_DONE if checked.passed else EXIT_RISK


def _check(arguments: argparse.Namespace) -> None:
    """Options that the learner does not have are a mistake, not something to ignore."""
    name = arguments.learner
    allowed = {
        "epsilon": PRIVATE, "curve": PRIVATE, "verify": PRIVATE, "self_test": PRIVATE,
        "criterion": PRIVATE, "classes": PRIVATE, "length": RULE_LISTS, "width": RULE_LISTS,
        "depth": PRIVATE[1:], "trees": PRIVATE[2:], "delta": PRIVATE[2:],
        "support": ("greedy", "optimal"),
    }  # fmt: skip
    for option, learners in allowed.items():
        given = getattr(arguments, option)
        if given is not None and given is not False and name not in learners:
            raise SchemaError(
                f"--{option.replace('_', '-')}: the learner {name!r} has no such thing"
            )


def _learner(arguments: argparse.Namespace, labels: Any) -> Any:
    from glassleak import learners

    schema = Schema.from_toml(arguments.schema) if arguments.schema else None
    given = {
        "epsilon": arguments.epsilon, "max_length": arguments.length,
        "max_width": arguments.width, "max_depth": arguments.depth,
        "n_estimators": arguments.trees, "criterion": arguments.criterion,
        "min_support": arguments.support,
    }  # fmt: skip
    chosen = {name: value for name, value in given.items() if value is not None}
    kinds: dict[str, Callable[..., Any]] = {
        "private-rule-list": learners.PrivateRuleListClassifier,
        "private-tree": learners.PrivateTreeClassifier,
        "private-forest": learners.PrivateForestClassifier,
        "greedy": learners.GreedyRuleListClassifier,
        "optimal": learners.OptimalRuleListClassifier,
    }
    if arguments.learner in PRIVATE:
        chosen |= {"schema": schema, "classes": _classes(arguments.classes, labels)}
    elif arguments.learner == "optimal":
        chosen |= {"schema": schema}
    if arguments.delta is not None:
        chosen |= {"accounting": "zcdp", "delta": arguments.delta}
    if arguments.learner == "greedy":
        chosen.setdefault("max_width", 2)
    if arguments.learner in RULE_LISTS:
        chosen.setdefault("max_length", 4)
    return kinds[arguments.learner](**chosen)


def _classes(given: str | None, labels: Any) -> list[Any] | None:
    """The declared classes, in the type the table's labels have."""
    if given is None:
        return None
    try:
        return [labels.dtype.type(part.strip()) for part in given.split(",")]
    except (TypeError, ValueError):
        if labels.dtype.kind in "iuf":
            raise SchemaError(f"--classes: {given!r} is not a list of numbers") from None
        return [part.strip() for part in given.split(",")]


def _checked(learner: Any, arguments: argparse.Namespace) -> Checked:
    if not arguments.verify and not arguments.self_test:
        return Checked()
    from glassleak.learners.private.verify import cases_of, mutants_of, verify

    with Status("verifying", console=errors_to(sys.stderr)) as status:

        def judge(cases: Any) -> Any:
            return tuple(
                verify(list(cases), draws=arguments.draws,
                       progress=lambda step, _: status.update(step))
            )  # fmt: skip

        return Checked(
            judge(cases_of(learner)) if arguments.verify else (),
            judge(mutants_of(learner)) if arguments.self_test else (),
        )


def _curve(learner: Any, table: Any, labels: Any, arguments: argparse.Namespace) -> int:
    from glassleak.learners.private import privacy_curve

    try:
        epsilons = [float(part) for part in arguments.curve.split(",")]
    except ValueError:
        raise SchemaError(f"--curve: {arguments.curve!r} is not a list of numbers") from None
    with Status("training", console=errors_to(sys.stderr)) as status:
        points = privacy_curve(
            learner, table, labels, epsilons, runs=arguments.runs,
            progress=lambda step, _: status.update(step),
        )  # fmt: skip
    if arguments.json:
        sys.stdout.write(json.dumps([vars(p) for p in points], indent=2) + "\n")
    else:
        show_curve(points)
    return EXIT_DONE
