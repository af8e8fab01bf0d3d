"""What is certain about a person: proved bounds against all tables counted out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from growing import grown
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import best_splits, leaf_tables, tables, true_table

import glassleak as gl
from glassleak.disclosure import known_people, problem_of, split_facts_of
from glassleak.disclosure._bounds_leaf import (
    bounds_from_counts,
    bounds_from_labels,
    bounds_from_rates,
)
from glassleak.disclosure._bounds_of_problem import count_bounds
from glassleak.disclosure._gate import SplitFacts
from glassleak.errors import InconsistentModelError
from glassleak.learners import ID3Classifier
from glassleak.models import Exact, MultiwayTree


@given(data=st.data())
def test_closed_forms_are_what_counting_gives(data):
    m = data.draw(st.integers(1, 3))
    people = np.array(data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3)))
    everything = leaf_tables(people, lambda _: True, m)
    counts = everything[data.draw(st.integers(0, len(everything) - 1))].sum(axis=0)
    label = int(np.argmax(counts))
    leaf, labels = np.zeros(len(people), np.int64), np.array([label])
    cases = [
        (bounds_from_counts(people, leaf, counts[None]), lambda k: (k == counts).all()),
        (bounds_from_labels(people, leaf, labels, m), lambda k: k[label] == k.max()),
        (
            bounds_from_rates(people, leaf, labels, counts[[label]], m),
            lambda k: k[label] == k.max() == counts[label],
        ),
    ]
    for (lower, upper), fits in cases:
        found = np.array(leaf_tables(people, fits, m))
        np.testing.assert_array_equal(lower, found.min(axis=0))
        np.testing.assert_array_equal(upper, found.max(axis=0))


@pytest.mark.parametrize(
    ("kind", "criterion"),
    [
        ("levels", "gini"), ("levels", "entropy"), ("levels", "gain_ratio"),
        ("thresholds", "gini"), ("thresholds", "entropy"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("seed", range(6))
def test_bounds_with_split_facts_are_what_counting_gives(kind, criterion, seed):
    model, table, truth = grown(
        kind, criterion, seed, depth=1 + seed % 2, n_rows=9, n_columns=3, n_classes=2 + seed % 2
    )
    people = known_people(model, table)
    problem = problem_of(model, people)
    facts, _ = split_facts_of(problem)
    holds = best_splits(model, table, people.of_line, criterion)
    given_order = np.argsort(problem.order)
    worlds = np.array(
        [
            world
            for world in tables(problem.number, problem.leaf, problem.leaf_counts)
            if holds(world[given_order])
        ]
    )
    real = true_table(model, people, truth, problem.order)
    assert (worlds == real).all(axis=(1, 2)).any(), "the truth itself must fit"
    found = count_bounds(problem, facts, budget_seconds=60)
    np.testing.assert_array_equal(found.lower, worlds.min(axis=0))
    np.testing.assert_array_equal(found.upper, worlds.max(axis=0))
    assert found.complete


@given(seed=st.integers(0, 10_000), kind=st.sampled_from(["levels", "thresholds"]),
       criterion=st.sampled_from(["gini", "entropy"]), depth=st.integers(1, 3))  # fmt: skip
@settings(max_examples=25)
def test_the_truth_is_always_inside(seed, kind, criterion, depth):
    model, table, truth = grown(kind, criterion, seed, depth=depth, n_rows=14, n_classes=3)
    people = known_people(model, table)
    for level in ("labels", "rates", "counts"):
        for margin in (None, True):
            problem = problem_of(model, people, level, margin)
            facts, _ = split_facts_of(problem)
            found = count_bounds(problem, facts, budget_seconds=2, seed=seed)
            real = true_table(model, people, truth, problem.order)
            assert (found.lower <= real).all()
            assert (real <= found.upper).all()
            sure = found.value >= 0
            np.testing.assert_array_equal(found.value[sure], real.argmax(axis=1)[sure])


@pytest.mark.parametrize("level", ["labels", "rates"])
@pytest.mark.parametrize("seed", range(4))
def test_margins_are_used_to_the_full(level, seed):
    model, table, _ = grown("levels", "gini", seed, depth=1, n_rows=8, n_columns=2, n_classes=3)
    problem = problem_of(model, known_people(model, table), level, True)
    label, known = problem.leaf_label, problem.leaf_counts

    def fits(k, one):
        stated = known[one] >= 0
        return k[label[one]] == k.max() and (k[stated] == known[one][stated]).all()

    parts = []
    for one in range(len(label)):
        inside = np.flatnonzero(problem.leaf == one)
        own = problem.number[inside]
        parts.append(leaf_tables(own, lambda k, one=one: fits(k, one), problem.n_classes))
    # Leaves are next to each other, so their tables stack up to the whole.
    worlds = [np.zeros((0, problem.n_classes), np.int64)]
    for part in parts:
        worlds = [np.vstack([head, tail]) for head in worlds for tail in part]
    worlds = np.array([w for w in worlds if (w.sum(axis=0) == problem.margin).all()])
    found = count_bounds(problem, budget_seconds=60)
    assert (found.lower <= worlds.min(axis=0)).all()
    assert (found.upper >= worlds.max(axis=0)).all()
    exact = found.exact
    np.testing.assert_array_equal(found.lower[exact], worlds.min(axis=0)[exact])
    np.testing.assert_array_equal(found.upper[exact], worlds.max(axis=0)[exact])
    assert exact.mean() > 0.9


D1 = pd.DataFrame(
    [
        line.split()
        for line in (
            "Masters USA Female <=50K", "Masters USA Male >50K", "Masters Canada Male <=50K",
            "Masters Canada Male <=50K", "Masters Canada Female <=50K",
            "Masters Canada Female >50K", "Doctorate Canada Female >50K",
            "Doctorate Canada Female >50K", "Doctorate USA Male <=50K", "Doctorate USA Male >50K",
            "Doctorate USA Female >50K",
        )
    ],
    columns=["Education", "Country", "Gender", "Salary"],
)  # fmt: skip


@pytest.mark.parametrize("criterion", ["entropy", "gini"])
def test_the_first_example_is_certain_with_split_facts(criterion):
    learner = ID3Classifier(criterion, min_samples_split=3).fit(D1.iloc[:, :3], D1["Salary"])
    model = gl.read(learner)
    problem = problem_of(model, known_people(model, D1))
    without = problem.in_given_order(count_bounds(problem).value).tolist()
    facts, _ = split_facts_of(problem)
    certain = problem.in_given_order(count_bounds(problem, facts).value).tolist()
    # q1 and q2 could be exchanged, until one asks why Country was chosen at the Masters' node.
    assert without == [-1, -1, 0, -1, 1, -1, 1]
    assert certain == [0, 1, 0, -1, 1, -1, 1]


def test_what_was_not_decided_in_time_is_valid_and_marked():
    model, table, truth = grown("thresholds", "gini", 3, depth=4, n_rows=300, n_classes=3)
    people = known_people(model, table)
    problem = problem_of(model, people)
    facts, _ = split_facts_of(problem)
    found = count_bounds(problem, facts, budget_seconds=0.05)
    real = true_table(model, people, truth, problem.order)
    assert (found.lower <= real).all()
    assert (real <= found.upper).all()
    assert not found.complete
    assert any("not decided" in note for note in found.notes)


def test_split_facts_that_are_not_true_are_found_out():
    # Column a gains nothing; b has groups of one person, which are pure whoever they are.
    people = pd.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 2]})
    model = MultiwayTree(
        columns=("a", "b"), classes=("no", "yes"), levels=((0, 1), (0, 1, 2)),
        feature=np.array([0, -1, -1]), parent=np.array([-1, 0, 0]), branch=np.array([-1, 0, 1]),
        counts=Exact(np.array([[2, 2], [1, 1], [1, 1]])),
    )  # fmt: skip
    problem = problem_of(model, known_people(model, people))
    assert count_bounds(problem).complete
    with pytest.raises(InconsistentModelError, match="split facts do not hold"):
        count_bounds(problem, SplitFacts("gini", "levels"))


def test_a_budget_must_be_positive():
    model, table, _ = grown("levels", "gini", 0)
    with pytest.raises(ValueError, match="budget_seconds"):
        count_bounds(problem_of(model, known_people(model, table)), budget_seconds=0)
