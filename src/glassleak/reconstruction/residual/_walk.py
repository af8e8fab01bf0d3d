"""A random walk inside the set of solutions: a few rows at a time are placed anew.

Exchanges between two rows alone do not reach every solution; exchanges between many do, and as
long as few ways exist they can all be listed.  Drawing evenly among them (the present one included)
is Gibbs sampling: in the long run every table that can be reached is equally likely.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.reconstruction.residual._exchange import MAX_NAMED, MAX_ROWS, exchange
from glassleak.reconstruction.residual._problem import Problem

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
_SIZES = np.array([2, 3, 4, 6, 8, 12, 16, 24, MAX_ROWS])
# Numbers of rows that are given up more often than this only cost time.
_GIVEN_UP = 0.3
# About two milliseconds.
_EFFORT = 2_000_000


def bit_columns(by_column: Any) -> npt.NDArray[np.uint64]:
    """The columns as bit sets, 64 equations to the word."""
    n_rows, n_columns = by_column.shape
    bits = np.zeros((n_columns, (n_rows + 63) // 64), dtype=np.uint64)
    owner = np.repeat(np.arange(n_columns), np.diff(by_column.indptr))
    row = by_column.indices.astype(np.uint64)
    np.bitwise_or.at(bits, (owner, row // np.uint64(64)), np.uint64(1) << (row % np.uint64(64)))
    return bits


class Walker:
    """What all walks through one problem share."""

    def __init__(self, task: Problem, weight: FloatArray) -> None:
        self.upper = task.upper
        self.starts = task.by_column.indptr.astype(np.int64)
        self.entries = task.by_column.indices.astype(np.int64)
        self.bits = bit_columns(task.by_column)
        self.share = np.cumsum(task.target).astype(np.float64)
        self.log_weight = np.log(weight)


class Walk:
    """A walk that can be continued.

    Attributes
    ----------
    z : int array
        The histogram it has reached.
    rows : int array
        The column of each row.
    """

    def __init__(self, walker: Walker, start: IntArray, seed: int) -> None:
        self.z = start.copy()
        self.rows = np.repeat(np.arange(len(start)), start)
        self._walker = walker
        self._seeds = np.random.default_rng(seed)
        self._tally = np.zeros((MAX_ROWS + 1, 2), dtype=np.int64)
        self._sizes = _SIZES

    def go(self, steps: int) -> int:
        """Take `steps` steps; returns in how many there was a choice."""
        return self._go(steps, np.empty((0, 0), np.float32), self._sizes)

    def descend(self, steps: int, energy: npt.NDArray[np.float32]) -> int:
        """Steps that only ever lower the sum of ``energy[row, column]``."""
        return self._go(steps, energy, _SIZES[_SIZES <= MAX_NAMED])

    def settle(self) -> None:
        """Leave out the numbers of rows that have turned out too costly to place anew.

        To be called before anything is sampled: a walk that kept adapting would be biased.
        """
        tried, given_up = self._tally[_SIZES].T
        affordable = _SIZES[given_up <= _GIVEN_UP * tried]
        self._sizes = affordable if affordable.size else _SIZES[:1]

    def _go(self, steps: int, energy: npt.NDArray[np.float32], sizes: IntArray) -> int:
        shared = self._walker
        return int(
            exchange(
                self.rows, self.z, shared.upper - self.z, shared.starts, shared.entries,
                shared.bits, shared.share, shared.log_weight, energy, sizes, steps, _EFFORT,
                int(self._seeds.integers(2**31)), self._tally,
            )
        )  # fmt: skip
