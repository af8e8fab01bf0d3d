"""The audit of private learners: honest ones pass, every mutant is caught."""

import math
import random
from fractions import Fraction

import pytest

from glassleak.learners.private import (
    PrivateForestClassifier,
    PrivateRuleListClassifier,
    PrivateTreeClassifier,
)
from glassleak.learners.private._accountant import Accountant
from glassleak.learners.private._exact import discrete_laplace
from glassleak.learners.private._selection import permute_and_flip
from glassleak.learners.private.verify import (
    MUTANTS,
    Case,
    cases_of,
    epsilon_bound,
    mechanism_cases,
    mutants_of,
    verify,
)

DRAWS = 2500


def learner(**parameters):
    return PrivateRuleListClassifier(
        **({"epsilon": 2.0, "max_length": 2, "max_width": 1} | parameters)
    )


def judge(*names, estimator=None, seed=0):
    cases = [c for c in cases_of(estimator or learner()) if not names or c.name in names]
    return {v.name: v for v in verify(cases, draws=DRAWS, seed=seed)}


def test_honest_learner_is_not_refuted_and_the_bound_is_not_idle():
    verdicts = judge()
    assert set(verdicts) == {"counts alone", "choice of the rules", "rules and counts"}
    assert not any(v.refuted for v in verdicts.values())
    # Close to the claim, or nothing could ever be caught.
    assert verdicts["counts alone"].bound.epsilon > 0.75 * 2.0
    assert verdicts["choice of the rules"].bound.epsilon > 0.1


LEARNERS = (
    learner(epsilon=1.0),
    PrivateTreeClassifier(1.0, 1),
    PrivateForestClassifier(2, 1.0, 1),
)


@pytest.mark.parametrize("estimator", LEARNERS[1:], ids=["tree", "forest"])
def test_honest_trees_are_not_refuted(estimator):
    verdicts = verify(list(cases_of(estimator)), draws=1000, seed=0)
    assert len(verdicts) >= 3
    assert not any(v.refuted for v in verdicts)
    assert verdicts[0].bound.epsilon > 0.3


@pytest.mark.parametrize(
    ("estimator", "case"),
    [
        pytest.param(e, c, id=f"{type(e).__name__}-{c.name}")
        for e in LEARNERS
        for c in mutants_of(e)
    ],
)
def test_every_mutant_is_caught(estimator, case):
    assert verify([case], draws=1600, seed=1)[0].refuted


def test_no_mutant_is_left_out():
    assert len(list(mutants_of(LEARNERS[2]))) == len(MUTANTS)
    assert len(list(mutants_of(LEARNERS[0]))) == len(MUTANTS) - 1


def test_an_accountant_that_allows_everything_is_caught(monkeypatch):
    honest = Accountant.spend

    def generous(self, epsilon, what, mechanism):
        honest(self, epsilon, what, mechanism)
        return 3 * self.epsilon

    monkeypatch.setattr(Accountant, "spend", generous)
    found = judge("choice of the rules", estimator=learner(max_length=1))
    assert found["choice of the rules"].refuted


def test_mechanisms_alone_come_close_to_their_claim():
    for verdict in verify(mechanism_cases(1.0), draws=20_000, seed=2):
        assert not verdict.refuted
        assert verdict.bound.epsilon > 0.8, verdict.name


def test_the_slope_for_monotone_costs_is_refuted_on_others():
    """Why `monotone` must not be claimed lightly: costs that move apart need half the slope."""
    case = Case(
        "not monotone", 1.0,
        lambda source: permute_and_flip([1, 0], Fraction(1), source, monotone=True),
        lambda source: permute_and_flip([2, -1], Fraction(1), source, monotone=True),
    )  # fmt: skip
    assert verify([case], draws=5000, seed=3)[0].refuted


def test_bound_by_hand():
    """90 of 100 against 10 of 100: the interval's ends give the bound."""
    here = [1] * 90 + [0] * 10
    there = [0] * 90 + [1] * 10
    random.Random(0).shuffle(here)
    random.Random(1).shuffle(there)
    bound = epsilon_bound(here, there, confidence=0.95)
    assert 0.5 < bound.epsilon < math.log(9)
    assert bound.event in ((0,), (1,))


def test_equal_mechanisms_show_nothing():
    source = random.Random(3)
    draws = [[discrete_laplace(Fraction(1), source) for _ in range(3000)] for _ in range(2)]
    assert epsilon_bound(*draws, confidence=0.999).epsilon == 0.0


def test_bound_is_rarely_above_the_truth():
    """At confidence 0.9 at most a tenth of the bounds may be too high; chance of more: tiny."""
    source = random.Random(4)
    wrong = 0
    for _ in range(60):
        here = [discrete_laplace(Fraction(1), source) for _ in range(400)]
        there = [1 + discrete_laplace(Fraction(1), source) for _ in range(400)]
        wrong += epsilon_bound(here, there, confidence=0.9).epsilon > 1
    assert wrong <= 13


@pytest.mark.parametrize("sizes", [(3, 3), (10, 9)])
def test_too_few_draws(sizes):
    with pytest.raises(ValueError, match="equally many"):
        epsilon_bound([0] * sizes[0], [0] * sizes[1])
