"""Axes: from values to places, and where the ticks go."""

from __future__ import annotations

import math
from dataclasses import dataclass

# Over this ratio of largest to smallest, equal steps would push most points onto one edge.
_LOGARITHMIC = 40


@dataclass(frozen=True)
class Scale:
    """Maps ``low..high`` to ``start..end``, by ratio if `logarithmic`."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        low, high = self.low, self.high
        if self.logarithmic:
            low, high, value = math.log(low), math.log(high), math.log(value)
        share = (value - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)


def value_scale(values: list[float], start: float, end: float, *, steps: int = 5) -> Scale:
    """For quantities: holds 0, and ends at a round number."""
    low, high = min(0.0, *values, 0.0), max(0.0, *values, 0.0)
    if low == high:
        high = low + 1.0
    step = _round_step((high - low) / steps)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(i * step for i in range(first, last + 1))
    return Scale(ticks[0], ticks[-1], start, end, ticks)


def order_scale(number: int, start: float, end: float, *, steps: int = 8) -> Scale:
    """For `number` places that have an order and a name, but no size."""
    every = max(1, math.ceil(number / steps))
    return Scale(0.0, float(number - 1), start, end, tuple(map(float, range(0, number, every))))


def place_scale(values: list[float], start: float, end: float, *, steps: int = 8) -> Scale:
    """For numbers that quantities are drawn against: from the first to the last value."""
    low, high = min(values), max(values)
    if low > 0 and high / low >= _LOGARITHMIC:
        ticks = tuple(v for v in _ladder(low, high) if low <= v <= high)
        return Scale(low, high, start, end, _thinned(ticks, steps), logarithmic=True)
    inside = sorted(set(values))
    if len(inside) > steps:
        step = _round_step((high - low) / steps)
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        inside = [i * step for i in range(first, last + 1)]
    return Scale(low, high, start, end, tuple(inside))


def _ladder(low: float, high: float) -> list[float]:
    """1, 2, 5, 10, 20, 50, … around ``low..high``; powers of ten only if there are many."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    leads = (1, 2, 5) if last - first <= 4 else (1,)
    return [lead * 10.0**power for power in range(first, last + 1) for lead in leads]


def _thinned(ticks: tuple[float, ...], most: int) -> tuple[float, ...]:
    every = max(1, math.ceil(len(ticks) / most))
    return ticks[::every]


def _round_step(step: float) -> float:
    power = 10.0 ** math.floor(math.log10(step))
    for lead in (1, 2, 2.5, 5, 10):
        if step <= lead * power * (1 + 1e-9):
            return lead * power
    return 10 * power  # pragma: no cover - the loop ends with 10
