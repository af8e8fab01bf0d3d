"""Pairs of neighbouring tables on which a private learner is most easily caught.

Two people who look alike, and a stranger who joins them: in the first table every rule is equally
good and the stranger's value never occurs; in the second only rules that set the stranger apart
are good.  Whole fits of the learner itself are run on both.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from sklearn.base import clone

from glassleak.learners.private._exact import Randomness

if TYPE_CHECKING:
    from glassleak.learners.private._rule_list import PrivateRuleListClassifier

Look: TypeAlias = Callable[[Any], Hashable]

# The stranger differs in the first column; the second is the same for everybody.
TOGETHER = np.zeros((2, 2))
STRANGER = np.array([[1.0, 0.0]])
TELLING = 0


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


def cases_of(estimator: PrivateRuleListClassifier) -> list[Case]:
    """What `estimator` publishes, part by part and as a whole."""
    epsilon = float(estimator.epsilon)
    cases = [_case("counts alone", epsilon, estimator, _count, max_length=0)]
    if int(estimator.max_length) > 0:
        for_rules = epsilon * (1 - float(estimator.counts_share))
        cases += [
            _case("choice of the rules", for_rules, estimator, _rules),
            _case("rules and counts", epsilon, estimator, _everything),
        ]
    return cases


def _case(name: str, claim: float, estimator: Any, look: Look, **changed: Any) -> Case:
    # The tables have their own columns; everything else stays as the user set it.
    model = clone(estimator).set_params(
        schema=None, thresholds=None, classes=[0, 1], random_state=None, **changed
    )
    joined = (np.vstack([TOGETHER, STRANGER]), np.array([0, 0, 1]))
    # One ordinary fit sets what scikit-learn keeps; the draws then skip its checks of the input.
    model.fit(*joined)
    alone = (TOGETHER, np.array([0, 0]))
    return Case(
        name, claim, partial(_draw, model, look, *alone), partial(_draw, model, look, *joined)
    )


def _draw(model: Any, look: Look, table: Any, labels: Any, source: Randomness) -> Hashable:
    return look(model._learn(table, labels, model._settings(), source))


def _rules(model: Any) -> Hashable:
    """What kind each rule is: sets the stranger apart, captures everybody, or captures nobody.

    After a rule that captures everybody nothing is left to choose by, so the order matters.
    """
    return tuple(_kind(rule) for rule in model.conditions_[:-1])


def _kind(rule: list[tuple[int, float, float]]) -> str:
    if any(column == TELLING for column, _, _ in rule):
        return "apart"
    return "nobody" if any(low > 0 for _, low, _ in rule) else "everybody"


def _count(model: Any) -> Hashable:
    """How many people of the stranger's class there are said to be where the stranger falls."""
    return int(model.counts_[_captures(model)][1])


def _everything(model: Any) -> Hashable:
    # Coarse, so that outputs repeat: a bound needs events that are seen often.
    return (
        _rules(model),
        _captures(model) == 0,
        int(np.clip(model.counts_[_captures(model)][1], -2, 3)),
    )


def _captures(model: Any) -> int:
    """The first rule whose conditions the stranger meets."""
    return next(
        i
        for i, rule in enumerate(model.conditions_)
        if all(low < STRANGER[0, column] <= high for column, low, high in rule)
    )
