"""A value for every cell, from its interval and from what the other rows of the column show."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.reconstruction.values._chains import Cells, root_of, tighten
from glassleak.reconstruction.values._choose import choose
from glassleak.reconstruction.values._lattice import Lattice, at_least, at_most
from glassleak.reconstruction.values._narrow import use_midpoints
from glassleak.reconstruction.values._prior import Prior, prior_of

FloatArray = npt.NDArray[np.float64]
_NEIGHBOURS = 50
_MANY_VALUES = 1000
_ONE, _ZERO, _BOTH = np.ones(1), np.zeros(1), np.array([1.0, -1.0])
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
    step: float,
) -> FloatArray:
    """One value per row, from its interval.

    Open cells take what the column's other rows make likely within the interval: a value that
    stands out, as round numbers do, otherwise the middle.  They are fixed one after the other,
    each with all that follows from it, so that together they give the thresholds, too.

    Parameters
    ----------
    given : float array, optional
        Values to prefer: of categories the middle means nothing.
    step : float
        Of the column's numbers; 0 if they have none.
    """
    rows = np.flatnonzero(known)
    thresholds = np.unique(splits.threshold)
    prior = prior_of(cells.low[rows], cells.high[rows], thresholds, lattice, step)
    likely = (cells.low + cells.high) / 2
    if prior is not None:
        likely[rows] = prior.middle()
    if given is not None:
        likely = np.where((cells.low <= given) & (given <= cells.high), given, likely)
        prior = None
    now = Cells(*[part.copy() for part in cells])
    if midpoints:
        _fix_one_by_one(splits, lattice, now, skipped, known, likely, prior)
    out: FloatArray = now.low.copy()
    for i in np.flatnonzero(known & (now.low != now.high)).tolist():
        own = np.array([i])
        out[i] = _value(prior, lattice, likely, now.low[i], now.high[i], own, _ONE, _ZERO)
    return out


def _value(
    prior: Prior | None,
    lattice: Lattice,
    likely: FloatArray,
    low: float,
    high: float,
    rows: npt.NDArray[np.int64],
    sign: FloatArray,
    offset: FloatArray,
) -> float:
    """The value of r, between `low` and `high`, for `rows` that are ``sign * r + offset``."""
    wanted = None
    # Of a few small numbers the middle is as good for one row alone.
    if prior is not None and (len(rows) > 1 or prior.n_values > _MANY_VALUES):
        wanted = choose(prior, lattice, sign, offset, low, high)
    if wanted is None:
        wishes = sign * (likely[rows] - offset)
        # Of two rows the first: half way between two wishes is what neither wants.
        wanted = float(wishes[0] if len(rows) == 2 else np.median(wishes))
        if prior is not None and offset[0] == 0.0:
            wanted = prior.rounded(wanted, low, high)
    return _nearest(lattice, wanted, low, high)


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
    prior: Prior | None,
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
            sign, offset = cells.sign[own], cells.offset[own]
            low, high = cells.low[r], cells.high[r]
            fixed({r: _value(prior, lattice, likely, low, high, own, sign, offset)})
    for s in np.flatnonzero(~skipped).tolist():
        if allowance > 0 and (pair := _next_to(splits, s, lattice, cells, known, likely, prior)):
            fixed(pair)


def _next_to(
    splits: Any,
    s: int,
    lattice: Lattice,
    cells: Cells,
    known: npt.NDArray[np.bool_],
    likely: FloatArray,
    prior: Prior | None,
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
    value = _value(
        prior, lattice, likely, at_least(lattice, start), at_most(lattice, stop),
        np.array([i, j]), _BOTH, np.array([0.0, twice]),
    )  # fmt: skip
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
