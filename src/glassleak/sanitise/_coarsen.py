"""The coarsest class shares with which an ensemble still predicts the same everywhere.

An ensemble averages the shares of its trees, so the labels of single trees do not determine its
answer.  Rounded shares may: whether they do is *proved*, by comparing the two ensembles on one
input from every cell their thresholds divide all possible inputs into.  Where there are too many
cells for that, shares stay as they are.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.sanitise._cells import (
    all_cells,
    all_profiles,
    number_of_cells,
    number_of_profiles,
    representatives,
    sample_cells,
    sample_profiles,
    space_of,
)
from glassleak.sanitise._estimators import fitted_trees
from glassleak.sanitise._options import Options

# Cells times trees that are compared: a few seconds.
MOST_WORK = 30_000_000
# Powers of two: sums of such shares are exact, whatever the order trees are added up in.
_STEPS = tuple(2**k for k in range(9))
_FIRST_LOOK = 2_000
_CHUNK = 100_000


@dataclass(frozen=True)
class Coarsened:
    """The outcome.

    Attributes
    ----------
    steps : int or None
        Shares may be rounded to multiples of 1 / `steps`; ``None``: they may not.
    cells : int
        Cells there are.
    why : str
        In words.
    """

    steps: int | None
    cells: int
    why: str


def coarsest(estimator: Any, rounded_to: Callable[[int], Any], options: Options) -> Coarsened:
    """The smallest number of steps that changes no prediction of `estimator`.

    Parameters
    ----------
    estimator : ensemble of trees
    rounded_to : callable
        The same ensemble with shares rounded to multiples of one over its argument.
    options : Options
        Say which inputs count: those of a schema, or all, with missing values or without.
    """
    inputs = _inputs(estimator, options)
    if inputs.number * len(fitted_trees(estimator)) > MOST_WORK:
        many = f"{inputs.number:.3g}" if inputs.number < 1e300 else "far more than 1e300"
        return Coarsened(
            None,
            inputs.number,
            f"{many} {inputs.what} are too many to prove that coarser shares predict the same, so "
            "shares stay as they are",
        )
    few, table = inputs.few(), inputs.every()
    answers, first = labels(estimator, table), labels(estimator, few)
    for steps in _STEPS:
        candidate = rounded_to(steps)
        if np.array_equal(labels(candidate, few), first) and np.array_equal(
            labels(candidate, table), answers
        ):
            return Coarsened(steps, inputs.number, f"proved on all {inputs.number:,} {inputs.what}")
    return Coarsened(
        None, inputs.number, "no coarser shares predict the same, so they stay as they are"
    )


@dataclass(frozen=True)
class _Inputs:
    """The inputs that count: how many, what they are called, some of them, and all."""

    number: int
    what: str
    few: Callable[[], npt.NDArray[Any]]
    every: Callable[[], npt.NDArray[Any]]


def _inputs(estimator: Any, options: Options) -> _Inputs:
    trees = fitted_trees(estimator)
    if options.schema is not None:
        space = space_of(trees, column_names(estimator), options.schema)
        return _Inputs(
            number_of_profiles(space),
            "profiles of the schema that its thresholds tell apart",
            lambda: sample_profiles(space, _FIRST_LOOK),
            lambda: all_profiles(space),
        )
    values = representatives(trees, estimator.n_features_in_)
    missing = options.missing_values and takes_missing(estimator)
    if not missing:
        values = [v[~np.isnan(v)] for v in values]
    return _Inputs(
        number_of_cells(values),
        "cells its thresholds make of every input",
        lambda: sample_cells(values, _FIRST_LOOK, missing=missing),
        lambda: all_cells(values),
    )


def column_names(estimator: Any) -> list[str]:
    """The columns of the table, x0, x1, … if they have no names."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        return [f"x{i}" for i in range(estimator.n_features_in_)]
    return [str(name) for name in names]


def labels(estimator: Any, table: npt.NDArray[Any], method: str = "predict") -> npt.NDArray[Any]:
    """Answers for `table`, in pieces, without warnings about column names."""
    answer = getattr(estimator, method)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        found = [
            np.asarray(answer(table[start : start + _CHUNK]))
            for start in range(0, len(table), _CHUNK)
        ]
    return np.concatenate(found)


def takes_missing(estimator: Any) -> bool:
    """Whether the model answers for rows with missing values."""
    row = np.full((1, estimator.n_features_in_), np.nan, dtype=np.float32)
    try:
        labels(estimator, row)
    except ValueError:
        return False
    return True
