"""Contradictory counts: the named set is a conflict, and minimal over all leaves."""

from __future__ import annotations

import itertools
import re
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

import glassleak as gl
from glassleak.errors import InconsistentModelError
from glassleak.knowledge import Known, published
from glassleak.models import Exact, Forest
from glassleak.reconstruction import _conflict
from glassleak.reconstruction._cells_attack import attack
from glassleak.reconstruction._conflict import quick_explain

COLUMNS = list("abcd")
SCHEMA = gl.Schema([gl.Binary(c) for c in COLUMNS])
PROFILES = pd.DataFrame(list(itertools.product((0, 1), repeat=4)), columns=COLUMNS)
NAMED = re.compile(r"tree (\d+), leaf (\d+) \((\d+) rows of class (\d+)\)")


def forest_of(seed: int) -> Forest:
    rng = np.random.default_rng(seed)
    X = PROFILES.iloc[rng.integers(0, 16, 14)]
    y = rng.integers(0, 2, 14)
    learner = RandomForestClassifier(5, max_depth=3, bootstrap=False, random_state=seed)
    return gl.read(learner.fit(X, y))


def tampered(forest: Forest, seed: int) -> Forest | None:
    """Move rows between two leaves of one tree, parents following; totals stay what they were."""
    rng = np.random.default_rng(seed)
    number = int(rng.integers(len(forest.trees)))
    tree = forest.trees[number]
    counts = tree.counts.values.copy()
    parent = np.full(tree.n_nodes, -1)
    for node in np.flatnonzero(tree.left >= 0):
        parent[[tree.left[node], tree.right[node]]] = node
    label = int(rng.integers(2))
    full = [leaf for leaf in tree.leaves if counts[leaf, label] > 0]
    if not full or len(tree.leaves) < 2:
        return None
    source = rng.choice(full)
    target = rng.choice([leaf for leaf in tree.leaves if leaf != source])
    for leaf, change in ((source, -1), (target, 1)):
        while leaf >= 0:
            counts[leaf, label] += change
            leaf = parent[leaf]
    trees = list(forest.trees)
    trees[number] = replace(tree, counts=Exact(counts), rows=None, distinct_rows=None)
    return Forest(tuple(trees), n_rows=forest.n_rows)


def satisfiable(forest: Forest, leaves: list[tuple[int, int, int, int]]) -> bool:
    """Whether some table has these (tree, leaf, count, class), by integer programming."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    x = [[model.new_int_var(0, 14, "") for _ in range(2)] for _ in range(16)]
    for tree, leaf, count, label in leaves:
        inside = np.flatnonzero(forest.trees[tree].apply(PROFILES.to_numpy(float)) == leaf)
        model.add(sum(x[i][label] for i in inside) == count)
    return bool(cp_model.CpSolver().solve(model) != cp_model.INFEASIBLE)


def test_named_sets_are_conflicts_and_minimal():
    seen = 0
    for seed in range(40):
        forest = tampered(forest_of(seed), seed)
        if forest is None:
            continue
        every = [
            (t, int(leaf), int(tree.counts.values[leaf, k]), k)
            for t, tree in enumerate(forest.trees)
            for leaf in tree.leaves
            for k in range(2)
        ]
        possible = satisfiable(forest, every)
        try:
            found = gl.reconstruct(forest, SCHEMA, budget_seconds=20)
        except InconsistentModelError as error:
            assert not possible
            text = str(error)
            assert "(minimal conflicting set)" in text, text
            if "more (" in text:
                continue
            named = [tuple(map(int, match)) for match in NAMED.findall(text)]
            assert named, text
            assert set(named) <= set(every)
            assert not satisfiable(forest, named)
            for i in range(len(named)):
                assert satisfiable(forest, named[:i] + named[i + 1 :])
            seen += 1
        else:
            assert possible
            assert found.exact
    assert seen > 10


def test_without_all_cells_the_leaves_without_rows_are_said_to_be_given(monkeypatch):
    monkeypatch.setattr(_conflict, "_MOST_CELLS", 2)
    texts = []
    for seed in range(20):
        forest = tampered(forest_of(seed), seed)
        if forest is not None:
            try:
                gl.reconstruct(forest, SCHEMA, budget_seconds=20)
            except InconsistentModelError as error:
                texts.append(str(error))
    assert any("given all leaves that publish no rows" in text for text in texts)
    assert all("(minimal conflicting set)" not in text for text in texts)


def test_out_of_time_the_set_is_not_called_minimal():
    for seed in range(20):
        forest = tampered(forest_of(seed), seed)
        try:
            if forest is not None:
                gl.reconstruct(forest, SCHEMA, budget_seconds=20)
        except InconsistentModelError as error:
            if "more" in str(error) or "conflicting" not in str(error):
                continue
            facts = published(forest)
            with pytest.raises(Exception, match=r"not yet minimal|budget"):
                attack(facts, SCHEMA, Known(), deadline=time.monotonic() - 1, seed=0)
            return
    pytest.fail("no conflict met")


@pytest.mark.parametrize("core", [[], [3], [0, 5], [1, 2, 7]])
def test_quick_explain_finds_the_only_conflict(core):
    items = list(range(9))
    found = quick_explain(lambda some: not set(core) <= set(some) or not core, items)
    assert found == core or not core
