"""Exact values from thresholds: sound whatever the table, and not more than the forest says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import glassleak as gl
from glassleak import datasets
from glassleak.reconstruction.values import recover_values

SCHEMA = gl.Schema(
    [
        gl.Ordinal("age", 18, 100),
        gl.Numeric("rate", 0, 20, resolution=0.1),
        gl.Numeric("score", -4, 4),
        gl.Numeric("income", 0, 200_000, resolution=1),
        gl.Categorical("region", levels=[0, 1, 2, 3, 4]),
        gl.Binary("member"),
    ]
)


def table(n_rows: int, seed: int, missing: bool = False) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n_rows).astype(float),
            "rate": np.round(rng.gamma(3, 1.5, n_rows).clip(0, 20), 1),
            "score": rng.normal(size=n_rows).clip(-4, 4),
            "income": np.round(rng.lognormal(10, 0.7, n_rows).clip(0, 200_000)),
            "region": rng.integers(0, 5, n_rows).astype(float),
            "member": rng.integers(0, 2, n_rows).astype(float),
        }
    )
    if missing:
        X.loc[rng.random(n_rows) < 0.2, "age"] = np.nan
    noisy = X["score"] + X["income"] / 40_000 + rng.normal(scale=0.7, size=n_rows)
    return X, (noisy > noisy.median()).astype(int).to_numpy()


def inside(values, X) -> bool:
    truth = X[list(values.low)].astype(np.float32).to_numpy(float)
    low, high = values.low.to_numpy(float), values.high.to_numpy(float)
    slack = 1e-6 * (1 + np.abs(truth))
    return bool(((truth >= low - slack) & (truth <= high + slack) | np.isnan(truth)).all())


def proved_are_right(values, X) -> bool:
    columns = list(values.exact)
    sure = values.exact.to_numpy()
    got, truth = values.table[columns].to_numpy(float), X[columns].to_numpy(float)
    # Numbers without steps are told in single precision: the model never saw more.
    same = got.astype(np.float32) == truth.astype(np.float32)
    return bool((same | np.isnan(truth))[sure].all())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("bootstrap", [True, False])
def test_intervals_hold_the_truth_and_what_is_proved_is_right(bootstrap, seed):
    X, y = table(60, seed)
    model = gl.read(RandomForestClassifier(30, bootstrap=bootstrap, random_state=seed).fit(X, y))
    draws = model.bagging.multiplicities(30, 60) if bootstrap else None
    values = recover_values(model, SCHEMA, X, draws)
    assert values.midpoints
    assert values.conflicts == ()
    assert inside(values, X)
    assert proved_are_right(values, X)
    assert values.exact.to_numpy().mean() > 0.2
    assert values.met > 0.7 * values.thresholds
    drawn = np.ones((60, 30), bool) if draws is None else draws.T > 0
    again = model.apply(values.table.to_numpy(float))
    assert ((again == model.apply(X.to_numpy())) | ~drawn).all()


def test_a_coarser_placement_is_enough():
    """Any value between the right thresholds does; the exact one is not needed."""
    X, y = table(50, 7)
    model = gl.read(RandomForestClassifier(40, bootstrap=False, random_state=0).fit(X, y))
    from_truth = recover_values(model, SCHEMA, X)
    coarse = X.copy()
    for column, cuts in model.split_evidence().thresholds.items():
        cell = np.searchsorted(cuts, X[column].astype(np.float32), side="left")
        for k in np.unique(cell):
            coarse.loc[cell == k, column] = X.loc[cell == k, column].iloc[0]
    assert not coarse.equals(X)
    again = recover_values(model, SCHEMA, coarse)
    pd.testing.assert_frame_equal(again.low, from_truth.low)
    pd.testing.assert_frame_equal(again.exact, from_truth.exact)


def test_random_thresholds_tell_intervals_only():
    X, y = table(60, 1)
    model = gl.read(ExtraTreesClassifier(30, random_state=0).fit(X, y))
    values = recover_values(model, SCHEMA, X)
    assert not values.midpoints
    assert "random" in values.reason
    assert inside(values, X)
    assert proved_are_right(values, X)
    assert not values.exact["score"].any()


def test_missing_values_stay_missing():
    X, y = table(80, 2, missing=True)
    schema = gl.Schema([gl.Ordinal("age", 18, 100, missing=True), *list(SCHEMA)[1:]])
    model = gl.read(RandomForestClassifier(20, bootstrap=False, random_state=0).fit(X, y))
    values = recover_values(model, schema, X)
    assert values.conflicts == ()
    assert values.table["age"].isna().equals(X["age"].isna())
    assert inside(values, X)
    assert proved_are_right(values, X)


def test_rows_in_the_wrong_place_are_noticed_and_nothing_is_proved():
    X, y = table(60, 3)
    model = gl.read(RandomForestClassifier(40, bootstrap=False, random_state=0).fit(X, y))
    wrong = X.copy()
    wrong["income"] = X["income"].to_numpy()[::-1]
    values = recover_values(model, SCHEMA, wrong)
    assert values.conflicts
    assert not values.exact["income"].any()
    tree, node = values.conflicts[0]
    assert model.trees[tree].feature[node] >= 0


def test_three_classes_close_odd_cycles():
    """Sums of neighbours form cycles of odd length, which determine values without steps."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"score": rng.normal(size=60).clip(-4, 4)})
    y = rng.integers(0, 3, 60)
    model = gl.read(RandomForestClassifier(60, random_state=0).fit(X, y))
    values = recover_values(
        model, gl.Schema([SCHEMA["score"]]), X, model.bagging.multiplicities(60, 60)
    )
    assert values.share_exact > 0.9
    assert proved_are_right(values, X)


