"""The relaxation, the prior and the choice of the central table."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier

import glassleak as gl
from glassleak.reconstruction.bagged._centre import (
    central_rows,
    expected_error,
    level_costs,
    pair,
    support,
)
from glassleak.reconstruction.bagged._evidence import evidence_of
from glassleak.reconstruction.bagged._prior import Kinds
from glassleak.reconstruction.bagged._profiles import enumerate_profiles
from glassleak.reconstruction.bagged._relaxation import _observed_shares, relax

YES_NO = np.array([[0.0], [1.0]])
COSTS = level_costs([YES_NO, np.eye(3), np.arange(4.0)[:, None]])


def test_more_iterations_explain_the_leaves_better() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (60, 6)), rng.integers(0, 2, 60)
    evidence = evidence_of(gl.read(RandomForestClassifier(20, random_state=0).fit(X, y)))
    schema = gl.Schema([gl.Binary(c) for c in evidence.forest.columns])
    profiles = enumerate_profiles(evidence, schema)
    target = _observed_shares(evidence)
    values = []
    for iterations in (20, 100, 400):
        found = relax(profiles.leaf, evidence, iterations=iterations)
        held = np.zeros(target.shape)
        for t in range(profiles.leaf.shape[1]):
            np.add.at(held, (profiles.leaf[found.profile, t], found.label), found.share)
        seen = target > 0
        values.append(float((target[seen] * np.log(held[seen])).sum()))
        assert found.share.sum() == pytest.approx(1.0)
    assert values[0] < values[1] < values[2]
    # The gap bounds what is left to gain, per tree.
    assert values[2] - values[0] <= 20 * relax(profiles.leaf, evidence, iterations=20).gap + 1e-6


def test_rows_that_are_there_have_derivatives_near_one() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 2, (50, 6)), rng.integers(0, 2, 50)
    forest = gl.read(RandomForestClassifier(60, random_state=0).fit(X, y))
    evidence = evidence_of(forest)
    profiles = enumerate_profiles(evidence, gl.Schema([gl.Binary(c) for c in forest.columns]))
    derivative = relax(profiles.leaf, evidence).derivative
    mine = derivative[X @ profiles.strides, y]
    assert mine.min() > 0.9
    assert np.median(derivative) < mine.min()


def test_kinds_find_two_groups_of_people() -> None:
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 300)
    levels = (rng.random((300, 8)) < np.where(group[:, None] == 1, 0.95, 0.05)).astype(np.int64)
    kinds = Kinds(np.full(8, 2), 300, rng)
    kinds.fit(levels, 50)
    alike, mixed = np.ones((1, 8), np.int64), np.array([[1, 0, 1, 0, 1, 0, 1, 0]])
    assert kinds.log_density(alike)[0] > kinds.log_density(mixed)[0] + 5
    everybody = np.array(list(itertools.product([0, 1], repeat=8)))
    assert np.exp(kinds.log_density(everybody)).sum() == pytest.approx(1.0)
    kinds.draw(levels, rng)
    assert np.exp(kinds.log_density(everybody)).sum() == pytest.approx(1.0)


def test_costs_count_columns_and_shares_of_a_range() -> None:
    assert COSTS[0].tolist() == [[0, 1], [1, 0]]
    assert COSTS[1][0].tolist() == [0, 2, 2]
    assert COSTS[2][0] == pytest.approx([0, 1 / 3, 2 / 3, 1])


rows = st.tuples(st.integers(0, 1), st.integers(0, 2), st.integers(0, 3))
tables = st.integers(1, 5).flatmap(
    lambda n: st.tuples(*[st.lists(rows, min_size=n, max_size=n)] * 2)
)


@given(tables)
def test_pairs_are_as_cheap_as_the_best_of_all_orders(both: tuple[list, list]) -> None:
    one, other = (np.array(t, dtype=np.int64) for t in both)

    def cost(order: np.ndarray) -> float:
        return sum(float(c[one[:, a], other[order, a]].sum()) for a, c in enumerate(COSTS))

    best = min(cost(np.array(order)) for order in itertools.permutations(range(len(one))))
    partner = pair(one, other, COSTS)
    assert sorted(partner.tolist()) == list(range(len(one)))
    assert cost(partner) == pytest.approx(best)
    assert expected_error(one, [other], COSTS) == pytest.approx(best / len(one))


def test_the_centre_is_what_most_samples_say() -> None:
    truth = np.array([[0, 0, 0], [1, 2, 3], [0, 1, 2]])
    samples = []
    for k in range(9):
        sample = truth.copy()
        sample[k % 3, k // 3] = (sample[k % 3, k // 3] + 1) % 2
        samples.append(np.random.default_rng(k).permutation(sample))
    centre = central_rows(samples, np.zeros(3, np.int64), COSTS, 0)
    assert sorted(map(tuple, centre)) == sorted(map(tuple, truth))


def test_support_counts_equal_rows_one_by_one() -> None:
    table = np.array([[0, 1], [0, 1], [1, 1]])
    samples = [np.array([[0, 1], [0, 0], [1, 1]]), np.array([[0, 1], [0, 1], [0, 0]])]
    assert support(table, samples).tolist() == [1.0, 0.5, 0.5]
