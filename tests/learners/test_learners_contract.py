"""The learners keep scikit-learn's contract and publish exactly what they say."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from glassleak.learners import GreedyRuleListClassifier, OptimalRuleListClassifier

LEARNERS = [
    GreedyRuleListClassifier(),
    GreedyRuleListClassifier(max_width=2),
    OptimalRuleListClassifier(),
    OptimalRuleListClassifier(max_length=3, tie_break="least_leaky"),
]


@parametrize_with_checks(LEARNERS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
