"""Bagged forests with their draws known: every row at its own index."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import glassleak as gl
from glassleak import datasets
from glassleak.models import Bagging, Forest


@pytest.fixture(scope="module")
def compas():
    return datasets.load("compas", variant="binary")


def rows_right(rec, X, y) -> np.ndarray:
    return (rec.table.to_numpy() == X.to_numpy()).all(axis=1) & (rec.labels == np.asarray(y))


def leaves_right(model, rec, X) -> np.ndarray:
    """Per row: is it in the true leaf of every tree that drew it?"""
    drawn = model.bagging.multiplicities(len(model), len(X)).T > 0
    same = model.apply(X.to_numpy(float)) == model.apply(rec.table.to_numpy(float))
    return (same | ~drawn).all(axis=1)


MODELS = {
    "forest": RandomForestClassifier(60, random_state=3),
    "forest without a seed of its own": RandomForestClassifier(60),
    "fewer draws than rows": RandomForestClassifier(80, max_samples=40, random_state=1),
    "balanced classes": RandomForestClassifier(60, class_weight="balanced", random_state=2),
    "other criterion": RandomForestClassifier(60, criterion="entropy", random_state=5),
    "extra trees": ExtraTreesClassifier(60, bootstrap=True, random_state=4),
    "bag": BaggingClassifier(DecisionTreeClassifier(), 60, random_state=0),
    "bag of columns": BaggingClassifier(
        DecisionTreeClassifier(), 80, max_features=0.7, random_state=0
    ),
    "bag without replacement": BaggingClassifier(
        DecisionTreeClassifier(), 60, bootstrap=False, max_samples=0.6, random_state=0
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_every_row_comes_back_at_its_own_index(compas, name):
    X, y = compas.data.iloc[300:360], compas.target.iloc[300:360]
    model = gl.read(MODELS[name].fit(X, y))
    assert model.bagging.kind == "known"
    rec = gl.reconstruct(model, compas.schema)
    assert rec.exact
    assert rec.certificate.replayed
    assert rec.formulation == "replayed"
    right = rows_right(rec, X, y)
    # What no tree tells apart, or a second table has differently, may be wrong: it is not claimed.
    assert right[rec.confidence == 1].all()
    assert leaves_right(model, rec, X).mean() > 0.9
    assert rec.certificate.certain_rows == int((rec.confidence == 1).sum())
    if rec.status == "unique":
        assert right.all()


def test_all_is_proved_for_a_usual_forest(compas):
    X, y = compas.data.head(100), compas.target.head(100)
    rec = gl.reconstruct(gl.read(RandomForestClassifier(random_state=0).fit(X, y)), compas.schema)
    assert rec.status == "unique"
    assert rec.certificate.unique is True
    assert rec.certificate.complete
    assert rows_right(rec, X, y).all()
    assert (rec.confidence == 1).all()
    assert "seeds" in rec.certificate.statements[0]


def test_shallow_trees(compas):
    X, y = compas.data.head(80), compas.target.head(80)
    forest = RandomForestClassifier(100, max_depth=3, random_state=0).fit(X, y)
    rec = gl.reconstruct(gl.read(forest), compas.schema)
    assert rec.exact
    assert rows_right(rec, X, y).all()


def test_several_classes_with_names():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (60, 8)), columns=[f"c{i}" for i in range(8)])
    y = np.array(["low", "mid", "high"])[(X["c0"] + X["c1"] * rng.integers(0, 2, 60)).to_numpy()]
    schema = gl.Schema([gl.Binary(c) for c in X.columns])
    forest = RandomForestClassifier(80, random_state=0).fit(X, y)
    rec = gl.reconstruct(gl.read(forest), schema)
    assert rec.exact
    assert rows_right(rec, X, y).mean() > 0.9
    assert rows_right(rec, X, y)[rec.confidence == 1].all()


def test_numbers_come_back_as_intervals():
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"age": rng.integers(18, 90, 60), "pay": rng.uniform(0, 1e5, 60).round(2)})
    X["kind"] = rng.integers(0, 3, 60)
    y = (X["age"] + X["pay"] / 2000 > 80).astype(int)
    schema = gl.Schema(
        [
            gl.Ordinal("age", low=18, high=90),
            gl.Numeric("pay", low=0, high=1e5),
            gl.Categorical("kind", levels=[0, 1, 2]),
        ]
    )
    model = gl.read(RandomForestClassifier(100, random_state=0).fit(X, y))
    rec = gl.reconstruct(model, schema)
    assert rec.exact
    assert (rec.labels == y).all()
    # Several tables fit; in most trees that drew it, each row is in its true leaf.
    drawn = model.bagging.multiplicities(100, 60).T > 0
    same = model.apply(X.to_numpy(float)) == model.apply(rec.table.to_numpy(float))
    assert same[drawn].mean() > 0.95
    assert (rec.confidence < 1).all()


def test_distinct_rows_need_not_be_published(compas):
    X, y = compas.data.head(60), compas.target.head(60)
    model = gl.read(RandomForestClassifier(80, random_state=0).fit(X, y))
    matrix = model.bagging.multiplicities(80, 60)
    trees = tuple(replace(tree, distinct_rows=None, n_rows=60) for tree in model.trees)
    rec = gl.reconstruct(
        Forest(trees, Bagging("unknown", 60), 60), compas.schema, multiplicities=matrix
    )
    assert rec.exact
    assert rows_right(rec, X, y).mean() > 0.95


def test_rows_no_tree_drew_are_said_to_be_unknown(compas):
    X, y = compas.data.head(40), compas.target.head(40)
    model = gl.read(RandomForestClassifier(2, random_state=0).fit(X, y))
    never = (model.bagging.multiplicities(2, 40) == 0).all(axis=0)
    assert never.any()
    rec = gl.reconstruct(model, compas.schema, budget_seconds=20)
    assert rec.status == "partial"
    assert (rec.confidence[never] < 0.01).all()
    assert any("drawn by no tree" in line for line in rec.certificate.statements)


def test_known_columns_help(compas):
    X, y = compas.data.head(40), compas.target.head(40)
    model = gl.read(RandomForestClassifier(6, max_depth=3, random_state=0).fit(X, y))
    columns = list(X.columns[:7])
    shuffled = X[columns].sample(frac=1, random_state=1)
    alone = gl.reconstruct(model, compas.schema, budget_seconds=3)
    known = gl.Known(columns=shuffled)
    helped = gl.reconstruct(model, compas.schema, known, multiplicities="known", budget_seconds=3)
    listed = [rec.details["possibilities"] for rec in (alone, helped)]
    assert listed[1] < listed[0]
    if helped.exact:
        got = helped.table[columns].value_counts().sort_index()
        pd.testing.assert_series_equal(got, X[columns].value_counts().sort_index())


def test_unknown_leaves_the_seeds_alone(compas):
    X, y = compas.data.head(30), compas.target.head(30)
    model = gl.read(RandomForestClassifier(10, random_state=0).fit(X, y))
    rec = gl.reconstruct(model, compas.schema, multiplicities="unknown", budget_seconds=3)
    assert rec.formulation == "bagged"


def test_a_tiny_budget_still_gives_an_honest_answer(compas):
    X, y = compas.data.head(200), compas.target.head(200)
    model = gl.read(RandomForestClassifier(10, random_state=0).fit(X, y))
    rec = gl.reconstruct(model, compas.schema, budget_seconds=2.0)
    assert len(rec.table) == 200
    assert rec.exact == rec.certificate.replayed
    assert rec.status in ("partial", "consistent", "likely")


def test_progress_is_told_and_can_cancel(compas):
    X, y = compas.data.head(50), compas.target.head(50)
    model = gl.read(RandomForestClassifier(50, random_state=0).fit(X, y))
    told: list[float] = []
    gl.reconstruct(model, compas.schema, progress=lambda _step, share: told.append(share))
    assert told
    assert all(0 <= share <= 1 for share in told)

    class Stop(Exception):
        pass

    def stop(_step: str, _share: float) -> None:
        raise Stop

    with pytest.raises(Stop):
        gl.reconstruct(model, compas.schema, progress=stop)
