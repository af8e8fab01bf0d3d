"""Inference from models alone: what real forests support, and that it never excludes a row."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from strategies import models

from glassleak.models import (
    Bagging,
    Condition,
    Exact,
    Forest,
    Missing,
    Rule,
    RuleList,
    Tree,
)
from glassleak.schema import Binary, Categorical, Numeric, Ordinal, Schema, SplitEvidence
from glassleak.schema._evidence import ONLY_MISSING


def as_tree(estimator, columns) -> Tree:
    state = estimator.tree_
    leaf = state.children_left < 0
    counts = np.rint(state.value[:, 0, :] * state.weighted_n_node_samples[:, None])
    return Tree(
        tuple(columns), tuple(range(counts.shape[1])),
        np.where(leaf, -1, state.feature).astype(np.int32),
        np.where(leaf, np.nan, np.minimum(state.threshold, ONLY_MISSING)),
        state.children_left.astype(np.int32), state.children_right.astype(np.int32),
        Exact(counts.astype(np.int64)), distinct_rows=state.n_node_samples.astype(np.int64),
        missing_left=state.missing_go_to_left.astype(bool),
    )  # fmt: skip


def fitted(table, labels, trees=60, make=RandomForestClassifier, **settings) -> Forest:
    model = make(trees, random_state=0, **settings).fit(table.to_numpy(), labels)
    return Forest(tuple(as_tree(e, table.columns) for e in model.estimators_), Bagging("unknown"))


def labels_for(table, rng, noise=1.0):
    score = table.to_numpy(float) @ rng.normal(size=table.shape[1])
    return (score - score.mean() + noise * rng.normal(size=len(table)) > 0).astype(int)


def one_hot(codes, levels, prefix):
    return {f"{prefix}{level}": (codes == level).astype(int) for level in range(levels)}


def evidence_on(column, thresholds, comparison="<="):
    """Evidence of a model that splits on one column only."""
    return SplitEvidence(
        columns=(column,), thresholds={column: np.array(thresholds, float)} if thresholds else {},
        comparisons=frozenset([comparison]),
        together=sparse.csr_array((1, 1), dtype=np.int64), below=np.zeros(1, np.int64),
        splits=np.array([len(thresholds)]), again=np.zeros(1, np.int64), high_rows=np.array([5]),
        somebody_without=lambda _: True, splits_without=lambda _: 0,
        smallest_leaf=1, n_rows=9, n_nodes=3,
    )  # fmt: skip


# ------------------------------------------------------------------------------- single columns


@pytest.mark.parametrize(
    ("thresholds", "expected"),
    [
        ([], Binary("a")),
        ([0.5], Binary("a")),
        ([0.5, 1.5], Ordinal("a", 0, 2)),
        ([1.5], Ordinal("a", 1, 2)),
        ([-2.5, 7.5], Ordinal("a", -3, 8)),
        ([24.5, 26.0, 30.5, 31.5], Ordinal("a", 24, 32)),
        ([24.0, 26.5, 27.5, 30.0], Ordinal("a", 23, 31)),
        ([0.5, 2000.5], Numeric("a", -2000, 4001, 1)),
        ([24.5, 26.0], Numeric("a", 23, 27.5)),
        ([2.0], Numeric("a", 0, 4)),
        ([0.25], Numeric("a", -0.75, 1.25)),
        ([0.5, 0.7], Numeric("a", -0.5, 1.7)),
        ([3.25, 9.0], Numeric("a", -2.5, 14.75)),
        ([1e-35], Binary("a")),
        ([1e-20], Numeric("a", -1, 1)),
        ([1.0], Numeric("a", 0, 2)),
        ([0.5, ONLY_MISSING], Ordinal("a", 0, 1, missing=True)),
        ([ONLY_MISSING], Ordinal("a", 0, 1, missing=True)),
        ([1.5, 2.5, ONLY_MISSING], Ordinal("a", 1, 3, missing=True)),
        ([0.1, ONLY_MISSING], Numeric("a", -0.9, 1.1, missing=True)),
    ],
)
def test_columns_by_their_thresholds(thresholds, expected):
    schema = Schema.infer(evidence_on("a", thresholds))
    assert schema.attributes == (expected,)
    [guess] = schema.guesses
    assert guess.source == "model"
    if not thresholds:
        assert "never used by the model: no count depends on it" in guess.reason
    elif not isinstance(expected, Binary) and thresholds[0] < ONLY_MISSING and len(thresholds) > 2:
        assert "true one may be wider" in guess.reason
    if thresholds and thresholds[-1] == ONLY_MISSING:
        assert "missing" in guess.what


@pytest.mark.parametrize(
    ("thresholds", "yes_or_no"),
    [
        ([1.0], True),
        ([0.5], True),
        ([1e-35], True),
        ([0.0], False),
        ([2.0], False),
        ([-0.5], False),
    ],
)
def test_columns_of_libraries_that_compare_strictly(thresholds, yes_or_no):
    [attribute] = Schema.infer(evidence_on("a", thresholds, "<"))
    assert isinstance(attribute, Binary) == yes_or_no


@pytest.mark.parametrize("thresholds", [[-1.7e308, 1.7e308], [1.7e308], [-1.7e308], [0.5, 1.7e308]])
def test_thresholds_at_the_end_of_the_numbers(thresholds):
    [attribute] = Schema.infer(evidence_on("a", thresholds))
    assert isinstance(attribute, Numeric)
    assert math.isfinite(attribute.high - attribute.low)


@given(models())
def test_any_model_gives_a_schema_for_its_columns(model):
    schema = Schema.infer(model)
    assert sorted(schema.columns) == sorted(model.columns)
    assert {g.attribute for g in schema.guesses} == {a.name for a in schema}
    assert {g.source for g in schema.guesses} <= {"model", "column name"}
    assert Schema.from_toml(schema.to_toml()) == schema


def test_missing_values_of_a_real_table_are_noticed():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=300), "b": rng.normal(size=300)})
    table.loc[rng.random(300) < 0.3, "a"] = np.nan
    labels = (table["a"].isna() | (table["b"] > 1)).astype(int)
    schema = Schema.infer(fitted(table, labels))
    assert schema["a"].missing
    assert not schema["b"].missing


# --------------------------------------------------------------------------------------- groups


def people(seed, n=500):
    rng = np.random.default_rng(seed)
    job, home = rng.integers(0, 4, n), rng.choice(5, n, p=[0.3, 0.25, 0.15, 0.1, 0.2])
    columns = {**one_hot(job, 4, "job_"), "old": rng.integers(0, 2, n)}
    columns |= {**one_hot(home, 4, "home:"), "rich": rng.integers(0, 2, n)}
    table = pd.DataFrame(columns)
    return table, labels_for(table, rng), rng


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("make", [RandomForestClassifier, ExtraTreesClassifier])
def test_one_hot_groups_of_a_forest(seed, make):
    table, labels, _ = people(seed)
    schema = Schema.infer(fitted(table, labels, 100, make))
    assert schema["job"] == Categorical("job", [f"job_{i}" for i in range(4)])
    assert schema["home"] == Categorical("home", [f"home:{i}" for i in range(4)], absent=True)
    assert [a.name for a in schema] == ["job", "old", "home", "rich"]
    assert schema.n_profiles == 4 * 5 * 4
    assert not schema.invalid_rows(table).any()
    [guess] = [g for g in schema.guesses if g.attribute == "job"]
    assert guess.source == "column name"
    assert "would be expected" in guess.reason
    assert "chances" in guess.reason


def test_a_shallow_model_supports_nothing():
    table, labels, _ = people(0)
    schema = Schema.infer(fitted(table, labels, 3, max_depth=2))
    assert all(isinstance(a, Binary) for a in schema)


def test_trees_that_repeat_each_other_support_no_more_than_one():
    table, labels, _ = people(0, n=150)
    single = as_tree(
        DecisionTreeClassifier(max_depth=4).fit(table.to_numpy(), labels), table.columns
    )
    once, often = Schema.infer(single), Schema.infer(Forest((single,) * 200))
    assert often == once


def test_without_counts_nothing_is_supported():
    table, labels, _ = people(0)
    bare = [
        Tree(t.columns, t.classes, t.feature, t.threshold, t.left, t.right, Missing(""))
        for t in fitted(table, labels, 100)
    ]
    schema = Schema.infer(Forest(tuple(bare), Bagging("unknown")))
    assert all(isinstance(a, Binary) for a in schema)


def test_rule_lists_support_nothing():
    rules = (Rule((Condition(0, 0.5),)), Rule((Condition(1, 0.5),)), Rule(()))
    model = RuleList(("a_1", "a_2", "n"), (0,), rules, Missing(""))
    assert Schema.infer(model).attributes == (Binary("a_1"), Binary("a_2"), Binary("n"))


def test_people_of_a_column_left_out_have_none_of_the_others():
    table, labels, _ = people(2)
    table = table.copy()
    # One person has a fifth job; too few for the model to say anything about it.
    table[[f"job_{i}" for i in range(4)]] = table[[f"job_{i}" for i in range(4)]].mul(
        np.r_[0, np.ones(len(table) - 1, int)], axis=0
    )
    table["job_4"] = np.r_[1, np.zeros(len(table) - 1, int)]
    schema = Schema.infer(fitted(table, labels, 100))
    assert schema["job"].columns == tuple(f"job_{i}" for i in range(4))
    assert schema["job"].absent
    assert not schema.invalid_rows(table).any()


@pytest.mark.parametrize("seed", range(6))
def test_independent_columns_with_misleading_names_are_not_grouped(seed):
    rng = np.random.default_rng(seed)
    share = rng.uniform(0.08, 0.6, 6)
    table = pd.DataFrame((rng.random((600, 6)) < share).astype(int))
    table.columns = ["age_1", "age_2", "age_3", "race:a", "race:b", "race:c"]
    labels = labels_for(table, rng)
    schema = Schema.infer(fitted(table, labels, 60))
    assert all(isinstance(a, Binary) for a in schema)


@pytest.mark.parametrize("rows_with_both", [1, 2, 3])
def test_a_few_people_with_two_values_are_enough_to_refute(rows_with_both):
    table, labels, rng = people(1)
    table = table.copy()
    where = rng.choice(len(table), rows_with_both, replace=False)
    table.loc[where, ["job_0", "job_1"]] = 1
    schema = Schema.infer(fitted(table, labels, 100))
    for attribute in schema:
        assert not {"job_0", "job_1"} <= set(attribute.columns)
    assert not schema.invalid_rows(table).any()


SETTINGS = [
    {"trees": 10}, {"trees": 60, "max_depth": 4}, {"trees": 40, "bootstrap": False},
    {"trees": 30, "max_features": None, "bootstrap": False}, {"trees": 60, "min_samples_leaf": 5},
    {"trees": 60, "make": ExtraTreesClassifier}, {"trees": 100},
]  # fmt: skip


@pytest.mark.parametrize("seed", range(42))
def test_no_row_of_the_training_table_is_ever_excluded(seed):
    """One-hot, nearly one-hot and unrelated columns under names that all suggest groups."""
    rng = np.random.default_rng(1000 + seed)
    n = int(rng.choice([80, 200, 600]))
    columns = {}
    for group in range(3):
        k = int(rng.integers(2, 6))
        share = rng.dirichlet(np.full(k, 2.0))
        block = np.eye(k, dtype=int)[rng.choice(k, n, p=share)]
        kind = rng.integers(4)
        if kind == 1:  # a level was dropped
            block = block[:, 1:] if k > 2 else block
        elif kind == 2:  # some rows have two values, some none
            odd = rng.choice(n, int(rng.integers(2, 12)), replace=False)
            block[odd] = rng.integers(0, 2, (len(odd), k))
        elif kind == 3:  # nothing to do with each other
            block = (rng.random((n, k)) < rng.uniform(0.03, 0.5, k)).astype(int)
        columns |= {f"g{group}_{i}": block[:, i] for i in range(block.shape[1])}
    columns["other"] = rng.integers(0, 2, n)
    table = pd.DataFrame(columns)
    labels = labels_for(table, rng, noise=float(rng.choice([0.1, 1.0, 5.0])))
    if len(set(labels)) < 2:
        labels[0] = 1 - labels[0]
    schema = Schema.infer(fitted(table, labels, **SETTINGS[seed % len(SETTINGS)]))
    assert not schema.invalid_rows(table).any()
    assert (schema.n_profiles or math.inf) >= len(table.drop_duplicates())


def test_large_leaves_could_hide_people_and_support_nothing():
    table, labels, _ = people(0)
    schema = Schema.infer(fitted(table, labels, 100, min_samples_leaf=3))
    assert all(isinstance(a, Binary) for a in schema)


def test_shares_between_0_and_1_are_no_yes_or_no_columns():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({f"share {c}": rng.random(400) for c in "abc"})
    table = table.assign(**{f"yes {c}": rng.integers(0, 2, 400) for c in "abcd"})
    labels = labels_for(table, rng)
    schema = Schema.infer(fitted(table, labels, 60, ExtraTreesClassifier))
    for attribute, guess in zip(schema, schema.guesses, strict=True):
        if attribute.name.startswith("share"):
            assert isinstance(attribute, Numeric)
        else:
            assert attribute == Binary(attribute.name)
            assert "never two of them" in guess.reason
