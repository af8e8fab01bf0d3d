"""Cells against brute force over every profile."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import glassleak as gl
from glassleak.errors import BudgetExhaustedError, ModelTooLargeError, UnsupportedModelError
from glassleak.knowledge import enumerate_cells, linear_system, profile_space, published
from glassleak.models import Condition, Exact, Rule, RuleList

SCHEMA = gl.Schema(
    [
        gl.Binary("member"),
        gl.Categorical("region", columns=["north", "south", "west"]),
        gl.Categorical("job", columns=["clerk", "nurse"], absent=True),
        gl.Ordinal("grade", low=0, high=4),
        gl.Bins.from_intervals("age", {"young": (18, 30), "middle": (25, 45)}, low=18, high=60),
        gl.Numeric("dose", low=0, high=2, resolution=0.5),
    ]
)


def all_profiles(schema: gl.Schema) -> np.ndarray:
    """Every valid profile, in the schema's columns."""
    blocks = [attribute.level_values() for attribute in schema]
    return np.array([np.concatenate(combination) for combination in itertools.product(*blocks)])


def sample(schema: gl.Schema, n_rows: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    profiles = all_profiles(schema)
    table = profiles[rng.integers(0, len(profiles), n_rows)]
    return pd.DataFrame(table, columns=list(schema.columns)), rng.integers(0, 3, n_rows)


def brute_force(facts, schema):
    """{groups in every part: (number of profiles, allowed classes)} over all profiles."""
    profiles = all_profiles(schema)
    groups = np.column_stack([part.assign(profiles) for part in facts.parts])
    allowed = np.ones((len(profiles), len(facts.classes)), dtype=bool)
    for p, part in enumerate(facts.parts):
        allowed &= part.counts[groups[:, p]] > 0
    found: dict[tuple[int, ...], list] = {}
    for key, mask in zip(map(tuple, groups.tolist()), allowed, strict=True):
        if mask.any():
            entry = found.setdefault(key, [0, mask])
            entry[0] += 1
    return found


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    "estimator",
    [
        lambda s: DecisionTreeClassifier(max_depth=3, random_state=s),
        lambda s: RandomForestClassifier(4, max_depth=3, bootstrap=False, random_state=s),
        lambda s: RandomForestClassifier(12, bootstrap=False, random_state=s),
        lambda s: ExtraTreesClassifier(6, max_depth=4, random_state=s),
    ],
)
def test_cells_are_those_of_brute_force(estimator, seed):
    table, labels = sample(SCHEMA, 40, seed)
    model = gl.read(estimator(seed).fit(table, labels))
    facts = published(model)
    space = profile_space(SCHEMA, facts.columns, facts.thresholds)
    cells = enumerate_cells(facts, space)
    expected = brute_force(facts, SCHEMA)
    assert {tuple(row) for row in cells.groups.tolist()} == set(expected)
    assert cells.n_profiles is not None
    for row, count, mask in zip(
        cells.groups.tolist(), cells.n_profiles, cells.allowed, strict=True
    ):
        assert count == expected[tuple(row)][0]
        assert (mask == expected[tuple(row)][1]).all()
    # The profile that stands for a cell lies in it and is valid.
    values = space.values(cells.profiles)
    for p, part in enumerate(facts.parts):
        assert (part.assign(values) == cells.groups[:, p]).all()
    assert not SCHEMA.invalid_rows(pd.DataFrame(values, columns=list(facts.columns))).any()


@pytest.mark.parametrize("seed", range(4))
def test_the_true_table_satisfies_the_equations(seed):
    table, labels = sample(SCHEMA, 60, seed)
    forest = RandomForestClassifier(8, bootstrap=False, random_state=seed)
    model = gl.read(forest.fit(table, labels))
    facts = published(model)
    cells = enumerate_cells(facts, profile_space(SCHEMA, facts.columns, facts.thresholds))
    system = linear_system(facts, cells)
    index = {tuple(row): i for i, row in enumerate(cells.groups.tolist())}
    pairs = zip(system.cell.tolist(), system.label.tolist(), strict=True)
    unknown = {pair: i for i, pair in enumerate(pairs)}
    truth = np.zeros(system.n_unknowns, dtype=np.int64)
    groups = np.column_stack([part.assign(table.to_numpy()) for part in facts.parts])
    for row, label in zip(groups.tolist(), labels.tolist(), strict=True):
        truth[unknown[index[tuple(row)], label]] += 1
    assert (system.matrix @ truth == system.target).all()
    assert (truth <= system.upper).all()


def test_rule_lists_are_cut_as_they_apply():
    rules = RuleList(
        columns=SCHEMA.columns,
        classes=("no", "yes"),
        rules=(
            Rule((Condition(0, low=0.5), Condition(6, high=2.5)), "yes"),
            Rule((Condition(1, low=0.5), Condition(9, low=0.25, high=1.25)), "no"),
            Rule((), "yes"),
        ),
        counts=Exact(np.array([[1, 2], [3, 4], [5, 6]])),
    )
    facts = published(rules)
    space = profile_space(SCHEMA, facts.columns, facts.thresholds, facts.precision)
    cells = enumerate_cells(facts, space)
    expected = brute_force(facts, SCHEMA)
    assert dict(zip(cells.groups[:, 0].tolist(), cells.n_profiles, strict=True)) == {
        key[0]: count for key, (count, _) in expected.items()
    }


