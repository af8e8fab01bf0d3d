"""Propagation and ranges against brute force."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from glassleak.reconstruction._components import Component
from glassleak.reconstruction._propagate import propagate
from glassleak.reconstruction._ranges import full_column_rank, ranges


@st.composite
def systems(draw):
    """A small 0/1 system with a known solution."""
    n_rows, n_unknowns = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    bits = draw(st.lists(st.booleans(), min_size=n_rows * n_unknowns, max_size=n_rows * n_unknowns))
    matrix = np.array(bits, dtype=np.int64).reshape(n_rows, n_unknowns)
    # Every unknown is counted somewhere, as in a model.
    matrix = np.vstack([matrix, np.ones(n_unknowns, dtype=np.int64)])
    truth = np.array(draw(st.lists(st.integers(0, 3), min_size=n_unknowns, max_size=n_unknowns)))
    return matrix, matrix @ truth, truth


def solutions(matrix: np.ndarray, target: np.ndarray) -> np.ndarray:
    top = int(target.max(initial=0))
    candidates = np.array(list(itertools.product(range(top + 1), repeat=matrix.shape[1])))
    return candidates[(candidates @ matrix.T == target).all(axis=1)]


@given(systems())
def test_bounds_hold_for_every_solution(case):
    matrix, target, _ = case
    upper = np.full(matrix.shape[1], target.max(initial=0))
    bounds = propagate(sp.csc_array(matrix), target, np.zeros_like(upper), upper)
    every = solutions(matrix, target)
    assert bounds.conflict is None
    assert (bounds.lower <= every.min(axis=0)).all()
    assert (bounds.upper >= every.max(axis=0)).all()
    if bounds.fixed.all():
        assert len(every) == 1


@given(systems(), st.integers(0, 3))
def test_a_conflict_is_claimed_only_when_nothing_fits(case, shift):
    matrix, target, _ = case
    target = target.copy()
    target[0] += shift
    upper = np.full(matrix.shape[1], target.max(initial=0))
    bounds = propagate(sp.csc_array(matrix), target, np.zeros_like(upper), upper)
    if bounds.conflict is not None:
        assert len(solutions(matrix, target)) == 0


@given(systems())
def test_ranges_are_exact_given_time(case):
    matrix, target, truth = case
    size = matrix.shape[1]
    component = Component(
        np.arange(size), np.arange(len(target)), sp.csr_array(matrix), target,
        np.zeros(size, dtype=np.int64), np.full(size, target.max(initial=0)),
    )  # fmt: skip
    found = ranges(component, truth[None, :], time.monotonic() + 30, workers=1)
    every = solutions(matrix, target)
    assert found.unique is (len(every) == 1)
    assert (found.lower == every.min(axis=0)).all()
    assert (found.upper == every.max(axis=0)).all()
    assert found.exact.all()
    assert (found.witnesses @ matrix.T == target).all()


@pytest.mark.parametrize(
    ("matrix", "independent"),
    [
        ([[1, 1], [0, 1]], True),
        ([[1, 1], [1, 1]], False),
        ([[1, 1, 0], [0, 1, 1], [1, 0, 1]], True),
        ([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]], False),
    ],
)
def test_column_rank(matrix, independent):
    assert full_column_rank(sp.csr_array(np.array(matrix))) is independent
