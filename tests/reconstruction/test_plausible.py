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
from glassleak.reconstruction._fill import draw_rows, fill_rows
from glassleak.reconstruction._plausible import _parents, plausibility


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


def test_drawn_values_stay_in_their_cells_and_differ(shallow):
    adult, X, _, forest = shallow
    facts = published(forest)
    space = profile_space(adult.schema, facts.columns, facts.thresholds)
    cells = enumerate_cells(facts, space)
    rows = np.repeat(np.arange(len(cells)), 3)
    rng = np.random.default_rng(0)
    one, other = (draw_rows(cells, rows, rng) for _ in range(2))
    assert (one != other).any()
    for p, part in enumerate(facts.parts):
        assert (part.assign(space.values(one)) == cells.groups[rows, p]).all()
    table = pd.DataFrame(space.values(one), columns=list(X.columns))
    assert not adult.schema.invalid_rows(table).any()


def test_profiles_like_the_sampled_people_weigh_more(shallow):
    adult, _, _, forest = shallow
    facts = published(forest)
    space = profile_space(adult.schema, facts.columns, facts.thresholds)
    cells = enumerate_cells(facts, space)
    system = linear_system(facts, cells)
    binary = [b for b, block in enumerate(space.blocks) if len(block) == 2][:2]
    assert len(binary) == 2
    rng = np.random.default_rng(0)
    rows = np.zeros((300, len(space.blocks)), dtype=np.int32)
    rows[:, binary[0]] = rng.integers(0, 2, 300)
    rows[:, binary[1]] = rows[:, binary[0]]
    weight = plausibility(cells, system, [rows] * 2) / cells.n_told_apart[system.cell]
    profiles = cells.profiles[system.cell]
    agree = profiles[:, binary[0]] == profiles[:, binary[1]]
    others = np.delete(profiles, binary, axis=1)
    # Of profiles that are alike in everything else, the one that agrees weighs more.
    for kind in np.unique(others, axis=0):
        alike = (others == kind).all(axis=1)
        if (alike & agree).any() and (alike & ~agree).any():
            assert weight[alike & agree].min() > 10 * weight[alike & ~agree].max()


def test_the_dependence_tree_joins_what_depends_and_nothing_else():
    rng = np.random.default_rng(0)
    a, c = rng.integers(0, 2, (2, 400))
    b = np.where(rng.random(400) < 0.9, a, 1 - a)
    rows = np.column_stack([a, c, b]).astype(np.int32)
    parents = _parents(rows, [2, 2, 2], 400)
    assert parents[1] is None
    assert {parents[0], parents[2]} in ({None, 0}, {None, 2})
    # The same rows a hundred times are no better evidence.
    weak = np.column_stack([a[:12], c[:12]]).astype(np.int32)
    assert _parents(np.tile(weak, (100, 1)), [2, 2], 12) == _parents(weak, [2, 2], 12)


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
