"""The six ways of the paper to choose a rule by its Gini impurity (Sections 5.2 and 5.3)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from glassleak.learners.private.published._sensitivity import (
    GLOBAL_SENSITIVITY,
    smooth_sensitivity,
)

FloatArray: TypeAlias = npt.NDArray[np.float64]

# Exponent of the tail of the paper's "Cauchy" noise; 2 is the Cauchy distribution itself.
CAUCHY_GAMMA = 2


@dataclass(frozen=True)
class Budget:
    """What one choice may cost, and what it may assume.

    Attributes
    ----------
    epsilon, delta : float
        Of one access at one rule.
    min_support : int
    """

    epsilon: float
    delta: float
    min_support: int


# inside and outside: (2, candidates) people of each class that a candidate captures and leaves.
Select: TypeAlias = Callable[[FloatArray, FloatArray, Budget, np.random.Generator], int]


def gini(inside: FloatArray, outside: FloatArray) -> FloatArray:
    """Impurity of both groups, weighted by their share of the people (Section 3.2)."""
    total = np.maximum(inside.sum(axis=0) + outside.sum(axis=0), 1e-12)
    both: FloatArray = (_weighted(inside) + _weighted(outside)) / total
    return both


def _weighted(group: FloatArray) -> FloatArray:
    people = np.maximum(group.sum(axis=0), 1e-12)
    found: FloatArray = people - (group**2).sum(axis=0) / people
    return found


def smooth_laplace(
    inside: FloatArray, outside: FloatArray, budget: Budget, rng: np.random.Generator
) -> int:
    """Laplace noise of scale ``2 S / epsilon`` with ``beta = epsilon / (2 log(2 / delta))``."""
    beta = budget.epsilon / (2 * math.log(2 / budget.delta))
    scale = 2 * _smooth(inside, outside, beta, budget) / budget.epsilon
    return _noisy_least(gini(inside, outside), rng.laplace(scale=scale, size=inside.shape[1]))


def smooth_cauchy(
    inside: FloatArray, outside: FloatArray, budget: Budget, rng: np.random.Generator
) -> int:
    """Cauchy noise of scale ``2 (gamma + 1) S / epsilon``, ``beta = epsilon / (2 (gamma + 1))``."""
    beta = budget.epsilon / (2 * (CAUCHY_GAMMA + 1))
    scale = 2 * (CAUCHY_GAMMA + 1) * _smooth(inside, outside, beta, budget) / budget.epsilon
    return _noisy_least(gini(inside, outside), scale * rng.standard_cauchy(inside.shape[1]))


def global_laplace(
    inside: FloatArray, outside: FloatArray, budget: Budget, rng: np.random.Generator
) -> int:
    """Laplace noise for the global sensitivity 0.5 ("Noisy Gini")."""
    scale = GLOBAL_SENSITIVITY / budget.epsilon
    return _noisy_least(gini(inside, outside), rng.laplace(scale=scale, size=inside.shape[1]))


def global_gaussian(
    inside: FloatArray, outside: FloatArray, budget: Budget, rng: np.random.Generator
) -> int:
    """Gaussian noise of deviation ``c 0.5 / epsilon`` with ``c^2 = 2 log(1.25 / delta)``."""
    deviation = math.sqrt(2 * math.log(1.25 / budget.delta)) * GLOBAL_SENSITIVITY / budget.epsilon
    return _noisy_least(gini(inside, outside), rng.normal(scale=deviation, size=inside.shape[1]))


def exponential(
    inside: FloatArray, outside: FloatArray, budget: Budget, rng: np.random.Generator
) -> int:
    """Probability proportional to ``exp(-epsilon Gini / (2 · 0.5))``."""
    weight = -budget.epsilon * gini(inside, outside) / (2 * GLOBAL_SENSITIVITY)
    # The largest of weights with Gumbel noise is a draw from the exponential mechanism.
    return int(np.argmax(weight + rng.gumbel(size=len(weight))))


def noisy_counts(
    inside: FloatArray, outside: FloatArray, budget: Budget, rng: np.random.Generator
) -> int:
    """Impurity of counts with Laplace noise; every candidate is two accesses of its own."""
    scale = 2 * inside.shape[1] / budget.epsilon
    noisy = [
        np.maximum(group + rng.laplace(scale=scale, size=group.shape), 0)
        for group in (inside, outside)
    ]
    return int(np.argmin(gini(noisy[0], noisy[1])))


def _smooth(inside: FloatArray, outside: FloatArray, beta: float, budget: Budget) -> float:
    people = round(float(inside[:, 0].sum() + outside[:, 0].sum()))
    return smooth_sensitivity(people, beta, budget.min_support)


def _noisy_least(values: FloatArray, noise: npt.ArrayLike) -> int:
    return int(np.argmin(values + np.asarray(noise)))
