"""The values a column can hold, as the model sees them: rounded to float32."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from glassleak._compiled import compiled
from glassleak.schema import Attribute, Binary, Bins, Categorical, Numeric, Ordinal

# Attributes with more levels than this are computed and not listed.
_LISTED = 4096
# Of a step: what rounding to single precision may change at most if steps are to be seen.
_VISIBLE = 0.1


class Lattice(NamedTuple):
    """Which numbers a column can hold.

    Attributes
    ----------
    listed : float array
        The values, ascending; empty if they are not listed.
    base, step : float
        Otherwise ``base + k * step``; any number of single precision where the step is 0.
    last : int
        The largest k.
    low, high : float
        Smallest and largest value, in single precision.
    """

    listed: Any
    base: float
    step: float
    last: int
    low: float
    high: float


def lattice_of(attribute: Attribute) -> Lattice | None:
    """The lattice of a one-column attribute that holds numbers; ``None`` for the others."""
    if isinstance(attribute, Binary | Bins):
        return None
    none = np.empty(0)
    if isinstance(attribute, Categorical):
        if attribute.one_hot:
            return None
        levels = attribute.level_values()[:, 0]
        listed = np.unique(_single(levels[~np.isnan(levels)]))
        return Lattice(listed, 0.0, 0.0, len(listed) - 1, listed[0], listed[-1])
    low, high = float(attribute.low), float(attribute.high)
    step = 1.0 if isinstance(attribute, Ordinal) else attribute.resolution
    if step is None:
        ends = _single(np.array([low, high]))
        return Lattice(none, 0.0, 0.0, 0, float(ends[0]), float(ends[1]))
    count = (attribute.size or 0) - int(attribute.missing)
    if count <= _LISTED:
        listed = np.unique(_single(np.minimum(low + step * np.arange(count), high)))
        return Lattice(listed, 0.0, 0.0, len(listed) - 1, listed[0], listed[-1])
    ends = _single(np.array([low, min(low + step * (count - 1), high)]))
    return Lattice(none, low, step, count - 1, float(ends[0]), float(ends[1]))


def step_of(attribute: Attribute) -> float:
    """The distance of neighbouring numbers; 0 without one, and if single precision hides it."""
    if isinstance(attribute, Ordinal):
        step = 1.0
    elif isinstance(attribute, Numeric) and attribute.resolution is not None:
        step = attribute.resolution
    else:
        return 0.0
    largest = max(abs(float(attribute.low)), abs(float(attribute.high)))
    return step if np.spacing(np.float32(largest)) < _VISIBLE * step else 0.0


def _single(values: Any) -> Any:
    return values.astype(np.float32).astype(np.float64)


@compiled
def at_least(lattice: Lattice, x: float) -> Any:
    """The smallest value that is not below `x`; infinity if there is none."""
    if len(lattice.listed):
        at = np.searchsorted(lattice.listed, x)
        return lattice.listed[at] if at < len(lattice.listed) else np.inf
    if x > lattice.high:
        return np.inf
    if x <= lattice.low:
        return lattice.low
    if lattice.step == 0.0:
        nearest = np.float32(x)
        if np.float64(nearest) < x:
            nearest = np.nextafter(nearest, np.float32(np.inf))
        return np.float64(nearest)
    k = min(max(int(np.ceil((x - lattice.base) / lattice.step)), 0), lattice.last)
    if value_at(lattice, k) >= x and (k == 0 or value_at(lattice, k - 1) < x):
        return value_at(lattice, k)
    # Rounding to single precision moved values across `x`; steps may be finer than it.
    return value_at(lattice, _first_at_least(lattice, x))


@compiled
def at_most(lattice: Lattice, x: float) -> Any:
    """The largest value that is not above `x`; minus infinity if there is none."""
    if len(lattice.listed):
        at = np.searchsorted(lattice.listed, x, side="right")
        return lattice.listed[at - 1] if at > 0 else -np.inf
    if x < lattice.low:
        return -np.inf
    if x >= lattice.high:
        return lattice.high
    if lattice.step == 0.0:
        nearest = np.float32(x)
        if np.float64(nearest) > x:
            nearest = np.nextafter(nearest, np.float32(-np.inf))
        return np.float64(nearest)
    k = min(max(int(np.floor((x - lattice.base) / lattice.step)), 0), lattice.last)
    if value_at(lattice, k) <= x and (k == lattice.last or value_at(lattice, k + 1) > x):
        return value_at(lattice, k)
    k = _first_at_least(lattice, x)
    return value_at(lattice, k) if value_at(lattice, k) == x else value_at(lattice, k - 1)


@compiled
def _first_at_least(lattice: Lattice, x: float) -> Any:
    """The first k whose value is not below `x`, which the largest value is not."""
    start, stop = 0, lattice.last
    while start < stop:
        middle = (start + stop) // 2
        if value_at(lattice, middle) >= x:
            stop = middle
        else:
            start = middle + 1
    return start


@compiled
def value_at(lattice: Lattice, k: int) -> Any:
    return np.float64(np.float32(min(lattice.base + lattice.step * k, lattice.high)))


def in_full_precision(attribute: Attribute, values: Any) -> Any:
    """Values of single precision as the column's own: 0.1 and not 0.10000000149."""
    if isinstance(attribute, Categorical):
        levels = attribute.level_values()[:, 0]
        levels = np.sort(levels[~np.isnan(levels)])
        return levels[np.searchsorted(_single(levels), values).clip(0, len(levels) - 1)]
    if isinstance(attribute, Numeric) and attribute.resolution is not None:
        k = np.rint((values - attribute.low) / attribute.resolution)
        return np.minimum(attribute.low + attribute.resolution * k, attribute.high)
    return values
