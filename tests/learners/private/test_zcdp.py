"""Accounting in rho: conversions, mechanisms, forests in which everybody is in every tree."""

import itertools
import math
import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import skops.io
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, norm

import glassleak as gl
from glassleak.errors import UnsupportedModelError
from glassleak.learners import PrivateForestClassifier
from glassleak.learners.private._selection import exponential_choice
from glassleak.learners.private._tools import CONCENTRATED
from glassleak.learners.private._zcdp import epsilon_of, rho_for, slope_for, variance_for
from glassleak.learners.private.verify import cases_of, mutants_of, rho_bound, verify

pytestmark = pytest.mark.filterwarnings("ignore::glassleak.learners.private.PrivacyWarning")
MILLIONTH = Fraction(1, 10**6)


@given(st.floats(0.01, 50), st.floats(1e-12, 0.01))
def test_what_may_be_spent_stays_within_epsilon(epsilon, delta):
    rho = float(rho_for(Fraction(repr(epsilon)), Fraction(repr(delta))))
    assert epsilon_of(rho, delta) <= epsilon
    # Bun and Steinke's simpler conversion is never better.
    assert epsilon_of(rho, delta) <= rho + 2 * math.sqrt(rho * math.log(1 / delta)) + 1e-9


@pytest.mark.parametrize("rho", [0.001, 0.1, 2.0])
def test_conversion_holds_for_gaussian_noise(rho):
    """The true delta of Gaussian noise at the epsilon that is promised (Balle and Wang, 2018)."""
    delta = 1e-6
    epsilon, mu = epsilon_of(rho, delta), math.sqrt(2 * rho)
    true = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
    assert true <= delta
    assert true > delta / 100


@pytest.mark.parametrize("delta", [0, 1, -0.1])
def test_delta_must_be_a_probability(delta):
    with pytest.raises(ValueError, match="delta"):
        rho_for(Fraction(1), Fraction(delta))


def renyi(p, q, alpha):
    return math.log(sum(a**alpha * b ** (1 - alpha) for a, b in zip(p, q, strict=True))) / (
        alpha - 1
    )


def weights(costs, slope):
    raw = [math.exp(-slope * c) for c in costs]
    return [w / sum(raw) for w in raw]


@pytest.mark.parametrize("rho", ["1/100", "1/2"])
def test_exponential_mechanism_costs_rho_on_every_neighbouring_pair(rho):
    """Exactly, not by sampling; and nearly attained, so the slope is not too small."""
    slope, closest = float(slope_for(Fraction(rho))), 0.0
    for costs in itertools.product(range(3), repeat=3):
        here = weights(costs, slope)
        for change in itertools.product((0, 1), repeat=3):
            there = weights([c + d for c, d in zip(costs, change, strict=True)], slope)
            for alpha in (1.001, 1.5, 2, 5, 20):
                found = max(renyi(here, there, alpha), renyi(there, here, alpha))
                assert found <= float(Fraction(rho)) * alpha + 1e-9
                closest = max(closest, found / (float(Fraction(rho)) * alpha))
    assert closest > 0.85


@pytest.mark.parametrize("rho", ["1/50", "1"])
def test_discrete_gaussian_costs_rho(rho):
    variance = float(variance_for(Fraction(rho)))
    reach = range(-int(20 * variance**0.5) - 5, int(20 * variance**0.5) + 6)
    raw = np.array([math.exp(-x * x / (2 * variance)) for x in reach])
    here = raw / raw.sum()
    for alpha in (1.01, 2.0, 6.0):
        # The same noise on a count that is one higher.
        ratio = here[1:] * (here[1:] / here[:-1]) ** (alpha - 1)
        assert math.log(ratio.sum()) / (alpha - 1) <= float(Fraction(rho)) * alpha + 1e-6


def test_exponential_choice_has_its_distribution():
    costs, slope, draws = [4, 3, Fraction(7, 2), 9], Fraction(3, 4), 20_000
    source = random.Random(0)
    counts = Counter(exponential_choice(costs, slope, source) for _ in range(draws))
    expected = weights([float(c) for c in costs], float(slope))
    assert chisquare([counts[i] for i in range(4)], [p * draws for p in expected]).pvalue > 1e-4
    with pytest.raises(ValueError, match="no candidates"):
        exponential_choice([], slope, source)


def people(n=400):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(0, 2, (n, 4)), columns=list("abcd"))
    return table, (table["a"] & table["b"]).to_numpy()


def forest(**parameters):
    return PrivateForestClassifier(
        **({"n_estimators": 3, "epsilon": 1.0, "max_depth": 2, "accounting": "zcdp",
            "random_state": 0} | parameters)
    )  # fmt: skip


