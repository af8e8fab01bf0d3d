"""What a leaf costs, depending on how many rows stand in it.

The search asks one thing of a leaf: how much does the energy change when a row comes or goes?  The
answer is looked up in a table, so the same inner loop serves counts that must be met exactly,
counts of repeated draws, and counts that only make tables more or less likely.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Terms:
    """Leaf terms as tables.

    Attributes
    ----------
    kind : (leaves, classes) int array
        Which line of `term` belongs to a leaf and class.
    empty : (leaves, classes) int array
        The position in that line when no row stands in the leaf; every row moves it by its weight.
    term : (kinds, positions) float array
        The energy.
    seen_kind, seen_empty : (leaves,) int arrays
        Likewise for distinct rows of all classes together; without entries where these say nothing
        beyond the classes' counts.
    seen_term : (kinds, positions) float array
    """

    kind: IntArray
    empty: IntArray
    term: FloatArray
    seen_kind: IntArray
    seen_empty: IntArray
    seen_term: FloatArray

    def energy(self, held: IntArray, seen: IntArray) -> float:
        """Of all leaves together, given the positions they are at."""
        total = float(self.term[self.kind, held].sum())
        return total + float(self.seen_term[self.seen_kind, seen].sum())


def exact_terms(
    target: npt.NDArray[np.int64],
    most: int,
    *,
    power: float = 1.0,
    distinct: npt.NDArray[np.int64] | None = None,
) -> Terms:
    """Counts that must be met: what they are off by, to some power.

    Parameters
    ----------
    target : (leaves, classes) int array
        -1 where nothing is stated.
    most : int
        The largest sum of weights that can come together in a leaf.
    distinct : (leaves,) int array, optional
        Rows per leaf, each counted once; -1 where nothing is stated.
    """
    kind, empty, term = _lines(target, most, power)
    if distinct is None:
        return Terms(kind, empty, term, kind[:0, 0], empty[:0, 0], term)
    return Terms(kind, empty, term, *_lines(distinct, most, power))


def _lines(
    target: npt.NDArray[np.int64], most: int, power: float
) -> tuple[IntArray, IntArray, FloatArray]:
    """Line 0: what a figure is off by; line 1: nothing is stated."""
    largest = int(target.max(initial=0))
    off = np.abs(np.arange(-largest, most + 2, dtype=np.float64)) ** power
    kind = (target < 0).astype(np.int32)
    empty = (largest - np.maximum(target, 0)).astype(np.int32)
    return kind, empty, np.stack([off, np.zeros_like(off)])


def likely_terms(
    draws: npt.NDArray[np.int64],
    distinct: npt.NDArray[np.int64],
    n_rows: int,
    *,
    n_draws: npt.NDArray[np.int64],
    penalty: float,
) -> Terms:
    r"""Counts of samples nobody knows: how unlikely they are, given the rows in each leaf.

    With h rows of a class in the leaf, of which d distinct ones were drawn, the number of ways is
    :math:`\binom{h}{d}`.  Where several classes were drawn only their sum d is published; it is
    shared out in proportion to what so many draws of each class are expected to give, which keeps
    the classes independent of each other.  Without distinct rows, n draws have :math:`h^n` ways.

    Parameters
    ----------
    draws : (leaves, classes) int array
    distinct : (leaves,) int array
        -1 where not published.
    n_draws : (leaves,) int array
        Draws of the leaf's tree.
    penalty : float
        Instead of infinity, for every row that a leaf lacks.
    """
    share = _distinct_by_class(draws, distinct, n_rows, n_draws)
    told = (distinct >= 0)[:, None] & (draws > 0)
    # A quarter of a row more or less is far below what sampling leaves open.
    code = np.where(told, 1 + np.rint(4 * share), np.where(draws > 0, -draws, 0)).astype(np.int64)
    codes, kind = np.unique(code, return_inverse=True)
    held = np.arange(n_rows + 2, dtype=np.float64)
    lines = [_line(int(c), held, penalty) for c in codes.tolist()]
    nothing = np.zeros(draws.shape, dtype=np.int32)
    kinds = kind.reshape(draws.shape).astype(np.int32)
    return Terms(kinds, nothing, np.stack(lines), nothing[:0, 0], nothing[:0, 0], np.zeros((1, 1)))


def _line(code: int, held: FloatArray, penalty: float) -> FloatArray:
    """Energies of leaves with 0, 1, 2, ... rows: of distinct rows (code > 0) or draws (< 0)."""
    if code == 0:
        return np.zeros_like(held)
    if code < 0:
        return np.where(held > 0, code * np.log(np.maximum(held, 1.0)), penalty)
    seen = (code - 1) / 4
    least = np.ceil(seen)
    enough = np.maximum(held, least)
    ways = gammaln(enough + 1) - gammaln(enough - seen + 1)
    out: FloatArray = -ways + penalty * np.maximum(least - held, 0.0)
    return out


def _distinct_by_class(
    draws: npt.NDArray[np.int64],
    distinct: npt.NDArray[np.int64],
    n_rows: int,
    n_draws: npt.NDArray[np.int64],
) -> FloatArray:
    """Distinct rows of every class in every leaf: published where one class was drawn."""
    rows = np.maximum(draws * (n_rows / np.maximum(n_draws, 1))[:, None], 1.0)
    expected = np.where(
        draws > 0, rows * -np.expm1(draws * np.log1p(-1.0 / np.maximum(rows, 1.0 + 1e-9))), 0.0
    )
    expected = np.clip(expected, np.minimum(draws, 1), draws)
    spare = np.maximum(expected - (draws > 0), 0.0)
    # One row per class drawn, and the others in proportion.
    others = distinct - np.count_nonzero(draws, axis=1)
    total = spare.sum(axis=1)
    scale = np.where(total > 0, others / np.maximum(total, 1e-300), 0.0)
    out: FloatArray = np.minimum((draws > 0) + np.maximum(scale, 0.0)[:, None] * spare, draws)
    return out
