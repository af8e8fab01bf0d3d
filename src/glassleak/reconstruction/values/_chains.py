"""Rows whose values determine each other: ``y_i + y_j = 2 t`` chains rows together.

Once it is known which row is the largest on the low side of a split and which the smallest on the
high side, their values have a known sum.  All rows linked in this way depend on one number: the
value of row i is ``sign_i * y_root + offset_i``.  A cycle of odd length determines that number.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from glassleak._compiled import compiled
from glassleak.reconstruction.values._lattice import Lattice, at_least, at_most

# Offsets are sums of thresholds: their rounding errors, relative to the largest of them.
_ROUNDING = 2e-14


class Cells(NamedTuple):
    """The cells of one column.

    Attributes
    ----------
    low, high : (rows,) float arrays
        Intervals, both ends included.
    parent : (rows,) int array
        Towards the root of the row's chain.
    sign, offset : (rows,) float arrays
        The value is ``sign * value of the parent + offset``.
    size : (rows,) int array
        Rows in the chain, at its root.
    """

    low: Any
    high: Any
    parent: Any
    sign: Any
    offset: Any
    size: Any


def unknown_cells(low: Any, high: Any) -> Cells:
    """Every row with its interval and on its own."""
    n_rows = len(low)
    return Cells(
        low, high, np.arange(n_rows), np.ones(n_rows), np.zeros(n_rows),
        np.ones(n_rows, dtype=np.int64),
    )  # fmt: skip


@compiled
def root_of(cells: Cells, i: int) -> Any:
    """The root of row `i`, which becomes its parent."""
    r, sign, offset = i, 1.0, 0.0
    while cells.parent[r] != r:
        offset += sign * cells.offset[r]
        sign *= cells.sign[r]
        r = cells.parent[r]
    # Hang every row on the way directly under the root.
    while cells.parent[i] != i:
        up = cells.parent[i]
        own_sign, own_offset = cells.sign[i], cells.offset[i]
        cells.parent[i], cells.sign[i], cells.offset[i] = r, sign, offset
        offset = (offset - own_offset) * own_sign
        sign *= own_sign
        i = up
    return r


@compiled
def tighten(cells: Cells, lattice: Lattice, i: int, low: float, high: float) -> Any:
    """Narrow row `i`, and the root of its chain: 1 if changed, 0 if not, -1 if nothing is left."""
    if low <= cells.low[i] and high >= cells.high[i]:
        return 0
    if max(low, cells.low[i]) > min(high, cells.high[i]):
        return -1
    cells.low[i] = max(low, cells.low[i])
    cells.high[i] = min(high, cells.high[i])
    r = root_of(cells, i)
    if r == i:
        return 1
    return 1 if _narrow_root(cells, lattice, r, i) else -1


@compiled
def _narrow_root(cells: Cells, lattice: Lattice, r: int, i: int) -> Any:
    """Pass the interval of row `i` on to its root `r`."""
    sign, offset = cells.sign[i], cells.offset[i]
    one, other = sign * (cells.low[i] - offset), sign * (cells.high[i] - offset)
    slack = _ROUNDING * max(abs(offset), max(abs(one), abs(other)))
    least = max(cells.low[r], at_least(lattice, min(one, other) - slack))
    most = min(cells.high[r], at_most(lattice, max(one, other) + slack))
    if least > most:
        return False
    cells.low[r], cells.high[r] = least, most
    return True


@compiled
def refresh(cells: Cells, lattice: Lattice, known: Any) -> Any:
    """Pass intervals of roots on to their rows: 1 if changed, 0 if not, -1 at a contradiction."""
    changed = 0
    for i in range(len(cells.low)):
        if not known[i]:
            continue
        r = root_of(cells, i)
        if r == i:
            continue
        one = cells.sign[i] * cells.low[r] + cells.offset[i]
        other = cells.sign[i] * cells.high[r] + cells.offset[i]
        slack = _ROUNDING * max(abs(cells.offset[i]), max(abs(one), abs(other)))
        outcome = tighten(
            cells, lattice, i, at_least(lattice, min(one, other) - slack),
            at_most(lattice, max(one, other) + slack),
        )  # fmt: skip
        if outcome < 0:
            return -1
        changed = max(changed, outcome)
    return changed


@compiled
def link(cells: Cells, lattice: Lattice, i: int, j: int, total: float) -> Any:
    """``y_i + y_j = total``: 1 if that is new, 0 if it follows, -1 if it contradicts the rest."""
    r, q = root_of(cells, i), root_of(cells, j)
    rest = total - cells.offset[i] - cells.offset[j]
    slack = _ROUNDING * max(abs(total), max(abs(cells.offset[i]), abs(cells.offset[j])))
    if r == q:
        if cells.sign[i] != cells.sign[j]:
            return 0 if abs(rest) <= slack else -1
        value = cells.sign[i] * rest / 2.0
        return tighten(
            cells, lattice, r, at_least(lattice, value - slack), at_most(lattice, value + slack)
        )
    if cells.size[r] < cells.size[q]:
        r, q, i, j = q, r, j, i
    sign, offset = -cells.sign[i] * cells.sign[j], cells.sign[j] * rest
    one, other = sign * (cells.low[q] - offset), sign * (cells.high[q] - offset)
    slack += _ROUNDING * max(abs(one), abs(other))
    if max(cells.low[r], min(one, other) - slack) > min(cells.high[r], max(one, other) + slack):
        return -1
    cells.parent[q], cells.sign[q], cells.offset[q] = r, sign, offset
    cells.size[r] += cells.size[q]
    return 1 if _narrow_root(cells, lattice, r, q) else -1


@compiled
def difference(cells: Cells, i: int, j: int) -> Any:
    """Smallest and largest ``y_i - y_j``, as far as intervals and chains tell."""
    least, most = cells.low[i] - cells.high[j], cells.high[i] - cells.low[j]
    r = root_of(cells, i)
    if r != root_of(cells, j):
        return least, most
    fixed = cells.offset[i] - cells.offset[j]
    slack = _ROUNDING * max(abs(cells.offset[i]), abs(cells.offset[j]))
    if cells.sign[i] == cells.sign[j]:
        if abs(fixed) <= slack:
            return 0.0, 0.0
        return max(least, fixed - slack), min(most, fixed + slack)
    one = 2.0 * cells.sign[i] * cells.low[r] + fixed
    other = 2.0 * cells.sign[i] * cells.high[r] + fixed
    return max(least, min(one, other) - slack), min(most, max(one, other) + slack)
