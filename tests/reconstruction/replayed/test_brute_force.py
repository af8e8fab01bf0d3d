"""Against trying every table there is."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

import glassleak as gl

KINDS = np.array(list(itertools.product((0, 1), repeat=3)))
SCHEMA = gl.Schema([gl.Binary("a"), gl.Binary("b")])
N_ROWS = 4


def all_tables(model) -> list[tuple[int, ...]]:
    """Every choice of profile and class per row that gives every leaf its figures."""
    drawn = model.bagging.multiplicities(len(model), N_ROWS)
    leaf = model.apply(KINDS[:, :2])
    fitting = []
    for table in itertools.product(range(len(KINDS)), repeat=N_ROWS):
        rows = np.array(table)
        for t, tree in enumerate(model.trees):
            draws = np.zeros((tree.n_nodes, len(tree.classes)), dtype=int)
            np.add.at(draws, (leaf[rows, t], KINDS[rows, 2]), drawn[t])
            distinct = np.bincount(leaf[rows, t][drawn[t] > 0], minlength=tree.n_nodes)
            at = tree.leaves
            if (draws[at] != tree.counts.values[at]).any():
                break
            if (distinct[at] != tree.distinct_rows[at]).any():
                break
        else:
            fitting.append(table)
    return fitting


@pytest.mark.parametrize("seed", range(12))
def test_what_is_proved_holds_in_every_table_that_fits(seed):
    rng = np.random.default_rng(seed)
    kinds = KINDS[rng.integers(0, len(KINDS), N_ROWS)]
    X, y = pd.DataFrame(kinds[:, :2], columns=["a", "b"]), kinds[:, 2].copy()
    y[:2] = 0, 1
    forest = RandomForestClassifier(2 + seed % 5, random_state=seed).fit(X, y)
    model = gl.read(forest)
    if len(model.classes) < 2 or model.bagging.kind != "known":
        pytest.skip("a sample without both classes")
    tables = np.array(all_tables(model))
    assert (tables >= 0).any()
    rec = gl.reconstruct(model, SCHEMA, multiplicities="known", budget_seconds=20)
    assert rec.exact
    found = (rec.table.to_numpy() @ [4, 2] + rec.labels).astype(int)
    assert (tables == found).all(axis=1).any()
    same = (tables == found).all(axis=0)
    assert rec.certificate.complete
    # Proved rows are exactly those that are alike in all tables.
    np.testing.assert_array_equal(rec.confidence == 1, same)
    assert rec.certificate.certain_rows == int(same.sum())
    assert (rec.status == "unique") == (len(tables) == 1)
