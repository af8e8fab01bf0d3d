"""Our samplers beside OpenDP's, where it is installed: the same distributions, draw for draw."""

import random
from collections import Counter
from fractions import Fraction

import pytest
from scipy.stats import chi2_contingency

from glassleak.learners.private._exact import discrete_gaussian, discrete_laplace
from glassleak.learners.private._selection import permute_and_flip

dp = pytest.importorskip("opendp.prelude")
DRAWS = 8000


@pytest.fixture(scope="module", autouse=True)
def _allowed():
    dp.enable_features("contrib")


def alike(ours, theirs, reach):
    """p-value of both having one distribution; far values are merged."""
    a, b = (Counter(max(-reach, min(reach, x)) for x in drawn) for drawn in (ours, theirs))
    seen = sorted(x for x in set(a) | set(b) if a[x] + b[x] >= 10)
    return chi2_contingency([[a[x] for x in seen], [b[x] for x in seen]]).pvalue


def whole_numbers():
    return dp.atom_domain(T="i64"), dp.absolute_distance(T="i64")


@pytest.mark.parametrize("scale", ["1/2", "5/2"])
def test_discrete_laplace(scale):
    theirs = dp.m.make_laplace(*whole_numbers(), scale=float(Fraction(scale)))
    source = random.Random(1)
    ours = [discrete_laplace(Fraction(scale), source) for _ in range(DRAWS)]
    assert alike(ours, [theirs(0) for _ in range(DRAWS)], 8) > 1e-5
    # Both say what that costs.
    assert theirs.map(1) == pytest.approx(float(1 / Fraction(scale)))


def test_discrete_gaussian():
    theirs = dp.m.make_gaussian(*whole_numbers(), scale=2.0)
    source = random.Random(2)
    ours = [discrete_gaussian(Fraction(4), source) for _ in range(DRAWS)]
    assert alike(ours, [theirs(0) for _ in range(DRAWS)], 6) > 1e-5
    assert theirs.map(1) == pytest.approx(1 / 8)


def test_permute_and_flip():
    costs, epsilon = [4, 3, 3, 7], Fraction(1, 2)
    theirs = dp.m.make_noisy_max(
        dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64", monotonic=True),
        dp.max_divergence(), float(1 / epsilon), negate=True,
    )  # fmt: skip
    source = random.Random(3)
    ours = [permute_and_flip(costs, epsilon, source, monotone=True) for _ in range(DRAWS)]
    assert alike(ours, [theirs(costs) for _ in range(DRAWS)], 10) > 1e-5
    assert theirs.map(1) == pytest.approx(float(epsilon))


def test_the_comparison_can_fail():
    source = random.Random(4)
    narrow, wide = (
        [discrete_laplace(Fraction(scale), source) for _ in range(DRAWS)] for scale in (2, 3)
    )
    assert alike(narrow, wide, 8) < 1e-5
