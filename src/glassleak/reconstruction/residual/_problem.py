"""A component with its lower bounds taken out, and what solving it can end in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Solution:
    """A consistent histogram, checked against every equation and bound.

    Attributes
    ----------
    x : int64 array
    method : str
    seconds : float
    """

    x: IntArray
    method: str
    seconds: float


@dataclass(frozen=True)
class Infeasible:
    """A complete method proved that there is none (giving up is ``None``, not this).

    Attributes
    ----------
    method : str
        What the proof rests on.
    """

    method: str


@dataclass(frozen=True)
class Problem:
    """``by_row @ z == target`` over whole numbers ``0 <= z <= upper``, with ``x = lower + z``.

    Attributes
    ----------
    by_row, by_column : the same matrix of zeros and ones, CSR and CSC
    target, lower, upper : int64 arrays
    """

    by_row: sp.csr_array
    by_column: sp.csc_array
    target: IntArray
    lower: IntArray
    upper: IntArray

    @property
    def n_equations(self) -> int:
        return len(self.target)

    @property
    def n_unknowns(self) -> int:
        return len(self.upper)

    def solved_by(self, z: IntArray) -> bool:
        """Whether `z` satisfies every equation and bound, in whole numbers."""
        within = bool(((z >= 0) & (z <= self.upper)).all())
        return within and bool((self.by_row @ z == self.target).all())


def problem(matrix: sp.csr_array, target: IntArray, lower: IntArray, upper: IntArray) -> Problem:
    """The component with its lower bounds subtracted."""
    by_row = sp.csr_array(matrix.astype(np.int64))
    lower = np.asarray(lower, dtype=np.int64)
    return Problem(
        by_row,
        sp.csc_array(by_row),
        np.asarray(target, dtype=np.int64) - by_row @ lower,
        lower,
        np.asarray(upper, dtype=np.int64) - lower,
    )
