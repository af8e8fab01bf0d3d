"""Zero-concentrated differential privacy: many small accesses add up more slowly.

A mechanism is rho-zCDP if the Rényi divergence of order alpha between its outputs on neighbours is
at most ``rho * alpha`` for every alpha > 1 (Bun and Steinke, 2016).  Costs in rho add up.  It pays
off when there are many accesses, at the price of a delta: with probability up to delta nothing is
promised.
"""

from __future__ import annotations

import math
from fractions import Fraction
from math import isqrt

import numpy as np

# Any order gives a valid conversion; the best of these is within a thousandth of the best of all.
_ORDERS = 1 + np.geomspace(1e-3, 1e6, 4000)
_DIGITS = 10**12


def epsilon_of(rho: float, delta: float) -> float:
    """The smallest epsilon shown for which rho-zCDP is (epsilon, delta)-differentially private.

    Canonne, Kamath and Steinke (2020), Proposition 12, with divergence ``rho * alpha`` at order
    alpha.
    """
    above = _ORDERS - 1
    tail = (-math.log(delta) - np.log(_ORDERS) + above * np.log1p(-1 / _ORDERS)) / above
    return float(np.min(rho * _ORDERS + np.maximum(tail, 0)))


def rho_for(epsilon: Fraction, delta: Fraction) -> Fraction:
    """A rho that may be spent for (epsilon, delta), rounded down.

    Raises
    ------
    ValueError
        `delta` is no probability, or `epsilon` is beyond what can be computed with.
    """
    if not 0 < delta < 1:
        raise ValueError(f"delta must lie between 0 and 1, got {float(delta)}")
    wanted, chance = float(epsilon), float(delta)
    low, high = 0.0, wanted
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if epsilon_of(middle, chance) <= wanted else (low, middle)
    # Logarithms are rounded; what is kept is smaller by far more than that.
    rho = Fraction(f"{low * (1 - 1e-6):.9e}")
    if rho <= 0:
        raise ValueError(f"epsilon {wanted} is too small for delta {chance}")
    return rho


def slope_for(rho: Fraction) -> Fraction:
    """Slope of an exponential mechanism on monotone costs that is rho-zCDP, rounded down.

    With weights ``exp(-slope * cost)`` and costs that all move the same way by at most 1, log
    probabilities move within an interval of length `slope` ("bounded range"), which is
    ``slope**2 / 8``-zCDP (Cesar and Rogers, 2021).
    """
    slope = Fraction(isqrt(int(8 * rho * _DIGITS**2)), _DIGITS)
    if slope <= 0:
        raise ValueError("the budget of one choice is too small to be computed with")
    return slope


def variance_for(rho: Fraction) -> Fraction:
    """Variance of discrete Gaussian noise on counts of sensitivity 1 that is rho-zCDP."""
    return 1 / (2 * rho)