def test_attributes_longer_than_a_word_and_continuous_ones():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.integers(0, 300, 400), "score": rng.random(400)})
    labels = rng.integers(0, 2, 400)
    model = gl.read(RandomForestClassifier(3, bootstrap=False, random_state=0).fit(table, labels))
    whole = gl.Schema([gl.Ordinal("age", 0, 299), gl.Numeric("score", 0, 1, resolution=0.01)])
    facts = published(model)
    space = profile_space(whole, facts.columns, facts.thresholds)
    assert len(space.blocks[0]) > 64
    cells = enumerate_cells(facts, space)
    expected = brute_force(facts, whole)
    assert {tuple(row) for row in cells.groups.tolist()} == set(expected)
    assert sum(cells.n_profiles) == sum(count for count, _ in expected.values())
    continuous = gl.Schema([gl.Ordinal("age", 0, 299), gl.Numeric("score", 0, 1)])
    found = enumerate_cells(facts, profile_space(continuous, facts.columns, facts.thresholds))
    assert found.n_profiles is None
    assert {tuple(row) for row in cells.groups.tolist()} <= {
        tuple(row) for row in found.groups.tolist()
    }


def test_long_ranges_are_cut_without_listing_their_levels():
    rng = np.random.default_rng(1)
    income = rng.integers(0, 1_000_000, 200)
    table = pd.DataFrame({"income": income})
    labels = (income > 400_000).astype(int)
    model = gl.read(DecisionTreeClassifier(max_depth=4).fit(table, labels))
    schema = gl.Schema([gl.Numeric("income", 0, 1_000_000, resolution=1)])
    facts = published(model)
    cells = enumerate_cells(facts, profile_space(schema, facts.columns, facts.thresholds))
    leaf = facts.parts[0].assign(np.arange(1_000_001, dtype=np.float64)[:, None])
    expected = np.bincount(leaf)
    assert cells.n_profiles == [int(expected[g]) for g in cells.groups[:, 0]]


def test_huge_spaces_need_no_listing():
    columns = [f"c{i}" for i in range(200)]
    rng = np.random.default_rng(2)
    table = pd.DataFrame(rng.integers(0, 2, (30, 200)), columns=columns)
    labels = rng.integers(0, 2, 30)
    model = gl.read(DecisionTreeClassifier(random_state=0).fit(table, labels))
    schema = gl.Schema([gl.Binary(c) for c in columns])
    facts = published(model)
    cells = enumerate_cells(facts, profile_space(schema, facts.columns, facts.thresholds))
    assert sum(cells.n_profiles) == 2**200  # a tree's leaves cover everything
    assert len(cells) == model.n_leaves


def test_too_many_cells_is_an_error_and_not_a_crash():
    table, labels = sample(SCHEMA, 60, 0)
    model = gl.read(
        RandomForestClassifier(10, max_depth=2, bootstrap=False, random_state=0).fit(table, labels)
    )
    facts = published(model)
    space = profile_space(SCHEMA, facts.columns, facts.thresholds)
    with pytest.raises(ModelTooLargeError, match="50 cells"):
        enumerate_cells(facts, space, max_boxes=50)


def test_bagged_forests_are_refused_with_the_reason():
    table, labels = sample(SCHEMA, 60, 0)
    with pytest.raises(UnsupportedModelError, match="bootstrap sample"):
        published(gl.read(RandomForestClassifier(3, random_state=0).fit(table, labels)))


def test_cutting_stops_at_the_deadline():
    X = pd.DataFrame(np.random.default_rng(0).integers(0, 9, (60, 4)), columns=list("abcd"))
    schema = gl.Schema([gl.Ordinal(c, 0, 8) for c in X])
    learner = ExtraTreesClassifier(5, random_state=0).fit(X, X["a"] % 2)
    facts = published(gl.read(learner))
    space = profile_space(schema, facts.columns, facts.thresholds)
    with pytest.raises(BudgetExhaustedError, match="possible cells"):
        enumerate_cells(facts, space, deadline=time.monotonic() - 1)


def test_cells_are_the_same_however_many_boxes_are_cut_at_once(monkeypatch):
    X = pd.DataFrame(np.random.default_rng(0).integers(0, 9, (60, 4)), columns=list("abcd"))
    schema = gl.Schema([gl.Ordinal(c, 0, 8) for c in X])
    learner = ExtraTreesClassifier(5, max_depth=3, random_state=0).fit(X, X["a"] % 2)
    facts = published(gl.read(learner))
    space = profile_space(schema, facts.columns, facts.thresholds)
    whole = enumerate_cells(facts, space)
    monkeypatch.setattr("glassleak.knowledge._cells._BYTES_AT_ONCE", 24)
    pieces = enumerate_cells(facts, space)
    order = [np.lexsort(cells.groups.T) for cells in (whole, pieces)]
    np.testing.assert_array_equal(whole.groups[order[0]], pieces.groups[order[1]])
    np.testing.assert_array_equal(whole.allowed[order[0]], pieces.allowed[order[1]])
    assert [whole.n_profiles[i] for i in order[0]] == [pieces.n_profiles[i] for i in order[1]]
    monkeypatch.setattr("glassleak.knowledge._cells.MAX_BYTES", 10_000)
    with pytest.raises(ModelTooLargeError, match="cells remain possible"):
        enumerate_cells(facts, space)
