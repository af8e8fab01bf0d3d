"""The likelihood of a leaf against counting every sequence of draws."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassleak.models import Bagging, Exact, Forest, Tree
from glassleak.reconstruction.bagged._evidence import evidence_of
from glassleak.reconstruction.bagged._leaf_terms import (
    leaf_value,
    leaves_of,
    memory_for,
    step_value,
)


def one_leaf(draws: list[int], distinct: int | None, n_rows: int) -> Forest:
    tree = Tree(
        ("a",), tuple(range(len(draws))), [-1], [np.nan], [-1], [-1], Exact(np.array([draws])),
        distinct_rows=None if distinct is None else [distinct],
    )  # fmt: skip
    return Forest((tree,), Bagging("unknown", sum(draws)), n_rows)


def ways(held: tuple[int, ...], draws: tuple[int, ...], distinct: int) -> int:
    """Sequences of draws from `held` rows per class with these figures, by listing them all."""
    rows = [c for c, n in enumerate(held) for _ in range(n)]
    found = 0
    for drawn in itertools.product(range(len(rows)), repeat=sum(draws)):
        per_class = [0] * len(held)
        for row in drawn:
            per_class[rows[row]] += 1
        found += tuple(per_class) == draws and len(set(drawn)) == distinct
    return found


@pytest.mark.parametrize(
    ("draws", "distinct"), [((3, 0), 2), ((2, 2), 3), ((3, 1), 2), ((1, 2), 3), ((1, 1, 2), 3)]
)
def test_ratios_are_those_of_the_number_of_draws(draws: tuple[int, ...], distinct: int) -> None:
    leaves = leaves_of(evidence_of(one_leaf(list(draws), distinct, 6)), 6.0)
    memory = memory_for(leaves)
    seen: dict[tuple[int, ...], float] = {}
    for held in itertools.product(range(4), repeat=len(draws)):
        count = ways(held, draws, distinct) if sum(held) <= 6 else 0
        if count:
            value = leaf_value(leaves, memory, 0, np.array([held], dtype=np.int32))
            seen[held] = value - math.log(count)
    assert len(seen) >= 3
    assert np.ptp(list(seen.values())) < 1e-9


@given(
    draws=st.lists(st.integers(0, 4), min_size=1, max_size=3).filter(any),
    data=st.data(),
)
def test_a_step_is_the_difference_of_two_values(draws: list[int], data: st.DataObject) -> None:
    present = sum(n > 0 for n in draws)
    distinct = data.draw(st.none() | st.integers(present, sum(draws)))
    leaves = leaves_of(evidence_of(one_leaf(draws, distinct, 20)), 6.0)
    memory = memory_for(leaves)
    held = np.array([data.draw(st.lists(st.integers(0, 6), min_size=len(draws),
                                        max_size=len(draws)))], dtype=np.int32)  # fmt: skip
    c = data.draw(st.integers(0, len(draws) - 1))
    before = leaf_value(leaves, memory, 0, held)
    up = step_value(leaves, memory, 0, c, 1, held)
    held[0, c] += 1
    after = leaf_value(leaves, memory, 0, held)
    assert up == pytest.approx(after - before, abs=1e-9)
    assert step_value(leaves, memory, 0, c, -1, held) == pytest.approx(before - after, abs=1e-9)


def test_every_row_a_leaf_lacks_costs_the_penalty() -> None:
    leaves = leaves_of(evidence_of(one_leaf([5, 0], 4, 9)), 6.0)
    values = [
        leaf_value(leaves, memory_for(leaves), 0, np.array([[h, 0]], np.int32)) for h in range(7)
    ]
    assert np.diff(values)[:4] == pytest.approx(6.0)
    assert values[5] - values[4] == pytest.approx(math.log(5))
