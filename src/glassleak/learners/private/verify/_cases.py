"""Pairs of neighbouring tables on which a private learner is most easily caught.

A dozen people who look alike, and a stranger who joins them: in the first table every rule is
equally good and the stranger's values never occur; in the second only rules that set the stranger
apart are good, and all but one column do.  Whole fits of the learner itself are run on both.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
from sklearn.base import clone

from glassleak.learners.private._exact import Randomness
from glassleak.learners.private._tools import HONEST, Tools

Look: TypeAlias = Callable[[Any], Hashable]

# Many good rules and few bad ones: then a bad choice is nearly exp(epsilon) times rarer once the
# stranger is there, which is all that permute-and-flip may let through.
COLUMNS = 4
TOGETHER = np.zeros((12, COLUMNS))
# The column that tells nothing comes first: a learner that takes the first of equals takes it.
STRANGER = np.array([[0.0] + [1.0] * (COLUMNS - 1)])

COUNTS, RULES, ALL = "counts alone", "choice of the rules", "rules and counts"
TWO_TREES = "counts of two trees"
# Where trees share a budget: fewer trees spend the same, and take less time.
MOST_TREES = 3


@dataclass(frozen=True)
class Case:
    """A mechanism on two neighbours.

    Attributes
    ----------
    name : str
    claim : float
        The epsilon it claims, or the rho.
    here, there : callables
        One draw on either table, given a source of randomness.
    unit : "epsilon" or "rho"
    """

    name: str
    claim: float
    here: Callable[[Randomness], Hashable]
    there: Callable[[Randomness], Hashable]
    unit: Literal["epsilon", "rho"] = "epsilon"


def tools_of(estimator: Any) -> Tools:
    """What the estimator draws with when nobody has broken it."""
    tools: Tools = estimator._tools() if hasattr(estimator, "_tools") else HONEST
    return tools


def cases_of(estimator: Any, *, tools: Tools | None = None, one_choice: bool = False) -> list[Case]:
    """What a private rule list, tree or forest publishes, part by part and as a whole.

    Parameters
    ----------
    estimator : PrivateRuleListClassifier, PrivateTreeClassifier or PrivateForestClassifier
        Fitted or not; only its parameters matter.
    tools : Tools, optional
        What it draws with; other than its own for learners broken on purpose.
    one_choice : bool
        Let it choose one rule or split only, whatever its length or depth.
    """
    tools = tools or tools_of(estimator)
    if getattr(estimator, "accounting", "pure") == "zcdp":
        return _concentrated_cases(estimator, tools, one_choice)
    epsilon = float(estimator.epsilon)
    name = "max_length" if hasattr(estimator, "max_length") else "max_depth"
    choices = int(getattr(estimator, name))
    forest = hasattr(estimator, "n_estimators")
    # One tree shows what it gives away about its own people; two show whether somebody is in both.
    one = {"n_estimators": 1} if forest else {}
    cases = [_case(COUNTS, epsilon, estimator, _count, tools, {name: 0} | one)]
    if forest:
        two = {name: 0, "n_estimators": 2}
        cases.append(_case(TWO_TREES, epsilon, estimator, _side, tools, two))
    if choices > 0:
        size = {name: 1 if one_choice else choices} | one
        for_rules = epsilon * (1 - float(estimator.counts_share))
        cases += [
            _case(RULES, for_rules, estimator, _rules, tools, size),
            _case(ALL, epsilon, estimator, _everything, tools, size),
        ]
    return cases


def _concentrated_cases(estimator: Any, tools: Tools, one_choice: bool) -> list[Case]:
    """All trees together, since everybody is in all of them; few, since they share the budget."""
    share, depth = float(estimator.counts_share), int(estimator.max_depth)
    rho = float(estimator._settings().rho) * int(estimator.n_estimators)
    few = {"n_estimators": min(int(estimator.n_estimators), MOST_TREES)}
    cases = [_case(COUNTS, rho, estimator, _sum_of_counts, tools, few | {"max_depth": 0})]
    if depth > 0:
        size = few | {"max_depth": 1 if one_choice else depth}
        cases += [
            _case(RULES, rho * (1 - share), estimator, _choices, tools, size),
            _case(ALL, rho, estimator, _choices_and_counts, tools, size),
        ]
    return [replace(case, unit="rho") for case in cases]


def _sum_of_counts(forest: Any) -> Hashable:
    """People of the stranger's class where the stranger falls, in all trees, in coarse steps."""
    trees = forest.estimators_
    told = sum(int(tree.counts_[_place(tree)][1]) for tree in trees)
    step = max(1.0, trees[0].noise_scale_ * len(trees) ** 0.5 / 2)
    return int(np.clip(round(told / step), -8, 8))


