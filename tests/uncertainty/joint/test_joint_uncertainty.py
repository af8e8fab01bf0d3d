"""Tables consistent with all trees: against trying every table, and what is promised."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from small_tables import all_profiles, consistent, random_table, random_tree

from glassleak.errors import (
    InconsistentModelError,
    SchemaError,
    UnsupportedModelError,
)
from glassleak.knowledge import Known
from glassleak.models import (
    Bagging,
    Condition,
    Exact,
    Forest,
    Noisy,
    Rule,
    RuleList,
    Tree,
)
from glassleak.readers import read
from glassleak.schema import Binary, Categorical, Numeric, Ordinal, Schema
from glassleak.uncertainty import uncertainty
from glassleak.uncertainty.joint import Effort, joint_uncertainty

SCHEMAS = (
    Schema([Binary("a"), Binary("b"), Binary("c")]),
    Schema([Binary("a"), Categorical("k", columns=["k1", "k2", "k3"])]),
    Schema([Ordinal("n", low=0, high=4), Binary("b")]),
)
# Nothing can be counted exactly with this: bounds and estimates are all there is.
HARD = Effort(exact=0, block=3, keep=4, repetitions=3)


@st.composite
def small_forests(draw: st.DrawFn, max_rows: int = 4) -> tuple[Schema, list[Tree], int]:
    schema = draw(st.sampled_from(SCHEMAS))
    n_rows = draw(st.integers(1, max_rows))
    seed = draw(st.integers(0, 10**6))
    table, labels = random_table(schema, n_rows, seed)
    n_trees = draw(st.integers(1, 3))
    trees = [
        random_tree(table, labels, schema, seed + t, draw(st.integers(1, 5)))
        for t in range(n_trees)
    ]
    return schema, trees, n_rows


@given(small_forests())
def test_exact_numbers_are_those_of_trying_every_table(case):
    schema, trees, n_rows = case
    ordered, unordered = consistent(trees, schema, n_rows)
    found = joint_uncertainty([Forest(tuple(trees))], schema)
    assert found.status == "exact"
    assert found.ordered.bits == pytest.approx(math.log2(ordered), abs=1e-12)
    assert found.unordered_by_class.bits == pytest.approx(math.log2(unordered), abs=1e-12)
    assert (found.bits == 0) == (ordered == 1)


@given(small_forests())
def test_bounds_bracket_the_number_whatever_the_effort(case):
    schema, trees, n_rows = case
    numbers = consistent(trees, schema, n_rows)
    found = joint_uncertainty([Forest(tuple(trees))], schema, effort=HARD)
    for one, number in zip((found.ordered, found.unordered_by_class), numbers, strict=True):
        assert one.low - 1e-9 <= math.log2(number) <= one.high + 1e-9
        assert one.estimate is None or one.low <= one.estimate <= one.high


@given(small_forests(), st.integers(0, 2**31))
def test_figures_fall_as_trees_are_added(case, seed):
    schema, trees, n_rows = case
    every = [joint_uncertainty(trees[: i + 1], schema) for i in range(len(trees))]
    for fewer, more in itertools.pairwise(every):
        assert more.bits <= fewer.bits + 1e-12
        assert more.unordered_by_class.bits <= fewer.unordered_by_class.bits + 1e-12
    assert every[0].bits <= n_rows * math.log2(schema.n_profiles) + 1e-9
    again = joint_uncertainty([trees[0], *trees], schema)
    assert again.bits == pytest.approx(every[-1].bits, abs=1e-12)


@given(small_forests())
def test_one_tree_leaves_what_the_paper_says(case):
    """Equation 11: rows times log2 of the profiles of their leaf."""
    schema, trees, _ = case
    tree = trees[0]
    profiles = np.bincount(tree.apply(all_profiles(schema)), minlength=tree.n_nodes)
    rows = tree.counts.values.sum(axis=1)
    expected = sum(rows[v] * math.log2(profiles[v]) for v in tree.leaves if rows[v])
    found = joint_uncertainty([tree], schema)
    assert found.bits == pytest.approx(expected, abs=1e-12)
    assert found.per_model["bits"].tolist() == pytest.approx([expected], abs=1e-12)
    alone = uncertainty(tree, schema)
    for one, other in (
        (found.ordered, alone.ordered),
        (found.unordered_by_class, alone.unordered_by_class),
    ):
        assert one.bits == pytest.approx(other.bits, abs=1e-12)
        assert one.uninformed == pytest.approx(other.uninformed, abs=1e-12)


@given(small_forests())
@settings(max_examples=20)
def test_a_forest_and_its_trees_are_the_same_knowledge(case):
    schema, trees, _ = case
    together = joint_uncertainty([Forest(tuple(trees))], schema)
    apart = joint_uncertainty(trees, schema)
    assert together.ordered == apart.ordered
    assert together.unordered_by_class == apart.unordered_by_class


@given(small_forests())
@settings(max_examples=20)
def test_same_seed_same_answer(case):
    schema, trees, _ = case
    one = joint_uncertainty(trees, schema, effort=HARD, seed=3)
    two = joint_uncertainty(trees, schema, effort=HARD, seed=3)
    assert one.ordered == two.ordered
    assert one.unordered_by_class == two.unordered_by_class


@given(st.integers(0, 10**6), st.integers(1, 4))
@settings(max_examples=25)
def test_a_rule_list_and_a_tree_of_one_table(seed, n_rows):
    schema = SCHEMAS[0]
    table, labels = random_table(schema, n_rows, seed)
    tree = random_tree(table, labels, schema, seed, 3)
    conditions = (Condition(0, low=0.5), Condition(1, high=0.5)), (Condition(2, low=0.5),), ()
    shape = [Rule(one, 1) for one in conditions]
    nobody = Exact(np.zeros((3, 2), dtype=np.int64))
    rules = RuleList(schema.columns, (0, 1), tuple(shape), nobody, precision="float32")
    counts = np.zeros((3, 2), dtype=np.int64)
    np.add.at(counts, (rules.apply(table), labels), 1)
    rules = RuleList(schema.columns, (0, 1), tuple(shape), Exact(counts), precision="float32")
    ordered, unordered = consistent([tree, rules], schema, n_rows)
    found = joint_uncertainty([tree, rules], schema)
    assert found.bits == pytest.approx(math.log2(ordered), abs=1e-12)
    assert found.unordered_by_class.bits == pytest.approx(math.log2(unordered), abs=1e-12)


def figure_1() -> tuple[Schema, Tree]:
    """The paper's Figure 1: leaves of 12, 8 and 16 profiles with 1, 1 and 2 rows."""
    schema = Schema([Ordinal("a1", low=10, high=15), Binary("a2"), Ordinal("a3", low=1, high=3)])
    tree = Tree(
        ("a1", "a2", "a3"), (0, 1),
        np.array([0, -1, 2, -1, -1]), np.array([11.5, math.nan, 1.5, math.nan, math.nan]),
        np.array([1, -1, 3, -1, -1]), np.array([2, -1, 4, -1, -1]),
        Exact(np.array([[2, 2], [0, 1], [2, 1], [0, 1], [2, 0]])),
    )  # fmt: skip
    return schema, tree


