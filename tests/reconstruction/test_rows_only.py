"""Models that publish numbers of rows and no classes: rows come back, labels do not."""

from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.tree import DecisionTreeClassifier

import glassleak as gl
from glassleak.errors import UnsupportedModelError
from glassleak.reconstruction._rows_only import rows_as_counts, tells_rows_only

RNG = np.random.default_rng(0)
X = pd.DataFrame({f"x{i}": RNG.integers(0, 3, 60) for i in range(3)})
Y = (X["x0"] + X["x1"] > 2).astype(int)
SCHEMA = gl.Schema([gl.Ordinal(c, 0, 2) for c in X])
SMALL = {"n_estimators": 8, "min_child_samples": 1, "verbose": -1, "n_jobs": 1}


def check(found: gl.Reconstruction, model: gl.Forest) -> None:
    """The table is sent through the model again, without the package's own replay."""
    for tree in model.trees:
        held = np.bincount(tree.apply(found.table), minlength=tree.n_nodes)
        assert np.array_equal(held[tree.leaves], tree.people[tree.leaves])
    assert len(found.labels) == len(found.table) == 60
    assert all(label is None for label in found.labels)
    assert any("labels are not known" in line for line in found.certificate.statements)


@pytest.mark.parametrize(
    "estimator",
    [lgb.LGBMClassifier(**SMALL), lgb.LGBMRegressor(**SMALL),
     GradientBoostingClassifier(n_estimators=8, random_state=0),
     GradientBoostingRegressor(n_estimators=8, random_state=0)],
    ids=lambda e: type(e).__name__,
)  # fmt: skip
def test_rows_from_numbers_of_rows(estimator):
    target = Y if "Classifier" in type(estimator).__name__ else Y + RNG.normal(0, 0.3, 60)
    model = gl.read(estimator.fit(X, target))
    found = gl.reconstruct(model, SCHEMA, budget_seconds=10)
    assert found.formulation == "cells"
    assert found.exact
    check(found, model)
    truth = X.value_counts()
    bounds = found.certificate.bounds
    sure = bounds[(bounds["minimum"] > 0) & (bounds["profiles"] == 1)]
    for row in sure.itertuples(index=False):
        assert truth.get(tuple(row[:3]), 0) >= row.minimum


def test_the_search_over_rows_takes_them_too():
    model = gl.read(lgb.LGBMRegressor(**SMALL).fit(X, Y + RNG.normal(0, 0.3, 60)))
    found = gl.reconstruct(model, SCHEMA, formulation="search", budget_seconds=1)
    assert found.formulation == "search"
    assert len(found.table) == 60
    assert all(label is None for label in found.labels)


@pytest.mark.parametrize(
    "estimator",
    [lgb.LGBMRegressor(**SMALL, subsample=0.5, subsample_freq=1),
     lgb.LGBMClassifier(**SMALL, data_sample_strategy="goss"),
     GradientBoostingRegressor(n_estimators=3, subsample=0.5)],
    ids=["bagging", "goss", "subsample"],
)  # fmt: skip
def test_samples_of_rows_are_not_assessed(estimator):
    model = gl.read(estimator.fit(X, Y))
    with pytest.raises(UnsupportedModelError, match="do not describe the same rows"):
        gl.reconstruct(model, SCHEMA)


def test_models_with_counts_are_left_as_they_are():
    tree = gl.read(DecisionTreeClassifier().fit(X, Y))
    assert not tells_rows_only(tree)
    assert not tells_rows_only([tree])
    boosted = gl.read(lgb.LGBMRegressor(**SMALL).fit(X, Y))
    assert tells_rows_only(boosted)
    counted = rows_as_counts(boosted)
    assert counted.n_rows == 60
    with pytest.raises(UnsupportedModelError, match="drew no samples"):
        gl.reconstruct(boosted, SCHEMA, multiplicities="known")
