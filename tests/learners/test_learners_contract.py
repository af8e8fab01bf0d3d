"""The learners keep scikit-learn's contract and publish exactly what they say."""

from __future__ import annotations

import importlib.util

from sklearn.utils.estimator_checks import parametrize_with_checks

from glassleak.learners import (
    GreedyRuleListClassifier,
    OptimalRuleListClassifier,
    OptimalTreeClassifier,
)

LEARNERS = [
    GreedyRuleListClassifier(),
    GreedyRuleListClassifier(max_width=2),
    OptimalRuleListClassifier(),
    OptimalRuleListClassifier(max_length=3, tie_break="least_leaky"),
    OptimalTreeClassifier(),
    OptimalTreeClassifier(max_depth=2, tie_break="least_leaky"),
]
if importlib.util.find_spec("pystreed"):
    LEARNERS.append(OptimalTreeClassifier(solver="streed"))


@parametrize_with_checks(LEARNERS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