def test_figure_1_of_the_paper():
    schema, tree = figure_1()
    found = joint_uncertainty([tree], schema)
    assert found.bits == pytest.approx(14.584962500721, abs=1e-12)
    assert found.bits_uninformed == pytest.approx(20.679700005769, abs=1e-12)
    assert found.dist_g == pytest.approx(0.705279210852, abs=1e-12)


def test_columns_of_their_own():
    schema = SCHEMAS[1]
    table, labels = random_table(schema, 4, 1)
    tree = random_tree(table, labels, schema, 1, 3)
    free = Schema([Binary("a"), Binary("k1"), Binary("k2"), Binary("k3")])
    one = joint_uncertainty([tree], schema, columns_independent=True)
    two = joint_uncertainty([tree], free)
    assert one.columns_independent
    assert one.ordered == two.ordered
    assert one.n_profiles == 16


def test_known_rows_leave_nothing_open():
    schema = SCHEMAS[0]
    table, labels = random_table(schema, 4, 5)
    trees = [random_tree(table, labels, schema, t, 3) for t in range(2)]
    without = joint_uncertainty(trees, schema)
    frame = pd.DataFrame(table, columns=list(schema.columns))
    some = Known(rows=frame.head(2), row_labels=labels[:2])
    everything = Known(rows=frame, row_labels=labels)
    assert joint_uncertainty(trees, schema, known=everything).bits == 0
    with_some = joint_uncertainty(trees, schema, known=some)
    assert 0 <= with_some.bits <= without.bits
    assert with_some.bits_uninformed == pytest.approx(2 * 3)
    columns = Known(columns=frame[["a", "b"]])
    assert joint_uncertainty(trees, schema, known=columns).bits <= without.bits


