"""Exact samplers: chi-square against the distribution each one promises."""

import math
import random
from collections import Counter
from fractions import Fraction

import pytest
from scipy.stats import chisquare

from glassleak.learners.private._exact import (
    bernoulli,
    bernoulli_exp,
    discrete_gaussian,
    discrete_laplace,
    secure_randomness,
)

DRAWS = 20_000


def fits(drawn: list[int], weight, reach: int) -> float:
    """p-value of the draws against probabilities proportional to `weight`, tails merged."""
    total = sum(weight(x) for x in range(-50 * reach, 50 * reach + 1))
    counts = Counter(max(-reach, min(reach, x)) for x in drawn)
    inner = [weight(x) / total for x in range(-reach + 1, reach)]
    tail = (1 - sum(inner)) / 2
    expected = [tail, *inner, tail]
    observed = [counts[x] for x in range(-reach, reach + 1)]
    return chisquare(observed, [e * len(drawn) for e in expected]).pvalue


@pytest.mark.parametrize("p", [Fraction(0), Fraction(1, 3), Fraction(1)])
def test_bernoulli(p):
    source = random.Random(1)
    share = sum(bernoulli(p, source) for _ in range(DRAWS)) / DRAWS
    assert abs(share - p) < 0.015


@pytest.mark.parametrize("gamma", ["0", "1/7", "1", "5/2", "4"])
def test_bernoulli_exp(gamma):
    source = random.Random(2)
    share = sum(bernoulli_exp(Fraction(gamma), source) for _ in range(DRAWS)) / DRAWS
    expected = math.exp(-Fraction(gamma))
    assert abs(share - expected) < 4 * math.sqrt(expected * (1 - expected) / DRAWS) + 1e-12


def test_no_probability_above_one():
    with pytest.raises(ValueError, match="no probability"):
        bernoulli_exp(Fraction(-1, 2), random.Random(0))


@pytest.mark.parametrize("scale", ["1/3", "1", "5/2", "7"])
def test_discrete_laplace(scale):
    source = random.Random(3)
    exact = Fraction(scale)
    drawn = [discrete_laplace(exact, source) for _ in range(DRAWS)]
    reach = max(2, round(3 * float(exact)))
    assert fits(drawn, lambda x: math.exp(-abs(x) / exact), reach) > 1e-4


@pytest.mark.parametrize("variance", ["1/2", "1", "9"])
def test_discrete_gaussian(variance):
    source = random.Random(4)
    exact = Fraction(variance)
    drawn = [discrete_gaussian(exact, source) for _ in range(DRAWS)]
    reach = max(2, round(2.5 * math.sqrt(exact)))
    assert fits(drawn, lambda x: math.exp(-x * x / (2 * exact)), reach) > 1e-4


def test_the_check_itself_can_fail():
    """Twice the scale is not what was promised, and the test above would notice."""
    source = random.Random(5)
    drawn = [discrete_laplace(Fraction(2), source) for _ in range(DRAWS)]
    assert fits(drawn, lambda x: math.exp(-abs(x)), 3) < 1e-4


@pytest.mark.parametrize("draw", [discrete_laplace, discrete_gaussian])
def test_scale_must_be_positive(draw):
    with pytest.raises(ValueError, match="must be positive"):
        draw(Fraction(0), random.Random(0))


def test_secure_source_is_not_seeded():
    one, other = secure_randomness(), secure_randomness()
    assert [one.randrange(2**64) for _ in range(3)] != [other.randrange(2**64) for _ in range(3)]
