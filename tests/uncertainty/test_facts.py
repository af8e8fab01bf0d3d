"""Knowledge of the learner: against trying every table, and never against the true one."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

import glassleak as gl
from glassleak.errors import InconsistentModelError
from glassleak.models import Exact
from glassleak.schema import Binary, Categorical, Ordinal, Schema
from glassleak.uncertainty._facts import learner_uncertainty
from glassleak.uncertainty._facts_gate import learner_facts
from glassleak.uncertainty._facts_share import Judge

BITS = Schema([Binary("a"), Binary("b"), Binary("c")])
MIXED = Schema([Binary("a"), Categorical("k", columns=["k1", "k2", "k3"])])
GRADED = Schema([Binary("a"), Ordinal("n", low=0, high=3)])


def profiles_of(schema):
    levels = [attribute.level_values().tolist() for attribute in schema]
    return np.array([[*itertools.chain(*parts)] for parts in itertools.product(*levels)])


@st.composite
def fitted(draw, schema, max_rows=5):
    every = profiles_of(schema)
    n = draw(st.integers(2, max_rows))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    table = every[rng.integers(len(every), size=n)]
    labels = np.append([0, 1], rng.integers(2, size=n - 2))
    learner = DecisionTreeClassifier(
        criterion=draw(st.sampled_from(["gini", "entropy"])),
        max_depth=draw(st.sampled_from([None, 1, 2])),
        min_samples_leaf=draw(st.sampled_from([1, 1, 2])),
        random_state=draw(st.integers(0, 5)),
    )
    learner.fit(pd.DataFrame(table, columns=list(schema.columns)), labels)
    return learner, gl.read(learner), table, labels


def impurity(labels, criterion):
    share = np.bincount(labels, minlength=2) / max(1, len(labels))
    if criterion == "gini":
        return 1 - (share**2).sum()
    return -sum(p * math.log2(p) for p in share if p)


def agrees(tree, learner, table, labels):
    """Row by row: no allowed split of any node is better, and impure leaves had none."""
    stack = [(0, np.arange(len(table)), 0)]
    while stack:
        node, rows, depth = stack.pop()
        x, y = table[rows], labels[rows]
        splits = {}
        for column, value in itertools.product(range(x.shape[1]), np.unique(table)):
            low = x[:, column] <= value
            if min(low.sum(), (~low).sum()) >= learner.min_samples_leaf:
                splits[column, value] = sum(
                    len(y[side]) * impurity(y[side], learner.criterion) for side in (low, ~low)
                )
        column = int(tree.feature[node])
        if column < 0:
            deep = learner.max_depth is not None and depth >= learner.max_depth
            could = len(set(y)) > 1 and not deep and len(y) >= max(2, 2 * learner.min_samples_leaf)
            if could and splits:
                return False
            continue
        low = x[:, column] <= tree.threshold[node]
        made = sum(len(y[side]) * impurity(y[side], learner.criterion) for side in (low, ~low))
        if min(splits.values(), default=math.inf) < made - 1e-9:
            return False
        stack += [(int(tree.left[node]), rows[low], depth + 1)]
        stack += [(int(tree.right[node]), rows[~low], depth + 1)]
    return True


def every_table(tree, schema):
    """All tables in the paper's sense: rows leaf by leaf, each any profile of its leaf."""
    every = profiles_of(schema)
    leaf = tree.apply(every)
    slots = [
        (int(v), c) for v in tree.leaves for c in (0, 1) for _ in range(tree.counts.values[v, c])
    ]
    for chosen in itertools.product(*[np.flatnonzero(leaf == v) for v, _ in slots]):
        yield every[list(chosen)], np.array([c for _, c in slots])


def share_by_hand(tree, learner, schema):
    found = [agrees(tree, learner, table, labels) for table, labels in every_table(tree, schema)]
    return sum(found) / len(found)


@given(fitted(BITS, max_rows=4))
@settings(max_examples=40)
def test_yes_no_attributes_are_counted_exactly(case):
    learner, tree, table, labels = case
    assert agrees(tree, learner, table, labels)
    found = learner_uncertainty(tree, BITS)
    assert found.applies
    assert found.status == "exact"
    share = 2.0 ** (found.remaining.bits - found.without.bits)
    assert share == pytest.approx(share_by_hand(tree, learner, BITS), rel=1e-9)


