"""What is known about the values of every cell once rows are placed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Values:
    """Values of the columns that hold numbers.

    Attributes
    ----------
    table : DataFrame
        In the model's columns: the value where it is determined, otherwise a value from the
        tightest interval.
    low, high : DataFrame
        The tightest interval found for every cell, both ends included; only columns that hold
        numbers (ordinal, numeric, raw categories as codes).
    pinned : DataFrame of bool
        Cells with one value left.
    exact : DataFrame of bool
        Pinned cells of columns without a contradiction: proved, provided that the rows are placed
        rightly.  Where only some rows were said to be: what follows from these alone.
    numbers : tuple of str
        Those of the columns that hold numbers, and not codes of categories.
    midpoints : bool
        Whether thresholds were known to be half way between values; otherwise only intervals
        between thresholds are told.
    reason : str
        Why, in words.
    thresholds, met : int
        Splits on these columns, and those that `table` reproduces exactly.
    conflicts : tuple of (tree, node)
        Splits that contradict others: not all rows are placed rightly.
    seconds : float
    """

    table: pd.DataFrame
    low: pd.DataFrame
    high: pd.DataFrame
    pinned: pd.DataFrame
    exact: pd.DataFrame
    numbers: tuple[str, ...]
    midpoints: bool
    reason: str
    thresholds: int
    met: int
    conflicts: tuple[tuple[int, int], ...]
    seconds: float

    @property
    def share_exact(self) -> float:
        """Share of the numbers (ordinal and numeric cells) whose value is proved."""
        return _share(self.exact, self.numbers)

    @property
    def share_pinned(self) -> float:
        """Share of the numbers that have one value left."""
        return _share(self.pinned, self.numbers)


def _share(cells: pd.DataFrame, columns: tuple[str, ...]) -> float:
    return float(np.mean(cells[list(columns)].to_numpy())) if columns and len(cells) else 0.0
