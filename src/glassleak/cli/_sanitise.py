"""``glassleak sanitise``."""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.status import Status
from rich.table import Table
from rich.text import Text

from glassleak._files import write_bytes
from glassleak.audit import Policy
from glassleak.cli._common import EXIT_DONE, errors_to, output, read_table, say
from glassleak.errors import SanitiseError, SchemaError
from glassleak.report import printable
from glassleak.sanitise import (
    Effect,
    Options,
    Setting,
    agreement,
    effects,
    load_estimator,
    private_effect,
    retrained,
    sanitised,
    standard_options,
)
from glassleak.schema import Schema

if TYPE_CHECKING:
    import pandas as pd

NAME = "sanitise"
HELP = "make a copy of a model that predicts the same and carries less"
DESCRIPTION = """Make a copy of a scikit-learn model that predicts the same and carries less.

Numbers of training rows, impurities, seeds, weights, out-of-bag votes and whatever else hangs on
the object are left out; leaves keep what predictions need.  The copy opens in scikit-learn.
Options that change predictions are applied only when asked for.

--table shows what each way of sanitising does to predictions and to the audit, before and after.

The model is read and checked as data before it is built, and only classes glassleak knows are
built; no code in the file is run."""
EXAMPLE = """examples:
  glassleak sanitise model.skops -o clean.skops
  glassleak sanitise model.skops -o clean.skops --keep predict_proba
  glassleak sanitise model.skops --table
  glassleak sanitise model.skops --table --data test.csv --target income
  glassleak sanitise model.skops -o clean.skops --min-people 10 --trees 20
  glassleak sanitise model.skops -o private.skops --private 1 --data train.csv --target income

exit codes: 0 done, 2 wrong use or bad input"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("model", metavar="MODEL", help="scikit-learn model saved with skops")
    parser.add_argument("-o", "--output", metavar="FILE", help="where the copy goes (.skops)")
    parser.add_argument("--force", action="store_true", help="replace FILE if it is there")
    parser.add_argument("--keep", choices=("predict", "predict_proba"), default="predict",
                        help="what must not change (default: %(default)s)")  # fmt: skip
    parser.add_argument("--min-people", type=int, metavar="N",
                        help="merge leaves of fewer people (changes predictions)")  # fmt: skip
    parser.add_argument("--suppress-below", type=int, metavar="N",
                        help="drop classes of fewer rows from leaves (changes "
                        "probabilities)")  # fmt: skip
    parser.add_argument("--round-to", type=int, metavar="K",
                        help="class shares in steps of 1/K (may change predictions)")  # fmt: skip
    parser.add_argument("--trees", type=int, metavar="T",
                        help="keep the first T trees (changes predictions)")  # fmt: skip
    parser.add_argument("--no-missing-values", action="store_true",
                        help="rows with missing values need not get the same answer")  # fmt: skip
    parser.add_argument("--within-schema", action="store_true",
                        help="only rows that --schema allows need the same answer; often allows "
                        "coarser leaves")  # fmt: skip
    parser.add_argument("--table", action="store_true",
                        help="compare the ways of sanitising this model")  # fmt: skip
    parser.add_argument("--data", metavar="CSV",
                        help="people to measure predictions on; for --private, to train "
                        "on")  # fmt: skip
    parser.add_argument("--target", metavar="COLUMN", help="their class")
    parser.add_argument("--private", type=float, metavar="EPSILON",
                        help="train a differentially private model instead, on --data")  # fmt: skip
    parser.add_argument("--private-kind", choices=("rules", "tree", "forest"), default="rules",
                        help="what kind of private model (default: %(default)s)")  # fmt: skip
    parser.add_argument("--schema", metavar="FILE",
                        help="what values the columns can take, for audits and "
                        "--private")  # fmt: skip
    parser.add_argument("--budget", type=float, default=20, metavar="SECONDS",
                        help="for the audit of each version (default: %(default)g)")  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="for whatever is random (default: 0)")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Load, sanitise, compare, save."""
    if not arguments.output and not arguments.table:
        raise SanitiseError("give -o FILE, --table or both")
    target = Path(arguments.output) if arguments.output else None
    if target is not None:
        _check_target(target, Path(arguments.model), force=arguments.force)
    estimator = load_estimator(arguments.model)
    setting = _setting(arguments, estimator)
    lines = _compare(estimator, arguments, setting)
    notes: list[str] = []
    if target is not None:
        made, notes = _make(estimator, arguments, setting)
        within = setting.schema if arguments.within_schema else None
        _save(made, target, estimator, setting, within, same=not notes[1].startswith("may"))
    if arguments.json:
        document = {
            "model": arguments.model,
            "options": [line.to_document() for line in lines],
            "output": arguments.output,
            "notes": notes,
        }
        sys.stdout.write(json.dumps(document, indent=2, allow_nan=False) + "\n")
        return EXIT_DONE
    console = output()
    if arguments.table:
        show(lines)
    for note in notes:
        say(console, printable(note, 400))
    if target is not None:
        say(console, f"wrote {printable(arguments.output)}; look at it with: "
                     f"glassleak audit {printable(arguments.output)}")  # fmt: skip
    return EXIT_DONE


