"""Profiles of leaves, against listing them all."""

from __future__ import annotations

import math

import numpy as np
import pytest
from counting_oracles import all_profiles, brute_force, small_schemas
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import trees

from glassleak.counting import count_leaves, regions_of
from glassleak.errors import SchemaError, UnsupportedModelError
from glassleak.models import Exact, Forest, Tree
from glassleak.schema import Binary, Numeric, Ordinal, Schema


@settings(max_examples=100)
@given(st.data())
def test_leaves_of_any_tree_against_brute_force(data: st.DataObject) -> None:
    schema = data.draw(small_schemas())
    tree = data.draw(trees(columns=schema.columns))
    profiles = all_profiles(schema, tree.columns)
    assume(tree.missing_left is not None or not np.isnan(profiles).any())
    regions = regions_of(tree, schema)
    found, shares = count_leaves(regions)
    assert found == brute_force(tree, schema)
    uncertain = [d for d in regions.domains if d.n_levels > 1]
    for number, (count, share) in enumerate(zip(found, shares.tolist(), strict=True)):
        box = regions.region(number).box
        sizes = {a: d.size(box.get(a, d.everything)) for a, d in enumerate(regions.domains)}
        assert math.prod(sizes.values()) == count
        if count and uncertain:
            expected = [
                math.log2(sizes[a]) / math.log2(d.n_levels)
                for a, d in enumerate(regions.domains)
                if d.n_levels > 1
            ]
            assert share == pytest.approx(sum(expected) / len(expected), abs=1e-12)


def chain(depth: int) -> Tree:
    """A tree that asks for one column after the other and stops at the first 1."""
    n = 2 * depth + 1
    feature, left, right = np.full(n, -1), np.full(n, -1), np.full(n, -1)
    inner = np.arange(0, 2 * depth, 2)
    feature[inner], left[inner], right[inner] = np.arange(depth), inner + 2, inner + 1
    counts = np.zeros((n, 1), dtype=np.int64)
    counts[inner, 0] = depth + 1 - np.arange(depth)
    counts[inner + 1, 0] = counts[-1, 0] = 1
    threshold = np.where(feature >= 0, 0.5, np.nan)
    columns = tuple(f"c{i}" for i in range(depth))
    return Tree(columns, ("x",), feature, threshold, left, right, Exact(counts))


def test_a_tree_of_any_depth_has_exact_counts() -> None:
    depth = 3000
    tree = chain(depth)
    regions = regions_of(tree, Schema([Binary(c) for c in tree.columns]))
    found, _ = count_leaves(regions)
    assert found == [2 ** (depth - 1 - i) for i in range(depth)] + [1]


def test_ranges_too_long_to_list_are_counted() -> None:
    tree = Tree(
        ("x",), ("a",), [0, 0, -1, -1, -1], [1e9 + 0.5, 10.5, np.nan, np.nan, np.nan],
        [1, 2, -1, -1, -1], [4, 3, -1, -1, -1], Exact(np.array([[3], [2], [1], [1], [1]])),
        precision="float64",
    )  # fmt: skip
    found, _ = count_leaves(regions_of(tree, Schema([Ordinal("x", 0, 2**52)])))
    assert found == [11, 10**9 - 10, 2**52 - 10**9]
    steps = Schema([Numeric("x", 0, 2e9, 0.25)])
    found, _ = count_leaves(regions_of(tree, steps))
    assert found == [43, 4 * 10**9 + 2 - 42, 4 * 10**9 - 2]


def test_levels_that_rounding_merges_fall_on_the_side_the_model_sends_them() -> None:
    # In float32, 16777217 is 16777216.
    tree = Tree(
        ("x",), ("a",), [0, -1, -1], [16777216.5, np.nan, np.nan], [1, -1, -1], [2, -1, -1],
        Exact(np.array([[2], [1], [1]])),
    )  # fmt: skip
    schema = Schema([Ordinal("x", 16777210, 16777220)])
    assert count_leaves(regions_of(tree, schema))[0] == brute_force(tree, schema)


def test_a_continuous_attribute_says_how_to_declare_a_resolution() -> None:
    tree = chain(1)
    with pytest.raises(SchemaError, match=r"'c0'.*resolution=1"):
        regions_of(tree, Schema([Numeric("c0", 0, 1)]))


def test_forests_are_not_regions() -> None:
    with pytest.raises(UnsupportedModelError):
        regions_of(Forest((chain(1),)), Schema([Binary("c0")]))  # type: ignore[arg-type]