def test_every_access_of_every_tree_is_paid_for():
    table, labels = people()
    model = forest().fit(table, labels)
    spent = math.fsum(line["rho"] for line in model.ledger_)
    assert len(model.ledger_) == 3 * 3
    assert spent == pytest.approx(float(rho_for(Fraction(1), MILLIONTH)), rel=1e-12)
    assert model.privacy_["rho"] == pytest.approx(spent, rel=1e-12)
    assert model.privacy_["epsilon"] <= 1.0
    assert model.privacy_["delta"] == 1e-6
    assert {line["mechanism"] for line in model.ledger_} == {
        "exponential mechanism", "discrete Gaussian",
    }  # fmt: skip


def test_everybody_is_in_every_tree_and_trees_differ():
    table, labels = people()
    model = forest(n_estimators=8, epsilon=1e4, max_depth=1).fit(table, labels)
    sums = [tree.counts_[0].sum() for tree in model.estimators_]
    assert max(abs(s - len(table)) for s in sums) < 40
    assert len({int(tree.feature_[0]) for tree in model.estimators_}) > 1
    assert model.score(table, labels) > 0.7


def test_noise_has_the_published_deviation():
    table, labels = people(50)
    exact = np.bincount(labels, minlength=2)
    fits = [
        forest(n_estimators=2, max_depth=0, random_state=i).fit(table, labels) for i in range(100)
    ]
    noise = [tree.counts_[0] - exact for fit in fits for tree in fit.estimators_]
    scale = fits[0].estimators_[0].noise_scale_
    assert scale == pytest.approx(math.sqrt(1 / (2 * fits[0].privacy_["rho"] / 2)))
    assert np.std(noise) == pytest.approx(scale, rel=0.15)


def test_honest_forest_is_not_refuted():
    honest = verify(cases_of(forest(epsilon=8.0, max_depth=1)), draws=500, seed=0)
    assert {v.unit for v in honest} == {"rho"}
    assert not any(v.refuted for v in honest)
    assert honest[0].bound.epsilon > 0.1 * honest[0].claim


COUNTS = forest(n_estimators=1, epsilon=4.0, max_depth=0)
CHOICES = forest(n_estimators=3, epsilon=8.0, max_depth=1)


@pytest.mark.parametrize(
    ("case", "draws"),
    [
        *((case, 1600) for case in mutants_of(COUNTS)),
        *((case, 1000) for case in list(mutants_of(CHOICES))[3:]),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_every_mutant_is_caught(case, draws):
    assert verify([case], draws=draws, seed=1)[0].refuted


def test_rho_bound_is_a_divergence():
    """90 of 100 against 10 of 100: of order 1 alone; higher orders divided by theirs are less."""
    here, there = [1] * 9000 + [0] * 1000, [0] * 9000 + [1] * 1000
    random.Random(0).shuffle(here)
    random.Random(1).shuffle(there)
    bound = rho_bound(here, there, confidence=0.95).epsilon
    true = 0.9 * math.log(9) + 0.1 * math.log(1 / 9)
    assert 0.9 * true < bound < true
    assert rho_bound(here, here).epsilon == 0.0


def test_models_can_be_read_and_are_not_taken_for_separate_trees(tmp_path):
    table, labels = people()
    fitted = forest().fit(table, labels)
    skops.io.dump(fitted, tmp_path / "model.skops")
    schema = gl.Schema([gl.Binary(name) for name in "abcd"])
    for model in (gl.read(fitted), fitted.to_model(), gl.read(tmp_path / "model.skops")):
        assert model.trees[0].counts.mechanism == "discrete Gaussian"
        assert model.provenance.settings["accounting"] == "zcdp"
        with pytest.raises(UnsupportedModelError):
            gl.reconstruct(model, schema)
        with pytest.raises(UnsupportedModelError):
            gl.uncertainty(model, schema)
        # One tree alone is an estimate like any other, without a promise in bits.
        left = gl.uncertainty(model.trees[0], schema)
        assert left.status == "estimated"
        assert "bits_per_person_at_most" not in left.details


@pytest.mark.parametrize(
    ("parameters", "words"),
    [({"accounting": "renyi"}, "accounting"), ({"delta": 0}, "delta"), ({"delta": 2.0}, "delta")],
)
def test_wrong_parameters(parameters, words):
    table, labels = people(20)
    with pytest.raises(ValueError, match=words):
        forest(**parameters).fit(table, labels)


def test_tools_name_what_they_draw():
    assert CONCENTRATED.scale(Fraction(1, 8)) == 2.0