def test_what_is_not_proved_cannot_be_known():
    """With two classes neighbours are of different classes: a common shift changes no threshold.

    All rows of one class moved up and all of the other down by the same amount give the very same
    forest, so nobody can tell the two tables apart.
    """
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"amount": 1000.0 * rng.permutation(np.arange(10, 50))})
    y = rng.integers(0, 2, 40)
    shifted = X + np.where(y == 1, 1.0, -1.0)[:, None]
    forests = [
        gl.read(RandomForestClassifier(20, random_state=0).fit(each, y)) for each in (X, shifted)
    ]
    assert forests[0] == forests[1]
    schema = gl.Schema([gl.Ordinal("amount", 0, 100_000)])
    values = recover_values(forests[0], schema, X, forests[0].bagging.multiplicities(20, 40))
    assert not values.exact["amount"].any()
    assert inside(values, X)
    assert inside(values, shifted)


def test_one_tree():
    X, y = table(60, 4)
    model = gl.read(DecisionTreeClassifier(random_state=0).fit(X, y))
    values = recover_values(model, SCHEMA, X.to_numpy())
    assert inside(values, X)
    assert values.met >= 0.6 * values.thresholds


def test_german_credit_given_the_right_places():
    german = datasets.load("german", variant="raw")
    X = german.data.iloc[:100].copy()
    attributes = []
    for attribute in german.schema:
        if isinstance(attribute, gl.Categorical):
            codes = {level: i for i, level in enumerate(attribute.levels)}
            X[attribute.name] = X[attribute.name].map(codes)
            attribute = gl.Categorical(attribute.name, levels=range(len(codes)))
        attributes.append(attribute)
    X, schema = X.astype(float), gl.Schema(attributes)
    y = german.target.iloc[:100]
    model = gl.read(RandomForestClassifier(100, bootstrap=False, random_state=0).fit(X, y))
    values = recover_values(model, schema, X)
    assert values.exact.to_numpy().mean() > 0.8
    assert proved_are_right(values, X)
    assert gl.reconstruction_error(X, values.table, schema) < 0.002


@pytest.mark.parametrize(
    ("rows", "draws", "what"),
    [(np.zeros((5, 2)), None, "columns"), (np.zeros((5, 6)), np.ones((2, 5)), "draws")],
)
def test_wrong_shapes_are_refused(rows, draws, what):
    X, y = table(20, 0)
    model = gl.read(RandomForestClassifier(3, random_state=0).fit(X, y))
    with pytest.raises(ValueError, match=what):
        recover_values(model, SCHEMA, rows, draws)
