"""Whole regression models: what comes back, and that no claim is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from people import SCHEMA, check_claims, counted, table
from sklearn.ensemble import BaggingRegressor, ExtraTreesRegressor, RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

import glassleak as gl
from glassleak.errors import InconsistentModelError, UnsupportedModelError
from glassleak.models import Bagging

FOREST = RandomForestRegressor(40, random_state=0)
WHOLE = RandomForestRegressor(40, bootstrap=False, max_features=2, random_state=0)


def found_in(estimator, X, y, **options):
    return gl.reconstruct(gl.read(estimator.fit(X, y)), SCHEMA, budget_seconds=20, **options)


def test_different_targets_give_every_row_and_value_in_order():
    X, y = table(60, 0)
    found = found_in(FOREST, X, y)
    check_claims(found, X, y)
    assert found.status == "consistent" or found.status == "unique"
    assert found.exact
    assert found.details["rows_at_their_own_position"]
    assert (found.labels == y).all()
    assert found.details["share_of_targets"] == 1
    assert found.certificate.certain_rows > 50
    assert gl.reconstruction_error(X, found.table, SCHEMA) < 0.005
    same = np.isclose(found.table.to_numpy(float), X.to_numpy(float)).all(axis=1)
    assert same[found.confidence >= 1].all()


def test_seeds_are_not_needed():
    X, y = table(60, 1)
    found = found_in(FOREST, X, y, multiplicities="unknown")
    check_claims(found, X, y)
    assert found.exact
    assert not found.details["rows_at_their_own_position"]
    assert np.array_equal(np.sort(found.labels), np.sort(y))
    assert gl.reconstruction_error(X, found.table, SCHEMA) < 0.01


@pytest.mark.parametrize("kind", ["float", "int", "zeros", "few"])
def test_without_bagging(kind):
    X, y = table(60, 2, kind)
    found = found_in(WHOLE, X, y)
    check_claims(found, X, y)
    assert found.exact
    assert found.certificate.replayed
    assert np.array_equal(np.sort(found.labels), np.sort(y))
    assert gl.reconstruction_error(X, found.table, SCHEMA) < 0.04


@pytest.mark.parametrize("kind", ["int", "zeros", "few"])
def test_known_draws_tell_rows_with_equal_targets_apart(kind):
    X, y = table(60, 3, kind)
    found = found_in(FOREST, X, y)
    check_claims(found, X, y)
    assert found.details["rows_at_their_own_position"]
    assert (found.labels == y).all()
    assert gl.reconstruction_error(X, found.table, SCHEMA) < 0.03


@pytest.mark.parametrize("bootstrap", [True, False])
def test_pairs_give_both_targets(bootstrap):
    X, y = table(60, 4)
    made = RandomForestRegressor(
        40, bootstrap=bootstrap, max_features=2, min_samples_leaf=2, random_state=0
    )
    found = found_in(made, X, y)
    check_claims(found, X, y)
    assert found.details["share_of_targets"] > 0.9
    told = np.sort(found.labels[~np.isnan(found.labels)])
    assert np.isclose(told[:, None], y[None], rtol=1e-8).any(axis=1).all()
    assert gl.reconstruction_error(X, found.table, SCHEMA) < 0.05


@pytest.mark.parametrize(
    "estimator",
    [ExtraTreesRegressor(20, random_state=0), DecisionTreeRegressor(random_state=0),
     BaggingRegressor(n_estimators=20, random_state=0),
     RandomForestRegressor(20, criterion="absolute_error", random_state=0),
     ExtraTreesRegressor(20, bootstrap=True, max_samples=30, random_state=0)],
    ids=lambda e: type(e).__name__,
)  # fmt: skip
def test_other_learners(estimator):
    X, y = table(50, 5)
    found = found_in(estimator, X, y)
    check_claims(found, X, y)
    assert found.exact
    told = ~np.isnan(found.labels)
    assert told.mean() > 0.95
    assert set(found.labels[told]) <= set(y)


def test_rows_never_drawn_stay_open():
    X, y = table(50, 6)
    found = found_in(RandomForestRegressor(2, random_state=0), X, y)
    check_claims(found, X, y)
    assert found.status == "partial"
    assert np.isnan(found.labels).any()
    assert (found.confidence[np.isnan(found.labels)] == 0).all()


def test_large_leaves_tell_means_only():
    X, y = table(60, 7)
    found = found_in(DecisionTreeRegressor(min_samples_leaf=5, random_state=0), X, y)
    assert found.status == "consistent"
    assert found.details["share_of_targets"] == 0
    assert any("estimated" in line for line in found.certificate.statements)
    tree = gl.read(DecisionTreeRegressor(min_samples_leaf=5, random_state=0).fit(X, y))
    leaf = tree.apply(found.table)
    means = np.bincount(leaf, found.labels)[tree.leaves] / np.bincount(leaf)[tree.leaves]
    assert np.allclose(means, tree.targets[tree.leaves])


def test_bagged_forests_of_large_leaves_are_not_assessed():
    X, y = table(60, 8)
    with pytest.raises(UnsupportedModelError, match="none tells a target"):
        found_in(RandomForestRegressor(5, min_samples_leaf=8, random_state=0), X, y)


def test_what_was_removed_is_not_assessed():
    X, y = table(40, 9)
    tree = gl.read(DecisionTreeRegressor().fit(X, y))
    bare = gl.Tree(
        tree.columns, (), tree.feature, tree.threshold, tree.left, tree.right, tree.counts,
        missing_left=tree.missing_left, targets=tree.targets,
    )  # fmt: skip
    with pytest.raises(UnsupportedModelError, match="not for how many rows"):
        gl.reconstruct(bare, SCHEMA)


def test_a_schema_that_is_too_narrow_is_noticed():
    X, y = table(50, 10)
    narrow = gl.Schema([gl.Ordinal("age", 0, 20), *list(SCHEMA)[1:]])
    with pytest.raises(InconsistentModelError):
        gl.reconstruct(gl.read(WHOLE.fit(X, y)), narrow)


def test_wrong_use():
    X, y = table(30, 11)
    model = gl.read(FOREST.fit(X, y))
    with pytest.raises(ValueError, match="multiplicities"):
        gl.reconstruct(model, SCHEMA, multiplicities="sometimes")
    with pytest.raises(ValueError, match="shape"):
        gl.reconstruct(model, SCHEMA, multiplicities=np.ones((2, 2), dtype=int))
    with pytest.raises(UnsupportedModelError, match="drew no samples"):
        gl.reconstruct(gl.read(WHOLE.fit(X, y)), SCHEMA, multiplicities="known")
    with pytest.raises(UnsupportedModelError, match="per class"):
        gl.reconstruct(model, SCHEMA, formulation="rows-cp")
    with pytest.raises(UnsupportedModelError, match="side knowledge"):
        gl.reconstruct(model, SCHEMA, known=gl.Known(columns=X[["age"]]))
    bagging = Bagging("unknown", model.bagging.draws)
    unknown = gl.Forest(model.trees, bagging, model.n_rows, "mean", model.provenance)
    with pytest.raises(UnsupportedModelError, match="not stored"):
        gl.reconstruct(unknown, SCHEMA, multiplicities="known")
    draws = model.bagging.multiplicities(len(model), 30)
    given = gl.reconstruct(unknown, SCHEMA, multiplicities=draws)
    assert (given.labels == y).all()


@given(
    st.integers(0, 10**6), st.integers(2, 30), st.sampled_from(["float", "int", "few", "zeros"]),
    st.booleans(), st.sampled_from(["auto", "unknown"]), st.sampled_from([1, 1, 2]),
    st.sampled_from([1, 4, 12]),
)  # fmt: skip
@settings(max_examples=25, deadline=None)
def test_no_claim_is_wrong(seed, n, kind, bootstrap, draws, least, n_trees):
    X, y = table(n, seed, kind)
    made = RandomForestRegressor(
        n_trees, bootstrap=bootstrap, min_samples_leaf=least, random_state=seed
    )
    model = gl.read(made.fit(X, y))
    try:
        found = gl.reconstruct(
            model, SCHEMA, multiplicities=draws if bootstrap else "auto", budget_seconds=2
        )
    except UnsupportedModelError:
        return
    if found.formulation == "targets":
        check_claims(found, X, y)
    assert found.status != "unique" or counted(found.table, found.labels) == counted(X, y)
