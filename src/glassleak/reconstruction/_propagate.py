"""Bound propagation: what every consistent table must have in common, by arithmetic alone.

For each equation and unknown: the count minus what the others must hold at least is an upper
bound, minus what they can hold at most a lower bound.  Repeated until nothing changes.  Every
bound is proved; where lower meets upper the value is certain, and if all do, the histogram is
unique, with this as the proof.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Bounds:
    """Proved bounds on every unknown.

    Attributes
    ----------
    lower, upper : int64 arrays
    conflict : int or None
        An equation that no values within the bounds satisfy.
    rounds : int
    """

    lower: IntArray
    upper: IntArray
    conflict: int | None
    rounds: int

    @property
    def fixed(self) -> npt.NDArray[np.bool_]:
        settled: npt.NDArray[np.bool_] = self.lower == self.upper
        return settled


def propagate(
    matrix: sp.csc_array,
    target: IntArray,
    lower: IntArray,
    upper: IntArray,
    max_rounds: int = 1000,
    deadline: float = math.inf,
) -> Bounds:
    """Tighten ``lower <= x <= upper`` under ``matrix @ x == target`` (zeros and ones only).

    Each round costs O(non-zeros that are not yet settled).  What is known when the rounds or the
    time run out is proved all the same.
    """
    lower, upper = lower.copy(), upper.copy()
    rows, starts = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    owner = np.repeat(np.arange(matrix.shape[1]), np.diff(starts))
    for step in range(max_rounds):
        at_least = np.zeros(len(target), np.int64)
        at_most = np.zeros(len(target), np.int64)
        at_least += _row_sums(rows, lower[owner], len(target))
        at_most += _row_sums(rows, upper[owner], len(target))
        bad = np.flatnonzero((at_least > target) | (at_most < target))
        if bad.size:
            return Bounds(lower, upper, int(bad[0]), step)
        free = upper > lower
        if not free.any():
            return Bounds(lower, upper, None, step)
        active = free[owner]
        active_rows, active_owner = rows[active], owner[active]
        # reduceat needs the entries of one unknown side by side, which CSC order gives.
        edges = np.flatnonzero(np.diff(active_owner, prepend=-1))
        who = active_owner[edges]
        spare = (target - at_least)[active_rows]
        short = (target - at_most)[active_rows]
        new_upper = lower[who] + np.minimum.reduceat(spare, edges)
        new_lower = upper[who] + np.maximum.reduceat(short, edges)
        new_upper = np.minimum(new_upper, upper[who])
        new_lower = np.maximum(new_lower, lower[who])
        if (new_upper == upper[who]).all() and (new_lower == lower[who]).all():
            return Bounds(lower, upper, None, step)
        upper[who], lower[who] = new_upper, new_lower
        crossed = np.flatnonzero(new_lower > new_upper)
        if crossed.size:
            unknown = int(who[crossed[0]])
            return Bounds(lower, upper, int(rows[starts[unknown]]), step)
        if time.monotonic() > deadline:
            return Bounds(lower, upper, None, step + 1)
    return Bounds(lower, upper, None, max_rounds)


def _row_sums(rows: IntArray, values: IntArray, n_rows: int) -> IntArray:
    # bincount adds in float64, exact up to 2**53; counts are far below.
    return np.bincount(rows, weights=values, minlength=n_rows).astype(np.int64)
