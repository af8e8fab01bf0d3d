"""scikit-learn's regressors: every published figure is that of the training table."""

from __future__ import annotations

import contextlib
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skops.io
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import (
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor

import glassleak as gl
from glassleak.errors import MalformedModelError, ModelError, UnsupportedModelError
from glassleak.models import Missing
from glassleak.readers._limits import Limits
from glassleak.readers._live import state_of
from glassleak.readers.libraries._sklearn import read_sklearn

RNG = np.random.default_rng(0)
X = RNG.integers(0, 30, (70, 3)).astype(float)
Y = X[:, 0] + RNG.normal(size=70)

FORESTS = [
    RandomForestRegressor(4, random_state=0),
    RandomForestRegressor(4, bootstrap=False, max_features=2, random_state=0),
    ExtraTreesRegressor(4, random_state=0),
    ExtraTreesRegressor(4, bootstrap=True, max_samples=30, random_state=0),
    BaggingRegressor(n_estimators=4, random_state=0),
    BaggingRegressor(n_estimators=3, max_features=2, bootstrap=False, random_state=0),
]


def check_figures(tree: gl.Tree, drawn: np.ndarray, y: np.ndarray) -> None:
    """Rows, draws, mean and variance of every leaf, from the rows that reach it."""
    leaf = tree.apply(X)
    for v in tree.leaves.tolist():
        here = (leaf == v) & (drawn > 0)
        assert tree.distinct_rows[v] == here.sum()
        assert tree.rows[v] == drawn[here].sum()
        mean = np.average(y[here], weights=drawn[here])
        assert tree.targets[v] == pytest.approx(mean, rel=1e-12)
        variance = np.average((y[here] - mean) ** 2, weights=drawn[here])
        assert tree.spread[v] == pytest.approx(variance, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("estimator", FORESTS, ids=lambda e: type(e).__name__)
def test_the_training_table_has_every_published_figure(estimator):
    model = gl.read(estimator.fit(X, Y))
    assert model.is_regression
    assert model.n_rows == 70
    assert model.bagging.kind == ("known" if estimator.bootstrap else "none")
    draws = model.bagging.multiplicities(len(model), 70)
    for tree, drawn in zip(model.trees, draws, strict=True):
        check_figures(tree, drawn, Y)


@given(st.integers(0, 10**6), st.sampled_from(["best", "random"]), st.integers(1, 4))
@settings(max_examples=20, deadline=None)
def test_trees_of_any_shape(seed, splitter, least):
    y = np.random.default_rng(seed).integers(0, 5, 70).astype(float)
    made = DecisionTreeRegressor(splitter=splitter, min_samples_leaf=least, random_state=seed)
    tree = gl.read(made.fit(X, y))
    check_figures(tree, np.ones(70, dtype=int), y)
    assert gl.read(tree.to_json()) == tree


@pytest.mark.parametrize(
    "estimator",
    [DecisionTreeRegressor(), ExtraTreeRegressor(), *FORESTS[::4],
     GradientBoostingRegressor(n_estimators=3), GradientBoostingClassifier(n_estimators=3)],
    ids=lambda e: type(e).__name__,
)  # fmt: skip
def test_every_container_gives_the_same_model(estimator, tmp_path: Path):
    fitted = estimator.fit(X, Y > 15 if "Classifier" in type(estimator).__name__ else Y)
    model = gl.read(fitted)
    skops.io.dump(fitted, tmp_path / "m.skops")
    assert gl.read(tmp_path / "m.skops") == model
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(fitted))
    assert gl.read(tmp_path / "m.pkl", trust="sandbox") == model
    model.to_json(tmp_path / "m.json", packed=True)
    assert gl.read(tmp_path / "m.json") == model


def test_pipelines_end_in_regressors():
    model = gl.read(make_pipeline(StandardScaler(), DecisionTreeRegressor()).fit(X, Y))
    assert model.is_regression


def test_weights_hide_draws_and_nothing_else():
    weights = RNG.random(70) + 0.1
    tree = gl.read(DecisionTreeRegressor(max_depth=3).fit(X, Y, sample_weight=weights))
    assert tree.rows is None
    assert tree.distinct_rows[0] == 70
    assert any("weights" in note for note in tree.provenance.notes)


def test_clipped_values_are_no_targets():
    tree = gl.read(DecisionTreeRegressor(monotonic_cst=[1, 0, 0]).fit(X, Y))
    assert tree.targets is None
    assert tree.rows[0] == 70
    assert any("monotonic" in note for note in tree.provenance.notes)


def test_several_targets_are_refused():
    both = np.column_stack([Y, -Y])
    for estimator in (DecisionTreeRegressor(), RandomForestRegressor(2), ExtraTreesRegressor(2)):
        with pytest.raises(UnsupportedModelError, match="targets at once"):
            gl.read(estimator.fit(X, both))


def test_a_bag_of_something_else_is_refused():
    from sklearn.linear_model import LinearRegression

    with pytest.raises(UnsupportedModelError, match="only bags of trees"):
        gl.read(BaggingRegressor(LinearRegression(), 2).fit(X, Y))


@pytest.mark.parametrize("field", ["nodes", "values"])
@pytest.mark.parametrize("value", [None, np.zeros(3), np.array(["a"]), 7])
def test_damaged_trees_are_refused_by_name(field: str, value: Any):
    state = state_of(DecisionTreeRegressor(max_depth=2).fit(X, Y))
    state.attributes["tree_"].attributes[field] = value
    with pytest.raises(MalformedModelError, match=field):
        read_sklearn(state, Limits())


@pytest.mark.parametrize("name", ["impurity", "n_node_samples", "weighted_n_node_samples"])
@pytest.mark.parametrize("value", [np.nan, -5.0, 1e300, np.inf])
def test_absurd_figures_never_end_in_another_exception(name: str, value: float):
    state = state_of(RandomForestRegressor(2, random_state=0).fit(X, Y))
    inner = state.attributes["estimators_"][1].attributes["tree_"].attributes
    nodes = inner["nodes"].copy()
    with np.errstate(all="ignore"):
        nodes[name][2] = np.array([value]).astype(nodes.dtype[name])[0]
    inner["nodes"] = nodes
    model = None
    # Only what is not used may be odd; anything else is an error with a place.
    with contextlib.suppress(ModelError):
        model = read_sklearn(state, Limits())
    if model is not None:
        assert name != "n_node_samples"
        assert model.trees[1].rows is None or model.trees[1].spread is None or value < 0


@pytest.mark.parametrize("cls", [GradientBoostingRegressor, GradientBoostingClassifier])
def test_gradient_boosting_publishes_numbers_of_rows(cls):
    y = Y if cls is GradientBoostingRegressor else np.digitize(Y, [8, 20])
    model = gl.read(cls(n_estimators=4, random_state=0).fit(X, y))
    assert model.aggregation == "sum"
    assert len(model.classes) == (0 if cls is GradientBoostingRegressor else 3)
    for tree in model.trees:
        assert isinstance(tree.counts, Missing)
        assert tree.targets is None
        held = np.bincount(tree.apply(X), minlength=tree.n_nodes)
        assert np.array_equal(held[tree.leaves], tree.distinct_rows[tree.leaves])
    if model.classes:
        assert any("one tree per class" in note for note in model.provenance.notes)


def test_boosting_on_samples_says_so():
    model = gl.read(GradientBoostingRegressor(n_estimators=3, subsample=0.5).fit(X, Y))
    assert model.bagging.kind == "unknown"
    grown = GradientBoostingRegressor(n_estimators=2, warm_start=True).fit(X, Y)
    grown.set_params(n_estimators=4).fit(X[:50], Y[:50])
    model = gl.read(grown)
    assert model.bagging.kind == "unknown"
    assert any("different numbers of rows" in note for note in model.provenance.notes)


@pytest.mark.parametrize("grid", [None, [], [[]], [[1]], [[1], []], np.zeros((2, 1))])
def test_damaged_boosting_is_refused(grid: Any):
    state = state_of(GradientBoostingRegressor(n_estimators=2).fit(X, Y))
    state.attributes["estimators_"] = grid
    with pytest.raises(MalformedModelError, match="estimators_"):
        read_sklearn(state, Limits())
