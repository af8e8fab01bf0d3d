"""Whole numbers of people from weighted values, and refusing to guess."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassleak.errors import InconsistentModelError
from glassleak.models import Exact, Missing
from glassleak.readers.libraries._sklearn_counts import (
    ClassWeights,
    Weighted,
    check_additive,
    masses_of,
    people_per_class,
    stated_weights,
)
from glassleak.readers.libraries._sklearn_shares import totals_from_shares

# A root with two leaves; people per class.
COUNTS = np.array([[30, 10], [25, 1], [5, 9]])
DISTINCT = COUNTS.sum(axis=1)


def weighted(masses: Any, *, fractions: bool = True, **changes: Any) -> Weighted:
    masses = np.asarray(masses, dtype=float)
    rows = masses.sum(axis=1)
    facts: dict[str, Any] = {
        "values": masses / rows[:, None] if fractions else masses,
        "weighted_rows": rows,
        "distinct": DISTINCT,
        "leaves": np.array([False, True, True]),
        "total": 40,
        "bagged": False,
        "class_weights": ClassWeights(),
        "place": "tree_",
    }
    return Weighted(**(facts | changes))


def counted(tree: Weighted) -> Exact | Missing:
    return people_per_class(tree, masses_of(tree))[0]


@pytest.mark.parametrize("fractions", [True, False], ids=["since 1.3", "before 1.3"])
def test_plain_counts_in_either_form(fractions: bool) -> None:
    tree = weighted(COUNTS, fractions=fractions)
    counts, note = people_per_class(tree, masses_of(tree))
    assert isinstance(counts, Exact)
    assert counts.values.tolist() == COUNTS.tolist()
    assert note is None


def test_stated_weights_are_divided_out() -> None:
    tree = weighted(COUNTS * [0.7, 3.1], class_weights=ClassWeights(True, np.array([0.7, 3.1])))
    counts, note = people_per_class(tree, masses_of(tree))
    assert isinstance(counts, Exact)
    assert counts.values.tolist() == COUNTS.tolist()
    assert note is not None
    assert "stored in the model" in note


def test_unstated_weights_follow_from_the_leaves() -> None:
    counts = counted(weighted(COUNTS * [0.7, 3.1], class_weights=ClassWeights(True)))
    assert isinstance(counts, Exact)
    assert counts.values.tolist() == COUNTS.tolist()


def test_unstated_weights_under_bagging_follow_from_the_shares() -> None:
    # Shares 25/30 and 5/30 need 6, 1/10 and 9/10 need 10: only 30 + 10 makes 40 … or 6k + 10j.
    masses = COUNTS * [0.7, 3.1]
    distinct = np.array([30, 20, 10])
    tree = weighted(masses, bagged=True, class_weights=ClassWeights(True), distinct=distinct)
    ways = [(6 * a, 10 * b) for a in range(1, 7) for b in range(1, 4) if 6 * a + 10 * b == 40]
    assert ways == [(30, 10)]
    counts = counted(tree)
    assert isinstance(counts, Exact)
    assert counts.values.tolist() == COUNTS.tolist()


def test_weights_that_vary_inside_a_class_leave_no_counts() -> None:
    masses = [[31.3, 10.4], [26.2, 1.3], [5.1, 9.1]]
    for weights in (ClassWeights(), ClassWeights(True), ClassWeights(True, np.array([1.0, 2.0]))):
        counts = counted(weighted(masses, class_weights=weights))
        assert isinstance(counts, Missing)
        assert "do not cancel" in counts.reason


def test_counts_must_fit_the_rows_of_every_node() -> None:
    assert isinstance(counted(weighted(COUNTS, distinct=np.array([40, 27, 13]))), Missing)
    assert isinstance(counted(weighted(COUNTS, total=41)), Missing)
    assert isinstance(
        counted(weighted(COUNTS, bagged=True, distinct=np.array([41, 26, 15]))), Missing
    )
    assert isinstance(
        counted(weighted(COUNTS, bagged=True, distinct=np.array([25, 15, 10]))), Exact
    )


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("field", ["values", "weighted_rows"])
def test_values_that_are_no_numbers_name_the_node(bad: float, field: str) -> None:
    tree = weighted(COUNTS)
    broken = getattr(tree, field).copy()
    broken[1] = bad
    tree = weighted(COUNTS, **{field: broken})
    with pytest.raises(InconsistentModelError, match=r"tree_\.values\[1\]"):
        masses_of(tree)


def test_values_that_add_up_to_nothing_known_name_the_node() -> None:
    tree = weighted(COUNTS)
    values = tree.values.copy()
    values[2] *= 1.5
    with pytest.raises(InconsistentModelError, match=r"tree_\.values\[2\].*neither to 1"):
        masses_of(weighted(COUNTS, values=values))


def test_impossibly_large_values_are_refused() -> None:
    with pytest.raises(InconsistentModelError, match="impossibly large"):
        masses_of(weighted(COUNTS, weighted_rows=np.full(3, 1e200)))


def test_weighted_values_still_add_up() -> None:
    masses = np.array([[31.3, 10.4], [26.2, 1.3], [5.1, 9.1]])
    left, right = np.array([1, -1, -1]), np.array([2, -1, -1])
    check_additive(masses, left, right, "tree_")
    masses[2, 0] += 0.01
    with pytest.raises(InconsistentModelError, match=r"tree_\.values\[0\].*children"):
        check_additive(masses, left, right, "tree_")


@pytest.mark.parametrize(
    ("class_weight", "classes", "expected"),
    [
        ({"a": 2, "b": 0.5}, ("a", "b"), [2.0, 0.5]),
        ({"b": 0.5}, ("a", "b"), [1.0, 0.5]),
        ({0: 2, 1: 3}, (0.0, 1.0), [2.0, 3.0]),
        ({"0": 2, "1": 3}, (0, 1), [2.0, 3.0]),
        ({False: 2, True: 3}, (False, True), [2.0, 3.0]),
    ],
)
def test_stated_weights_by_class(class_weight: Any, classes: Any, expected: Any) -> None:
    stated = stated_weights(class_weight, classes)
    assert stated.given
    assert stated.values is not None
    assert stated.values.tolist() == expected


@pytest.mark.parametrize(
    "class_weight", ["balanced", [{0: 1}], {0: "heavy"}, {0: -1.0}, {0: np.nan}, {0: True}, 3]
)
def test_what_cannot_be_read_as_weights_is_not_stated(class_weight: Any) -> None:
    assert stated_weights(class_weight, (0, 1)) == ClassWeights(True)


def test_no_weights() -> None:
    assert stated_weights(None, (0, 1)) == ClassWeights(False)


@given(
    st.lists(st.lists(st.integers(0, 12), min_size=2, max_size=3), min_size=1, max_size=8),
    st.lists(st.floats(0.01, 100), min_size=3, max_size=3),
)
def test_shares_give_the_truth_or_nothing(rows: list[list[int]], weights: list[float]) -> None:
    width = min(map(len, rows))
    leaves = np.array([row[:width] for row in rows])
    counts = np.vstack([leaves.sum(axis=0), leaves])
    if not (counts[0] > 0).all():
        return
    found = totals_from_shares(counts * np.array(weights[:width]), int(counts[0].sum()))
    assert found is None or found.tolist() == counts[0].tolist()


def test_hopeless_searches_end() -> None:
    # Halves only, and an odd total in three parts: trying every split would take hours.
    masses = np.array([[1.0, 1.0, 1.0], [0.5, 0.5, 0.5], [0.5, 0.5, 0.5]])
    started = time.perf_counter()
    assert totals_from_shares(masses, 999_999) is None
    assert totals_from_shares(np.ones((1, 500)), 1_000_000) is None
    assert totals_from_shares(np.random.RandomState(0).rand(5000, 4) + 0.1, 9_999_999) is None
    assert time.perf_counter() - started < 5
