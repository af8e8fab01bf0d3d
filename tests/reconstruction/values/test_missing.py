"""Missing values from end to end: read, reconstructed, valued and compared."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import glassleak as gl
from glassleak.reconstruction.values import recover_values

N_ROWS = 24
SCHEMA = gl.Schema(
    [
        gl.Ordinal("age", 18, 40, missing=True),
        gl.Numeric("amount", 0, 500, resolution=10, missing=True),
        gl.Binary("member"),
    ]
)


def people(seed: int, n_rows: int = N_ROWS) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 41, n_rows),
            "amount": 10 * rng.integers(0, 51, n_rows),
            "member": rng.integers(0, 2, n_rows),
        }
    ).astype(float)
    y = (X["age"] / 22 + X["amount"] / 500 + rng.normal(0, 0.4, n_rows) > 1.8).astype(int)
    for column in ("age", "amount"):
        X.loc[rng.random(n_rows) < 0.2, column] = np.nan
    return X, y.to_numpy()


def claims_are_true(rec, X, y, model) -> None:
    """Every proved value belongs to a true row in the same leaves, with the same class."""
    if rec.proved_values is None:
        return
    leaves = {}
    for i, key in enumerate(keys(model, X, y)):
        leaves.setdefault(key, []).append(i)
    for i, key in enumerate(keys(model, rec.table, rec.labels)):
        for column in SCHEMA.columns:
            if rec.proved_values.loc[i, column]:
                own = rec.table.loc[i, column]
                true = X.loc[leaves[key], column]
                assert true.isna().any() if np.isnan(own) else (true == own).any()


def keys(model, table, labels):
    leaf = model.apply(table.to_numpy(float))
    return [(*row, label) for row, label in zip(leaf.tolist(), labels.tolist(), strict=True)]


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
def test_missing_values_take_the_library_s_way(kind):
    X, y = people(0)
    fitted = kind(20, bootstrap=False, random_state=0).fit(X, y)
    other, _ = people(1)
    for table in (X, other):
        assert (gl.read(fitted).apply(table.to_numpy()) == fitted.apply(table)).all()


def test_a_split_between_missing_and_not_has_no_threshold_to_use():
    """Where only "missing or not" matters scikit-learn's threshold is infinite."""
    X = pd.DataFrame({"age": [np.nan] * 6 + [20.0, 30.0, 25.0, 35.0, 22.0, 40.0]})
    y = np.repeat([0, 1], 6)
    fitted = DecisionTreeClassifier(random_state=0).fit(X, y)
    assert np.isinf(fitted.tree_.threshold[0])
    model = gl.read(fitted)
    schema = gl.Schema([gl.Ordinal("age", 18, 40, missing=True)])
    rec = gl.reconstruct(model, schema)
    assert rec.table["age"].isna().sum() == 6
    assert rec.values_told["share_exact"] == pytest.approx(0.5)  # "missing" is all that is known
    values = recover_values(model, schema, X)
    assert values.conflicts == ()
    assert values.met == values.thresholds == 1


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize("seed", range(3))
def test_cells(kind, seed):
    X, y = people(seed)
    model = gl.read(kind(15, bootstrap=False, random_state=seed).fit(X, y))
    rec = gl.reconstruct(model, SCHEMA, formulation="cells", budget_seconds=20)
    assert rec.exact
    assert not SCHEMA.invalid_rows(rec.table).any()
    assert rec.values_told["numbers"] == 2 * N_ROWS
    claims_are_true(rec, X, y, model)
    error = gl.reconstruction_error(X, rec.table, SCHEMA)
    assert error < 0.6 * gl.random_baseline(model, SCHEMA, X, repeats=5).mean
    assert gl.exact_cells(X, rec.table, SCHEMA).error == error


def test_search():
    X, y = people(3)
    model = gl.read(RandomForestClassifier(30, bootstrap=False, random_state=3).fit(X, y))
    rec = gl.reconstruct(model, SCHEMA, formulation="search", budget_seconds=3)
    assert rec.exact == (rec.details["misplaced"] == 0)
    assert rec.values_told["share_exact"] is None  # a search proves no place
    assert rec.table[["age", "amount"]].isna().any().any()
    error = gl.reconstruction_error(X, rec.table, SCHEMA)
    assert error < 0.6 * gl.random_baseline(model, SCHEMA, X, repeats=5).mean


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
def test_known_draws(kind):
    X, y = people(4)
    model = gl.read(kind(40, bootstrap=True, random_state=4).fit(X, y))
    rec = gl.reconstruct(model, SCHEMA, multiplicities="known", budget_seconds=20)
    assert rec.formulation == "replayed"
    assert rec.exact
    drawn = model.bagging.multiplicities(40, N_ROWS).T > 0
    same = model.apply(rec.table.to_numpy(float)) == model.apply(X.to_numpy())
    assert (same | ~drawn).all(axis=1)[rec.confidence == 1].all()
    assert rec.values_told["numbers"] == 2 * N_ROWS
    assert gl.reconstruction_error(X, rec.table, SCHEMA) < 0.1


def test_unknown_draws():
    X, y = people(5)
    model = gl.read(RandomForestClassifier(40, random_state=5).fit(X, y))
    rec = gl.reconstruct(model, SCHEMA, multiplicities="unknown", budget_seconds=4)
    assert rec.values_told["share_exact"] is None
    assert not SCHEMA.invalid_rows(rec.table).any()
    error = gl.reconstruction_error(X, rec.table, SCHEMA)
    assert error < 0.6 * gl.random_baseline(model, SCHEMA, X, repeats=5).mean
