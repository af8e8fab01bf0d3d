import itertools
import math

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from glassleak.learners.private.published import (
    MECHANISMS,
    PublishedPrivateRuleListClassifier,
    smooth_sensitivity,
)
from glassleak.learners.private.published._selection import Budget, gini
from glassleak.learners.private.published._sensitivity import local_sensitivity


@parametrize_with_checks([PublishedPrivateRuleListClassifier(epsilon=100.0, random_state=0)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("beta", [1e-3, 0.01, 0.05, 0.171, 0.3, 2.0])
@pytest.mark.parametrize("least", [1, 5, 40])
@pytest.mark.parametrize("n", [1, 2, 7, 40, 41, 300])
def test_theorem_4_1_is_the_maximum_over_all_distances(n, beta, least):
    brute = max(
        math.exp(-beta * k) * local_sensitivity(max(least, n - k))
        for k in range(max(n - least, 0) + 1)
    )
    assert smooth_sensitivity(n, beta, least) == pytest.approx(brute, rel=1e-12)


def impurity(inside, outside):
    return float(gini(np.array(inside, float)[:, None], np.array(outside, float)[:, None])[0])


def largest_change(n, step):
    """By listing every way `n` people can fall into two groups of two classes."""
    worst = 0.0
    for a, b, c in itertools.product(range(n + 1), repeat=3):
        d = n - a - b - c
        if d < 0:
            continue
        groups = [a, b, c, d]
        for i in range(4):
            moved = list(groups)
            moved[i] += step
            if moved[i] < 0 or sum(moved) == 0:
                continue
            change = abs(impurity(groups[:2], groups[2:]) - impurity(moved[:2], moved[2:]))
            worst = max(worst, change)
    return worst


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_local_sensitivity_is_right_for_joining_and_too_small_for_leaving(n):
    """The gap documented in `local_sensitivity`: removal from n people is g(n - 1)."""
    assert largest_change(n, +1) == pytest.approx(local_sensitivity(n))
    assert largest_change(n, -1) == pytest.approx(local_sensitivity(n - 1))


def people(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.integers(0, 2, (n, 5)), columns=list("abcde"))
    return table, np.where(
        rng.random(n) < 0.95, table["a"] & table["b"], 1 - table["a"] * table["b"]
    )


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_every_mechanism_learns_when_the_budget_is_large(mechanism):
    table, labels = people()
    model = PublishedPrivateRuleListClassifier(1e5, mechanism, random_state=0).fit(table, labels)
    assert model.score(table, labels) > 0.9
    assert model.privacy_["certified"] is False
    assert len(model.privacy_["why not"]) >= 4


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_every_mechanism_is_random_when_the_budget_is_small(mechanism):
    table, labels = people(200)
    lists = {
        str(PublishedPrivateRuleListClassifier(0.01, mechanism, random_state=i)
            .fit(table, labels).counts_)
        for i in range(5)
    }  # fmt: skip
    assert len(lists) == 5


def test_too_few_people_stop_the_list():
    table, labels = people(60)
    model = PublishedPrivateRuleListClassifier(0.1, random_state=0).fit(table, labels)
    assert model.rules_ == ["otherwise"]


def test_smooth_noise_shrinks_with_people_and_global_noise_does_not():
    chosen = {}
    for mechanism in ("smooth-laplace", "global-laplace"):
        for n in (50, 5000):
            inside = np.array([[0.0, n / 2], [n / 2, 0.0]])
            rng = np.random.default_rng(1)
            budget = Budget(0.5, 1e-6, 10)
            best = [
                MECHANISMS[mechanism](
                    np.column_stack([inside[:, :1], inside[:, :1] / 2]),
                    np.column_stack([inside[:, 1:], n / 2 - inside[:, :1] / 2]), budget, rng,
                )
                == 0
                for _ in range(400)
            ]  # fmt: skip
            chosen[mechanism, n] = np.mean(best)
    assert chosen["smooth-laplace", 5000] > chosen["smooth-laplace", 50] + 0.1
    assert abs(chosen["global-laplace", 5000] - chosen["global-laplace", 50]) < 0.1
