"""The audit of private learners: honest ones pass, every mutant is caught."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from glassleak.learners.private import _grow, _rule_list
from glassleak.learners.private._accountant import Accountant
from glassleak.learners.private._candidates import Candidates
from glassleak.learners.private._exact import discrete_laplace
from glassleak.learners.private._rule_list import PrivateRuleListClassifier
from glassleak.learners.private.verify import cases_of, epsilon_bound, verify

DRAWS = 4000


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


def test_half_the_noise_is_caught(monkeypatch):
    monkeypatch.setattr(_grow, "discrete_laplace", lambda scale, s: discrete_laplace(scale / 2, s))
    assert judge("counts alone")["counts alone"].refuted


def test_truncated_noise_is_caught(monkeypatch):
    def truncated(scale, source):
        return max(-1, min(1, discrete_laplace(scale, source)))

    monkeypatch.setattr(_grow, "discrete_laplace", truncated)
    assert judge("counts alone")["counts alone"].refuted


def test_a_count_without_noise_is_caught(monkeypatch):
    honest = _grow.grow

    def unnoised(*arguments, **options):
        grown = honest(*arguments, **options)
        codes, n_classes = arguments[1:3]
        exact = np.array([[int((codes == c).sum()) for c in range(n_classes)]])
        return type(grown)(grown.rules, np.vstack([grown.counts[:-1], exact]), grown.scale)

    monkeypatch.setattr(_rule_list, "grow", unnoised)
    assert judge("counts alone")["counts alone"].refuted


def test_rules_mined_from_the_data_are_caught(monkeypatch):
    honest = _grow.grow

    def mined(holds, codes, n_classes, candidates, **options):
        supported = np.flatnonzero(holds.any(axis=0))
        keep = np.isin(candidates.first, supported)
        fewer = Candidates(candidates.literals, candidates.first[keep], candidates.second[keep])
        return honest(holds, codes, n_classes, fewer, **options)

    monkeypatch.setattr(_rule_list, "grow", mined)
    found = judge("choice of the rules", estimator=learner(max_length=1))
    assert found["choice of the rules"].refuted


def test_overspent_budget_is_caught(monkeypatch):
    honest = Accountant.spend

    def generous(self, epsilon, what, mechanism):
        honest(self, epsilon, what, mechanism)
        return self.epsilon

    monkeypatch.setattr(Accountant, "spend", generous)
    assert judge("choice of the rules")["choice of the rules"].refuted


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
