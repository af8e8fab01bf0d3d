"""Every way in which arrays fail to be a tree is found, and named."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import shapes

from glassleak.errors import InconsistentModelError, MalformedModelError
from glassleak.models import Exact, Missing, Noisy, Tree
from glassleak.models._check import node_depths

# Node 0 splits into 1 and 2, node 2 into 3 and 4.
GOOD = {
    "columns": ("a", "b"), "classes": (0, 1),
    "feature": [0, -1, 1, -1, -1], "threshold": [0.5, np.nan, 1.5, np.nan, np.nan],
    "left": [1, -1, 3, -1, -1], "right": [2, -1, 4, -1, -1],
    "counts": Exact(np.array([[5, 4], [3, 0], [2, 4], [2, 1], [0, 3]])),
}  # fmt: skip


def refused(place, kind=MalformedModelError, match="", **changes):
    with pytest.raises(kind, match=match) as caught:
        Tree(**(GOOD | changes))
    assert type(caught.value) is kind
    assert caught.value.place == place


def with_entry(name, at, value):
    values = list(GOOD[name])
    values[at] = value
    return {name: values}


def test_the_sample_is_a_tree():
    tree = Tree(**GOOD)
    assert (tree.n_nodes, tree.n_leaves, tree.depth, tree.n_rows) == (5, 3, 2, 9)
    assert tree.leaves.tolist() == [1, 3, 4]
    assert tree.people.tolist() == [9, 3, 6, 3, 3]


@pytest.mark.parametrize(
    ("changes", "place", "match"),
    [
        (with_entry("left", 2, 2), "nodes[2]", "two nodes|own ancestor"),
        (with_entry("left", 2, 0), "left[2]", "does not exist"),
        (with_entry("right", 2, 5), "right[2]", "does not exist"),
        (with_entry("right", 2, -1), "right[2]", "does not exist"),
        (with_entry("right", 2, 3), "nodes[3]", "two nodes"),
        (with_entry("left", 2, 1), "nodes[1]", "two nodes"),
        (with_entry("left", 1, 3), "left[1]", "a leaf has a child"),
        (with_entry("right", 4, 0), "right[4]", "a leaf has a child"),
        (with_entry("feature", 0, 2), "feature[0]", "there are 2 columns"),
        (with_entry("feature", 2, -2), "feature[2]", "no column index"),
        (with_entry("threshold", 2, np.nan), "threshold[2]", "nan"),
        (with_entry("threshold", 2, np.inf), "threshold[2]", "inf"),
        (with_entry("threshold", 4, 0.5), "threshold[4]", "a leaf has a threshold"),
        ({"feature": [], "threshold": []}, "feature", "no nodes"),
        ({"threshold": [0.5]}, "threshold", "1 entries for 5 nodes"),
        ({"rows": [9]}, "rows", "1 entries for 5 nodes"),
        ({"missing_left": [True] * 4}, "missing_left", "4 entries for 5 nodes"),
        ({"counts": Exact(np.zeros((4, 2), int))}, "counts", "shape"),
        ({"counts": Exact(np.zeros((5, 3), int))}, "counts", "shape"),
        ({"counts": Noisy(np.zeros((5, 3)), 1, "laplace")}, "counts", "shape"),
        ({"classes": (), "counts": Exact(np.zeros((5, 0), int))}, "classes", "no classes"),
        ({"classes": (0, 0)}, "classes", "twice"),
        ({"classes": (0, np.nan)}, "classes[1]", "class label"),
        ({"classes": (0, None)}, "classes[1]", "class label"),
        ({"columns": ("a", "a")}, "columns", "twice"),
        ({"columns": ("a", 3)}, "columns", "text"),
        ({"comparison": ">="}, "comparison", "unknown"),
        ({"precision": "float16"}, "precision", "unknown"),
        ({"left": [[1, -1, 3, -1, -1]]}, "left", "dimensions"),
        ({"left": [1.0, -1, 3, -1, -1]}, "left", "expected int32, got float64"),
        ({"left": [True, False, True, False, False]}, "left", "got bool"),
        ({"left": [2**40, -1, 3, -1, -1]}, "left", "does not fit"),
        ({"left": ["1", "-1", "3", "-1", "-1"]}, "left", "got <U"),
        ({"threshold": [2**60, 1, 1, 1, 1]}, "threshold", "does not fit"),
        ({"missing_left": [0, 1, 0, 1, 0]}, "missing_left", "expected bool"),
    ],
)
def test_malformed(changes, place, match):
    refused(place, match=match, **changes)


def test_a_node_that_is_its_own_ancestor():
    # 0 -> (1, 2) is the tree; 3 -> (4, 5) and 4 -> (3, 6) chase each other.
    refused(
        "nodes[3]", match="its own ancestor",
        feature=[0, -1, -1, 0, 0, -1, -1], threshold=[1, np.nan, np.nan, 1, 1, np.nan, np.nan],
        left=[1, -1, -1, 4, 3, -1, -1], right=[2, -1, -1, 5, 6, -1, -1], counts=Missing(""),
    )  # fmt: skip


def test_below_a_cycle_the_cycle_is_named_and_not_what_hangs_from_it():
    # 1 hangs below the cycle of 4 and 5 and comes first.
    refused(
        "nodes[4]", match="its own ancestor",
        feature=[0, -1, -1, -1, 0, 0, -1], threshold=[1, np.nan, np.nan, np.nan, 1, 1, np.nan],
        left=[2, -1, -1, -1, 5, 4, -1], right=[3, -1, -1, -1, 1, 6, -1], counts=Missing(""),
    )  # fmt: skip


def test_an_orphan_is_named_and_not_its_children():
    refused(
        "nodes[5]", match="nobody's child",
        feature=[0, -1, -1, -1, -1, 0], threshold=[1, np.nan, np.nan, np.nan, np.nan, 1],
        left=[3, -1, -1, -1, -1, 1], right=[4, -1, -1, -1, -1, 2], counts=Missing(""),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "place", "match"),
    [
        ({"counts": [[5, 4], [3, 0], [2, 3], [2, 0], [0, 3]]}, "counts[0]", "add up to"),
        ({"counts": [[5, 4], [3, 0], [2, 4], [2, 1], [0, 4]]}, "counts[2]", "add up to"),
        ({"rows": [9, 3, 6, 3, 2]}, "rows[2]", "add up to"),
        ({"rows": [10, 4, 6, 3, 3]}, "rows[0]", "in all classes together"),
        ({"rows": [0, -1, 1, 1, 0]}, "rows[1]", "-1 rows"),
        ({"distinct_rows": [8, 3, 4, 2, 2]}, "distinct_rows[0]", "add up to"),
        ({"distinct_rows": [10, 4, 6, 3, 3]}, "distinct_rows[0]", "10 distinct rows"),
        ({"distinct_rows": [9, 4, 5, 2, 3]}, "distinct_rows[1]", "4 distinct rows"),
        ({"distinct_rows": [5, 0, 5, 3, 2]}, "distinct_rows[1]", "0 distinct rows"),
        ({"distinct_rows": [2**41, 2**41, 0, 0, 0]}, "distinct_rows[0]", "rows"),
        ({"distinct_rows": [6, 3, 3, 2, 1], "n_rows": 5}, "n_rows", "6 distinct"),
    ],
)
def test_contradictions(changes, place, match):
    if "counts" in changes:
        changes = changes | {"counts": Exact(np.array(changes["counts"]))}
    refused(place, InconsistentModelError, match, **changes)


def test_distinct_rows_are_held_against_bare_totals_too():
    refused(
        "distinct_rows[1]", InconsistentModelError, "4 distinct rows",
        counts=Missing(""), rows=[9, 3, 6, 3, 3], distinct_rows=[9, 4, 5, 2, 3],
    )  # fmt: skip


@pytest.mark.parametrize("value", [-1, 2**40 + 1, 2**63])
def test_impossible_counts_are_named(value):
    with pytest.raises(InconsistentModelError) as caught:
        Exact(np.array([[0, 0], [0, value]], dtype=np.uint64 if value > 0 else np.int64))
    assert caught.value.place == "counts[1, 1]"


@pytest.mark.parametrize("values", [[[0.5]], [[True]], [["1"]], [[2**70]], [1]])
def test_exact_counts_are_a_table_of_whole_numbers(values):
    with pytest.raises(MalformedModelError):
        Exact(np.array(values))


@pytest.mark.parametrize(("value", "scale"), [(np.nan, 1), (np.inf, 1), (0, 0), (0, np.nan)])
def test_noisy_counts_are_finite_with_a_scale(value, scale):
    with pytest.raises(MalformedModelError):
        Noisy(np.array([[float(value)]]), scale, "laplace")


def test_arrays_are_frozen_and_not_the_callers():
    mine = np.array(GOOD["feature"], dtype=np.int32)
    tree = Tree(**(GOOD | {"feature": mine}))
    mine[0] = 1
    assert tree.feature[0] == 0
    with pytest.raises(ValueError, match="read-only"):
        tree.feature[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        tree.counts.values[0] = 1


# --------------------------------------------------------------------------------------- depths


def depths_by_recursion(left, right):
    out = [-1] * len(left)

    def visit(node, depth):
        out[node] = depth
        if left[node] >= 0:
            visit(left[node], depth + 1)
            visit(right[node], depth + 1)

    visit(0, 0)
    return out


@given(shapes(max_leaves=20))
def test_depths_against_recursion(shape):
    left, right = shape
    found = node_depths(np.array(left, np.int32), np.array(right, np.int32))
    assert found.tolist() == depths_by_recursion(left, right)


@pytest.mark.parametrize("links", [1, 2, 3, 63, 64, 65, 50_000])
def test_depths_of_long_chains(links):
    # Node 2i splits into leaf 2i + 1 and node 2i + 2.
    n = 2 * links + 1
    left, right = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    inner = np.arange(0, n - 1, 2)
    left[inner], right[inner] = inner + 1, inner + 2
    expected = (np.arange(n) + 1) // 2
    assert np.array_equal(node_depths(left, right), expected)
    # A whole tree of that shape passes all checks, and in any order of the nodes.
    order = np.r_[0, np.random.default_rng(0).permutation(n - 1) + 1]
    shuffled_left, shuffled_right = np.full(n, -1), np.full(n, -1)
    shuffled_left[order[inner]], shuffled_right[order[inner]] = order[inner + 1], order[inner + 2]
    feature = np.where(shuffled_left >= 0, 0, -1)
    threshold = np.where(feature == 0, 0.5, np.nan)
    tree = Tree(("a",), (0,), feature, threshold, shuffled_left, shuffled_right, Missing(""))
    assert tree.depth == links


@given(st.integers(1, 40), st.integers(0, 30))
def test_depths_with_a_cycle_beside_the_tree(ring, tail):
    # The root is a leaf; `ring` nodes form a ring through their left children, each with a leaf
    # at its right, and a chain of `tail` nodes hangs from the first of those leaves.
    left, right = [-1], [-1]
    first = 1
    for i in range(ring):
        left.append(first + (i + 1) % ring)
        right.append(first + ring + i)
    left += [-1] * ring
    right += [-1] * ring
    hook = first + ring
    for _ in range(tail):
        left[hook], right[hook] = len(left), len(left) + 1
        hook = left[hook]
        left += [-1, -1]
        right += [-1, -1]
    found = node_depths(np.array(left, np.int32), np.array(right, np.int32))
    assert found.tolist() == [0] + [-1] * (len(left) - 1)
