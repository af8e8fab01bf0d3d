"""Boosted models are read, but not built from a stranger's file."""

from __future__ import annotations

import numpy as np
import pytest
import skops.io
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor

from glassleak.errors import UnsupportedModelError
from glassleak.sanitise import load_estimator

X = np.random.default_rng(0).integers(0, 9, (40, 2)).astype(float)


def test_boosting_is_not_built_and_regression_forests_are(tmp_path):
    skops.io.dump(GradientBoostingRegressor(n_estimators=2).fit(X, X[:, 0]), tmp_path / "b.skops")
    with pytest.raises(UnsupportedModelError, match="not built from files"):
        load_estimator(tmp_path / "b.skops")
    forest = RandomForestRegressor(2, random_state=0).fit(X, X[:, 0])
    skops.io.dump(forest, tmp_path / "f.skops")
    assert np.array_equal(load_estimator(tmp_path / "f.skops").predict(X), forest.predict(X))
