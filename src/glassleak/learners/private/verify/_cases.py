"""Pairs of neighbouring tables on which a private learner is most easily caught."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from glassleak.learners.private._exact import Randomness, discrete_laplace
from glassleak.learners.private._selection import permute_and_flip

# In no row of the table: who falls where this person falls is new.
STRANGER = (1.0, 0.0)


@dataclass(frozen=True)
class Case:
    """A mechanism on two neighbours.

    Attributes
    ----------
    name : str
    claim : float
        The epsilon it claims.
    here, there : callables
        One draw on either table, given a source of randomness.
    """

    name: str
    claim: float
    here: Callable[[Randomness], Hashable]
    there: Callable[[Randomness], Hashable]


def cases_of(estimator: Any) -> list[Case]:
    """What `estimator` (unfitted) is made of, and whole fits of it.

    The parts run with the budget one use of them gets, the fits with the whole one.
    """
    epsilon = Fraction(repr(float(estimator.epsilon)))
    for_counts = epsilon * Fraction(repr(float(estimator.counts_share)))
    length = int(estimator.max_length)
    cases = [
        Case(
            "noise on a count", float(for_counts),
            partial(_noisy, 10, for_counts), partial(_noisy, 11, for_counts),
        )
    ]  # fmt: skip
    if length:
        per_rule = (epsilon - for_counts) / length
        # The neighbour makes every candidate but the first worse: its chance moves most.
        cases.append(
            Case(
                "choice of a rule", float(per_rule),
                partial(_choice, (1, 0, 0, 0), per_rule), partial(_choice, (1, 1, 1, 1), per_rule),
            )
        )  # fmt: skip
    cases += [_whole_fit(estimator, float(epsilon), extra) for extra in (0, 1)]
    return cases


def _noisy(count: int, epsilon: Fraction, source: Randomness) -> int:
    return count + discrete_laplace(1 / epsilon, source)


def _choice(costs: tuple[int, ...], epsilon: Fraction, source: Randomness) -> int:
    return permute_and_flip(costs, epsilon, source, monotone=True)


def _whole_fit(estimator: Any, claim: float, extra: int) -> Case:
    """A table on which all rules are equally good, and one person more who breaks the tie."""
    table = np.array([[0.0, 0.0], [1.0, 1.0]])
    labels = np.array([1 - extra, 1 - extra])
    joined = (np.vstack([table, [STRANGER]]), np.append(labels, extra))
    return Case(
        f"whole fits, one person of class {extra} more", claim,
        partial(_fit, estimator, extra, table, labels), partial(_fit, estimator, extra, *joined),
    )  # fmt: skip


def _fit(estimator: Any, extra: int, table: Any, labels: Any, source: Randomness) -> Hashable:
    """What a fit says about the person: are they told apart at once, and how many are like them?

    Coarse, so that outputs repeat: a bound needs events that are seen often.
    """
    model = clone(estimator).set_params(
        schema=None, thresholds=None, classes=[0, 1], random_state=None
    )
    model._fit(table, labels, source)
    holds = [
        all(low < STRANGER[column] <= high for column, low, high in conditions)
        for conditions in model.conditions_
    ]
    count = int(model.counts_[holds.index(True)][extra])
    return sum(low > 0 for _, low, _ in model.conditions_[0]), holds.index(True), count
