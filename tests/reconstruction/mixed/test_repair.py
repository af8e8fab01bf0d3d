"""Repair of nearly right tables: never worse, and right again where only a few rows were wrong."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

import glassleak as gl
from glassleak.knowledge import profile_space, published
from glassleak.reconstruction.mixed._axes import axes_of
from glassleak.reconstruction.mixed._climb import climb
from glassleak.reconstruction.mixed._grove import Grove, grove_of
from glassleak.reconstruction.mixed._placement import Placement
from glassleak.reconstruction.mixed._repair import repair
from glassleak.reconstruction.mixed._rows import Rows
from glassleak.reconstruction.mixed._terms import exact_terms

SCHEMA = gl.Schema(
    [
        gl.Ordinal("age", 18, 90, missing=True),
        gl.Ordinal("amount", 1, 5_000),
        gl.Categorical("job", levels=(0, 1, 2, 3)),
        gl.Categorical("home", columns=["home=own", "home=rent", "home=free"]),
        gl.Binary("phone"),
    ]
)
FAR = 1e9


def people(n_rows: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    home = np.eye(3, dtype=int)[rng.integers(0, 3, n_rows)]
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 91, n_rows).astype(float),
            "amount": rng.integers(1, 5_001, n_rows),
            "job": rng.integers(0, 4, n_rows),
            "home=own": home[:, 0],
            "home=rent": home[:, 1],
            "home=free": home[:, 2],
            "phone": rng.integers(0, 2, n_rows),
        }
    )
    score = table["age"] / 70 + table["amount"] / 5_000 + home[:, 0] - table["job"] / 4
    table.loc[::7, "age"] = np.nan
    return table, (score + rng.normal(0, 0.3, n_rows) > 1).astype(int).to_numpy()


def placed(
    table: pd.DataFrame, labels: np.ndarray, forest
) -> tuple[gl.Forest, Grove, np.ndarray, np.ndarray]:
    """The model, its trees, their counts, and the true table in levels."""
    model = gl.read(forest.fit(table, labels))
    facts = published(list(model.trees))  # the draws are dealt with here
    space = profile_space(SCHEMA, facts.columns, facts.thresholds, facts.precision)
    axes = axes_of(space, facts)
    values = table.to_numpy(dtype=float)
    levels = []
    for axis in axes:
        own = values[:, axis.columns]
        if axis.ordered:
            level = np.searchsorted(axis.high[: axis.n_numbers], own[:, 0])
            levels.append(np.where(np.isnan(own[:, 0]), len(axis) - 1, level))
        else:
            levels.append([int(np.flatnonzero((axis.values == row).all(axis=1))[0]) for row in own])
    grove = grove_of(facts, axes, midpoints=False)
    target = np.concatenate([part.counts for part in facts.parts])
    return model, grove, target, np.column_stack(levels).astype(np.int32)


@pytest.fixture(scope="module")
def plain():
    table, labels = people(40, 1)
    forest = RandomForestClassifier(30, bootstrap=False, random_state=0)
    _, grove, target, levels = placed(table, labels, forest)
    return grove, target, levels, labels.astype(np.int32)


@pytest.fixture(scope="module")
def bagged():
    table, labels = people(24, 2)
    forest = RandomForestClassifier(30, random_state=0)
    model, grove, target, levels = placed(table, labels, forest)
    weights = model.bagging.multiplicities(len(model), len(table)).T
    leaf = Placement(grove, target, labels, weights).leaves_of(levels)
    distinct = np.zeros(len(target), dtype=int)
    np.add.at(distinct, leaf, weights > 0)
    return grove, target, levels, labels.astype(np.int32), weights, distinct


def scrambled(grove: Grove, levels: np.ndarray, rows: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    out = levels.copy()
    some = rng.choice(len(levels), rows, replace=False)
    out[some] = np.column_stack([rng.integers(0, k, rows) for k in grove.sizes])
    return out


def test_leaves_are_those_of_the_search(plain):
    grove, target, levels, labels = plain
    wrong = scrambled(grove, levels, 10, 0)
    rows, placement = (
        Rows(grove, exact_terms(target, len(labels)), wrong, labels, 0),
        Placement(grove, target, labels),
    )
    np.testing.assert_array_equal(placement.leaves_of(wrong), rows.leaf)
    assert placement.energy(wrong) == rows.energy > 0
    assert placement.energy(levels) == 0


def test_weights_and_distinct_rows_are_counted(bagged):
    grove, target, levels, labels, weights, distinct = bagged
    assert Placement(grove, target, labels, weights, distinct).energy(levels) == 0
    assert Placement(grove, target, labels).energy(levels) > 0
    wrong = distinct.copy()
    wrong[3] += 2
    assert Placement(grove, target, labels, weights, wrong).energy(levels) == 2


def test_walks_report_what_their_profile_is_worth(bagged):
    grove, target, levels, labels, weights, _ = bagged
    value = np.random.default_rng(0).normal(size=(len(target), 3))
    random = np.array([7], dtype=np.uint64)
    found, worth = climb(
        grove, levels, labels.astype(np.int64), weights.astype(float), value,
        heat=2.0, sweeps=5, random=random,
    )  # fmt: skip
    placement = Placement(grove, target, labels, weights)

    def total(profiles: np.ndarray) -> np.ndarray:
        leaf = placement.leaves_of(profiles)
        each = weights * value[leaf, labels[:, None]] + (weights > 0) * value[leaf, 2]
        return each.sum(axis=1)

    np.testing.assert_allclose(worth, total(found))
    assert (worth >= total(levels)).all()
    assert worth.mean() > total(levels).mean()


@pytest.mark.parametrize("seed", [0, 1])
def test_scrambled_rows_are_placed_again(plain, seed):
    grove, target, levels, labels = plain
    wrong = scrambled(grove, levels, 8, seed)
    before = Placement(grove, target, labels).energy(wrong)
    got = repair(grove, target, wrong, labels, deadline=FAR, seed=seed, max_rounds=12)
    assert got.energy == Placement(grove, target, labels).energy(got.levels)
    assert got.energy == 0 < before
    assert 1 <= got.improved <= got.rounds <= 12


def test_a_table_from_nothing_is_found(plain):
    grove, target, levels, labels = plain
    wrong = scrambled(grove, levels, len(levels), 3)
    got = repair(grove, target, wrong, labels, deadline=FAR, seed=0, max_rounds=6)
    assert got.energy < 0.1 * Placement(grove, target, labels).energy(wrong)


@pytest.mark.parametrize("by_row", [True, False])
def test_rows_with_weights_are_placed_again(bagged, by_row):
    grove, target, levels, labels, weights, distinct = bagged
    wrong = scrambled(grove, levels, 5, 0)
    also = distinct if by_row else None
    placement = Placement(grove, target, labels, weights, also)
    got = repair(
        grove, target, wrong, labels, weights, distinct=also, deadline=FAR, seed=0, max_rounds=8
    )
    assert got.energy == placement.energy(got.levels)
    assert got.energy < 0.2 * placement.energy(wrong)


def test_small_neighbourhoods_never_make_it_worse(plain):
    grove, target, levels, labels = plain
    wrong = scrambled(grove, levels, 20, 4)
    seen = [Placement(grove, target, labels).energy(wrong)]

    def accept(old: np.ndarray, new: np.ndarray) -> bool:
        seen.append(Placement(grove, target, labels).energy(new))
        assert seen[-1] <= Placement(grove, target, labels).energy(old)
        return True

    repair(
        grove,
        target,
        wrong,
        labels,
        deadline=FAR,
        seed=0,
        neighbourhood=6,
        max_rounds=5,
        accept=accept,
    )
    assert seen == sorted(seen, reverse=True)
    assert seen[-1] < seen[0]


def test_the_caller_may_refuse(plain):
    grove, target, levels, labels = plain
    wrong = scrambled(grove, levels, 4, 5)
    got = repair(
        grove,
        target,
        wrong,
        labels,
        deadline=FAR,
        seed=0,
        max_rounds=2,
        accept=lambda _old, _new: False,
    )
    np.testing.assert_array_equal(got.levels, wrong)
    assert (got.rounds, got.improved) == (2, 0)


def test_the_same_seed_gives_the_same_table(plain):
    grove, target, levels, labels = plain
    wrong = scrambled(grove, levels, 12, 6)
    one, other = (
        repair(grove, target, wrong, labels, deadline=FAR, seed=9, max_rounds=2) for _ in range(2)
    )
    np.testing.assert_array_equal(one.levels, other.levels)


def test_a_right_table_and_a_past_deadline_change_nothing(plain):
    grove, target, levels, labels = plain
    assert repair(grove, target, levels, labels, deadline=FAR, seed=0).rounds == 0
    wrong = scrambled(grove, levels, 4, 7)
    got = repair(grove, target, wrong, labels, deadline=time.monotonic() - 1, seed=0)
    assert got.rounds == 0
    np.testing.assert_array_equal(got.levels, wrong)