@given(st.sampled_from([MIXED, GRADED]).flatmap(lambda s: st.tuples(st.just(s), fitted(s, 4))))
@settings(max_examples=30)
def test_bounds_bracket_attributes_with_several_splits(case):
    schema, (learner, tree, _, _) = case
    found = learner_uncertainty(tree, schema)
    share = share_by_hand(tree, learner, schema)
    bits = found.without.bits + math.log2(share)
    assert found.remaining.low - 1e-9 <= bits <= found.remaining.high + 1e-9
    assert found.per_attribute["bits_high"].notna().all()
    if found.remaining.estimate is not None:
        assert found.remaining.estimate == pytest.approx(bits, abs=0.5)


@given(fitted(BITS, max_rows=30), st.integers(0, 100))
@settings(max_examples=40)
def test_the_training_table_is_never_ruled_out(case, seed):
    """Nor is any table from which the learner makes the same tree."""
    learner, tree, table, labels = case
    facts, _ = learner_facts(tree)
    judge = Judge(tree, facts)
    under = np.zeros((tree.n_nodes, 2, table.shape[1]), dtype=np.int64)
    frame = pd.DataFrame(table, columns=list(BITS.columns))
    path = np.asarray(learner.decision_path(frame).todense())
    for node in range(tree.n_nodes):
        for c in (0, 1):
            rows = table[(path[:, node] > 0) & (labels == c)]
            under[node, c] = (rows <= 0.5).sum(axis=0)
        for column in range(table.shape[1]):
            assert judge.possible(node, under[node][None, :, column])[0]


def test_impure_leaves_of_a_tree_grown_out_hold_one_profile():
    table = pd.DataFrame([[0, 0], [0, 0], [1, 1]], columns=["a", "b"])
    tree = gl.read(DecisionTreeClassifier(random_state=0).fit(table, [0, 1, 1]))
    found = learner_uncertainty(tree, Schema([Binary("a"), Binary("b")]))
    # Two rows of different classes share a leaf, so they are alike in what was not asked for: of
    # four pairs of values two remain.  The third row must not allow a better split than was made.
    assert found.without.bits == 3
    assert found.remaining.bits == pytest.approx(2)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"splitter": "random"}, "splitter"),
        ({"max_features": 1}, "max_features"),
        ({"class_weight": "balanced"}, "class_weight"),
    ],
)
def test_other_learners_are_not_taken_for_greedy_ones(change, word):
    table = pd.DataFrame([[0, 0], [0, 1], [1, 1], [1, 0]], columns=["a", "b"])
    learner = DecisionTreeClassifier(random_state=0, **change).fit(table, [0, 1, 1, 1])
    try:
        tree = gl.read(learner)
        found = learner_uncertainty(tree, Schema([Binary("a"), Binary("b")]))
    except gl.GlassleakError:
        pytest.skip("the counts themselves cannot be used")
    assert not found.applies
    assert word in found.reason
    assert found.remaining == found.without


def test_pruned_trees_keep_their_splits_but_not_their_leaves():
    table = pd.DataFrame([[0, 0], [0, 1], [1, 1], [1, 0]] * 3, columns=["a", "b"])
    learner = DecisionTreeClassifier(random_state=0, ccp_alpha=0.01)
    facts, _ = learner_facts(gl.read(learner.fit(table, [0, 1, 1, 1] * 3)))
    assert facts is not None
    assert not facts.leaves


def test_a_tree_no_greedy_learner_makes():
    """A split that separates nothing, where the only other column must separate everything."""
    table = pd.DataFrame([[0, 0], [1, 0], [0, 1], [1, 1]], columns=["a", "b"])
    honest = gl.read(DecisionTreeClassifier(random_state=0).fit(table, [0, 0, 1, 1]))
    feature = np.array([0, 1, -1, -1, 1, -1, -1])
    threshold = np.where(feature >= 0, 0.5, np.nan)
    counts = np.array([[2, 2], [1, 1], [1, 0], [0, 1], [1, 1], [1, 0], [0, 1]])
    tree = gl.Tree(
        ("a", "b"), (0, 1), feature, threshold, np.array([1, 2, -1, -1, 5, -1, -1]),
        np.array([4, 3, -1, -1, 6, -1, -1]), Exact(counts),
        provenance=honest.provenance,
    )  # fmt: skip
    with pytest.raises(InconsistentModelError, match="'b'"):
        learner_uncertainty(tree, Schema([Binary("a"), Binary("b")]))
