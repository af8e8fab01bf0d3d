"""Solving and sampling what propagation leaves open."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
import scipy.sparse as sp

from glassleak.reconstruction.residual._control import Control
from glassleak.reconstruction.residual._independent import independent_rows
from glassleak.reconstruction.residual._problem import problem
from glassleak.reconstruction.residual._residual import (
    Infeasible,
    Solution,
    sample_solutions,
    solve_component,
)
from glassleak.reconstruction.residual._restricted import restricted
from glassleak.reconstruction.residual._vertex import Relaxation, Vertex
from glassleak.reconstruction.residual._walk import Walk, Walker


def in_a_minute():
    return time.monotonic() + 60.0


def all_solutions(dense, target, lower, upper):
    boxes = [range(low, high + 1) for low, high in zip(lower, upper, strict=True)]
    grid = np.array(list(itertools.product(*boxes)))
    return {tuple(x) for x in grid[(grid @ dense.T == target).all(axis=1)].tolist()}


def small_system(seed):
    """Few enough unknowns to list all tables; about half of them are impossible."""
    rng = np.random.default_rng(seed)
    n_rows, n_columns = int(rng.integers(2, 6)), int(rng.integers(2, 8))
    dense = (rng.random((n_rows, n_columns)) < 0.5).astype(np.int64)
    lower = rng.integers(0, 2, n_columns)
    upper = lower + rng.integers(0, 3, n_columns)
    target = dense @ rng.integers(lower, upper + 1)
    if seed % 2:
        target = np.maximum(0, target + rng.integers(-1, 2, n_rows))
    return dense, target, lower, upper


def forest_system(seed, n_trees=12, n_bits=9, n_people=40, depth=3):
    """The cells and counts of random trees over random rows: what the solver is made for."""
    rng = np.random.default_rng(seed)
    profiles = np.array(list(itertools.product((0, 1), repeat=n_bits)))
    truth = np.bincount(
        (rng.random((n_people, n_bits)) < rng.random(n_bits)) @ (1 << np.arange(n_bits)[::-1]),
        minlength=len(profiles),
    )
    blocks = []
    for _ in range(n_trees):
        used = rng.choice(n_bits, depth, replace=False)
        leaf = profiles[:, used] @ (1 << np.arange(depth))
        blocks.append(leaf[None, :] == np.arange(1 << depth)[:, None])
    dense = np.vstack(blocks).astype(np.int64)
    target = dense @ truth
    upper = np.where(dense == 1, target[:, None], n_people).min(axis=0)
    return sp.csr_array(dense), target, np.zeros(len(profiles), np.int64), upper


def assert_solves(x, matrix, target, lower, upper):
    assert x.dtype == np.int64
    assert (x >= lower).all()
    assert (x <= upper).all()
    np.testing.assert_array_equal(matrix @ x, target)


@pytest.mark.parametrize("seed", range(60))
def test_agrees_with_listing_all_tables(seed):
    dense, target, lower, upper = small_system(seed)
    expected = all_solutions(dense, target, lower, upper)
    found = solve_component(
        sp.csr_array(dense), target, lower, upper, deadline=in_a_minute(), seed=seed, workers=1
    )
    if expected:
        assert isinstance(found, Solution)
        assert tuple(found.x.tolist()) in expected
    else:
        assert isinstance(found, Infeasible)


def test_the_small_systems_cover_both_cases():
    possible = [bool(all_solutions(*small_system(seed))) for seed in range(60)]
    assert 10 <= sum(possible) <= 50


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_forest_counts_are_met_exactly(seed, workers):
    system = forest_system(seed)
    found = solve_component(*system, deadline=in_a_minute(), seed=seed, workers=workers)
    assert isinstance(found, Solution)
    assert_solves(found.x, *system)
    assert 0 < found.seconds < 60


def test_one_worker_is_deterministic():
    system = forest_system(5)
    first, again = (
        solve_component(*system, deadline=in_a_minute(), seed=3, workers=1) for _ in range(2)
    )
    other = solve_component(*system, deadline=in_a_minute(), seed=4, workers=1)
    np.testing.assert_array_equal(first.x, again.x)
    assert first.method == again.method
    assert (first.x != other.x).any()


def test_whole_number_conflict_needs_more_than_linear_programming():
    # x1 + x2 = x2 + x3 = x1 + x3 = 1 has the only solution 1/2, 1/2, 1/2.
    matrix = sp.csr_array(np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]]))
    zero, one = np.zeros(3, np.int64), np.ones(3, np.int64)
    vertex = Relaxation(problem(matrix, one, zero, one)).vertex(
        np.zeros(3), Control(in_a_minute()), 0
    )
    assert isinstance(vertex, Vertex)
    np.testing.assert_allclose(vertex.z, 0.5)
    found = solve_component(matrix, one, zero, one, deadline=in_a_minute(), seed=0)
    assert found == Infeasible("CP-SAT")


def test_empty_relaxation_is_proved_in_whole_numbers():
    # {1,2} and {3} hold 1 each, {1,2,3} holds 3.
    matrix = sp.csr_array(np.array([[1, 1, 0], [0, 0, 1], [1, 1, 1]]))
    target, zero = np.array([1, 1, 3]), np.zeros(3, np.int64)
    found = solve_component(matrix, target, zero, zero + 3, deadline=in_a_minute(), seed=0)
    assert isinstance(found, Infeasible)


def test_a_wrong_certificate_is_not_believed():
    task = problem(*forest_system(0))
    relaxation = Relaxation(task)
    for seed in range(5):
        duals = np.random.default_rng(seed).standard_normal(len(relaxation.rows))
        assert not relaxation._proves_empty(duals)


@pytest.mark.parametrize(("high", "expected"), [(-1, Infeasible), (0, Infeasible), (1, Solution)])
def test_bounds_without_choice(high, expected):
    matrix = sp.csr_array(np.ones((1, 2), np.int64))
    bounds = np.zeros(2, np.int64), np.full(2, high)
    found = solve_component(matrix, np.array([2]), *bounds, deadline=in_a_minute(), seed=0)
    assert isinstance(found, expected)


def test_no_unknowns():
    matrix = sp.csr_array((1, 0), dtype=np.int64)
    nothing = np.empty(0, np.int64)
    ask = {"deadline": in_a_minute(), "seed": 0}
    assert isinstance(solve_component(matrix, np.array([1]), nothing, nothing, **ask), Infeasible)
    found = solve_component(matrix, np.array([0]), nothing, nothing, **ask)
    assert isinstance(found, Solution)
    assert found.x.size == 0


def hard_system():
    """Random halves of 400 unknowns: no structure that a short search could use."""
    rng = np.random.default_rng(0)
    dense = (rng.random((40, 400)) < 0.5).astype(np.int64)
    target = dense.sum(axis=1) // 2 + rng.integers(-2, 3, 40)
    return sp.csr_array(dense), target, np.zeros(400, np.int64), np.ones(400, np.int64)


def test_deadline():
    started = time.monotonic()
    found = solve_component(*hard_system(), deadline=started + 1.0, seed=0)
    assert time.monotonic() - started < 6.0
    assert found is None


def test_deadline_that_has_passed():
    started = time.monotonic()
    assert solve_component(*forest_system(0), deadline=started - 1.0, seed=0) is None
    assert time.monotonic() - started < 1.0


def test_stop_and_progress():
    calls, told = [], []

    def stop():
        calls.append(time.monotonic())
        return len(calls) > 5

    started = time.monotonic()
    found = solve_component(
        *hard_system(),
        deadline=started + 60.0,
        seed=0,
        stop=stop,
        progress=lambda step, share: told.append((step, share)),
    )
    assert found is None
    assert len(calls) == 6
    assert time.monotonic() - started < 10.0
    assert told
    assert all(step.startswith("attempt ") and 0 <= share < 1 for step, share in told)


def test_a_failing_thread_raises_in_the_caller(monkeypatch):
    def broken(*_):
        raise ArithmeticError("broken")

    monkeypatch.setattr("glassleak.reconstruction.residual._attempts.Attempts.run", broken)
    with pytest.raises(ArithmeticError, match="broken"):
        solve_component(*forest_system(0), deadline=in_a_minute(), seed=0)


def test_independent_rows_span_all_rows():
    matrix = forest_system(1)[0]
    dense = matrix.toarray().astype(float)
    kept = independent_rows(sp.csc_array(matrix))
    rank = np.linalg.matrix_rank(dense)
    assert len(kept) == rank == np.linalg.matrix_rank(dense[kept])
    assert rank < len(dense)


def test_independent_rows_of_a_wide_matrix_miss_no_rare_column():
    # One equation differs from another in a single column out of 30,000, which a sample overlooks.
    dense = np.zeros((3, 30_000), np.int64)
    dense[0, ::2] = 1
    dense[1, ::2] = 1
    dense[1, 12_345] = 1
    dense[2, 1::2] = 1
    assert len(independent_rows(sp.csc_array(dense))) == 3


def test_generated_columns_reach_the_same_optimum(monkeypatch):
    task = problem(*forest_system(2))
    cost = np.random.default_rng(0).random(task.n_unknowns)
    direct = Relaxation(task).vertex(cost, Control(in_a_minute()), 0)
    monkeypatch.setattr("glassleak.reconstruction.residual._vertex._DIRECT_COLUMNS", 50)
    monkeypatch.setattr("glassleak.reconstruction.residual._vertex._FIRST_COLUMNS", 20)
    monkeypatch.setattr("glassleak.reconstruction.residual._vertex._MORE_COLUMNS", 30)
    generated = Relaxation(task).vertex(cost, Control(in_a_minute()), 0)
    assert cost @ generated.z == pytest.approx(cost @ direct.z, abs=1e-6)


def test_restricted_proves_only_about_its_columns():
    system = forest_system(3)
    task = problem(*system)
    found = solve_component(*system, deadline=in_a_minute(), seed=0)
    used = np.flatnonzero(found.x)
    control = Control(in_a_minute())
    within = restricted(task, used, effort=10.0, seed=0, control=control)
    assert_solves(within, *system)
    assert (within[np.setdiff1d(np.arange(len(within)), used)] == 0).all()
    some = np.array([used[0]])
    assert restricted(task, some, effort=10.0, seed=0, control=control) == "impossible"
    control.halt()
    assert restricted(task, used, effort=10.0, seed=0, control=control) == "unknown"


def test_samples_are_solutions_and_differ():
    system = forest_system(4)
    samples = sample_solutions(*system, 10, deadline=in_a_minute(), seed=0)
    assert len(samples) == 10
    for x in samples:
        assert_solves(x, *system)
    assert len({tuple(x.tolist()) for x in samples}) > 5


def test_samples_are_deterministic_and_begin_where_told():
    system = forest_system(4)
    start = solve_component(*system, deadline=in_a_minute(), seed=0, workers=1).x
    one, other = (
        sample_solutions(*system, 4, deadline=in_a_minute(), seed=1, start=start) for _ in range(2)
    )
    np.testing.assert_array_equal(one, other)
    with pytest.raises(ValueError, match="not a solution"):
        sample_solutions(*system, 4, deadline=in_a_minute(), seed=1, start=start + 1)


def test_samples_of_an_impossible_or_unique_system():
    matrix = sp.csr_array(np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]]))
    zero = np.zeros(3, np.int64)
    ask = {"deadline": in_a_minute(), "seed": 0}
    assert sample_solutions(matrix, zero + 1, zero, zero + 2, 3, **ask) == []
    samples = sample_solutions(matrix, zero + 2, zero, zero + 2, 3, **ask)
    assert [x.tolist() for x in samples] == [[1, 1, 1]] * 3


def test_samples_respect_the_deadline():
    system = forest_system(4)
    found = solve_component(*system, deadline=in_a_minute(), seed=0)
    started = time.monotonic()
    samples = sample_solutions(*system, 10**6, deadline=started + 1.0, seed=0, start=found.x)
    assert time.monotonic() - started < 6.0
    assert 1 <= len(samples) < 10**6
    for x in samples[:20]:
        assert_solves(x, *system)


def walk_frequencies(weight, steps=6_000):
    """How often a walk meets each of the tables with margins (2, 1) and (2, 1)."""
    # Cells of a 2 x 2 table, with the cell (0, 0) split in two.
    dense = np.array([[1, 1, 1, 0, 0], [0, 0, 0, 1, 1], [1, 1, 0, 1, 0], [0, 0, 1, 0, 1]])
    target, zero = np.array([2, 1, 2, 1]), np.zeros(5, np.int64)
    task = problem(sp.csr_array(dense), target, zero, zero + 2)
    walk = Walk(Walker(task, np.asarray(weight, dtype=float)), np.array([2, 0, 0, 0, 1]), seed=1)
    counts = {}
    for _ in range(steps):
        walk.go(2)
        assert task.solved_by(walk.z)
        key = tuple(walk.z.tolist())
        counts[key] = counts.get(key, 0) + 1
    return counts, all_solutions(dense, target, zero, zero + 2)


@pytest.mark.parametrize("weight", [[1, 1, 1, 1, 1], [3, 1, 1, 1, 1]])
def test_walk_meets_every_table_as_often_as_it_should(weight):
    counts, expected = walk_frequencies(weight)
    assert set(counts) == expected
    # Ordered tables: a histogram can be written in (rows)! / prod(counts!) orders.
    ways = {
        x: np.prod([float(w) ** k for w, k in zip(weight, x, strict=True)])
        / np.prod([np.prod(np.arange(1, k + 1)) for k in x])
        for x in expected
    }
    total = sum(ways.values())
    for x, seen in counts.items():
        assert seen / 6_000 == pytest.approx(ways[x] / total, abs=0.04)
