"""Profiles that rules capture, against listing them all and against the paper's recursion."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from counting_oracles import (
    as_rule_list,
    brute_force,
    random_boxes,
    recursion,
    rule_lists,
    small_schemas,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from glassleak.counting import Counter, count_rules, project, regions_of
from glassleak.models import RuleList
from glassleak.schema import Schema


@settings(max_examples=250)
@given(st.data())
def test_every_rule_of_any_list_against_brute_force(data: st.DataObject) -> None:
    schema = data.draw(small_schemas())
    rules = data.draw(rule_lists(schema))
    regions = regions_of(rules, schema)
    found = count_rules(regions)
    assert all(count.exact for count in found)
    assert [count.low for count in found] == brute_force(rules, schema)


FAMILIES = [
    ([2] * 10, 30, 2), ([2] * 10, 20, 3), ([2] * 12, 25, 6), ([2] * 9, 12, 9), ([3] * 7, 20, 3),
    ([5, 2, 7, 3, 2, 4], 25, 2), ([5, 2, 7, 3, 2, 4], 25, 4), ([12, 12, 12], 40, 2),
    ([4000], 30, 1),
]  # fmt: skip


@pytest.mark.parametrize(("sizes", "n_rules", "width"), FAMILIES)
def test_random_lists_against_brute_force(sizes: list[int], n_rules: int, width: int) -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        rules, schema = as_rule_list(sizes, random_boxes(rng, sizes, n_rules, width))
        found = count_rules(regions_of(rules, schema))
        assert [count.low for count in found] == brute_force(rules, schema)


def test_a_thousand_small_lists_against_brute_force() -> None:
    rng = np.random.default_rng(7)
    for _ in range(1000):
        sizes = rng.integers(2, 5, size=rng.integers(1, 6)).tolist()
        boxes = random_boxes(rng, sizes, int(rng.integers(1, 9)), int(rng.integers(1, 5)))
        rules, schema = as_rule_list(sizes, boxes)
        found = count_rules(regions_of(rules, schema))
        profiles = list(itertools.product(*[range(size) for size in sizes]))
        first = [
            next((j for j, b in enumerate(boxes) if all(b[a] >> p[a] & 1 for a in b)), len(boxes))
            for p in profiles
        ]
        assert [c.low for c in found] == [first.count(j) for j in range(len(boxes) + 1)]


@pytest.mark.parametrize("seed", range(5))
def test_larger_lists_against_the_recursion_of_the_paper(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = [2] * 40
    boxes = random_boxes(rng, sizes, 14, 4)
    rules, schema = as_rule_list(sizes, boxes)
    found = count_rules(regions_of(rules, schema))
    assert [count.low for count in found] == recursion(sizes, [*boxes, {}])


def test_width_one_is_a_product() -> None:
    boxes = [{a: 1} for a in range(60)]
    rules, schema = as_rule_list([2] * 60, boxes)
    regions = regions_of(rules, schema)
    counter = Counter(regions.domains, regions.boxes)
    found = count_rules(regions, counter=counter)
    assert [c.low for c in found] == [2 ** (59 - i) for i in range(60)] + [1]
    assert counter.nodes == 0


def test_wide_boxes_are_counted_by_subtraction() -> None:
    rng = np.random.default_rng(3)
    sizes = [2] * 60
    boxes = random_boxes(rng, sizes, 20, 12)
    rules, schema = as_rule_list(sizes, boxes)
    found = count_rules(regions_of(rules, schema))
    assert [c.low for c in found] == recursion(sizes, [*boxes, {}])


def test_a_chain_of_two_thousand_attributes_needs_no_deep_stack() -> None:
    n = 2000
    boxes = [{a: 2, a + 1: 2} for a in range(n - 1)]
    rules, schema = as_rule_list([2] * n, boxes)
    regions = regions_of(rules, schema)
    counter = Counter(regions.domains, regions.boxes)
    # No two neighbours are both 1: Fibonacci numbers.
    a, b = 1, 2
    for _ in range(n):
        a, b = b, a + b
    assert counter.count({}, (1 << (n - 1)) - 1).low == a


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("max_nodes", [0, 1, 5, 20])
def test_bounds_hold_when_the_budget_ends(seed: int, max_nodes: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = [2, 3, 2, 5, 2, 2, 4, 2, 3, 2]
    rules, schema = as_rule_list(sizes, random_boxes(rng, sizes, 25, 3))
    truth = brute_force(rules, schema)
    found = count_rules(regions_of(rules, schema), max_nodes=max_nodes)
    assert all(c.low <= true <= c.high for c, true in zip(found, truth, strict=True))
    assert sum(truth) == math.prod(sizes)


def test_bounds_get_better_with_the_budget() -> None:
    rng = np.random.default_rng(11)
    sizes = [2] * 60
    rules, schema = as_rule_list(sizes, random_boxes(rng, sizes, 60, 3))
    regions = regions_of(rules, schema)
    gaps = []
    for budget in (0, 50, 2000):
        found = count_rules(regions, max_nodes=budget)
        gaps.append(sum(c.high - c.low for c in found))
    assert gaps[0] > gaps[1] > gaps[2]


def test_a_past_deadline_still_gives_bounds() -> None:
    rng = np.random.default_rng(0)
    sizes = [2] * 50
    rules, schema = as_rule_list(sizes, random_boxes(rng, sizes, 50, 3))
    found = count_rules(regions_of(rules, schema), deadline=0.0)
    assert not all(c.exact for c in found)
    assert all(0 <= c.low <= c.high <= 2**50 for c in found)


@settings(max_examples=80)
@given(st.data())
def test_what_remains_of_each_attribute_against_brute_force(data: st.DataObject) -> None:
    schema = data.draw(small_schemas())
    rules = data.draw(rule_lists(schema))
    regions = regions_of(rules, schema)
    counter = Counter(regions.domains, regions.boxes)
    for number, box in enumerate(regions.boxes):
        found = project(counter.formula, box, (1 << number) - 1)
        assert found.exact
        assert _sizes(regions, found.levels) == _remaining(rules, schema, number)


def _sizes(regions: Any, levels: tuple[int, ...]) -> list[int]:
    return [domain.size(mask) for domain, mask in zip(regions.domains, levels, strict=True)]


def _remaining(rules: RuleList, schema: Schema, number: int) -> list[int]:
    from counting_oracles import all_profiles

    profiles = all_profiles(schema, rules.columns)
    own = profiles[rules.apply(profiles) == number]
    where = {c: i for i, c in enumerate(rules.columns)}
    return [
        len(
            {
                tuple(map(repr, row))
                for row in own[:, [where[c] for c in attribute.columns]].tolist()
            }
        )
        for attribute in schema
    ]


def test_columns_of_one_attribute_exclude_each_other() -> None:
    from glassleak.models import Condition, Exact, Rule
    from glassleak.schema import Binary, Categorical

    schema = Schema([Categorical("age", ["young", "old"], absent=True), Binary("sex")])
    both = Rule((Condition(0, low=0.5), Condition(1, low=0.5)), 1)
    young = Rule((Condition(0, low=0.5),), 1)
    rules = RuleList(
        ("young", "old", "sex"), (0, 1), (both, young, Rule((), 0)),
        Exact(np.zeros((3, 2), dtype=np.int64)),
    )  # fmt: skip
    assert [c.low for c in count_rules(regions_of(rules, schema))] == [0, 2, 4]
