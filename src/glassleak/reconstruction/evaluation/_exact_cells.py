"""How many values of a reconstruction are right to the last digit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from glassleak.reconstruction.evaluation._row_distance import Per, both_tables
from glassleak.reconstruction.evaluation._row_matching import match_rows, warn_if_inexact
from glassleak.schema import Attribute, Numeric, Ordinal, Schema

# Of a step: sums of decimals are not always the decimal itself.
_ROUNDING = 1e-3


@dataclass(frozen=True)
class ExactCells:
    """Values that are right; a cell is one attribute of one row.

    Attributes
    ----------
    n_cells, n_numbers : int
        Cells in all, and those of ordinal and numeric attributes.
    right, numbers_right : int
        How many of them are right.
    error : float
        What `reconstruction_error` says.
    """

    n_cells: int
    n_numbers: int
    right: int
    numbers_right: int
    error: float

    @property
    def share(self) -> float:
        """Share of all cells that are right."""
        return self.right / self.n_cells if self.n_cells else 1.0

    @property
    def share_of_numbers(self) -> float:
        """Share of the numbers that are right; 1 if there are none."""
        return self.numbers_right / self.n_numbers if self.n_numbers else 1.0


def exact_cells(
    truth: pd.DataFrame | npt.ArrayLike,
    table: pd.DataFrame | npt.ArrayLike,
    schema: Schema,
    *,
    per: Per = "column",
    budget_seconds: float = 300.0,
) -> ExactCells:
    """Count the values that are right, rows paired as for `reconstruction_error`.

    An attribute with several columns is right if all of them are.  A missing value is right where
    the truth is missing.  Numbers without declared steps are compared in single precision, which
    is all that scikit-learn's trees see of them.

    Parameters
    ----------
    truth, table, schema, per, budget_seconds
        As for `reconstruction_error`; `per` matters for the pairing only.

    Warns
    -----
    RuntimeWarning
        The budget ended before the pairing was proved optimal: another may have more right.
    """
    matching = match_rows(truth, table, schema, per=per, budget_seconds=budget_seconds)
    warn_if_inexact(matching, budget_seconds)
    partner = matching.pairs[:, 1]
    n_rows = len(partner)
    right = numbers_right = n_numbers = 0
    for attribute in schema:
        same = np.ones(n_rows, dtype=bool)
        for column in both_tables(truth, table, attribute, schema):
            same &= _equal(attribute, column[:n_rows], column[n_rows:][partner])
        right += int(same.sum())
        if isinstance(attribute, Ordinal | Numeric):
            n_numbers += n_rows
            numbers_right += int(same.sum())
    error = float(matching.errors.mean()) if n_rows else 0.0
    return ExactCells(n_rows * len(schema), n_numbers, right, numbers_right, error)


def _equal(
    attribute: Attribute, one: npt.NDArray[Any], other: npt.NDArray[Any]
) -> npt.NDArray[np.bool_]:
    same: npt.NDArray[np.bool_]
    if isinstance(attribute, Numeric) and attribute.resolution is not None:
        same = np.abs(one - other) <= _ROUNDING * attribute.resolution
    elif isinstance(attribute, Numeric):
        with np.errstate(over="ignore"):
            same = one.astype(np.float32) == other.astype(np.float32)
    else:
        same = np.asarray(one == other, dtype=bool)
    return same | (pd.isna(one) & pd.isna(other))
