"""Where a tree sends rows, against the library that trained it."""

from __future__ import annotations

import numpy as np
import pytest
from fitted import forest_of, tree_of
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from glassleak.models import Missing, Tree


def table(seed, n=300, d=6, missing=0.0):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-4, 5, d)
    values[:, 0] = rng.integers(0, 5, n)
    values[rng.random((n, d)) < missing] = np.nan
    return values, rng.integers(0, 3, n)


@pytest.mark.parametrize("make", [DecisionTreeClassifier, ExtraTreeClassifier])
@pytest.mark.parametrize("seed", range(4))
def test_leaves_as_scikit_learn_finds_them(make, seed):
    values, labels = table(seed)
    fitted = make(random_state=seed).fit(values, labels)
    fresh, _ = table(seed + 100)
    assert np.array_equal(tree_of(fitted).apply(fresh), fitted.apply(fresh))


@pytest.mark.parametrize("seed", range(4))
def test_values_exactly_at_and_beside_thresholds(seed):
    values, labels = table(seed)
    fitted = DecisionTreeClassifier(random_state=seed).fit(values, labels)
    tree = tree_of(fitted)
    rows = []
    for column in range(values.shape[1]):
        for threshold in np.unique(tree.threshold[tree.feature == column]):
            single = np.float32(threshold)
            near = [
                threshold, np.nextafter(threshold, np.inf), np.nextafter(threshold, -np.inf),
                float(single), float(np.nextafter(single, np.float32(np.inf))),
                float(np.nextafter(single, np.float32(-np.inf))),
            ]  # fmt: skip
            for value in near:
                row = values[len(rows) % len(values)].copy()
                row[column] = value
                rows.append(row)
    rows = np.array(rows)
    assert len(rows) > 200
    assert np.array_equal(tree.apply(rows), fitted.apply(rows))


def test_rounding_to_single_precision_decides_which_side():
    # 16777217 is 16777216 in float32, so it is not above a threshold of 16777216.5.
    def at(precision):
        tree = Tree(
            ("a",), (0,), [0, -1, -1], [16777216.5, np.nan, np.nan], [1, -1, -1], [2, -1, -1],
            Missing(""), precision=precision,
        )  # fmt: skip
        return tree.apply([[16777217.0]])[0]

    assert (at("float32"), at("float64")) == (1, 2)


def test_strict_and_weak_comparison_differ_at_the_threshold_only():
    def at(comparison):
        tree = Tree(
            ("a",), (0,), [0, -1, -1], [1.5, np.nan, np.nan], [1, -1, -1], [2, -1, -1],
            Missing(""), comparison=comparison,
        )  # fmt: skip
        return tree.apply([[1.4], [1.5], [1.6]]).tolist()

    assert at("<=") == [1, 1, 2]
    assert at("<") == [1, 2, 2]


@pytest.mark.parametrize("seed", range(4))
def test_missing_values_as_scikit_learn_routes_them(seed):
    values, labels = table(seed, missing=0.2)
    fitted = DecisionTreeClassifier(random_state=seed).fit(values, labels)
    fresh, _ = table(seed + 100, missing=0.4)
    tree = tree_of(fitted)
    assert 0 < tree.missing_left[tree.feature >= 0].mean() < 1
    assert np.array_equal(tree.apply(fresh), fitted.apply(fresh))


def test_missing_values_without_a_rule_for_them_are_refused():
    tree = Tree(
        ("a",), (0,), [0, -1, -1], [1.5, np.nan, np.nan], [1, -1, -1], [2, -1, -1], Missing("")
    )
    with pytest.raises(ValueError, match="missing values"):
        tree.apply([[np.nan]])


@pytest.mark.filterwarnings("error")
def test_values_beyond_single_precision_are_infinite_as_in_the_library():
    tree = Tree(
        ("a",), (0,), [0, -1, -1], [1.5, np.nan, np.nan], [1, -1, -1], [2, -1, -1], Missing("")
    )
    assert tree.apply([[1e300], [-1e300], [np.inf]]).tolist() == [2, 1, 2]


@pytest.mark.parametrize("shape", [(3,), (2, 1), (2, 3), (1, 2, 2)])
def test_tables_of_another_shape_are_refused(shape):
    tree = Tree(("a", "b"), (0,), [-1], [np.nan], [-1], [-1], Missing(""))
    with pytest.raises(ValueError, match="expected 2 columns"):
        tree.apply(np.zeros(shape))


def test_empty_tables_and_single_leaves():
    tree = Tree(("a", "b"), (0,), [-1], [np.nan], [-1], [-1], Missing(""))
    assert tree.apply(np.zeros((4, 2))).tolist() == [0, 0, 0, 0]
    assert tree.apply(np.zeros((0, 2))).shape == (0,)
    assert tree.depth == 0


def test_counts_are_those_of_the_rows_that_reach_a_leaf():
    values, labels = table(7)
    tree = tree_of(DecisionTreeClassifier(max_depth=4, random_state=0).fit(values, labels))
    leaf = tree.apply(values)
    for node in tree.leaves:
        expected = np.bincount(labels[leaf == node], minlength=3)
        assert np.array_equal(tree.counts.values[node], expected)
    assert tree.n_rows == len(values)


def test_forests_send_rows_as_scikit_learn_does():
    values, labels = table(3)
    fitted = RandomForestClassifier(7, random_state=0).fit(values, labels)
    assert np.array_equal(forest_of(fitted).apply(values), fitted.apply(values))


def test_rows_at_the_root_are_the_distinct_ones():
    values, labels = table(3)
    fitted = RandomForestClassifier(3, random_state=0).fit(values, labels)
    for tree, member in zip(forest_of(fitted), fitted.estimators_, strict=True):
        assert tree.n_rows == member.tree_.n_node_samples[0] < len(values)
        assert tree.counts.totals[0] == len(values)
        assert np.array_equal(tree.people, member.tree_.n_node_samples)
