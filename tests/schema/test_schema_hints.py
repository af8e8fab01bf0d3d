"""What names suggest, and whether patterns can be intervals: the two helpers of inference."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import names

from glassleak.schema._infer_names import free_name, hints
from glassleak.schema._patterns import consecutive_order, distinct_patterns


def found(columns):
    def plain(hint):
        members = [columns[i] for i in hint.members]
        inner = [plain(child) for child in hint.children]
        return (hint.prefix, members, inner) if inner else (hint.prefix, members)

    return [plain(hint) for hint in hints(columns, range(len(columns)))]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (["age:18-20", "age:21-22", "sex:m"], [("age", ["age:18-20", "age:21-22"])]),
        (["age<=25", "age>=30", "age=24-30"], [("age", ["age<=25", "age>=30", "age=24-30"])]),
        (["race=a", "race = b"], [("race", ["race=a", "race = b"])]),
        (["hours_per_week_high", "hours_per_week_low"],
         [("hours_per_week", ["hours_per_week_high", "hours_per_week_low"])]),
        (["edu_HS-grad", "edu_Some-college"], [("edu", ["edu_HS-grad", "edu_Some-college"])]),
        (["gain_>0", "gain_0"], [("gain", ["gain_>0", "gain_0"])]),
        (["level1", "level2", "other"], [("level", ["level1", "level2"])]),
        (["job.baker", "job smith"], [("job", ["job.baker", "job smith"])]),
        (["job/baker", "job[smith]"], [("job", ["job/baker", "job[smith]"])]),
        (["capital_gain_0", "capital_gain_1", "capital_loss_0", "capital_loss_1"],
         [("capital", ["capital_gain_0", "capital_gain_1", "capital_loss_0", "capital_loss_1"],
           [("capital_gain", ["capital_gain_0", "capital_gain_1"]),
            ("capital_loss", ["capital_loss_0", "capital_loss_1"])])]),
        (["a", "b", "_", "<3", "=4", ""], []),
    ],
)  # fmt: skip
def test_prefixes(columns, expected):
    assert found(columns) == expected


def test_values_are_not_taken_for_parts_of_the_attribute():
    [age] = hints(["age=18-20", "age=18-22", "age=24-30", "age=24-40"], range(4))
    assert age.certain
    assert age.children == ()


def test_a_name_of_a_hundred_thousand_separators_costs_little():
    for part in ("a_", "_", "1", "<"):
        long = "a" + part * 100_000
        [hint] = hints([long + "_x", long + "_y"], range(2))
        assert hint.members == (0, 1)


@given(names(max_size=8))
def test_hints_are_nested_sets_of_the_columns_asked_for(columns):
    asked = list(range(0, len(columns), 2))

    def visit(hint):
        assert len(hint.members) > 1
        assert list(hint.members) == sorted(set(hint.members))
        assert set(hint.members) <= set(asked)
        assert hint.prefix
        for child in hint.children:
            assert set(child.members) < set(hint.members)
            visit(child)

    for hint in hints(columns, asked):
        visit(hint)


def test_free_names():
    assert free_name("a", {"b"}) == "a"
    assert free_name("a", {"a", "a (2)"}) == "a (3)"
    assert free_name("", ()) == " (2)"


patterns = st.integers(1, 4).flatmap(
    lambda m: st.lists(st.tuples(*[st.integers(0, 1)] * m), min_size=1, max_size=6, unique=True)
)


def is_consecutive(ordered):
    for column in zip(*ordered, strict=True):
        ones = [i for i, value in enumerate(column) if value]
        if ones and ones[-1] - ones[0] + 1 != len(ones):
            return False
    return True


@given(patterns)
def test_orders_against_trying_all(given_patterns):
    order = consecutive_order(given_patterns)
    possible = any(map(is_consecutive, itertools.permutations(given_patterns)))
    assert (order is not None) == possible
    if order is not None:
        assert sorted(order) == list(range(len(given_patterns)))
        assert is_consecutive([given_patterns[i] for i in order])


@given(st.integers(0, 2**32), st.integers(1, 12), st.integers(5, 60))
def test_intervals_always_have_an_order(seed, n_columns, n_values):
    rng = np.random.default_rng(seed)
    ends = np.sort(rng.integers(0, n_values, (n_columns, 2)), axis=1)
    values = np.arange(n_values)[:, None]
    table = ((values >= ends[:, 0]) & (values <= ends[:, 1])).astype(np.uint8)
    listed = distinct_patterns(table[rng.permutation(n_values)], 10**6)
    order = consecutive_order(listed)
    assert order is not None
    assert is_consecutive([listed[i] for i in order])


def test_a_grid_has_no_order_and_says_so_quickly():
    # Two attributes of 6 levels each, one-hot: 36 patterns of 12 columns.
    grid = [
        tuple(int(i == a) for i in range(6)) + tuple(int(i == b) for i in range(6))
        for a in range(6)
        for b in range(6)
    ]
    assert consecutive_order(grid) is None
    assert consecutive_order([]) == []


@given(st.integers(0, 1000), st.integers(1, 20), st.integers(1, 3000))
def test_distinct_patterns(seed, n_columns, n_rows):
    block = (np.random.default_rng(seed).random((n_rows, n_columns)) < 0.2).astype(np.uint8)
    expected = set(map(tuple, block.tolist()))
    assert set(distinct_patterns(block, 10**6)) == expected
    assert len(distinct_patterns(block, len(expected))) == len(expected)
    assert distinct_patterns(block, len(expected) - 1) is None
