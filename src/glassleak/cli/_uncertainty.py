"""``glassleak uncertainty``."""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Any

import pandas as pd
from rich.markup import escape
from rich.status import Status

from glassleak.cli._common import (
    EXIT_BUDGET,
    EXIT_DONE,
    EXIT_NOT_ASSESSED,
    errors_to,
    output,
    read_table,
    say,
)
from glassleak.counting import decimal_text
from glassleak.errors import BudgetExhaustedError, SchemaError, UnsupportedModelError
from glassleak.models import Model
from glassleak.readers import read
from glassleak.report import print_uncertainty
from glassleak.schema import Schema
from glassleak.uncertainty import Remaining, Uncertainty, uncertainty

NAME = "uncertainty"
HELP = "how much of the training set still has to be guessed, given the model"
DESCRIPTION = """Count the training sets a model leaves possible.

Every leaf or rule says how many people it holds and what is true of them.  What it does not say
still has to be guessed: n equally possible profiles take log2(n) bits per person.  The share of
these bits that remains (Dist_G) is 1 for a model that says nothing and 0 for one from which the
training set can be read off.

Profiles are counted by the schema: one-hot columns are one attribute, and numbers need a
resolution, because a continuous value has no number of possibilities.  Several models of the same
training set are counted together."""
EXAMPLE = """examples:
  glassleak uncertainty model.skops
  glassleak uncertainty model.skops --schema schema.toml --data train.csv --by sex
  glassleak uncertainty model.skops --columns-independent      # as the paper counts
  glassleak uncertainty tree.skops rules.json --schema schema.toml    # both together
  glassleak uncertainty model.skops --worlds possible.csv --n 10      # ten possible tables

no schema yet?  glassleak schema model.skops -o schema.toml, then edit the numbers' resolution

exit codes: 0 done, 2 wrong use or bad input, 3 budget exhausted without an answer,
4 not assessed (no counts, or numbers without a resolution)"""


