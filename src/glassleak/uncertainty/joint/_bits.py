"""What is known about a number of tables: proved bounds, and beside them an estimate."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Bits:
    """log2 of a number of tables.

    Attributes
    ----------
    low, high : float
        Proved bounds, equal if the number is known exactly.
    exact : bool
    estimate : float or None
        From sampling; no bound.  ``None`` if there is none, or nothing to estimate.
    error : float
        Standard error of `estimate`.
    sampled : bool
        Whether `estimate` rests on chance, and not only on floating point.
    """

    low: float
    high: float
    exact: bool
    estimate: float | None = None
    error: float = 0.0
    sampled: bool = False

    @classmethod
    def known(cls, bits: float) -> Bits:
        """An exact number."""
        return cls(bits, bits, True, bits, 0.0)

    @property
    def guess(self) -> float | None:
        """The estimate from sampling, kept within the bounds; ``None`` if it contradicts them.

        Sampling that misses where most tables are estimates too few, and shows it in this way.
        """
        if not self.sampled or self.estimate is None:
            return None
        off = 3 * self.error + 1e-6
        if not self.low - off <= self.estimate <= self.high + off:
            return None
        return min(max(self.estimate, self.low), self.high)

    def at_most(self, bits: float) -> Bits:
        """The same with one more upper bound."""
        if self.exact or bits >= self.high:
            return self
        return replace(self, low=min(self.low, bits), high=bits)


def total(parts: Iterable[Bits]) -> Bits:
    """Of independent pieces: numbers multiply, bits add up."""
    listed = list(parts)
    estimates = [one.estimate for one in listed]
    known = [e for e in estimates if e is not None]
    return Bits(
        math.fsum(one.low for one in listed),
        math.fsum(one.high for one in listed),
        all(one.exact for one in listed),
        math.fsum(known) if len(known) == len(listed) else None,
        math.sqrt(math.fsum(one.error**2 for one in listed)),
        any(one.sampled for one in listed),
    )