def _choices(forest: Any) -> Hashable:
    """How many trees ask first what tells the stranger apart."""
    return sum(_rules(tree)[0] == "apart" for tree in forest.estimators_)


def _choices_and_counts(forest: Any) -> Hashable:
    return _choices(forest), _sum_of_counts(forest)


def _case(
    name: str, claim: float, estimator: Any, look: Look, tools: Tools, changed: dict[str, int]
) -> Case:
    # The tables have their own columns; everything else stays as the user set it.
    model = clone(estimator).set_params(
        schema=None, thresholds=None, classes=[0, 1], random_state=None, **changed
    )
    n = len(TOGETHER)
    joined = (np.vstack([TOGETHER, STRANGER]), np.array([0] * n + [1]))
    # One ordinary fit sets what scikit-learn keeps; the draws then skip its checks of the input.
    model.fit(*joined)
    alone = (TOGETHER, np.zeros(n, dtype=np.int64))
    draw = partial(_draw, model, model._settings(), look, tools)
    return Case(name, claim, partial(draw, *alone), partial(draw, *joined))


def _draw(
    model: Any,
    settings: Any,
    look: Look,
    tools: Tools,
    table: Any,
    labels: Any,
    source: Randomness,
) -> Hashable:
    model._learn(table, labels, settings, source, tools)
    members = getattr(model, "estimators_", None)
    if look in (_sum_of_counts, _choices, _choices_and_counts):
        return look(model)
    # The trees of a forest are alike, so their order says nothing.
    return look(model) if members is None else tuple(sorted(map(look, members), key=repr))


def _rules(model: Any) -> tuple[str, ...]:
    """What each choice does to the stranger and to the others, in order."""
    if hasattr(model, "conditions_"):
        return tuple(_kind(rule) for rule in model.conditions_[:-1])
    kinds, node = [], 0
    # The path of those who look alike: once the stranger has left it, nothing depends on them.
    while model.feature_[node] >= 0:
        column, cut = int(model.feature_[node]), model.threshold_[node]
        kinds.append("apart" if STRANGER[0, column] > cut else "together")
        node = int(model.left_[node])
    return tuple(kinds)


def _kind(rule: list[tuple[int, float, float]]) -> str:
    stranger, others = (_meets(person, rule) for person in (STRANGER[0], TOGETHER[0]))
    if stranger != others:
        return "stranger" if stranger else "others"
    return "everybody" if stranger else "nobody"


def _meets(person: Any, rule: list[tuple[int, float, float]]) -> bool:
    return all(low < person[column] <= high for column, low, high in rule)


def _count(model: Any) -> Hashable:
    """How many people of the stranger's class there are said to be where the stranger falls."""
    return int(model.counts_[_place(model)][1])


def _side(model: Any) -> Hashable:
    """Whether that is anybody at all: of two trees, outputs must be few to be seen often."""
    return bool(model.counts_[_place(model)][1] > 0)


def _everything(model: Any) -> Hashable:
    # Coarse, so that outputs repeat: a bound needs events that are seen often.
    return _rules(model), int(np.clip(model.counts_[_place(model)][1], -2, 3))


def _place(model: Any) -> int:
    """The rule or leaf the stranger falls into."""
    if hasattr(model, "conditions_"):
        return next(i for i, rule in enumerate(model.conditions_) if _meets(STRANGER[0], rule))
    return int(model._leaves(STRANGER)[0])
