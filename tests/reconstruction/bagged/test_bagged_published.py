"""The published model with bagging: small forests, checked against what it promises."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

import glassleak as gl
from glassleak.errors import BudgetExhaustedError, ModelTooLargeError, UnsupportedModelError
from glassleak.knowledge import Known

COLUMNS = ["a", "b", "c", "d"]
SCHEMA = gl.Schema([gl.Categorical("kind", columns=["a", "b"]), gl.Binary("c"), gl.Binary("d")])


def bagged(n_rows: int = 8, n_trees: int = 3) -> tuple[pd.DataFrame, gl.Forest]:
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, n_rows)
    X = pd.DataFrame(
        np.column_stack([first, 1 - first, rng.integers(0, 2, (n_rows, 2))]), columns=COLUMNS
    )
    y = (X["a"] ^ X["c"]).to_numpy()
    return X, gl.read(RandomForestClassifier(n_trees, random_state=0).fit(X, y))


def test_a_likely_table_is_found() -> None:
    X, forest = bagged()
    rec = gl.reconstruct(forest, SCHEMA, formulation="rows-cp", budget_seconds=60)
    assert (rec.status, rec.exact, rec.formulation) == ("likely", False, "rows-cp")
    assert len(rec.table) == len(X)
    assert (rec.table["a"] + rec.table["b"] == 1).all()
    assert rec.details["variables"] > 0
    for tree in forest:
        reached = np.zeros((tree.n_nodes, 2), dtype=int)
        np.add.at(reached, (tree.apply(rec.table), rec.labels.astype(int)), 1)
        assert (reached[tree.leaves] > 0)[tree.counts.values[tree.leaves] > 0].all()


def test_what_it_cannot_do_is_refused() -> None:
    X, forest = bagged()
    with pytest.raises(UnsupportedModelError, match="nothing else"):
        gl.reconstruct(forest, SCHEMA, Known(columns=X[["c"]]), formulation="rows-cp")
    with pytest.raises(UnsupportedModelError, match="resampled"):
        gl.reconstruct(forest, SCHEMA, formulation="rows-milp")
    with pytest.raises(ModelTooLargeError, match="variables"):
        gl.reconstruct(forest, SCHEMA, formulation="rows-cp", n_rows=100_000)
    with pytest.raises(BudgetExhaustedError):
        gl.reconstruct(forest, SCHEMA, formulation="rows-cp", budget_seconds=1e-6)
