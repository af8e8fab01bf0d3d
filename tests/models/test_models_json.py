"""Writing a model and reading it back gives an equal model."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import baggings, forests, models, rule_lists, trees

from glassleak.errors import MalformedModelError
from glassleak.models import (
    Bagging,
    Exact,
    Forest,
    Missing,
    Provenance,
    Tree,
    model_document,
    model_from_document,
)


def through_text(model, packed):
    return model_from_document(json.loads(model.to_json(packed=packed)))


@pytest.mark.parametrize("packed", [False, True], ids=["lists", "packed"])
@given(model=trees())
def test_trees_come_back_equal(model, packed):
    assert through_text(model, packed) == model


@pytest.mark.parametrize("packed", [False, True], ids=["lists", "packed"])
@given(model=forests())
def test_forests_come_back_equal(model, packed):
    assert through_text(model, packed) == model


@pytest.mark.parametrize("packed", [False, True], ids=["lists", "packed"])
@given(model=rule_lists())
def test_rule_lists_come_back_equal(model, packed):
    assert through_text(model, packed) == model


@given(model=models(), packed=st.booleans())
def test_documents_are_plain_json(model, packed):
    document = model_document(model, packed=packed)
    text = json.dumps(document, allow_nan=False)
    assert json.loads(text) == document


@given(st.data())
def test_every_kind_of_bagging_comes_back_with_its_draws(data):
    n_rows = data.draw(st.integers(2, 20))
    bagging = data.draw(baggings(2, n_rows, data.draw(st.integers(1, 20))))
    leaf = Tree(("a",), (0,), [-1], [np.nan], [-1], [-1], Missing(""))
    back = through_text(Forest((leaf, leaf), bagging, n_rows), data.draw(st.booleans()))
    assert back.bagging == bagging
    if bagging.kind == "known":
        again = back.bagging.multiplicities(2, n_rows)
        assert np.array_equal(again, bagging.multiplicities(2, n_rows))
        if bagging.matrix is None:
            assert (again.sum(axis=1) == bagging.draws).all()


def small_tree(**changes):
    fields = {
        "columns": ("a", "b"), "classes": ("no", "yes"),
        "feature": [1, -1, -1], "threshold": [0.5, np.nan, np.nan],
        "left": [1, -1, -1], "right": [2, -1, -1],
        "counts": Exact(np.array([[3, 4], [1, 4], [2, 0]])),
    }  # fmt: skip
    return Tree(**(fields | changes))


def test_labels_keep_their_types():
    values = (1, 1.0, True, "1")
    tree = small_tree(classes=values, counts=Missing("not published"))
    back = through_text(tree, packed=False).classes
    assert [(type(v), v) for v in back] == [(type(v), v) for v in values]


def test_numpy_labels_become_plain_ones():
    tree = small_tree(classes=np.array(["no", "yes"]), columns=np.array(["a", "b"]))
    assert through_text(tree, packed=True) == tree
    assert {type(v) for v in (*tree.classes, *tree.columns)} == {str}


def test_written_file_is_the_text_and_replaces_an_old_one(tmp_path: Path):
    path = tmp_path / "model.json"
    path.write_text("old")
    text = small_tree().to_json(path)
    assert path.read_text(encoding="utf-8") == text
    assert [p.name for p in tmp_path.iterdir()] == ["model.json"]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {1, 2}])
def test_settings_that_json_cannot_hold_are_named(value):
    tree = small_tree(provenance=Provenance(settings={"criterion": value}))
    with pytest.raises(MalformedModelError, match="cannot be written as JSON") as caught:
        tree.to_json()
    assert caught.value.place == "provenance"


def test_packed_is_smaller_for_large_trees():
    n = 4001
    left = np.full(n, -1)
    left[: n // 2] = np.arange(n // 2) * 2 + 1
    right = np.where(left > 0, left + 1, -1)
    feature = np.where(left > 0, 0, -1)
    threshold = np.where(left > 0, np.linspace(0, 1, n), np.nan)
    tree = Tree(("a",), (0, 1), feature, threshold, left, right, Missing(""))
    assert len(tree.to_json(packed=True)) < 0.9 * len(tree.to_json())
    assert through_text(tree, packed=True) == tree


def test_equality_tells_models_apart():
    tree = small_tree()
    assert tree == small_tree()
    assert tree != small_tree(comparison="<")
    assert tree != small_tree(counts=Exact(np.array([[3, 4], [2, 3], [1, 1]])))
    assert tree != small_tree(classes=("no", "maybe"))
    assert small_tree(classes=(0, 1)) != small_tree(classes=(False, True))
    assert tree != "tree"
    assert Forest((tree,)) != Forest((tree,), Bagging("unknown"))
