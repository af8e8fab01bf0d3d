"""Forests: the joint cell system against an independent solver and all tables counted out."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pandas as pd
import pytest
from growing import cvxpy
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from worlds import spreads, true_table

import glassleak as gl
from glassleak.disclosure import known_people
from glassleak.disclosure._joint import joint_problem
from glassleak.disclosure._joint_bounds import joint_bounds
from glassleak.disclosure._joint_entropy import maximum_entropy
from glassleak.errors import InconsistentModelError, SchemaError, UnsupportedModelError
from glassleak.models import Forest


def forest(seed, n_rows=9, n_columns=4, n_trees=3, depth=2, n_classes=2, kind=None):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({f"c{i}": rng.integers(0, 2, n_rows) for i in range(n_columns)})
    truth = np.arange(n_rows) % n_classes
    rng.shuffle(truth)
    make = kind or RandomForestClassifier
    fitted = make(n_trees, bootstrap=False, max_depth=depth, random_state=seed).fit(table, truth)
    return gl.read(fitted), table, truth


def worlds(problem):
    most = problem.table(problem.system.upper)
    options = [list(spreads(int(n), most[c].tolist())) for c, n in enumerate(problem.size)]
    matrix = problem.system.matrix.toarray()
    for rows in itertools.product(*options):
        table = np.array(rows)
        x = table[problem.system.cell, problem.system.label]
        if (matrix @ x == problem.system.target).all():
            yield table


@pytest.mark.parametrize("seed", range(8))
def test_bounds_are_what_counting_gives(seed):
    model, table, _ = forest(seed, n_classes=2 + seed % 2, n_trees=1 + seed % 4)
    problem = joint_problem(model, known_people(model, table))
    found = np.array(list(worlds(problem)))
    proved = joint_bounds(problem, budget_seconds=60)
    others = (problem.size[problem.cell] - problem.number)[:, None]
    least, most = found.min(axis=0)[problem.cell], found.max(axis=0)[problem.cell]
    np.testing.assert_array_equal(proved.lower, np.maximum(0, least - others))
    np.testing.assert_array_equal(proved.upper, np.minimum(problem.number[:, None], most))
    assert proved.complete


@pytest.mark.parametrize("seed", range(6))
def test_the_estimate_is_that_of_an_independent_solver(seed):
    cp = cvxpy()
    model, table, _ = forest(seed, n_rows=40, n_columns=5, n_trees=4, depth=2, n_classes=3)
    problem = joint_problem(model, known_people(model, table))
    found = maximum_entropy(problem, time.monotonic() + 60)
    assert found.finished
    assert found.gap < 1e-5
    matrix = problem.system.matrix.toarray()
    h = cp.Variable(matrix.shape[1])
    other = cp.Problem(cp.Maximize(cp.sum(cp.entr(h))), [matrix @ h == problem.system.target])
    other.solve(solver="CLARABEL")
    np.testing.assert_allclose(found.expected, problem.table(h.value), atol=1e-3)


@given(seed=st.integers(0, 1000), kind=st.sampled_from([None, ExtraTreesClassifier]))
@settings(max_examples=15)
def test_the_truth_is_always_inside(seed, kind):
    model, table, truth = forest(seed, n_rows=30, n_trees=4, depth=3, n_classes=3, kind=kind)
    people = known_people(model, table)
    proved = joint_bounds(joint_problem(model, people), budget_seconds=3)
    real = true_table(model, people, truth)
    assert (proved.lower <= real).all()
    assert (real <= proved.upper).all()


def test_a_forest_of_one_tree_says_what_the_tree_says():
    model, table, truth = forest(1, n_rows=40, n_trees=1, depth=3)
    jointly = gl.disclosure(model, table, truth=truth)
    alone = gl.disclosure(model.trees[0], table, truth=truth, split_facts=False)
    np.testing.assert_allclose(jointly.posterior, alone.posterior, atol=1e-7)
    pd.testing.assert_frame_equal(jointly.bounds, alone.bounds)
    assert jointly.exact


def test_more_trees_never_leave_more_open():
    model, table, _ = forest(5, n_rows=60, n_columns=5, n_trees=6, depth=3)
    people = known_people(model, table)
    few = Forest(model.trees[:2], n_rows=model.n_rows)
    wide = joint_bounds(joint_problem(few, people), budget_seconds=30)
    narrow = joint_bounds(joint_problem(model, people), budget_seconds=30)
    assert (narrow.lower >= wide.lower).all()
    assert (narrow.upper <= wide.upper).all()
    entropy = gl.disclosure(few, table).overall.entropy
    assert gl.disclosure(model, table).overall.entropy <= entropy + 1e-9


def test_what_is_refused():
    model, table, truth = forest(2)
    bagged = gl.read(RandomForestClassifier(3, random_state=0).fit(table, truth))
    with pytest.raises(UnsupportedModelError, match="bootstrap"):
        gl.disclosure(bagged, table)
    with pytest.raises(SchemaError, match="trained on 9"):
        gl.disclosure(model, table.iloc[1:])
    with pytest.raises(SchemaError, match="not \\(all of\\) the training set"):
        gl.disclosure(model, 1 - table)
    with pytest.raises(UnsupportedModelError, match="counts of all leaves"):
        gl.disclosure(model, table, level="labels")


def test_trees_of_different_people_contradict_each_other():
    table = pd.DataFrame({"c0": [0, 0, 1, 1], "c1": [0, 1, 0, 1]})
    fit = RandomForestClassifier(1, bootstrap=False, max_features=None).fit
    one, other = gl.read(fit(table[["c0", "c1"]], [0, 0, 1, 1])), gl.read(fit(table, [0, 1, 0, 1]))
    mixed = Forest((one.trees[0], other.trees[0]), n_rows=4)
    problem = joint_problem(mixed, known_people(mixed, table))
    with pytest.raises(InconsistentModelError, match="same people"):
        maximum_entropy(problem, time.monotonic() + 10)
    with pytest.raises(InconsistentModelError, match="same people"):
        joint_bounds(problem, budget_seconds=10)
