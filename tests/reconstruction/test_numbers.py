"""Values of numbers in enumerated cells: sound, replayed, and no claim beyond what is placed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import glassleak as gl
from glassleak.reconstruction import _numbers
from glassleak.reconstruction._numbers import with_values
from glassleak.reconstruction.values import recover_values
from glassleak.reconstruction.values._told import value_details, value_statements

SCHEMA = gl.Schema(
    [
        gl.Ordinal("age", 18, 60),
        gl.Numeric("income", 0, 9000, resolution=100),
        gl.Categorical("job", levels=[0, 1, 2]),
        gl.Binary("member"),
    ]
)


def people(seed: int, n_rows: int = 30) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 61, n_rows),
            "income": 100 * rng.integers(0, 91, n_rows),
            "job": rng.integers(0, 3, n_rows),
            "member": rng.integers(0, 2, n_rows),
        }
    ).astype(float)
    score = X["age"] / 40 + X["income"] / 9000 + X["member"] / 2 + rng.normal(0, 0.3, n_rows)
    return X, (score > score.median()).astype(int).to_numpy()


def forest(X, y, seed, kind=RandomForestClassifier, n_trees=60, **options):
    return gl.read(kind(n_trees, bootstrap=False, random_state=seed, **options).fit(X, y))


def proved_and_true(rec, model, X, y) -> int:
    """How many cells are proved; each must be that of a true row in the same leaves."""
    leaves = model.apply(X.to_numpy())
    reached = model.apply(rec.table.to_numpy(float))
    checked = 0
    for i in range(len(rec.table)):
        alike = (leaves == reached[i]).all(axis=1) & (y == rec.labels[i])
        for column in X:
            if rec.proved_values.loc[i, column]:
                assert (X.loc[alike, column] == rec.table.loc[i, column]).any()
                checked += 1
    return checked


@pytest.mark.parametrize("seed", range(6))
def test_what_is_proved_is_true(seed):
    X, y = people(seed)
    n_trees = [60, 8][seed % 2]  # few trees leave rows whose place is not certain
    model = forest(X, y, seed, n_trees=n_trees)
    rec = gl.reconstruct(model, SCHEMA, formulation="cells", budget_seconds=10)
    assert rec.exact
    assert not SCHEMA.invalid_rows(rec.table).any()
    checked = proved_and_true(rec, model, X, y)
    numbers = rec.proved_values[["age", "income"]].to_numpy()
    assert rec.values_told["share_exact"] == pytest.approx(numbers.mean())
    if n_trees == 60:
        assert checked > 10
        assert rec.values_told["share_exact"] > 0.1


def test_all_rows_are_known_to_the_last_digit():
    """Three classes and three numbers: nothing is left open, and the certificate says so."""
    X = pd.DataFrame({"age": [18.0, 18, 20, 20, 30, 30], "member": [0.0, 1, 0, 1, 0, 1]})
    y = np.array([0, 0, 1, 1, 2, 2])
    schema = gl.Schema([gl.Ordinal("age", 18, 60), gl.Binary("member")])
    model = forest(X, y + 3 * X["member"].to_numpy(int), 0)
    rec = gl.reconstruct(model, schema)
    # 18 is the least, so 20 follows from the threshold 19 and 30 from 25.
    assert rec.status == "unique"
    assert rec.certificate.certain_rows == len(X)
    assert (rec.confidence == 1).all()
    assert gl.reconstruction_error(X, rec.table, schema) == 0
    bounds = rec.certificate.bounds
    assert (bounds["profiles"] == 1).all()
    assert bounds["minimum"].sum() == bounds["maximum"].sum() == len(X)
    assert sorted(bounds["age"].repeat(bounds["minimum"])) == sorted(X["age"])
    assert any("every threshold" in line for line in rec.certificate.statements)


def test_values_are_closer_than_the_middle_of_intervals(monkeypatch):
    X, y = people(3)
    model = forest(X, y, 3)
    valued = gl.reconstruct(model, SCHEMA, formulation="cells", budget_seconds=10)
    monkeypatch.setattr(_numbers, "lattice_of", lambda _attribute: None)
    plain = gl.reconstruct(model, SCHEMA, formulation="cells", budget_seconds=10)
    assert plain.values_told == {}
    errors = [gl.reconstruction_error(X, rec.table, SCHEMA) for rec in (valued, plain)]
    assert errors[0] < 0.9 * errors[1]
    right = [gl.exact_cells(X, rec.table, SCHEMA).share_of_numbers for rec in (valued, plain)]
    assert right[0] > right[1]


@pytest.mark.parametrize("kind", [ExtraTreesClassifier, DecisionTreeClassifier])
def test_random_thresholds_prove_a_number_only_if_one_fits(kind):
    X, y = people(5, 14)
    if kind is DecisionTreeClassifier:
        model = gl.read(kind(splitter="random", random_state=0).fit(X, y))
    else:
        model = forest(X, y, 5, kind, n_trees=15)
    rec = gl.reconstruct(model, SCHEMA, formulation="cells", budget_seconds=10)
    assert not rec.values_told["midpoints"]
    assert any("intervals" in line for line in rec.certificate.statements)
    trees = getattr(model, "trees", (model,))
    for i, row in enumerate(rec.table.to_numpy(float)):
        for column, attribute in ((0, SCHEMA["age"]), (1, SCHEMA["income"])):
            low, high = way(trees, row, column, attribute)
            levels = attribute.level_values()[:, 0]
            fitting = ((levels > low) & (levels <= high)).sum()
            assert not rec.proved_values.iloc[i, column] or fitting == 1


def way(trees, row, column, attribute) -> tuple[float, float]:
    """Between which thresholds a row lies in a column, by the nodes it passes."""
    low, high = -np.inf, float(attribute.high)
    for tree in trees:
        node = 0
        while tree.feature[node] >= 0:
            goes_left = np.float32(row[tree.feature[node]]) <= tree.threshold[node]
            if tree.feature[node] == column and goes_left:
                high = min(high, tree.threshold[node])
            elif tree.feature[node] == column:
                low = max(low, tree.threshold[node])
            node = (tree.left if goes_left else tree.right)[node]
    return low, high


def test_a_value_that_would_change_a_count_is_not_taken(monkeypatch):
    X, y = people(6, 16)
    model = forest(X, y, 6, n_trees=30)
    honest = _numbers.recover_values

    def spoilt(*arguments, **options):
        found = honest(*arguments, **options)
        found.table.loc[0, "age"] = 18 if found.table.loc[0, "age"] > 40 else 60
        return found

    monkeypatch.setattr(_numbers, "recover_values", spoilt)
    rec = gl.reconstruct(model, SCHEMA, formulation="cells", budget_seconds=10)
    assert rec.exact
    assert rec.values_told["kept"] == 1
    assert any("changed a count" in line for line in rec.certificate.statements)
    assert not rec.proved_values.iloc[0].any()


def test_yes_no_tables_are_left_alone(monkeypatch):
    def never(*_arguments, **_options):
        raise AssertionError("nothing to recover in a table without numbers")

    monkeypatch.setattr(_numbers, "recover_values", never)
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (30, 6)), columns=list("abcdef"))
    rec = gl.reconstruct(forest(X, rng.integers(0, 2, 30), 0, n_trees=10))
    assert rec.values_told == {}
    assert rec.proved_values is None


def test_known_columns_stay_as_they_are_known():
    X, y = people(7, 12)
    known = gl.Known(columns=X[["age"]])
    rec = gl.reconstruct(forest(X, y, 7), SCHEMA, known, budget_seconds=10)
    assert sorted(rec.table["age"]) == sorted(X["age"])


def test_several_models_keep_intervals():
    X, y = people(8)
    models = [forest(X, y, seed, n_trees=10) for seed in (0, 1)]
    rec = gl.reconstruct(models, SCHEMA, budget_seconds=10)
    assert rec.values_told == {}


def test_a_row_that_may_be_missing_proves_nothing():
    """Missing values that take the way of small numbers cannot be told from them."""
    X = pd.DataFrame({"age": [np.nan, 20.0, 20.0, 40.0, 50.0]})
    y = np.array([0, 0, 0, 1, 1])
    model = gl.read(DecisionTreeClassifier(random_state=0).fit(X, y))
    assert model.missing_left[0]
    rec = gl.reconstruct(model, gl.Schema([gl.Numeric("age", 20, 60, 10, missing=True)]))
    assert not rec.proved_values["age"].any()
    # If nobody can have one, 30 is half way between 20 and 40 and nothing else.
    sure = gl.reconstruct(model, gl.Schema([gl.Numeric("age", 20, 60, 10)]))
    assert sorted(sure.table.loc[sure.proved_values["age"], "age"]) == [20, 20, 20]


def test_rows_in_doubt_prove_nothing():
    X, y = people(9)
    model = forest(X, y, 9)
    table = X.to_numpy()
    sure = with_values(model, SCHEMA, table, certain=np.ones(table.shape, dtype=bool))
    half = np.repeat(np.arange(30)[:, None] < 15, 4, axis=1)
    some = with_values(model, SCHEMA, table, certain=half)
    none = with_values(model, SCHEMA, table, certain=np.zeros(table.shape, dtype=bool))
    assert sure.exact.sum() > some.exact.sum()
    assert not some.exact[15:].any()
    assert (sure.exact | ~some.exact).all()
    assert not none.exact.any()
    assert none.details["share_exact"] is None
    assert none.details["share_if_placed"] == sure.details["share_if_placed"] > 0


def test_unknown_draws_use_nodes_where_everybody_was_drawn():
    X, y = people(10)
    model = gl.read(RandomForestClassifier(60, random_state=0).fit(X, y))
    certain = np.zeros(X.shape, dtype=bool)
    told = with_values(model, SCHEMA, X.to_numpy(), certain=certain, draws="unknown").details
    assert told["conflicts"] == 0
    assert told["share_if_placed"] > 0
    # As if every row had been drawn by every tree: the thresholds contradict each other.
    naive = with_values(model, SCHEMA, X.to_numpy(), certain=certain).details
    assert naive["conflicts"] > 0


def test_statements_never_round_to_all_or_nothing():
    X, y = people(11)
    model = forest(X, y, 11, n_trees=5)
    found = recover_values(model, SCHEMA, X)
    details = value_details(found, fits=True, proved=True) | {"share_exact": 0.9999}
    assert any("more than 99%" in line for line in value_statements(details))
    assert value_details(found, fits=False, proved=False)["share_if_placed"] is None
