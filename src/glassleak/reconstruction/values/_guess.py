"""A value for every cell, from its interval and from what the other rows of the column show."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.reconstruction.values._chains import Cells, root_of, tighten
from glassleak.reconstruction.values._lattice import Lattice, at_least, at_most
from glassleak.reconstruction.values._narrow import use_midpoints

FloatArray = npt.NDArray[np.float64]
_ROUNDS = 15
_NEIGHBOURS = 50
# Rows looked at when values are fixed one after the other, over all of them.
_WORK = 300_000_000


def guess(
    splits: Any,
    lattice: Lattice,
    midpoints: bool,
    cells: Cells,
    skipped: npt.NDArray[np.bool_],
    known: npt.NDArray[np.bool_],
    given: FloatArray | None,
) -> FloatArray:
    """One value per row, from its interval.

    Open cells take the middle of what the column's other rows make likely within the interval.
    They are fixed one after the other, each with all that follows from it, so that together they
    give the thresholds, too.

    Parameters
    ----------
    given : float array, optional
        Values to prefer: of categories the middle means nothing.
    """
    likely = _likely(cells.low, cells.high, known, np.unique(splits.threshold), lattice)
    if given is not None:
        likely = np.where((cells.low <= given) & (given <= cells.high), given, likely)
    now = Cells(*[part.copy() for part in cells])
    if midpoints:
        _fix_one_by_one(splits, lattice, now, skipped, known, likely)
    out: FloatArray = now.low.copy()
    for i in np.flatnonzero(known & (now.low != now.high)).tolist():
        out[i] = _nearest(lattice, likely[i], now.low[i], now.high[i])
    return out


def _nearest(lattice: Lattice, wanted: float, low: float, high: float) -> float:
    """The value closest to `wanted` of those between `low` and `high`, which are values."""
    if wanted <= low or wanted >= high:
        return low if wanted <= low else high
    below, above = at_most(lattice, wanted), at_least(lattice, wanted)
    return float(below if wanted - below <= above - wanted else above)


def _fix_one_by_one(
    splits: Any,
    lattice: Lattice,
    cells: Cells,
    skipped: npt.NDArray[np.bool_],
    known: npt.NDArray[np.bool_],
    likely: FloatArray,
) -> None:
    """Fix values, each with all that follows from it; what leads to a contradiction is undone."""
    allowance = _WORK // (int((splits.stop - splits.start).sum()) + len(known))

    def fixed(values: dict[int, float]) -> None:
        nonlocal allowance
        allowance -= 1
        before = [part.copy() for part in cells]
        fine = all(tighten(cells, lattice, i, v, v) >= 0 for i, v in values.items())
        if not fine or not use_midpoints(splits, lattice, cells, skipped.copy(), known, True):
            for part, old in zip(cells, before, strict=True):
                part[:] = old

    roots = np.array([root_of(cells, i) for i in range(len(known))])
    is_open = known & (cells.low != cells.high)
    size = np.bincount(roots, minlength=len(known))
    chained = np.flatnonzero(is_open & (roots == np.arange(len(known))) & (size > 1))
    # Long chains first: they say most about the others.
    for r in chained[np.argsort(-size[chained], kind="stable")].tolist():
        if allowance > 0 and cells.low[r] != cells.high[r] and root_of(cells, r) == r:
            own = np.flatnonzero(roots == r)
            wanted = float(np.median(cells.sign[own] * (likely[own] - cells.offset[own])))
            fixed({r: _nearest(lattice, wanted, cells.low[r], cells.high[r])})
    for s in np.flatnonzero(~skipped).tolist():
        if allowance > 0 and (pair := _next_to(splits, s, lattice, cells, known, likely)):
            fixed(pair)


def _next_to(
    splits: Any,
    s: int,
    lattice: Lattice,
    cells: Cells,
    known: npt.NDArray[np.bool_],
    likely: FloatArray,
) -> dict[int, float]:
    """Values for the likeliest neighbours of a threshold; none where they are known already."""
    low_side = splits.row[splits.start[s] : splits.middle[s]]
    high_side = splits.row[splits.middle[s] : splits.stop[s]]
    low_side, high_side = low_side[known[low_side]], high_side[known[high_side]]
    if not len(low_side) or not len(high_side):
        return {}
    least, most = cells.low[low_side].max(), cells.high[high_side].min()
    if (cells.high[low_side].max() == least) and (cells.low[high_side].min() == most):
        return {}
    may_below = low_side[cells.high[low_side] >= least]
    may_above = high_side[cells.low[high_side] <= most]
    i = int(may_below[np.argmax(np.clip(likely, cells.low, cells.high)[may_below])])
    j = int(may_above[np.argmin(np.clip(likely, cells.low, cells.high)[may_above])])
    twice = 2.0 * float(splits.threshold[s])
    # Both values from their own and the other's interval.
    start = max(cells.low[i], least, twice - min(cells.high[j], most))
    stop = min(cells.high[i], twice - cells.low[j])
    if start > stop:
        return {}
    value = _nearest(lattice, float(likely[i]), at_least(lattice, start), at_most(lattice, stop))
    # In single precision few pairs of decimals have exactly this sum; look around.
    below = above = value
    for _ in range(_NEIGHBOURS):
        for one in (below, above):
            other = twice - one
            if start <= one <= stop and at_least(lattice, other) == other:
                return {i: one, j: other}
        below = at_most(lattice, np.nextafter(below, -np.inf))
        above = at_least(lattice, np.nextafter(above, np.inf))
    return {}


def _likely(
    low: FloatArray,
    high: FloatArray,
    known: npt.NDArray[np.bool_],
    thresholds: FloatArray,
    lattice: Lattice,
) -> FloatArray:
    """The conditional median of every cell under the distribution that explains all intervals.

    The distribution of interval-censored values by self-consistency (Turnbull): mass on the
    intervals' ends and on the gaps between them, evenly within a gap.
    """
    out = (low + high) / 2
    rows = np.flatnonzero(known)
    inner = thresholds[(thresholds > lattice.low) & (thresholds < lattice.high)]
    if not len(rows) or not len(inner):
        return out
    start, stop = _plausible_ends(low[rows], high[rows], inner, lattice)
    ends = np.unique(np.concatenate([start, stop]))
    first, last = 2 * np.searchsorted(ends, start), 2 * np.searchsorted(ends, stop)
    mass = np.full(2 * len(ends) - 1, 1e-3)
    pinned = first == last
    np.add.at(mass, first[pinned], 1.0)
    mass[1::2] += _spread(first[~pinned] // 2, last[~pinned] // 2, np.diff(ends))
    for _ in range(_ROUNDS):
        total = np.concatenate([[0.0], np.cumsum(mass)])
        share = 1.0 / np.maximum(total[last + 1] - total[first], 1e-300)
        covered = np.zeros(len(mass) + 1)
        np.add.at(covered, first, share)
        np.add.at(covered, last + 1, -share)
        mass = mass * np.cumsum(covered)[:-1]
    total = np.concatenate([[0.0], np.cumsum(mass)])
    half = (total[first] + total[last + 1]) / 2
    at = np.clip(np.searchsorted(total, half, side="right") - 1, first, last)
    part = np.clip((half - total[at]) / np.maximum(mass[at], 1e-300), 0.0, 1.0)
    below, above = ends[at // 2], ends[np.minimum((at + 1) // 2, len(ends) - 1)]
    out[rows] = below + part * (above - below)
    return out


def _spread(first: Any, last: Any, widths: FloatArray) -> FloatArray:
    """Every interval's mass of 1, evenly over the gaps it covers."""
    position = np.concatenate([[0.0], np.cumsum(widths)])
    density = 1.0 / np.maximum(position[last] - position[first], 1e-300)
    change = np.zeros(len(widths) + 1)
    np.add.at(change, first, density)
    np.add.at(change, last, -density)
    spread: FloatArray = np.cumsum(change)[:-1] * widths
    return np.maximum(spread, 0.0)


def _plausible_ends(
    low: FloatArray, high: FloatArray, thresholds: FloatArray, lattice: Lattice
) -> tuple[FloatArray, FloatArray]:
    """Intervals cut off as far beyond the outermost thresholds as these are from the middle one.

    Declared ranges are often much wider than the data: half way to the largest possible amount is
    a bad guess for an amount that is only known to be large.
    """
    middle = float(np.median(thresholds))
    least = max(lattice.low, 2 * float(thresholds[0]) - middle)
    most = min(lattice.high, 2 * float(thresholds[-1]) - middle)
    start = np.where(low <= lattice.low, np.minimum(np.maximum(low, least), high), low)
    stop = np.where(high >= lattice.high, np.maximum(np.minimum(high, most), low), high)
    return start, np.maximum(stop, start)
