"""How likely each value of a column is: what its rows show, and how round its numbers are.

The distribution of interval-censored values by self-consistency (Turnbull): mass on the intervals'
ends and on the gaps between them, evenly within a gap.  Amounts are often round, and the thresholds
show it: twice a threshold is the sum of two values, and sums of multiples of 1,000 are multiples of
1,000.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.reconstruction.values._lattice import Lattice

FloatArray = npt.NDArray[np.float64]
_ROUNDS = 15
# Every row could be a value no other row shows.
_UNSEEN = 1e-3
# Standard deviations by which round sums must outnumber those of any numbers.
_SIGNIFICANT = 3.0
_TOLERANCE = 0.25
# Least share of round numbers, and of zeros, in columns of three kinds, each as likely as another.
_ROUND = (0.0, 0.15, 0.6)
# How many of them have one more zero at the end.
_ROUNDER = 0.6
_ZERO = (1e-6, 0.05, 0.2)
# Share of multiples of a step from which on a value that is just a guess is one, too.
_USUAL = 0.5


@dataclass(frozen=True)
class Prior:
    """The distribution of a column's values.

    Attributes
    ----------
    ends : float array
        Ascending.
    mass : float array
        On every end and, between them, on every gap.
    seen : float array
        Share of rows whose value is known to be each end.
    start, stop : float arrays
        The interval of every row, cut off where it goes far beyond all thresholds.
    step : float
        Of the column's numbers; 0 if they have none.
    grid : float array
        Round steps, each a multiple of the one before, from `step` on.
    weight : (kinds, steps) float array
        How much likelier a value is than the average, by the roundest step it is a multiple of;
        for kinds of columns, from those without round numbers to those with many.
    zero : (kinds,) float array
        Share of zeros.
    usual : float
        The roundest step most values are multiples of.
    """

    ends: FloatArray
    mass: FloatArray
    seen: FloatArray
    start: FloatArray
    stop: FloatArray
    step: float
    grid: FloatArray
    weight: FloatArray
    zero: FloatArray
    usual: float

    @property
    def n_values(self) -> float:
        """How many values there are between the outermost ends."""
        return float(self.ends[-1] - self.ends[0]) / self.step + 1 if self.step else np.inf

    def share(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """Mass of one value between `low` and `high`, on average; mass of all is 1."""
        total = np.cumsum(self.mass)
        # Half of what lies on an end belongs to either side: intervals begin and end there.
        at_end = (total - self.mass / 2)[::2]
        inside = np.interp(high, self.ends, at_end) - np.interp(low, self.ends, at_end)
        out: FloatArray = inside / total[-1] / np.maximum((high - low) / (self.step or 1.0), 1.0)
        return np.maximum(out, 1e-12)

    def log(self, values: FloatArray, share: float) -> FloatArray:
        """Logarithm of the mass of single values of a row: (kinds of columns, values).

        Parameters
        ----------
        share : float
            The average mass of a value in the row's interval.
        """
        at = np.clip(np.searchsorted(self.ends, values), 0, len(self.ends) - 1)
        seen = np.where(self.ends[at] == values, self.seen[at], 0.0)
        level = np.zeros(len(values), dtype=np.int64)
        for k, step in enumerate(self.grid[1:].tolist(), start=1):
            level[_multiples(values, step, self.step)] = k
        zero = np.outer(self.zero, values == 0)
        out: FloatArray = np.log(share * self.weight[:, level] + seen + zero)
        return out

    def rounded(self, value: float, low: float, high: float) -> float:
        """The round number next to `value`, if there is one between `low` and `high`."""
        if not self.usual > self.step:
            return value
        near = self.usual * np.rint(value / self.usual)
        for round_one in (near, near - self.usual, near + self.usual):
            if low <= round_one <= high:
                return float(round_one)
        return value

    def middle(self) -> FloatArray:
        """The conditional median of every row."""
        first, last = 2 * np.searchsorted(self.ends, self.start), 2 * np.searchsorted(
            self.ends, self.stop
        )  # fmt: skip
        total = np.concatenate([[0.0], np.cumsum(self.mass)])
        half = (total[first] + total[last + 1]) / 2
        at = np.clip(np.searchsorted(total, half, side="right") - 1, first, last)
        part = np.clip((half - total[at]) / np.maximum(self.mass[at], 1e-300), 0.0, 1.0)
        below = self.ends[at // 2]
        above = self.ends[np.minimum((at + 1) // 2, len(self.ends) - 1)]
        out: FloatArray = below + part * (above - below)
        return out


def prior_of(
    low: FloatArray, high: FloatArray, thresholds: FloatArray, lattice: Lattice, step: float
) -> Prior | None:
    """The distribution that explains the intervals of all rows; ``None`` without thresholds.

    Parameters
    ----------
    thresholds : float array
        Distinct, ascending.
    """
    inner = thresholds[(thresholds > lattice.low) & (thresholds < lattice.high)]
    if not len(low) or not len(inner):
        return None
    start, stop = _plausible_ends(low, high, inner, lattice)
    ends = np.unique(np.concatenate([start, stop]))
    first, last = 2 * np.searchsorted(ends, start), 2 * np.searchsorted(ends, stop)
    mass = np.full(2 * len(ends) - 1, _UNSEEN)
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
    grid, share = _round_steps(2.0 * inner, step, float(ends[-1] - ends[0]))
    usual = float(grid[share >= _USUAL].max())
    factors = grid / step if step else np.ones(1)
    shares = [np.maximum(share, least * _ROUNDER ** np.log10(factors)) for least in _ROUND]
    weight = np.array([_weight(factors, each) for each in shares])
    seen = np.bincount(first[pinned] // 2, minlength=len(ends)) / len(low)
    return Prior(ends, mass, seen, start, stop, step, grid, weight, np.array(_ZERO), usual)


def _round_steps(sums: FloatArray, step: float, width: float) -> tuple[FloatArray, FloatArray]:
    """Round steps, and the share of values that are multiples, as the sums of two show it.

    The share is 0 where there are no more round sums than by accident.
    """
    grid, share = [step], [1.0]
    factor = 1.0
    while step and factor * step < width / 4:
        factor *= 5.0 if np.log10(factor) % 1 < 0.5 else 2.0
        hits, expected = float(_multiples(sums, factor * step, step).sum()), len(sums) / factor
        found = 0.0
        if hits - expected > _SIGNIFICANT * np.sqrt(expected) + 1.0:
            found = float(np.sqrt((hits / len(sums) - 1 / factor) / (1 - 1 / factor)))
        grid.append(factor * step)
        share.append(min(share[-1], found))
    return np.array(grid), np.array(share)


def _weight(steps: FloatArray, share: FloatArray) -> FloatArray:
    """Relative mass of values that are multiples of each step and not of the next."""
    # Without a surplus of round ones, as many as by accident.
    share = np.maximum(share, 1 / steps)
    own = share - np.append(share[1:], 0.0)
    density = 1 / steps - np.append(1 / steps[1:], 0.0)
    out: FloatArray = np.maximum(own, 1e-3 * density) / density
    return out


def _multiples(values: FloatArray, of: float, step: float) -> npt.NDArray[np.bool_]:
    out: npt.NDArray[np.bool_] = np.abs(values / of - np.rint(values / of)) * of < _TOLERANCE * step
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
