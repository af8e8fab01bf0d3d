"""The parts of the joint count, each against its own definition."""

from __future__ import annotations

import itertools
import math
import time

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from glassleak.uncertainty.joint._frontier import TooManyStatesError, count, count_logs
from glassleak.uncertainty.joint._inside import inside_bits
from glassleak.uncertainty.joint._piece import KINDS, Piece, filled_bits, log_ways_table, ways
from glassleak.uncertainty.joint._product import Product, truncated_geometric
from glassleak.uncertainty.joint._sampled import estimate, thin
from glassleak.uncertainty.joint._sharpen import sharpened


def by_hand(piece, kind):
    spans = [range(a, b + 1) for a, b in zip(piece.lower, piece.upper, strict=True)]
    return sum(
        math.prod(
            ways(n, k - g, kind)
            for n, k, g in zip(piece.profiles, h, piece.given.tolist(), strict=True)
        )
        for h in itertools.product(*spans)
        if (piece.matrix @ np.array(h) == piece.target).all()
    )


@given(st.data())
@settings(max_examples=40)
def test_counts_and_bounds_of_pieces(data):
    piece, h = data.draw(whole_pieces())
    numbers = {kind: by_hand(piece, kind) for kind in KINDS}
    assert count(piece, KINDS, max_work=10**6) == tuple(numbers.values())
    for (log, error), number in zip(
        count_logs(piece, KINDS, max_work=10**6), numbers.values(), strict=True
    ):
        assert abs(log - math.log(number)) <= error < 1e-9
    inside = inside_bits(piece, h, KINDS, max_work=2, deadline=math.inf)
    for kind in KINDS:
        exact = math.log2(numbers[kind])
        assert piece.bits(h, kind) <= inside[kind] + 1e-9
        assert inside[kind] <= exact + 1e-9
        product = Product(piece, kind)
        tilt = product.best()
        assert exact <= sharpened(product, tilt) + 1e-12 <= tilt.bits + 1e-9
        assert tilt.bits <= product.tilt(np.zeros(len(piece.target))).bits
        anywhere = np.rint(np.linspace(-2, 2, len(piece.target)) * 2**20) / 2**20
        assert exact <= product.tilt(anywhere).bits


@st.composite
def whole_pieces(draw):
    n = draw(st.integers(2, 6))
    groups = [draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)) for _ in range(2)]
    h = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    matrix = np.array([[int(g == k) for g in own] for own in groups for k in range(3)])
    used = matrix.any(axis=1)
    parts = np.repeat([0, 1], 3)[used]
    sparse = sp.csr_array(matrix[used])
    target = sparse @ h
    most = np.array([target[matrix[used][:, j] > 0].min() for j in range(n)])
    taken = np.minimum(h, draw(st.integers(0, 1)))
    profiles = tuple(draw(st.lists(st.integers(1, 9), min_size=n, max_size=n)))
    return Piece(sparse, target, taken, most, profiles, taken, parts), h


def crossing(n: int, rows: int) -> Piece:
    """An n by n table with all sums equal: many solutions."""
    kinds = [[int(j // n == k) for j in range(n * n)] for k in range(n)]
    kinds += [[int(j % n == k) for j in range(n * n)] for k in range(n)]
    nothing = np.zeros(n * n, dtype=np.int64)
    target = np.full(2 * n, rows)
    parts = np.repeat([0, 1], n)
    profiles = tuple(1 + j % 3 for j in range(n * n))
    return Piece(
        sp.csr_array(np.array(kinds)), target, nothing, nothing + rows, profiles, nothing, parts
    )


def test_contingency_tables_that_are_known():
    """4 x 4 tables with all sums 3: 2,008 of them (OEIS A001500 counts n x n tables)."""
    piece = crossing(4, 3)
    plain = Piece(**{**piece.__dict__, "profiles": (1,) * 16})
    assert count(plain, ("ordered",), max_work=10**6) == (2008,)


def test_the_best_product_is_found_where_it_lies_at_infinity():
    """Two unknowns that no table can fill, which propagation does not see."""
    rows = [[1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0], [1, 0, 1, 0, 0, 1], [0, 1, 0, 1, 1, 0]]
    target = np.array([9, 9, 12, 6])
    nothing = np.zeros(6, dtype=np.int64)
    parts = np.array([0, 0, 1, 1])
    piece = Piece(
        sp.csr_array(np.array(rows)), target, nothing, nothing + 9, (5,) * 6, nothing, parts
    )
    exact = math.log2(count(piece, ("ordered",), max_work=10**6)[0])
    tilt = Product(piece, "ordered").best()
    assert exact <= tilt.bits < exact + 12


def test_the_estimate_has_no_bias():
    piece = crossing(4, 3)
    exact = [math.log2(n) for n in count(piece, KINDS, max_work=10**6)]
    tilt = Product(piece, "ordered").best()
    found = estimate(
        piece, KINDS, tilt, keep=5, repetitions=150, deadline=time.monotonic() + 60, seed=0
    )
    for kind, bits in zip(KINDS, exact, strict=True):
        assert 0 < found[kind].error < 0.3
        assert found[kind].bits == pytest.approx(bits, abs=4 * found[kind].error)


@given(st.lists(st.floats(-30, 30), min_size=3, max_size=20), st.integers(1, 5))
@settings(max_examples=20)
def test_thinning_keeps_the_total_on_average(scores, keep):
    score = np.array(scores)
    total = np.zeros(len(score))
    repeats = 150
    for seed in range(repeats):
        which, log_chance = thin(score, keep, np.random.default_rng(seed))
        assert len(np.unique(which)) == len(which) <= max(keep + 1, 1)
        total[which] += np.exp(-log_chance)
    likely = np.exp(score - score.max()) > 0.2
    assert total[likely] / repeats == pytest.approx(np.ones(int(likely.sum())), abs=0.6)


def test_a_limit_is_a_limit():
    with pytest.raises(TooManyStatesError):
        count(crossing(6, 40), ("ordered",), max_work=1000)
    with pytest.raises(TooManyStatesError):
        count(crossing(6, 40), ("ordered",), max_work=10**9, deadline=time.monotonic() - 1)


@given(st.floats(-50, 50), st.integers(0, 40))
def test_truncated_geometric_sums(x, span):
    k = np.arange(span + 1)
    share = np.exp(k * x - (k * x).max())
    share /= share.sum()
    log_sum, mean, variance = (
        float(v[0]) for v in truncated_geometric(np.array([x]), np.array([float(span)]))
    )
    assert log_sum == pytest.approx(np.logaddexp.reduce(k * x), abs=1e-10, rel=1e-12)
    assert mean == pytest.approx(float(share @ k), abs=1e-6)
    assert variance == pytest.approx(float(share @ (k - share @ k) ** 2), abs=1e-4)


@given(st.integers(1, 10**30), st.integers(0, 30))
def test_ways_in_floating_point(profiles, rows):
    for kind in KINDS:
        exact = math.log2(ways(profiles, rows, kind))
        assert log_ways_table(profiles, rows, kind)[-1] / math.log(2) == pytest.approx(
            exact, abs=1e-9, rel=1e-12
        )
        assert filled_bits([profiles], [rows], kind) == pytest.approx(exact, abs=1e-9, rel=1e-12)
