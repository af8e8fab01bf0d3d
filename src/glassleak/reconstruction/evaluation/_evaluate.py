"""How good a reconstruction is, against the truth and against guessing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from glassleak.errors import SchemaError
from glassleak.reconstruction.evaluation._row_distance import FloatArray, Per
from glassleak.reconstruction.evaluation._row_matching import Matching, match_rows, warn_if_inexact
from glassleak.schema import Attribute, Categorical, Numeric, Ordinal, Schema

if TYPE_CHECKING:
    from glassleak.models import Model

__all__ = [
    "Baseline",
    "Matching",
    "match_rows",
    "random_baseline",
    "random_table",
    "reconstruction_error",
    "row_errors",
]


def reconstruction_error(
    truth: pd.DataFrame | npt.ArrayLike,
    table: pd.DataFrame | npt.ArrayLike,
    schema: Schema,
    *,
    per: Per = "column",
    budget_seconds: float = 300.0,
) -> float:
    """Mean share of attributes that are wrong after the rows were paired at minimum cost.

    As in Section 7.1 of the forest paper; see `match_rows` for the parameters.  Numbers count by
    how far they are off as a share of their range, as in the paper's published code.

    Warns
    -----
    RuntimeWarning
        The budget ended before the pairing was proved optimal: the error is an upper bound.
    """
    errors = row_errors(truth, table, schema, per=per, budget_seconds=budget_seconds)
    return float(errors.mean()) if len(errors) else 0.0


def row_errors(
    truth: pd.DataFrame | npt.ArrayLike,
    table: pd.DataFrame | npt.ArrayLike,
    schema: Schema,
    *,
    per: Per = "column",
    budget_seconds: float = 300.0,
) -> FloatArray:
    """Share of wrong attributes of each row of `truth`, in its order.

    See `match_rows` for the parameters and `reconstruction_error` for the warning.
    """
    matching = match_rows(truth, table, schema, per=per, budget_seconds=budget_seconds)
    warn_if_inexact(matching, budget_seconds)
    return matching.errors


@dataclass(frozen=True)
class Baseline:
    """Error of guessing at random: mean and standard deviation over the repeats."""

    mean: float
    std: float
    repeats: int


def random_baseline(
    model: Model | None,
    schema: Schema,
    truth: pd.DataFrame | npt.ArrayLike,
    repeats: int = 100,
    seed: int = 0,
    *,
    per: Per = "column",
) -> Baseline:
    """Error of an adversary who knows the schema and the number of rows, but not the model.

    Each repeat draws a table of valid profiles uniformly (one-hot groups stay one-hot) and is
    evaluated like a reconstruction, as in Section 7.1 of the forest paper.

    Parameters
    ----------
    model : Tree, Forest or RuleList, optional
        Only its number of training rows is used, and only to refuse a `truth` of another length.
    schema, truth, per
        As for `reconstruction_error`.
    repeats, seed : int
    """
    if repeats < 1:
        raise SchemaError(f"the baseline needs at least one repeat, got {repeats}")
    n_rows = len(truth) if isinstance(truth, pd.DataFrame) else len(np.asarray(truth))
    if model is not None and model.n_rows is not None and model.n_rows != n_rows:
        raise SchemaError(f"the model was trained on {model.n_rows} rows, the truth has {n_rows}")
    rng = np.random.default_rng(seed)
    errors = [
        reconstruction_error(truth, random_table(schema, n_rows, rng), schema, per=per)
        for _ in range(repeats)
    ]
    return Baseline(float(np.mean(errors)), float(np.std(errors)), repeats)


def random_table(schema: Schema, n_rows: int, rng: np.random.Generator) -> pd.DataFrame:
    """A table of `n_rows` profiles, each drawn uniformly from all that the schema allows.

    A continuous attribute is drawn from its range: next to infinitely many values, "missing" has
    no weight.
    """
    columns: dict[str, npt.NDArray[Any]] = {}
    for attribute in schema:
        columns |= zip(attribute.columns, _draw(attribute, n_rows, rng).T, strict=True)
    return pd.DataFrame(columns, columns=list(schema.columns))


def _draw(attribute: Attribute, n_rows: int, rng: np.random.Generator) -> npt.NDArray[Any]:
    """`n_rows` levels of one attribute, one line each."""
    if isinstance(attribute, Numeric) and attribute.size is None:
        return rng.uniform(attribute.low, attribute.high, (n_rows, 1))
    size = attribute.size
    assert size is not None
    chosen = rng.integers(size, size=n_rows)
    if isinstance(attribute, Ordinal | Numeric):
        # Ranges may be too long to list.
        step = 1.0 if isinstance(attribute, Ordinal) else attribute.resolution or 0.0
        values = np.minimum(attribute.low + chosen * step, attribute.high)
        missing = attribute.missing & (chosen == size - 1)
        return np.where(missing, np.nan, values)[:, None]
    if isinstance(attribute, Categorical) and not attribute.one_hot:
        levels = np.array([*attribute.levels, *([None] * attribute.missing)], dtype=object)
        return levels[chosen][:, None]
    return attribute.level_values()[chosen]
