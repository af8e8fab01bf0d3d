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

from glassleak.sanitise._cells import all_cells, number_of_cells, representatives, sample_cells
from glassleak.sanitise._estimators import fitted_trees

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


def coarsest(estimator: Any, rounded_to: Callable[[int], Any], *, missing: bool) -> Coarsened:
    """The smallest number of steps that changes no prediction of `estimator`.

    Parameters
    ----------
    estimator : ensemble of trees
    rounded_to : callable
        The same ensemble with shares rounded to multiples of one over its argument.
    missing : bool
        Whether rows with missing values count as inputs.
    """
    trees = fitted_trees(estimator)
    values = representatives(trees, estimator.n_features_in_)
    missing = missing and takes_missing(estimator)
    if not missing:
        values = [v[~np.isnan(v)] for v in values]
    cells = number_of_cells(values)
    if cells * len(trees) > MOST_WORK:
        return Coarsened(
            None,
            cells,
            f"{cells:.3g} cells are too many to prove that coarser shares predict the same, so "
            "shares stay as they are"
            if cells < 1e300
            else "too many cells to prove that coarser shares predict the same",
        )
    few = sample_cells(values, _FIRST_LOOK, missing=missing)
    table = all_cells(values)
    answers = labels(estimator, table)
    first = labels(estimator, few)
    for steps in _STEPS:
        candidate = rounded_to(steps)
        if np.array_equal(labels(candidate, few), first) and np.array_equal(
            labels(candidate, table), answers
        ):
            return Coarsened(
                steps, cells, f"proved on all {cells:,} cells its thresholds make of every input"
            )
    return Coarsened(None, cells, "no coarser shares predict the same, so they stay as they are")


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
