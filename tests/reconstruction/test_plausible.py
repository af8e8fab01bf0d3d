"""Choices among many tables: weights, filling of open values, confidence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import glassleak as gl
from glassleak import datasets
from glassleak.knowledge import enumerate_cells, linear_system, profile_space, published
from glassleak.reconstruction._fill import fill_rows
from glassleak.reconstruction._plausible import plausibility


@pytest.fixture(scope="module")
def shallow():
    adult = datasets.load("adult", variant="binary")
    X, y = adult.data.head(80), adult.target.head(80)
    learner = RandomForestClassifier(4, max_depth=2, bootstrap=False, random_state=0)
    return adult, X, y, gl.read(learner.fit(X, y))


def test_open_values_stay_in_their_cells_and_follow_the_margins(shallow):
    adult, X, _, forest = shallow
    facts = published(forest)
    space = profile_space(adult.schema, facts.columns, facts.thresholds)
    cells = enumerate_cells(facts, space)
    rows = np.repeat(np.arange(len(cells)), 3)
    values = space.values(fill_rows(cells, rows, seed=1))
    for p, part in enumerate(facts.parts):
        assert (part.assign(values) == cells.groups[rows, p]).all()
    assert not adult.schema.invalid_rows(pd.DataFrame(values, columns=list(X.columns))).any()
    # Repeating one profile per cell would leave open columns constant.
    repeated = space.values(cells.profiles[rows])
    assert len(np.unique(values, axis=0)) > len(np.unique(repeated, axis=0))


def test_profiles_like_certain_people_weigh_more(shallow):
    adult, _, _, forest = shallow
    facts = published(forest)
    space = profile_space(adult.schema, facts.columns, facts.thresholds)
    cells = enumerate_cells(facts, space)
    system = linear_system(facts, cells)
    lower, upper = np.zeros(system.n_unknowns, np.int64), np.full(system.n_unknowns, 50)
    plain = plausibility(cells, system, lower, upper)
    assert (plain == cells.n_told_apart[system.cell]).all()
    lower[0] = 40
    weight = plausibility(cells, system, lower, upper) / plain
    person = cells.profiles[system.cell[0]]
    differences = (cells.profiles[system.cell] != person).sum(axis=1)
    order = np.argsort(differences, kind="stable")
    assert (np.diff(weight[order]) <= 1e-12).all()
    assert weight[order[-1]] < weight[order[0]]


def test_only_proved_rows_have_confidence_one(shallow):
    adult, _, _, forest = shallow
    rec = gl.reconstruct(forest, adult.schema, budget_seconds=4)
    certificate = rec.certificate
    assert (rec.confidence == 1).sum() == certificate.certain_rows
    assert rec.confidence.min() >= 0
    first = gl.reconstruct(forest, adult.schema, budget_seconds=4, central=False)
    assert first.certificate.replayed


def test_cells_of_more_profiles_than_floats_can_count():
    columns = [f"c{i}" for i in range(1200)]
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (40, 1200)), columns=columns)
    y = rng.integers(0, 2, 40)
    tree = gl.read(DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y))
    rec = gl.reconstruct(tree, gl.Schema([gl.Binary(c) for c in columns]), budget_seconds=10)
    assert len(rec.table) == 40
    assert rec.certificate.certain_rows == 0
