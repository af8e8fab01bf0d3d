"""Random draws without floating-point numbers.

Noise drawn with floats has gaps and repeats that betray the value under it (Mironov, 2012).  Here
every probability is a fraction and every decision compares whole numbers, after Canonne, Kamath
and Steinke, "The discrete Gaussian for differential privacy" (2020), Algorithms 1 to 3.
"""

from __future__ import annotations

import random
from fractions import Fraction
from math import isqrt
from typing import Protocol


class Randomness(Protocol):
    """A source of uniform whole numbers."""

    def randrange(self, stop: int, /) -> int:
        """Uniform on ``0 .. stop - 1``."""
        ...


def secure_randomness() -> Randomness:
    """The operating system's generator: nobody can know or repeat its draws."""
    return random.SystemRandom()


def bernoulli(p: Fraction, source: Randomness) -> bool:
    """``True`` with probability `p`, exactly."""
    return source.randrange(p.denominator) < p.numerator


def bernoulli_exp(gamma: Fraction, source: Randomness) -> bool:
    """``True`` with probability ``exp(-gamma)``, exactly, for ``gamma >= 0``.

    For ``gamma <= 1`` a run of successes with probabilities ``gamma / k`` ends at an odd ``k`` with
    probability ``exp(-gamma)`` (the series of the exponential function); larger ``gamma`` is a
    product.
    """
    if gamma < 0:
        raise ValueError(f"exp(-gamma) is no probability for gamma = {gamma}")
    whole, rest = divmod(gamma, 1)
    for _ in range(whole):
        if not _bernoulli_exp_of_share(1, 1, source):
            return False
    return _bernoulli_exp_of_share(rest.numerator, rest.denominator, source)


def _bernoulli_exp_of_share(numerator: int, denominator: int, source: Randomness) -> bool:
    k = 1
    while source.randrange(denominator * k) < numerator:
        k += 1
    return k % 2 == 1


def discrete_laplace(scale: Fraction, source: Randomness) -> int:
    """A whole number ``x`` with probability proportional to ``exp(-abs(x) / scale)``.

    Added to a count that changes by at most 1 when a person is added or removed, it is
    ``1 / scale``-differentially private.
    """
    if scale <= 0:
        raise ValueError(f"the scale must be positive, not {scale}")
    t, s = scale.numerator, scale.denominator
    while True:
        u = source.randrange(t)
        if not _bernoulli_exp_of_share(u, t, source):
            continue
        v = 0
        while _bernoulli_exp_of_share(1, 1, source):
            v += 1
        magnitude = (u + t * v) // s
        negative = source.randrange(2) == 1
        # Zero would otherwise be drawn twice: once with each sign.
        if negative and magnitude == 0:
            continue
        return -magnitude if negative else magnitude


def discrete_gaussian(variance: Fraction, source: Randomness) -> int:
    """A whole number ``x`` with probability proportional to ``exp(-x * x / (2 * variance))``.

    Added to a count of sensitivity 1 it is ``1 / (2 * variance)``-zCDP.
    """
    if variance <= 0:
        raise ValueError(f"the variance must be positive, not {variance}")
    t = isqrt(variance.numerator // variance.denominator) + 1
    while True:
        x = discrete_laplace(Fraction(t), source)
        distance = abs(x) - variance / t
        if bernoulli_exp(distance * distance / (2 * variance), source):
            return x