def test_known_row_that_cannot_be_there():
    schema, tree = figure_1()
    row = pd.DataFrame([[10, 0, 1]], columns=["a1", "a2", "a3"])
    with pytest.raises(InconsistentModelError, match="known row 0"):
        joint_uncertainty([tree], schema, known=Known(rows=row, row_labels=[0]))


def test_counts_of_some_nodes_only():
    """Less is seen, so more stays open; the rows of each class are known anyway."""
    schema = SCHEMAS[0]
    table, labels = random_table(schema, 4, 9)
    tree = random_tree(table, labels, schema, 4, 4)
    full = joint_uncertainty([tree], schema)
    leaf = int(tree.leaves[0])
    partly = joint_uncertainty([tree], schema, known=Known(nodes={0: [leaf]}))
    assert full.bits - 1e-9 <= partly.bits <= partly.bits_uninformed == 4 * 3


def test_trees_that_cannot_be_of_one_table():
    schema = SCHEMAS[0]
    trees = []
    for seed in (1, 2):
        table, labels = random_table(schema, 4, seed)
        trees.append(random_tree(table, labels, schema, 1, 1))
    assert not np.array_equal(trees[0].counts.values, trees[1].counts.values)
    with pytest.raises(InconsistentModelError, match="not models of the same training set"):
        joint_uncertainty(trees, schema)


def test_what_cannot_be_counted_says_so():
    schema, tree = figure_1()
    noisy = Tree(
        tree.columns, tree.classes, tree.feature, tree.threshold, tree.left, tree.right,
        Noisy(tree.counts.values.astype(float), 1.0, "laplace"),
    )  # fmt: skip
    with pytest.raises(UnsupportedModelError):
        joint_uncertainty([noisy], schema)
    endless = Schema([Numeric("a1", 10, 15), Binary("a2"), Ordinal("a3", low=1, high=3)])
    with pytest.raises(SchemaError, match="resolution"):
        joint_uncertainty([tree], endless)
    other = Tree(
        tree.columns, ("no", "yes"), tree.feature, tree.threshold, tree.left, tree.right,
        tree.counts,
    )  # fmt: skip
    with pytest.raises(UnsupportedModelError, match="columns or classes"):
        joint_uncertainty([tree, other], schema)
    with pytest.raises(UnsupportedModelError, match="labels"):
        joint_uncertainty([tree], schema, known=Known(labels_only=True))
    with pytest.raises(ValueError, match="budget"):
        joint_uncertainty([tree], schema, budget_seconds=0)


def test_bagged_forests_get_an_upper_bound_and_nothing_else():
    """Two rows in a leaf may be one row drawn twice: only distinct rows count."""
    schema, tree = figure_1()
    bag = Tree(
        tree.columns, tree.classes, tree.feature, tree.threshold, tree.left, tree.right,
        tree.counts, distinct_rows=np.array([3, 1, 2, 1, 1]),
    )  # fmt: skip
    forest = Forest((bag, bag), Bagging("unknown", 4), n_rows=4)
    found = joint_uncertainty([forest], schema)
    assert found.status == "bounded"
    assert found.bits_low == 0
    assert found.bits_high == pytest.approx(math.log2(12 * 8 * 16 * 36), abs=1e-12)
    assert any("bootstrap" in note for note in found.notes)
    both = joint_uncertainty([tree, forest], schema)
    assert both.bits_low == 0
    assert both.bits_high == pytest.approx(14.584962500721, abs=1e-12)


def test_known_draws_that_leave_one_table_leave_no_bit():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.integers(0, 2, (30, 5)), columns=list("abcde"))
    y = (X.sum(axis=1) + rng.integers(0, 2, 30) > 2).astype(int)
    schema = Schema([Binary(name) for name in X])
    model = read(RandomForestClassifier(60, random_state=0).fit(X, y))
    found = uncertainty(model, schema)
    assert (found.status, found.bits, found.bits_uninformed) == ("exact", 0.0, 150.0)
    assert any("seeds" in note for note in found.notes)
    # Without the draws the same counts allow more tables.
    unknown = dataclasses.replace(model, bagging=Bagging("unknown", 30))
    assert uncertainty(unknown, schema).bits_high > 0
