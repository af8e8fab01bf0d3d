"""What splits say about columns, against a count by hand and against the table."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from fitted import forest_of
from hypothesis import given
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from strategies import forests, rule_lists, trees

from glassleak.models import Condition, Exact, Forest, Missing, Rule, RuleList, Tree
from glassleak.models import _evidence as evidence_module


def by_hand(trees):
    """The same figures from walking every path."""
    size = len(trees[0].columns)
    seen, leaves = set(), []
    for tree in trees:
        stack = [(0, frozenset(), frozenset())]
        while stack:
            node, high, low = stack.pop()
            column = int(tree.feature[node])
            if column < 0:
                if tree.people is None or tree.people[node] > 0:
                    leaves.append(low)
                continue
            seen.add((high, low, column))
            stack.append((tree.left[node], high, low | {column}))
            stack.append((tree.right[node], high | {column}, low))
    together = np.zeros((size, size), int)
    for high, _, column in seen:
        together[list(high), column] += 1
    below = [sum(c in high for high, _, _ in seen) for c in range(size)]
    splits = [sum(c == column for _, _, column in seen) for c in range(size)]
    again = [
        sum(c == column and c in high | low for high, low, column in seen) for c in range(size)
    ]
    return together, below, splits, again, seen, leaves


def check_against_hand(model, trees):
    found = model.split_evidence()
    together, below, splits, again, seen, leaves = by_hand(trees)
    assert np.array_equal(found.together.toarray(), together)
    assert found.below.tolist() == below
    assert found.splits.tolist() == splits
    assert found.again.tolist() == again
    assert found.n_nodes == sum(tree.n_nodes for tree in trees)
    groups = itertools.chain(
        itertools.combinations(range(len(found.columns)), 1),
        itertools.combinations(range(len(found.columns)), 2),
    )
    for group in groups:
        names = [found.columns[c] for c in group]
        assert found.somebody_without(names) == any(low.issuperset(group) for low in leaves)
        assert found.splits_without(names) == sum(low.issuperset(group) for _, low, _ in seen)
    for c, column in enumerate(found.columns):
        mine = {float(t) for tree in trees for t in tree.threshold[tree.feature == c]}
        assert set(found.thresholds.get(column, ())) == mine


@given(trees())
def test_a_tree(tree):
    check_against_hand(tree, (tree,))


@given(forests())
def test_a_forest(forest):
    check_against_hand(forest, forest.trees)


@given(rule_lists())
def test_a_rule_list_proves_no_exclusions(model):
    found = model.split_evidence()
    ends = {e for r in model.rules for c in r.conditions for e in (c.low, c.high)}
    assert {float(t) for ts in found.thresholds.values() for t in ts} == {
        e for e in ends if np.isfinite(e)
    }
    assert all(len(t) for t in found.thresholds.values())
    assert found.together.nnz == found.below.sum() == found.splits.sum() == 0
    assert found.splits_without(model.columns) == 0
    assert not found.somebody_without(model.columns)


@pytest.mark.parametrize("seed", range(5))
def test_what_is_proved_holds_in_the_table(seed):
    rng = np.random.default_rng(seed)
    table = (rng.random((150, 6)) < rng.uniform(0.05, 0.6, 6)).astype(float)
    table[:, 1] *= 1 - table[:, 0]  # 0 and 1 exclude each other
    labels = (table @ rng.normal(size=6) + rng.normal(size=150) > 0).astype(int)
    make = [RandomForestClassifier, ExtraTreesClassifier][seed % 2]
    found = forest_of(make(20, random_state=seed).fit(table, labels)).split_evidence()
    together = found.together.toarray()
    proved = 0
    for a, b in itertools.permutations(range(6), 2):
        if together[a, b]:
            proved += 1
            assert (table[:, a] * table[:, b]).any()
    assert proved > 10
    assert together[0, 1] == together[1, 0] == 0
    assert (found.high_rows <= table.sum(axis=0)).all()
    assert (found.high_rows > 0).all()
    assert found.n_rows <= 150
    assert found.smallest_leaf == 1
    assert found.again.sum() == 0
    for group in itertools.combinations(range(6), 3):
        if found.somebody_without([found.columns[c] for c in group]):
            assert (table[:, list(group)].sum(axis=1) == 0).any()


def test_trees_that_repeat_each_other_count_once():
    tree = Tree(
        ("a", "b"), (0,), [0, -1, 1, -1, -1], [0.5, np.nan, 0.5, np.nan, np.nan],
        [1, -1, 3, -1, -1], [2, -1, 4, -1, -1], Exact(np.array([[9], [3], [6], [4], [2]])),
    )  # fmt: skip
    once, often = Forest((tree,)).split_evidence(), Forest((tree,) * 50).split_evidence()
    assert often.splits.tolist() == once.splits.tolist() == [1, 1]
    assert often.together.toarray().tolist() == [[0, 1], [0, 0]]
    assert often.high_rows.tolist() == [6, 2]
    assert (once.n_rows, once.n_nodes, often.n_nodes) == (9, 5, 250)


def test_without_counts_nobody_is_known_to_have_a_column():
    tree = Tree(
        ("a",), (0,), [0, -1, -1], [0.5, np.nan, np.nan], [1, -1, -1], [2, -1, -1], Missing("")
    )
    found = tree.split_evidence()
    assert (found.high_rows.tolist(), found.n_rows, found.smallest_leaf) == ([0], 0, 0)
    assert found.somebody_without(["a"])  # a split has people on both sides


def test_empty_leaves_prove_nothing():
    tree = Tree(
        ("a",), (0,), [0, -1, -1], [0.5, np.nan, np.nan], [1, -1, -1], [2, -1, -1],
        Exact(np.array([[3], [0], [3]])),
    )  # fmt: skip
    assert not tree.split_evidence().somebody_without(["a"])
    assert tree.split_evidence().smallest_leaf == 3


def test_wide_models_stay_within_memory(monkeypatch):
    columns = tuple(f"c{i}" for i in range(300_000))
    tree = Tree(
        columns, (0,), [7, -1, 299_999, -1, -1], [0.5, np.nan, 2.5, np.nan, np.nan],
        [1, -1, 3, -1, -1], [2, -1, 4, -1, -1], Missing(""),
    )  # fmt: skip
    found = tree.split_evidence()
    assert found.together[7, 299_999] == 1
    assert found.together.nnz == 1
    assert list(found.thresholds) == ["c7", "c299999"]
    rules = RuleList(columns, (0,), (Rule((Condition(5, 0.5),)), Rule(())), Missing(""))
    assert list(rules.split_evidence().thresholds) == ["c5"]
    # Beyond the budget thresholds are still read, and nothing is claimed from paths.
    monkeypatch.setattr(evidence_module, "_MAX_CELLS", 1000)
    scant = tree.split_evidence()
    assert (scant.n_nodes, scant.together.nnz) == (0, 0)
    assert list(scant.thresholds) == ["c7", "c299999"]
