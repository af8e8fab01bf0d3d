import itertools
import math
import random
from collections import Counter
from fractions import Fraction

import pytest
from scipy.stats import chisquare

from glassleak.learners.private._selection import permute_and_flip

DRAWS = 20_000


def probabilities(costs, rate):
    """Permute-and-flip's output by listing every order of the candidates."""
    best = min(costs)
    result = [0.0] * len(costs)
    orders = list(itertools.permutations(range(len(costs))))
    for order in orders:
        reached = 1.0
        for i in order:
            accepted = math.exp(-rate * (costs[i] - best))
            result[i] += reached * accepted / len(orders)
            reached *= 1 - accepted
    return result


@pytest.mark.parametrize("monotone", [True, False])
def test_distribution(monotone):
    costs, epsilon = [4, 3, 3, 7], Fraction(1, 2)
    source = random.Random(1)
    counts = Counter(
        permute_and_flip(costs, epsilon, source, monotone=monotone) for _ in range(DRAWS)
    )
    expected = probabilities(costs, float(epsilon) * (1 if monotone else 0.5))
    observed = [counts[i] for i in range(len(costs))]
    assert chisquare(observed, [p * DRAWS for p in expected]).pvalue > 1e-4


def test_privacy_holds_for_every_neighbouring_pair_of_small_costs():
    """Exactly, not by sampling: monotone neighbours differ by 0 or 1 in every cost."""
    epsilon = 0.7
    for costs in itertools.product(range(3), repeat=3):
        here = probabilities(costs, epsilon)
        for change in itertools.product((0, 1), repeat=3):
            there = probabilities([c + d for c, d in zip(costs, change, strict=True)], epsilon)
            for p, q in zip(here, there, strict=True):
                assert p <= math.exp(epsilon) * q + 1e-12
                assert q <= math.exp(epsilon) * p + 1e-12


def test_twice_the_slope_is_not_private_without_monotonicity():
    """The reason for the `monotone` argument: costs that move both ways break the bound."""
    epsilon = 0.7
    worst = max(
        p / q
        for costs in itertools.product(range(3), repeat=3)
        for change in itertools.product((-1, 0, 1), repeat=3)
        for p, q in zip(
            probabilities(costs, epsilon),
            probabilities([c + d for c, d in zip(costs, change, strict=True)], epsilon),
            strict=True,
        )
    )
    assert worst > math.exp(epsilon) * 1.1


def test_no_candidates():
    with pytest.raises(ValueError, match="no candidates"):
        permute_and_flip([], Fraction(1), random.Random(0), monotone=True)


def test_fractions_as_costs():
    source = random.Random(2)
    costs = [Fraction(1, 3), Fraction(100)]
    assert {permute_and_flip(costs, Fraction(1), source, monotone=True) for _ in range(200)} == {0}
