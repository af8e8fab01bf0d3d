"""Multiplicities that do not belong to the forest are found out."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

import glassleak as gl
from glassleak import datasets
from glassleak.errors import InconsistentModelError, UnsupportedModelError
from glassleak.models import Bagging, Forest

compas = datasets.load("compas", variant="binary")


@pytest.fixture(scope="module")
def model():
    X, y = compas.data.head(50), compas.target.head(50)
    return gl.read(RandomForestClassifier(40, random_state=0).fit(X, y))


@pytest.fixture(scope="module")
def matrix(model):
    return model.bagging.multiplicities(40, 50)


def attack(model, multiplicities):
    return gl.reconstruct(model, compas.schema, multiplicities=multiplicities, budget_seconds=20)


def test_the_right_ones_are_as_good_as_the_seeds(model, matrix):
    by_hand, by_seed = attack(model, matrix), attack(model, "known")
    assert by_hand.table.equals(by_seed.table)
    assert "given by the caller" in by_hand.certificate.statements[0]


def test_too_many_draws_name_the_tree(model, matrix):
    wrong = matrix.copy()
    wrong[7, 3] += 1
    with pytest.raises(InconsistentModelError, match=r"tree 7.*51 rows, the tree counts 50"):
        attack(model, wrong)


def test_too_few_different_rows_name_the_tree(model, matrix):
    wrong = matrix.copy()
    out, into = np.flatnonzero(wrong[9] == 1)[0], np.flatnonzero(wrong[9] > 0)[-1]
    wrong[9, out] -= 1
    wrong[9, into] += 1
    with pytest.raises(InconsistentModelError, match=r"tree 9.*different rows"):
        attack(model, wrong)


@pytest.mark.parametrize("seed", range(4))
def test_one_tree_with_its_rows_shuffled_is_found_out(model, matrix, seed):
    wrong = matrix.copy()
    wrong[5] = np.random.default_rng(seed).permutation(wrong[5])
    with pytest.raises(InconsistentModelError, match="multiplicities are not those"):
        attack(model, wrong)


def test_the_same_rows_in_another_order_are_the_same_rows(model, matrix):
    order = np.random.default_rng(0).permutation(50)
    one, other = attack(model, matrix), attack(model, matrix[:, order])
    assert one.table.iloc[order].reset_index(drop=True).equals(other.table)


def test_sizes_must_fit(model, matrix):
    with pytest.raises(InconsistentModelError, match="39 trees"):
        attack(model, matrix[:-1])
    with pytest.raises(InconsistentModelError, match="49 rows"):
        attack(model, matrix[:, :-1])
    with pytest.raises(InconsistentModelError, match="negative"):
        attack(model, matrix - 1)
    with pytest.raises(ValueError, match="whole numbers"):
        attack(model, matrix / 2)
    with pytest.raises(ValueError, match="'auto', 'known'"):
        attack(model, "perhaps")


def test_without_seeds_nothing_can_be_repeated(model):
    bare = Forest(model.trees, Bagging("unknown", 50), 50)
    with pytest.raises(UnsupportedModelError, match="no seeds"):
        attack(bare, "known")


def test_altered_counts_are_found_out(model):
    from dataclasses import replace

    from glassleak.models import Exact

    tree = model.trees[3]
    values = tree.counts.values.copy()
    # Two sibling leaves exchange a draw of the same class, and so do their parents' sums.
    parents = np.flatnonzero(
        (tree.left >= 0) & (tree.feature[tree.left] < 0) & (tree.feature[tree.right] < 0)
    )
    for parent in parents:
        left, right = tree.left[parent], tree.right[parent]
        shared = np.flatnonzero((values[left] > 1) & (values[right] == 0))
        if len(shared):
            values[left, shared[0]] -= 1
            values[right, shared[0]] += 1
            break
    altered = replace(tree, counts=Exact(values))
    trees = (*model.trees[:3], altered, *model.trees[4:])
    with pytest.raises(InconsistentModelError):
        attack(Forest(trees, model.bagging, 50), "known")