def _check_target(target: Path, source: Path, *, force: bool) -> None:
    if target.suffix != ".skops":
        raise SanitiseError(f"{target.name}: the copy is saved with skops; call it .skops")
    if target.exists() and not force:
        raise SanitiseError(f"{str(target)!r} is already there; use --force to replace it")
    if target.exists() and source.exists() and target.samefile(source):
        raise SanitiseError("the copy would replace the model itself")


def _asked(arguments: argparse.Namespace, setting: Setting) -> Options:
    if arguments.within_schema and setting.schema is None:
        raise SanitiseError("--within-schema needs --schema")
    keep = ("predict",) if arguments.keep == "predict" else ("predict", "predict_proba")
    return Options(
        keep, arguments.min_people, arguments.suppress_below, arguments.round_to, arguments.trees,
        not arguments.no_missing_values, setting.schema if arguments.within_schema else None,
    )  # fmt: skip


def _setting(arguments: argparse.Namespace, estimator: Any) -> Setting:
    if not 0 <= arguments.seed < 2**32:
        raise SanitiseError(f"--seed must be between 0 and 2**32 - 1, got {arguments.seed}")
    if not 0 < arguments.budget < float("inf"):
        raise SanitiseError(f"--budget must be positive, got {arguments.budget}")
    rest = {
        "policy": Policy(),
        "budget_seconds": arguments.budget,
        "seed": arguments.seed,
        "schema": Schema.from_toml(arguments.schema) if arguments.schema else None,
    }
    if arguments.data is None:
        if arguments.private is not None:
            raise SanitiseError("--private trains a model anew: it needs --data and --target")
        return Setting(**rest)
    frame = read_table(Path(arguments.data))
    table = frame
    truth = None
    if arguments.target is not None:
        if arguments.target not in frame.columns:
            raise SchemaError(f"the table has no column {arguments.target!r}")
        table, truth = frame.drop(columns=[arguments.target]), frame[arguments.target].to_numpy()
    elif arguments.private is not None:
        raise SanitiseError("--private needs --target, the column to predict")
    ordered = _in_order(table, estimator)
    predicted = answers_for(estimator, ordered)
    if truth is not None and not set(truth.tolist()) & set(_labels(estimator, predicted)):
        raise SchemaError(f"column {arguments.target!r} holds none of the model's classes")
    return Setting(ordered, truth, **rest)


