"""Uncertainty where counts carry noise: an estimate, said to be one."""

import math

import numpy as np
import pandas as pd
import pytest

import glassleak as gl
from glassleak.learners import (
    PrivateForestClassifier,
    PrivateRuleListClassifier,
    PrivateTreeClassifier,
)
from glassleak.models import Condition, Exact, Noisy, Provenance, Rule, RuleList, Tree
from glassleak.uncertainty._noisy import promised_bits

SCHEMA = gl.Schema([gl.Binary(name) for name in "abcd"])
pytestmark = pytest.mark.filterwarnings("ignore::glassleak.learners.private.PrivacyWarning")


def rules(counts, **more):
    both = (Condition(0, low=0.5), Condition(1, low=0.5))
    return RuleList(tuple("abcd"), (0, 1), (Rule(both, 1), Rule((), 0)), counts, **more)


def test_figures_are_those_of_the_most_likely_counts():
    noisy = np.array([[-3.0, 20.0], [70.0, 9.0]])
    u = gl.uncertainty(rules(Noisy(noisy, 2.0, "discrete Laplace")), SCHEMA)
    exact = gl.uncertainty(rules(Exact([[0, 20], [70, 9]])), SCHEMA)
    assert u.status == "estimated"
    assert not u.exact
    assert u.bits_estimate == exact.bits
    assert u.dist_g == exact.dist_g
    assert u.unordered.estimate == exact.unordered.bits
    assert u.bits_low <= u.bits <= u.bits_high == u.bits_uninformed
    assert "every table is possible" in " ".join(u.notes)


def test_bounds_hold_whatever_the_true_counts_are():
    u = gl.uncertainty(rules(Noisy(np.array([[5.0, 20.0], [70.0, 5.0]]), 9.0, "x")), SCHEMA)
    for first in range(0, 101, 20):
        true = gl.uncertainty(rules(Exact([[0, first], [100 - first, 0]])), SCHEMA)
        assert u.bits_low <= true.bits + 1e-9 <= u.bits_high + 2e-9
        assert u.unordered.low <= true.unordered.bits + 1e-9


def test_nothing_is_said_about_single_leaves_or_people():
    u = gl.uncertainty(rules(Noisy(np.ones((2, 2)), 1.0, "laplace")), SCHEMA,
                       data=pd.DataFrame(np.zeros((4, 4)), columns=list("abcd")))  # fmt: skip
    assert u.per_leaf is None
    assert u.exposure is None
    assert u.dataset is None
    assert u.single_profile is None
    assert any("groups of people: not assessed" in note for note in u.notes)


def test_leaves_nobody_can_reach_hold_nobody():
    """A complete private tree may ask twice; noise stands where no answer leads."""
    feature, cut = [0, 0, -1, -1, -1], [0.5, 0.5, np.nan, np.nan, np.nan]
    values = np.array([[30.0, 30], [20, 20], [10, 10], [10, 10], [10, 10]])
    tree = Tree(("a",), (0, 1), feature, cut, [1, 3, -1, -1, -1], [2, 4, -1, -1, -1],
                Noisy(values, 1.0, "discrete Laplace"), precision="float64")  # fmt: skip
    u = gl.uncertainty(tree, gl.Schema([gl.Binary("a")]))
    assert u.n_rows == 40
    assert u.bits == 0


def test_nobody_at_all():
    u = gl.uncertainty(rules(Noisy(np.full((2, 2), -5.0), 1.0, "laplace")), SCHEMA)
    assert (u.n_rows, u.bits) == (0, 0)


@pytest.mark.parametrize("learner", [PrivateRuleListClassifier, PrivateTreeClassifier])
def test_models_of_the_private_learners(learner):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(0, 2, (300, 4)), columns=list("abcd"))
    model = gl.read(learner(0.5, random_state=0).fit(table, table["a"]))
    u = gl.uncertainty(model, SCHEMA)
    assert u.status == "estimated"
    assert u.details["bits_per_person_at_most"] == promised_bits(0.5)
    assert "whatever an attacker does" in " ".join(u.statements)


def test_a_private_forest_is_the_sum_of_its_trees():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(0, 2, (300, 4)), columns=list("abcd"))
    forest = gl.read(PrivateForestClassifier(3, 2.0, random_state=0).fit(table, table["a"]))
    u = gl.uncertainty(forest, SCHEMA)
    each = [gl.uncertainty(tree, SCHEMA) for tree in forest.trees]
    assert u.status == "estimated"
    assert u.bits == pytest.approx(sum(one.bits for one in each))
    assert u.n_rows == sum(one.n_rows for one in each)
    assert 0 < u.dist_g <= 1
    assert len(u.per_model) == 3
    assert u.unordered is None


def test_a_claim_is_only_taken_from_our_own_learners():
    settings = {"epsilon": 0.5}
    for library, promised in (("glassleak", True), ("somebody", False)):
        made = Provenance(library=library, estimator="PrivateX", settings=settings)
        model = rules(Noisy(np.ones((2, 2)), 1.0, "x"), provenance=made)
        u = gl.uncertainty(model, SCHEMA)
        assert ("bits_per_person_at_most" in u.details) == promised


def test_a_large_epsilon_promises_nothing():
    made = Provenance(library="glassleak", estimator="PrivateX", settings={"epsilon": 10})
    u = gl.uncertainty(rules(Noisy(np.ones((2, 2)), 1.0, "x"), provenance=made), SCHEMA)
    assert any("promises nothing" in note for note in u.notes)


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0, 3.0])
def test_promised_bits_bound_any_randomised_answer(epsilon):
    """Mutual information of random channels whose rows differ by at most exp(2 epsilon)."""
    rng = np.random.default_rng(0)
    low, bound = math.exp(-2 * epsilon), promised_bits(epsilon)
    largest = 0.0
    for _ in range(300):
        # Two levels of weight per output: within a row their ratio, and so between rows.
        raw = np.where(rng.random((4, 4)) < 0.5, 1.0, math.sqrt(low))
        channel = raw / raw.sum(axis=1, keepdims=True)
        ratio = (channel.max(axis=0) / channel.min(axis=0)).max()
        assert ratio <= math.exp(2 * epsilon) + 1e-9
        prior = rng.dirichlet(np.ones(4))
        out = prior @ channel
        information = float((prior[:, None] * channel * np.log2(channel / out)).sum())
        largest = max(largest, information)
        assert information <= bound + 1e-12
    assert largest > 0


def test_promised_bits_are_the_divergence_of_randomised_response():
    """The worst case: a yes/no answer turned round with probability 1 / (1 + exp(2 epsilon))."""
    for epsilon in (0.1, 1.0, 2.5):
        p = 1 / (1 + math.exp(-2 * epsilon))
        divergence = (2 * p - 1) * math.log2(p / (1 - p))
        assert promised_bits(epsilon) == pytest.approx(divergence)
