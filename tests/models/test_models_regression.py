"""Regression trees in the IR: what is checked, and that nothing is lost on the way to JSON."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassleak.errors import MalformedModelError
from glassleak.models import (
    Exact,
    Forest,
    Missing,
    Tree,
    model_document,
    model_from_document,
)

TARGETS = st.floats(-1e100, 1e100)


def stump(targets: list[float], spread: list[float] | None = None) -> Tree:
    return Tree(
        columns=("a", "b"), classes=(), feature=[1, -1, -1], threshold=[0.5, np.nan, np.nan],
        left=[1, -1, -1], right=[2, -1, -1], counts=Missing("regression"), rows=[5, 3, 2],
        distinct_rows=[4, 2, 2], targets=targets, spread=spread,
    )  # fmt: skip


@given(st.lists(TARGETS, min_size=3, max_size=3), st.lists(TARGETS, min_size=3, max_size=3))
@settings(max_examples=50)
def test_written_and_read_back(targets, spread):
    tree = stump(targets, spread)
    for model in (tree, Forest((tree, stump(spread)))):
        for packed in (False, True):
            again = model_from_document(model_document(model, packed=packed))
            assert again == model
    assert tree != replace(tree, spread=None)
    assert tree.n_rows == 4


def test_what_it_is_can_be_seen():
    tree = stump([1.0, 2.0, 3.0])
    assert tree.is_regression
    assert "regression" in repr(tree)
    assert "regression" in repr(Forest((tree,)))
    assert not replace(tree, targets=None).is_regression


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"targets": [1.0]}, "targets"),
        ({"targets": [1.0, np.nan, 2.0]}, r"targets\[1\]"),
        ({"targets": [1.0, 1e300, 2.0]}, r"targets\[1\]"),
        ({"spread": [0.0, 0.0, np.inf]}, r"spread\[2\]"),
        ({"targets": None, "spread": [0.0, 0.0, 0.0]}, "spread"),
        ({"classes": ("x",)}, "targets"),
        ({"classes": ("x",), "counts": Exact(np.array([[5], [3], [2]]))}, "targets"),
    ],
)
def test_what_cannot_be_is_refused(changes, place):
    with pytest.raises(MalformedModelError, match=place):
        replace(stump([1.0, 2.0, 3.0]), **changes)


def test_a_forest_publishes_targets_in_every_tree_or_in_none():
    tree = stump([1.0, 2.0, 3.0])
    with pytest.raises(MalformedModelError, match=r"trees\[1\]"):
        Forest((tree, replace(tree, targets=None)))
