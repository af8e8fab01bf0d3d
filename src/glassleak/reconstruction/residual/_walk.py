"""A random walk inside the set of solutions: two rows at a time exchange what differs.

Two rows in cells a and b can move to any c and d with ``A_c + A_d == A_a + A_b`` without touching
any equation.  Choosing evenly among all such pairs (the current one included) is Gibbs sampling: in
the long run every table reachable this way is equally likely.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba as nb
import numpy as np
import numpy.typing as npt

from glassleak.reconstruction.residual._problem import Problem

IntArray = npt.NDArray[np.int64]
MarkArray = npt.NDArray[np.uint64]


def marks(by_column: Any, seed: int) -> MarkArray:
    """One 64-bit sum per column; equal sums of two columns mean equal columns (almost surely)."""
    n_rows, n_columns = by_column.shape
    mark = np.random.default_rng(seed).integers(1, 2**64 - 1, size=n_rows, dtype=np.uint64)
    sums = np.zeros(n_columns, dtype=np.uint64)
    owner = np.repeat(np.arange(n_columns), np.diff(by_column.indptr))
    np.add.at(sums, owner, mark[by_column.indices])
    return sums


def bit_columns(by_column: Any) -> MarkArray:
    """The columns as bit sets, 64 equations to the word."""
    n_rows, n_columns = by_column.shape
    bits = np.zeros((n_columns, (n_rows + 63) // 64), dtype=np.uint64)
    owner = np.repeat(np.arange(n_columns), np.diff(by_column.indptr))
    row = by_column.indices.astype(np.uint64)
    np.bitwise_or.at(bits, (owner, row // np.uint64(64)), np.uint64(1) << (row % np.uint64(64)))
    return bits


def _compiled(function: Callable[..., int]) -> Callable[..., int]:
    try:
        fast: Callable[..., int] = nb.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # nowhere to keep the compiled code, as in a read-only installation
        fast = nb.njit(nogil=True)(function)
    return fast


@_compiled
def walk(
    rows: Any, z: Any, upper: Any, bits: Any, mark: Any, by_mark: Any, sorted_mark: Any,
    weight: Any, steps: int, seed: int,
) -> int:  # fmt: skip
    """Take `steps` steps, changing `rows` (the cell of each row, at least two) and `z` in place.

    Returns the number of steps that changed something.
    """
    np.random.seed(seed)  # noqa: NPY002 - the generator that compiled code has
    n, words = bits.shape
    moved = 0
    for _ in range(steps):
        p = np.random.randint(len(rows))  # noqa: NPY002
        q = np.random.randint(len(rows) - 1)  # noqa: NPY002
        q += q >= p
        a, b = rows[p], rows[q]
        z[a] -= 1
        z[b] -= 1
        total = mark[a] + mark[b]
        mass, new_a, new_b = 0.0, a, b
        for c in range(n):
            if z[c] >= upper[c]:
                continue
            inside = True
            for k in range(words):
                if bits[c, k] & ~(bits[a, k] | bits[b, k]) or bits[a, k] & bits[b, k] & ~bits[c, k]:
                    inside = False
                    break
            if not inside:
                continue
            wanted = total - mark[c]
            at = np.searchsorted(sorted_mark, wanted)
            while at < n and sorted_mark[at] == wanted:
                d = by_mark[at]
                at += 1
                if z[d] >= upper[d] or (c == d and z[d] + 1 >= upper[d]):
                    continue
                share = weight[c] * weight[d]
                mass += share
                if np.random.random() * mass < share:  # noqa: NPY002
                    new_a, new_b = c, d
        z[new_a] += 1
        z[new_b] += 1
        rows[p], rows[q] = new_a, new_b
        same = (new_a == a and new_b == b) or (new_a == b and new_b == a)
        moved += not same
    return moved


class Walker:
    """What all walks through one problem share."""

    def __init__(self, task: Problem, weight: npt.NDArray[np.float64]) -> None:
        self.upper = task.upper
        self.bits = bit_columns(task.by_column)
        self.marks = marks(task.by_column, seed=7)
        self.by_mark = np.argsort(self.marks, kind="stable")
        self.sorted_marks = self.marks[self.by_mark]
        self.weight = weight


class Walk:
    """A walk that can be continued.

    Attributes
    ----------
    z : int array
        The histogram it has reached.
    """

    def __init__(self, walker: Walker, start: IntArray, seed: int) -> None:
        self.z = start.copy()
        self._rows = np.repeat(np.arange(len(start)), start)
        self._walker = walker
        self._seeds = np.random.default_rng(seed)

    def go(self, steps: int) -> int:
        """Take `steps` steps; returns how many changed something."""
        shared = self._walker
        return int(
            walk(
                self._rows, self.z, shared.upper, shared.bits, shared.marks, shared.by_mark,
                shared.sorted_marks, shared.weight, steps, int(self._seeds.integers(2**31)),
            )
        )  # fmt: skip