# Columns of exact integers of any size.
_WHOLE = ("profiles", "profiles_low", "profiles_high")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("models", metavar="MODEL", nargs="+",
                        help="model file, as for `glassleak audit`; several of the same training "
                        "set are counted together")  # fmt: skip
    parser.add_argument("--trust", choices=("none", "sandbox"), default="none",
                        help="'sandbox' also opens pickle and joblib (default: none)")  # fmt: skip
    parser.add_argument("--schema", metavar="FILE", help="schema file (default: inferred)")
    parser.add_argument("--columns-independent", action="store_true",
                        help="count every column on its own, as the paper does")  # fmt: skip
    parser.add_argument("--data", metavar="CSV",
                        help="the training table: who is more exposed than others?")  # fmt: skip
    parser.add_argument("--by", metavar="COLUMN", action="append",
                        help="column of --data that makes the groups; may be repeated "
                        "(default: every column with few values)")  # fmt: skip
    parser.add_argument("--budget", type=float, default=60, metavar="SECONDS",
                        help="then bounds are given (default: %(default)g)")  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="for whatever is random (default: 0)")
    parser.add_argument("--leaves", metavar="CSV", help="write what every leaf or rule leaves open")
    parser.add_argument("--dataset", metavar="FILE",
                        help="write what remains of every attribute of every row, grouped (.csv "
                        "or .json)")  # fmt: skip
    parser.add_argument("--worlds", metavar="CSV",
                        help="write possible training sets, drawn uniformly")  # fmt: skip
    parser.add_argument("--n", type=int, default=1, metavar="N",
                        help="how many possible training sets to write (default: 1)")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Count, save, show."""
    if arguments.by and not arguments.data:
        raise SchemaError("--by names columns of the table given with --data")
    if not arguments.budget > 0 or not math.isfinite(arguments.budget):
        raise SchemaError("--budget must be a positive number of seconds")
    if arguments.n < 1:
        raise SchemaError("--n must be at least 1")
    models = [read(path, trust=arguments.trust) for path in arguments.models]
    schema = _schema(arguments.schema, models)
    data = read_table(Path(arguments.data)) if arguments.data else None
    errors = errors_to(sys.stderr)
    try:
        if schema is not None and schema.n_profiles is None and not arguments.schema:
            raise UnsupportedModelError(_no_resolution(schema))
        with Status("counting profiles", console=errors) as status:
            found = uncertainty(
                models if len(models) > 1 else models[0], schema,
                columns_independent=arguments.columns_independent, data=data, by=arguments.by,
                budget_seconds=arguments.budget, seed=arguments.seed,
                progress=lambda step, _share: status.update(step),
            )  # fmt: skip
            _write(found, arguments)
    except UnsupportedModelError as error:
        errors.print(f"[bold magenta]not assessed:[/] {escape(str(error))}", soft_wrap=True)
        return EXIT_NOT_ASSESSED
    except BudgetExhaustedError as error:
        errors.print(f"[bold red]no answer:[/] {escape(str(error))}", soft_wrap=True)
        return EXIT_BUDGET
    if arguments.json:
        sys.stdout.write(json.dumps(_document(found), indent=2, allow_nan=False) + "\n")
        return EXIT_DONE
    console = output()
    print_uncertainty(found, console)
    if not arguments.schema:
        say(console, "which profiles are possible was inferred; --schema makes it certain")
    for path in (arguments.leaves, arguments.dataset, arguments.worlds):
        if path:
            say(console, f"wrote {path}")
    return EXIT_DONE


def _schema(path: str | None, models: list[Model]) -> Schema | None:
    if path:
        return Schema.from_toml(Path(path))
    if len(models) > 1:
        raise SchemaError("several models need a schema: --schema FILE")
    return Schema.infer(models[0].split_evidence())


def _no_resolution(schema: Schema) -> str:
    names = [a.name for a in schema if a.size is None]
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return (
        f"the model does not tell how finely {names[0]!r}{more} was recorded, and a continuous "
        "value has no number of possibilities; write a schema (glassleak schema MODEL -o FILE), "
        "set each number's resolution in it, and pass it with --schema"
    )


def _write(found: Uncertainty, arguments: argparse.Namespace) -> None:
    """Whatever files were asked for."""
    alone = found.dataset is not None and found.per_leaf is not None
    if (arguments.leaves or arguments.dataset or arguments.worlds) and not alone:
        raise UnsupportedModelError(
            "leaves, datasets and possible tables are written for one tree or rule list alone"
        )
    assert found.per_leaf is not None or not alone
    if arguments.leaves and found.per_leaf is not None:
        leaves = found.per_leaf.copy()
        for name in _WHOLE:
            leaves[name] = leaves[name].map(decimal_text)
        leaves.to_csv(arguments.leaves, index=False)
    if found.dataset is None:
        return
    if arguments.dataset:
        as_json = Path(arguments.dataset).suffix.lower() == ".json"
        (found.dataset.to_json if as_json else found.dataset.to_csv)(arguments.dataset)
    if arguments.worlds:
        worlds = found.dataset.sample(arguments.n, arguments.seed, budget_seconds=arguments.budget)
        frames = []
        for i, world in enumerate(worlds):
            frame = world.table.copy()
            frame.insert(0, "possible_table", i)
            if world.labels is not None:
                frame.insert(len(frame.columns), "class", world.labels, allow_duplicates=True)
            frames.append(frame)
        pd.concat(frames).to_csv(arguments.worlds, index=False)


def _document(found: Uncertainty) -> dict[str, Any]:
    """The result for machines; numbers of profiles are strings, as they may be of any size."""
    document: dict[str, Any] = {
        "status": found.status,
        "exact": found.exact,
        "method": found.method,
        "rows": found.n_rows,
        "profiles": decimal_text(found.n_profiles),
        "columns_independent": found.columns_independent,
        "bits": found.bits,
        "bits_low": found.bits_low,
        "bits_high": found.bits_high,
        "bits_uninformed": found.bits_uninformed,
        "dist": found.dist,
        "dist_g": found.dist_g,
        "single_profile": found.single_profile,
        "ordered": _remaining(found.ordered),
        "unordered": _remaining(found.unordered),
        "unordered_by_class": _remaining(found.unordered_by_class),
        "statements": list(found.statements),
        "notes": list(found.notes),
        "seconds": round(found.seconds, 3),
    }
    for name in ("conventions", "per_leaf", "per_model", "exposure", "by_group"):
        table = getattr(found, name)
        document[name] = None if table is None else _records(table, name == "conventions")
    return document


def _remaining(found: Remaining | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "bits": found.bits, "low": found.low, "high": found.high, "estimate": found.estimate,
        "uninformed": found.uninformed, "share": found.share,
    }  # fmt: skip


def _records(table: pd.DataFrame, named: bool) -> list[dict[str, Any]]:
    """Lines of a table, with exact integers as text and NaN as null."""
    lines = (table.reset_index(names="convention") if named else table).to_dict("records")
    return [
        {str(k): decimal_text(v) if k in _WHOLE else _plain(v) for k, v in line.items()}
        for line in lines
    ]


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)
