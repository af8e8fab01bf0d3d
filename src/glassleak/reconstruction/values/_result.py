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
        rightly.
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
    midpoints: bool
    reason: str
    thresholds: int
    met: int
    conflicts: tuple[tuple[int, int], ...]
    seconds: float

    @property
    def share_exact(self) -> float:
        """Share of the cells of these columns whose value is proved."""
        return float(np.mean(self.exact.to_numpy())) if self.exact.size else 0.0

    @property
    def share_pinned(self) -> float:
        """Share of the cells of these columns that have one value left."""
        return float(np.mean(self.pinned.to_numpy())) if self.pinned.size else 0.0
