"""Targets in the leaves of regression trees: the finding, and that what it claims is true."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import (
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesEmbedding,
)
from sklearn.tree import DecisionTreeRegressor


@pytest.fixture(scope="module")
def target(data) -> np.ndarray:
    # 137 different values.
    return np.round(100 * data.X[:, 0] + np.arange(data.n) / 1000, 3)


@pytest.mark.parametrize("pickled", [False, True])
def test_a_tree_grown_out_publishes_every_target(data, target, scanned, pickled) -> None:
    tree = DecisionTreeRegressor(random_state=0).fit(data.X, target)
    found = scanned(tree, pickled=pickled).one("leaf-targets")
    assert found.severity == "refer"
    assert found.evidence["leaves_with_one_row"] == data.n
    assert found.evidence["different_targets"] == data.n
    # The claim: the values of these leaves are the targets.
    leaves = tree.tree_.children_left == -1
    np.testing.assert_allclose(np.sort(tree.tree_.value[leaves, 0, 0]), np.sort(target))


@pytest.mark.parametrize("kind", [RandomForestRegressor, ExtraTreesRegressor, BaggingRegressor])
def test_forests_are_one_finding(data, target, scanned, kind) -> None:
    model = kind(n_estimators=6, random_state=0).fit(data.X, target)
    found = scanned(model).one("leaf-targets")
    assert found.where == kind.__name__
    assert found.evidence["trees"] == 6
    trees = [tree.tree_ for tree in model.estimators_]
    alone = np.concatenate([t.value[t.n_node_samples == 1, 0, 0] for t in trees])
    told = {round(value, 3) for value in alone}
    assert found.evidence["leaves_with_one_row"] == len(alone)
    assert told <= set(target)
    assert len(told) == found.evidence["different_targets"]


def test_two_row_leaves_tell_both_targets(data, target, scanned) -> None:
    tree = DecisionTreeRegressor(min_samples_leaf=2, random_state=0).fit(data.X, target)
    found = scanned(tree).one("leaf-targets")
    assert found.evidence["leaves_with_one_row"] == 0
    pairs = (tree.tree_.n_node_samples == 2) & (tree.tree_.children_left == -1)
    assert found.evidence["leaves_with_two_rows_told"] == int(pairs.sum()) > 20
    # The claim: mean plus and minus the standard deviation are the two targets.
    leaf = tree.apply(data.X)
    for node in np.flatnonzero(pairs):
        mean, spread = tree.tree_.value[node, 0, 0], np.sqrt(tree.tree_.impurity[node])
        np.testing.assert_allclose(
            [mean - spread, mean + spread], np.sort(target[leaf == node]), atol=1e-6
        )


def test_under_another_criterion_pairs_are_not_told(data, target, scanned) -> None:
    tree = DecisionTreeRegressor(
        min_samples_leaf=2, criterion="absolute_error", random_state=0
    ).fit(data.X, target)
    assert "leaf-targets" not in scanned(tree).kinds


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeRegressor(min_samples_leaf=10),
        GradientBoostingRegressor(n_estimators=3, max_depth=None),
        RandomForestClassifier(3),
        IsolationForest(n_estimators=3),
        RandomTreesEmbedding(n_estimators=3, max_depth=20),
    ],
    ids=lambda m: type(m).__name__,
)
def test_nothing_to_report(data, target, scanned, model) -> None:
    fitted = model.fit(data.X, data.y if isinstance(model, RandomForestClassifier) else target)
    assert "leaf-targets" not in scanned(fitted).kinds
