"""Profiles are drawn uniformly, and none outside the region."""

from __future__ import annotations

import math
from collections import Counter as Tally

import numpy as np
import pytest
from counting_oracles import all_profiles, as_rule_list, random_boxes
from scipy.stats import chisquare

from glassleak.counting import (
    Counter,
    count_leaves,
    level_table,
    log2_multisets,
    multisets,
    regions_of,
    sample_box,
    sample_outside,
)
from glassleak.errors import BudgetExhaustedError
from glassleak.models import Exact, Tree
from glassleak.schema import Bins, Categorical, Numeric, Ordinal, Schema


def test_drawing_outside_boxes_is_uniform() -> None:
    rng = np.random.default_rng(5)
    sizes = [2, 3, 2, 4]
    rules, schema = as_rule_list(sizes, random_boxes(rng, sizes, 6, 2))
    regions = regions_of(rules, schema)
    counter = Counter(regions.domains, regions.boxes)
    drawn = sample_outside(counter, {}, (1 << 6) - 1, 4000, rng)
    profiles = all_profiles(schema, rules.columns)
    possible = {tuple(row) for row in profiles[rules.apply(profiles) == 6].tolist()}
    tally = Tally(map(tuple, level_table(regions.domains, drawn).tolist()))
    assert len(possible) > 3
    assert set(tally) == possible
    assert chisquare(list(tally.values())).pvalue > 1e-3


def test_drawing_from_a_box_is_uniform_over_levels_of_every_kind() -> None:
    schema = Schema([
        Categorical("c", ["c:0", "c:1"], absent=True),
        Bins("b", ["b:0", "b:1"], [(1, 0), (1, 1), (0, 0)]),
        Numeric("x", 0, 0.3, 0.1, missing=True),
        Categorical("raw", levels=["u", "v", "w"]),
        Ordinal("long", 0, 10**6),
    ])  # fmt: skip
    tree = Tree(
        schema.columns, ("a",), [4, -1, 6, -1, -1], [0.15, np.nan, 10.5, np.nan, np.nan],
        [1, -1, 3, -1, -1], [2, -1, 4, -1, -1], Exact(np.array([[3], [1], [2], [1], [1]])),
        missing_left=[True, False, False, False, False],
    )  # fmt: skip
    regions = regions_of(tree, schema)
    found, _ = count_leaves(regions)
    box = regions.region(0).box
    levels = [box.get(a, d.everything) for a, d in enumerate(regions.domains)]
    rng = np.random.default_rng(0)
    table = level_table(regions.domains, sample_box(regions.domains, levels, 6000, rng))
    assert set(tree.apply(table).tolist()) == {1}
    short = Tally(map(str, table[:, :6].tolist()))
    assert len(short) * (10**6 + 1) == found[0]
    assert chisquare(list(short.values())).pvalue > 1e-3


def test_nothing_is_drawn_that_was_not_counted() -> None:
    rng = np.random.default_rng(0)
    sizes = [2] * 60
    rules, schema = as_rule_list(sizes, random_boxes(rng, sizes, 90, 3))
    regions = regions_of(rules, schema)
    counter = Counter(regions.domains, regions.boxes)
    with pytest.raises(BudgetExhaustedError):
        sample_outside(counter, {}, (1 << 90) - 1, 1, rng, deadline=0.0)


def test_an_empty_region_cannot_be_drawn_from() -> None:
    rules, schema = as_rule_list([2], [{0: 1}, {0: 2}])
    regions = regions_of(rules, schema)
    counter = Counter(regions.domains, regions.boxes)
    with pytest.raises(ValueError, match="no profile"):
        sample_outside(counter, {}, 3, 1, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("kinds", "size"), [(1, 5), (7, 0), (3, 4), (11520, 400), (2**27, 5771), (10**40, 300)]
)
def test_logarithms_of_multisets(kinds: int, size: int) -> None:
    assert log2_multisets(kinds, size) == pytest.approx(
        math.log2(multisets(kinds, size)), rel=1e-14
    )


@pytest.mark.parametrize(("kinds", "size"), [(2**30, 2**15), (2**15, 2**21), (2**1200, 2000)])
def test_long_sums_agree_with_the_number_itself(kinds: int, size: int) -> None:
    small, large = sorted((kinds - 1, size))
    exact = math.log2(math.comb(small + large, small))
    assert log2_multisets(kinds, size) == pytest.approx(exact, rel=1e-13)


def test_stirling_joins_the_sum_without_a_step() -> None:
    from glassleak.counting import _combinatorics as module

    for kinds, size in ((2**21, 2**20), (2**40, 2**20), (2**1000, 2**20)):
        assert module._log2_many(kinds, size) == pytest.approx(
            log2_multisets(kinds, size), rel=1e-12
        )


def test_impossible_and_trivial_multisets() -> None:
    assert log2_multisets(0, 3) == -math.inf
    assert multisets(0, 3) == 0
    assert multisets(0, 0) == 1
    assert math.isfinite(log2_multisets(2**40, 2**40))
