"""One independent piece of the counting problem, and what each way of filling it weighs.

Unknown: how many rows ``h`` of one class lie in each cell.  A histogram stands for several tables,
because a cell holds several profiles.  How many depends on what counts as *one* table:

``ordered``
    Tables whose rows are listed cell by cell, rows of one cell in any order: ``n ** h`` ways to
    fill ``h`` rows of a cell of ``n`` profiles.  With one tree the cells are its leaves, and the
    number of tables is the paper's product of ``num(leaf) ** rows`` (Equation 11).
``unordered``
    Sets of rows with repetition: ``C(n + h - 1, h)`` ways.

Both are products over the unknowns, both fall whenever a tree is added, and both are 1 exactly when
the table is determined.  (A tree that is added splits cells.  Of ``n ** h`` with ``n = n1 + n2`` it
keeps, for the one or more ways ``h = h1 + h2`` that fit its counts, ``n1 ** h1 * n2 ** h2``, and by
the binomial theorem these are at most ``n ** h`` together.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
Kind = Literal["ordered", "unordered"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Piece:
    """``matrix @ h == target`` over whole numbers ``lower <= h <= upper``.

    Attributes
    ----------
    matrix : CSR matrix of zeros and ones
    target, lower, upper : int arrays
    profiles : tuple of int
        Valid profiles of each unknown's cell.
    given : int array
        Rows of each unknown that are known completely: they can be filled in one way.
    parts : int array
        The tree (or rule list) each equation comes from; its equations share no unknown.
    """

    matrix: sp.csr_array
    target: IntArray
    lower: IntArray
    upper: IntArray
    profiles: tuple[int, ...]
    given: IntArray
    parts: IntArray

    @property
    def n_unknowns(self) -> int:
        return len(self.profiles)

    def holds(self, h: IntArray) -> bool:
        """Whether `h` satisfies every equation and bound."""
        within = bool(((h >= self.lower) & (h <= self.upper)).all())
        return within and bool((self.matrix @ h == self.target).all())

    def bits(self, h: IntArray, kind: Kind) -> float:
        """log2 of the number of tables with histogram `h`."""
        return filled_bits(self.profiles, (h - self.given).tolist(), kind)

    def part(self, unknowns: IntArray, h: IntArray) -> Piece:
        """The piece of `unknowns` when everything else stays as in `h`."""
        matrix = sp.csr_array(self.matrix[:, unknowns])
        touched = np.flatnonzero(np.diff(matrix.indptr))
        matrix = sp.csr_array(matrix[touched])
        return Piece(
            matrix,
            matrix @ h[unknowns],
            self.lower[unknowns],
            self.upper[unknowns],
            tuple(self.profiles[j] for j in unknowns.tolist()),
            self.given[unknowns],
            self.parts[touched],
        )


def ways(profiles: int, rows: int, kind: Kind) -> int:
    """Ways to fill `rows` rows of a cell of `profiles` profiles."""
    if kind == "ordered":
        return int(profiles**rows)
    return math.comb(profiles + rows - 1, rows)


def filled_bits(profiles: Sequence[int], rows: Sequence[int], kind: Kind) -> float:
    """log2 of the ways to fill every cell, correct to a few units in the last place."""
    if kind == "ordered":
        return math.fsum(k * math.log2(n) for n, k in zip(profiles, rows, strict=True) if k)
    return math.fsum(log2_ways(n, k) for n, k in zip(profiles, rows, strict=True) if k and n > 1)


def log2_ways(profiles: int, rows: int) -> float:
    """log2 of ``C(profiles + rows - 1, rows)``."""
    few = min(rows, profiles - 1)
    if few <= 4096:
        return math.log2(math.comb(profiles + rows - 1, few))
    return (
        math.lgamma(profiles + rows) - math.lgamma(rows + 1) - math.lgamma(profiles)
    ) / math.log(2)


def log_ways_table(profiles: int, rows: int, kind: Kind) -> FloatArray:
    """Natural logarithms of the ways to fill 0, 1, …, `rows` rows, in floating point."""
    k = np.arange(rows, dtype=np.float64)
    step = np.full(rows, math.log(profiles))
    if kind == "unordered":
        # (n + k) / (k + 1) from one row to the next; n may be too large for a float.
        step += np.log1p(k / profiles if profiles < 2**1000 else 0.0 * k) - np.log1p(k)
    return np.concatenate([[0.0], np.cumsum(step)]) if kind == "unordered" else np.append(
        k, rows
    ) * math.log(profiles)  # fmt: skip
