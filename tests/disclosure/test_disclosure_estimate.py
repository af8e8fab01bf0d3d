"""The estimate against a second formulation, and what must hold whatever the data."""

from __future__ import annotations

import time

import numpy as np
import pytest
from growing import cvxpy, grown, monolithic, nodes_by_hand, random_table
from hypothesis import given, settings
from hypothesis import strategies as st

import glassleak as gl
from glassleak.disclosure import Candidates, known_people, problem_of, split_facts_of
from glassleak.disclosure._closed import leaf_distributions
from glassleak.disclosure._lazy import with_split_facts
from glassleak.errors import InconsistentModelError
from glassleak.models import Exact, MultiwayTree

KINDS = [
    ("levels", "gini"),
    ("levels", "entropy"),
    ("levels", "gain_ratio"),
    ("thresholds", "gini"),
    ("thresholds", "entropy"),
]


def per_row(d):
    return d.posterior.to_numpy()[d.per_person["quasi_identifier"]]


@pytest.mark.parametrize(("kind", "criterion"), KINDS)
def test_against_an_independent_solver(kind, criterion):
    cvxpy()
    compared = 0
    for seed in range(40):
        model, table, _ = grown(kind, criterion, seed, n_rows=40, n_classes=2 + seed % 2, depth=3)
        d = gl.disclosure(model, table, bounds=False)
        if not d.certificate.active:
            continue
        np.testing.assert_allclose(per_row(d), monolithic(model, table, criterion), atol=1e-4)
        compared += 1
        if compared == 3:
            break
    assert compared == 3


@pytest.mark.parametrize(("kind", "criterion"), KINDS)
@given(seed=st.integers(0, 10_000), depth=st.integers(1, 5), classes=st.integers(2, 4))
@settings(max_examples=15)
def test_the_truth_is_always_feasible(kind, criterion, seed, depth, classes):
    model, table, truth = grown(kind, criterion, seed, depth=depth, n_classes=classes)
    people = known_people(model, table)
    problem = problem_of(model, people)
    facts, _ = split_facts_of(problem, True)
    masses = np.zeros((len(people), len(model.classes)))
    np.add.at(masses, (people.of_line, np.searchsorted(model.classes, truth)), 1)
    candidates = Candidates(problem, facts)
    for i in range(len(problem.nodes)):
        assert candidates.scan(i, masses[problem.order]).slack.min(initial=0) > -1e-9


@pytest.mark.parametrize(("kind", "criterion"), KINDS)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=12)
def test_estimates_satisfy_everything_and_never_exceed_the_closed_form(kind, criterion, seed):
    model, table, truth = grown(kind, criterion, seed, n_rows=50, n_columns=5, n_classes=3)
    d = gl.disclosure(model, table, truth=truth, bounds=False)
    found = per_row(d)
    assert d.exact
    assert d.certificate.violation < 1e-7
    np.testing.assert_allclose(found.sum(axis=1), 1)
    multiway = kind == "levels"
    leaf = model.apply(model.encode(table) if multiway else table.to_numpy(float))
    for one in np.unique(leaf):
        expected = model.counts.values[one]
        np.testing.assert_allclose(found[leaf == one].sum(axis=0), expected, atol=1e-7)
    # Nobody is taken to have a value that the table shows nobody in the leaf to have.
    assert np.isfinite(d.overall.d_overall)
    plain = gl.disclosure(model, table, split_facts=False, bounds=False)
    assert d.overall.entropy <= plain.overall.entropy + 1e-12


@pytest.mark.parametrize(("kind", "criterion"), [("levels", "entropy"), ("thresholds", "gini")])
def test_candidates_are_all_there_are(kind, criterion):
    """The vectorised scan sees the same splits as a walk through the rows."""
    model, table, _ = grown(kind, criterion, 3, n_rows=60, depth=4, min_leaf=2)
    people = known_people(model, table)
    problem = problem_of(model, people)
    facts, _ = split_facts_of(problem, True)
    candidates = Candidates(problem, facts)
    by_hand = {node: len(others) for node, _, _, others in nodes_by_hand(model, table)}
    flat = problem.number[:, None].astype(float)
    for i, node in enumerate(problem.nodes):
        scan = candidates.scan(i, flat)
        # The chosen column of a multiway node is not its own rival.
        assert len(scan.slack) == by_hand[node.number]
    assert candidates.number == sum(by_hand.values())


def test_facts_that_nobody_can_satisfy_are_an_error():
    """c0 decides everything, yet the tree asks for c1 first: that was not the best column."""
    table, _ = random_table(1, n_rows=60, n_columns=2, n_levels=2)
    truth = table["c0"].to_numpy()
    root = np.bincount(truth)
    by_c1 = [np.bincount(truth[table["c1"] == v], minlength=2) for v in (0, 1)]
    below = [np.diag(counts) for counts in by_c1]
    model = MultiwayTree(
        columns=("c0", "c1"), classes=(0, 1), levels=((0, 1), (0, 1)),
        feature=[1, 0, -1, -1, 0, -1, -1], parent=[-1, 0, 1, 1, 0, 4, 4],
        branch=[-1, 0, 0, 1, 1, 0, 1],
        counts=Exact(np.vstack([root, by_c1[0], *below[0], by_c1[1], *below[1]])),
    )  # fmt: skip
    d = gl.disclosure(model, table)
    assert any("left out" in a for a in d.assumptions)
    for measure in ("gini", "entropy", "gain_ratio"):
        with pytest.raises(InconsistentModelError, match="best one"):
            gl.disclosure(model, table, split_facts=measure, bounds=False)


def test_a_deadline_gives_an_honest_unfinished_answer():
    for seed in range(40):
        model, table, _ = grown("levels", "entropy", seed, n_rows=40)
        people = known_people(model, table)
        problem = problem_of(model, people)
        facts, _ = split_facts_of(problem)
        candidates = Candidates(problem, facts)
        start = leaf_distributions(problem)[problem.leaf]
        if not with_split_facts(problem, candidates, start).active:
            continue
        late = with_split_facts(problem, candidates, start, deadline=time.monotonic() - 1)
        assert not late.finished
        assert late.violation > 1e-7
        return
    pytest.fail("no instance with a binding fact")