def answers_for(estimator: Any, table: Any) -> Any:
    """Predictions for a user's table, or what is wrong with it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return estimator.predict(table)
    except (ValueError, TypeError) as error:
        raise SchemaError(f"the model cannot predict the rows of the table: {error}") from None


def _labels(estimator: Any, predicted: Any) -> list[Any]:
    known = getattr(estimator, "classes_", predicted)
    found: list[Any] = known.tolist()
    return found


def _in_order(table: pd.DataFrame, estimator: Any) -> Any:
    """The columns the model was trained on, in their order."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        width = getattr(estimator, "n_features_in_", table.shape[1])
        if width != table.shape[1]:
            raise SchemaError(f"the table has {table.shape[1]} columns, the model {width}")
        return table.set_axis([f"x{i}" for i in range(table.shape[1])], axis=1)
    absent = [str(n) for n in names if n not in table.columns]
    if absent:
        raise SchemaError(f"the table has no column {absent[0]!r} of the model")
    return table[list(names)]


def _compare(estimator: Any, arguments: argparse.Namespace, setting: Setting) -> list[Effect]:
    if not arguments.table:
        return []
    asked = _asked(arguments, setting)
    people = arguments.min_people or setting.policy.min_people
    options = standard_options(estimator, people, setting.schema)
    if asked.changes or asked not in options.values():
        options["as asked for"] = asked
    with Status("comparing", console=errors_to(sys.stderr)) as status:
        lines = list(
            effects(estimator, options, setting, lambda w: status.update(Text(f"trying: {w}")))
        )
        if arguments.private is not None:
            status.update("trying: a private model")
            lines.append(
                private_effect(
                    estimator,
                    arguments.private,
                    setting,
                    arguments.private_kind,
                    setting.schema,
                )
            )
    return lines


def _make(estimator: Any, arguments: argparse.Namespace, setting: Setting) -> tuple[Any, list[str]]:
    """The copy, what was removed, and what is known about its predictions."""
    if arguments.private is not None:
        assert setting.table is not None
        made = retrained(
            setting.table, setting.truth, arguments.private, arguments.private_kind, setting.schema
        )
        return made, [
            f"trained anew with ε = {arguments.private:g}; nothing of the old model is in it",
            "may predict differently: it is another model",
        ]
    found = sanitised(estimator, _asked(arguments, setting))
    same = f"predictions are identical ({found.same})" if found.same else "may predict differently"
    return found.estimator, [
        f"left out: {'; '.join(found.removed) or 'nothing was there to leave out'}",
        same,
        f"leaves still say: {found.leaves}",
    ]


def _save(
    made: Any, target: Path, original: Any, setting: Setting, within: Schema | None, *, same: bool
) -> None:
    """Write the copy once it has been opened again and gives the answers it should."""
    import skops.io

    from glassleak.sanitise._load import build

    content = skops.io.dumps(made)
    again = build(content, target.name)
    reference = original if same else made
    if not agreement(reference, again, setting.table, setting.seed, within).identical:
        raise SanitiseError("the saved copy does not predict as it should; nothing was written")
    write_bytes(target, content)


def show(lines: list[Effect]) -> None:
    """The table on the terminal, and why each verdict is what it is."""
    console = output()
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("version", min_width=22)
    table.add_column("predictions")
    measured = any(line.accuracy is not None for line in lines)
    if measured:
        table.add_column("accuracy", justify="right")
    for heading in ("verdict", "certain", "uncertainty left"):
        table.add_column(heading)
    for line in lines:
        cells = [Text(line.option), Text(line.predictions)]
        if measured:
            cells.append(Text("" if line.accuracy is None else f"{line.accuracy:.4f}"))
        rows = "not assessed" if line.rows is None else f"{line.certain_rows:,} of {line.rows:,}"
        if line.rows is None and line.certain_by_labels is not None:
            rows = f"{line.certain_by_labels:,} by labels"
        left = "not assessed" if line.remaining is None else f"{line.remaining:.1%}"
        table.add_row(*cells, Text(line.verdict), Text(rows), Text(left))
    console.print(table)
    console.print()
    for line in lines:
        say(console, f"{line.option}: {printable(line.remains, 300)}")
        say(console, f"    leaves: {printable(line.leaves, 200)}; predictions: {line.how}")
    if measured:
        on = {line.accuracy_on for line in lines if line.accuracy is not None}
        say(console, f"accuracy is on {' or '.join(sorted(on))}; on people the model was trained "
                     "on it is too high")  # fmt: skip
