"""Impurity measures, in units of people: impurity times size, so that groups add up.

All are concave in the class masses, which is what makes "no other split was better" a convex
fact once the chosen split's own impurity is known.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import xlogy

Measure: TypeAlias = Literal["gini", "entropy", "gain_ratio"]
Floats: TypeAlias = npt.NDArray[np.float64]


def impurity(masses: Floats, measure: Measure) -> Floats:
    """Impurity times size of groups whose class masses are the last axis (Equation 4).

    Gini: ``n - Σ h²/n``.  Entropy, also the basis of the gain ratio: ``Σ h log(n/h)``, natural
    logarithm.
    """
    n = masses.sum(axis=-1)
    if measure == "gini":
        squares = np.square(masses).sum(axis=-1)
        out: Floats = n - squares / np.where(n > 0, n, 1.0)
    else:
        out = xlogy(n, n) - xlogy(masses, masses).sum(axis=-1)
    return out


def split_information(sizes: Floats) -> Floats:
    """``Σ n_g log(N/n_g)`` over the last axis: what the gain ratio divides by."""
    out: Floats = xlogy(sizes.sum(axis=-1), sizes.sum(axis=-1)) - xlogy(sizes, sizes).sum(axis=-1)
    return out


def entropy(posterior: Floats) -> Floats:
    """Entropy of each row of probabilities, in nats."""
    out: Floats = -xlogy(posterior, posterior).sum(axis=-1)
    return out


def divergence(truth: Floats, estimate: Floats) -> Floats:
    """Kullback-Leibler divergence of each row: D_individual of Section 5, in nats.

    Infinite where the truth has a value that the estimate excludes.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(truth > 0, truth * (np.log(truth) - np.log(estimate)), 0.0)
    out: Floats = np.maximum(terms.sum(axis=-1), 0.0)
    return out
