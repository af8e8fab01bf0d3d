"""The steps: what leaves tell, which rows have which target, where rows with equal targets are."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from people import SCHEMA, table
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

import glassleak as gl
from glassleak.errors import InconsistentModelError
from glassleak.reconstruction.regression._classes import as_classes
from glassleak.reconstruction.regression._complete import complete
from glassleak.reconstruction.regression._facts import facts_of
from glassleak.reconstruction.regression._people import anonymous, people_of
from glassleak.reconstruction.regression._place import groups_alike, place_alike, place_named
from glassleak.reconstruction.regression._rest import fits_leaf
from glassleak.reconstruction.regression._values import shares_of
from glassleak.reconstruction.regression._who import complete_trees, who_is_who
from glassleak.reconstruction.regression._who_search import search_choice


def made(n=40, seed=0, kind="float", n_trees=8, cls=RandomForestRegressor, **options):
    X, y = table(n, seed, kind)
    model = gl.read(cls(n_trees, random_state=seed, **options).fit(X, y))
    draws = None
    if model.bagging.kind == "known":
        draws = model.bagging.multiplicities(n_trees, n)
    return X, y, model, facts_of(model, SCHEMA, draws)


@given(st.integers(0, 10**6), st.sampled_from(["float", "int", "few"]), st.booleans(),
       st.sampled_from([1, 2, 4]))  # fmt: skip
@settings(max_examples=20, deadline=None)
def test_the_true_rows_satisfy_every_fact(seed, kind, bootstrap, least):
    X, y, model, facts = made(30, seed, kind, 4, bootstrap=bootstrap, min_samples_leaf=least)
    values = X.to_numpy(float)
    level = np.column_stack([
        np.searchsorted(facts.edges[c], values[:, c].astype(np.float32)) for c in range(3)
    ])  # fmt: skip
    for t, tree in enumerate(model.trees):
        drawn = np.ones(30, int) if facts.draws is None else facts.draws[t]
        at = tree.apply(values)
        for leaf in facts.leaves_of(t).tolist():
            inside = at == facts.node[leaf]
            in_box = ((level >= facts.low[leaf]) & (level <= facts.high[leaf])).all(axis=1)
            assert np.array_equal(inside, in_box)
            rows = np.flatnonzero(inside & (drawn > 0))
            assert len(rows) == facts.distinct[leaf]
            assert fits_leaf(facts, leaf, t, rows[None, :], y)[0]
            # One target wrong is noticed.
            other = y.copy()
            other[rows[0]] += 1.0
            assert not fits_leaf(facts, leaf, t, rows[None, :], other)[0]


@given(st.integers(0, 10**6), st.sampled_from(["float", "int", "few", "zeros"]), st.booleans(),
       st.sampled_from([1, 2]))  # fmt: skip
@settings(max_examples=25, deadline=None)
def test_shares_that_are_sound_are_right(seed, kind, bootstrap, least):
    X, y, model, facts = made(30, seed, kind, 4, bootstrap=bootstrap, min_samples_leaf=least)
    shares = shares_of(facts)
    at = model.apply(X.to_numpy(float))
    for k in np.flatnonzero(shares.sound).tolist():
        leaf = int(shares.leaf[k])
        t = int(facts.tree[leaf])
        drawn = np.ones(30, int) if facts.draws is None else facts.draws[t]
        own = (at[:, t] == facts.node[leaf]) & np.isclose(y, shares.values[shares.value[k]])
        assert ((drawn > 0) & own).sum() == shares.distinct[k]
        assert drawn[own].sum() == shares.drawn[k]


def test_targets_are_told_to_the_last_digit():
    _, y, _, facts = made(kind="float", n_trees=20)
    shares = shares_of(facts)
    assert np.array_equal(shares.values, np.sort(y))
    assert shares.exact.all()


def test_pairs_of_prices_are_rounded_to_cents():
    X, y = table(40, 3)
    y = np.round(y, 2)
    made_ = RandomForestRegressor(20, bootstrap=False, max_features=2, min_samples_leaf=2)
    facts = facts_of(gl.read(made_.fit(X, y)), SCHEMA, None)
    shares = shares_of(facts)
    assert shares.decimals == 2
    assert set(shares.values) <= set(y)
    assert len(shares.values) > 30


def test_values_hidden_by_rounding_are_not_told():
    """Far from zero, variances are lost to rounding: equal and nearly equal look the same."""
    X, _ = table(40, 4)
    y = 1e9 + np.random.default_rng(0).normal(size=40)
    made_ = RandomForestRegressor(5, bootstrap=False, max_features=2, min_samples_leaf=2)
    facts = facts_of(gl.read(made_.fit(X, y)), SCHEMA, None)
    shares = shares_of(facts)
    assert not shares.told[facts.distinct > 1].any()


@pytest.mark.parametrize("kind", ["float", "int", "zeros"])
def test_draws_say_which_row_has_which_target(kind):
    _, y, _, facts = made(50, 1, kind, 30)
    shares = shares_of(facts)
    people = people_of(facts, shares, time.monotonic() + 20)
    assert people.located
    assert (shares.values[people.value] == y).all()


def test_more_rows_than_equations_need_the_search():
    _, y, _, facts = made(80, 1, "int", 20)
    shares = shares_of(facts)
    who = who_is_who(facts, shares, complete_trees(facts, shares), None, time.monotonic() + 20)
    assert who is None or (shares.values[who.value] == y).mean() > 0.9


def test_draws_of_another_forest_name_nobody():
    _, _, _, facts = made(40, 2, "float", 10)
    shuffled = facts.draws[:, np.random.default_rng(0).permutation(40)]
    shuffled[3] = np.roll(shuffled[3], 1)
    shares = shares_of(facts)
    wrong = replace(facts, draws=shuffled)
    who = who_is_who(wrong, shares, complete_trees(facts, shares), None, time.monotonic() + 1)
    assert who is None


def test_the_search_shares_out_exactly():
    rng = np.random.default_rng(0)
    columns = rng.poisson(1, (60, 40)).astype(float)
    true = rng.integers(0, 6, 40)
    wanted = np.zeros((60, 6))
    np.add.at(wanted.T, true, columns.T)
    choice = search_choice(columns, wanted, time.monotonic() + 20, 0)
    assert np.array_equal(choice, true)
    wanted[0, 0] += 1  # now there is no such choice
    assert search_choice(columns, wanted, time.monotonic() + 0.3, 0) is None


@pytest.mark.parametrize("kind", ["int", "few"])
def test_rows_with_equal_targets_end_in_leaves_that_hold_them(kind):
    X, y, model, facts = made(40, 5, kind, 10, ExtraTreesRegressor)
    shares = shares_of(facts)
    people = anonymous(facts, shares)
    places = place_named(facts, shares, people)
    for group in groups_alike(facts, shares, people):
        if not place_alike(facts, places, group):
            assert complete(facts, places, group, time.monotonic() + 10)
    assert (places.low <= places.high).all()
    target = shares.values[people.value]
    for t in range(len(model)):
        for leaf in facts.leaves_of(t).tolist():
            inside = places.leaf[t] == leaf
            assert inside.sum() == facts.distinct[leaf]
            assert np.allclose(target[inside], facts.mean[leaf])
    # Rows that are certain have the leaves of some row of the table in every tree.
    real = {(*map(int, row), v) for row, v in zip(model.apply(X.to_numpy(float)), y, strict=True)}
    for row in np.flatnonzero(places.certain).tolist():
        assert (*facts.node[places.leaf[:, row]].tolist(), target[row]) in real


def test_altered_targets_are_noticed():
    X, y = table(40, 6)
    model = gl.read(RandomForestRegressor(3, bootstrap=False, random_state=0).fit(X, y))
    targets = model.trees[1].targets.copy()
    leaf = model.trees[1].leaves[0]
    targets[leaf] += 1.0
    trees = (model.trees[0], replace(model.trees[1], targets=targets), model.trees[2])
    with pytest.raises(InconsistentModelError, match="rows"):
        gl.reconstruct(replace(model, trees=trees), SCHEMA)


def test_targets_as_classes_have_the_same_rows():
    _, y, model, facts = made(40, 7, "few", 5)
    forest = as_classes(model, facts, shares_of(facts))
    assert forest.classes == tuple(np.unique(y).tolist())
    for t, tree in enumerate(forest.trees):
        assert np.array_equal(tree.counts.totals, model.trees[t].rows)
        drawn = np.bincount(np.searchsorted(forest.classes, y), facts.draws[t])
        assert np.array_equal(tree.counts.values[0], drawn)


@pytest.mark.parametrize("seed", range(4))
def test_blurred_pairs_do_not_contradict_each_other(seed):
    """Far from zero, targets of pairs are computed with errors as large as their differences."""
    X, _ = table(30, seed)
    y = np.random.default_rng(seed).normal(1e6, 1, 30)
    made_ = RandomForestRegressor(12, bootstrap=False, min_samples_leaf=2, random_state=seed)
    facts = facts_of(gl.read(made_.fit(X, y)), SCHEMA, None)
    shares = shares_of(facts)
    near = np.abs(shares.values[:, None] - y[None]).min(axis=1, initial=np.inf)
    assert (near < 1e-5).all()
    assert len(shares.values) <= 30
