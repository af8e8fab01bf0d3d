"""What is assumed about profiles where the model is all there is."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import glassleak as gl
from glassleak.audit.analyses import _inferred
from glassleak.knowledge import assumed_schema

LEARNERS = [
    RandomForestClassifier(20, random_state=0),
    RandomForestClassifier(20, bootstrap=False, class_weight="balanced", random_state=0),
    ExtraTreesClassifier(20, random_state=0),
    BaggingClassifier(DecisionTreeClassifier(), 20, random_state=0),
    DecisionTreeClassifier(random_state=0),
    DecisionTreeClassifier(splitter="random", random_state=0),
]


def table(seed: int, missing: float = 0.0) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.integers(18, 90, 80), "flag": rng.integers(0, 2, 80)}, dtype=float)
    y = (X["age"] / 80 + X["flag"] + rng.normal(0, 0.4, 80) > 1.2).astype(int).to_numpy()
    X.loc[rng.random(80) < missing, "age"] = np.nan
    return X, y


def test_values_beyond_all_thresholds_are_possible():
    X, y = table(0)
    model = gl.read(RandomForestClassifier(20, random_state=0).fit(X, y))
    narrow, wide = gl.Schema.infer(model.split_evidence()), assumed_schema(model)
    assert wide["age"].low < narrow["age"].low
    assert wide["age"].high > narrow["age"].high
    assert wide["flag"] == gl.Binary("flag")


def test_the_audit_and_reconstruct_assume_the_same():
    assert _inferred.assumed_schema is assumed_schema
    X, y = table(1)
    X = X.clip(30, 60)  # many people at the ends, where the model shows no more than a threshold
    model = gl.read(RandomForestClassifier(10, bootstrap=False, random_state=0).fit(X, y))
    rec = gl.reconstruct(model, budget_seconds=10)
    told = gl.reconstruct(model, assumed_schema(model), budget_seconds=10)
    assert rec.certificate.certain_rows == told.certificate.certain_rows
    pd.testing.assert_frame_equal(rec.table, told.table)


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
@pytest.mark.parametrize("seed", range(3))
def test_without_missing_values_none_are_assumed(learner, seed):
    X, y = table(seed)
    assert not assumed_schema(gl.read(learner.fit(X, y)))["age"].missing


@pytest.mark.parametrize("learner", LEARNERS[:3], ids=repr)
@pytest.mark.parametrize("seed", range(3))
def test_missing_values_leave_a_trace(learner, seed):
    X, y = table(seed, missing=0.3)
    schema = assumed_schema(gl.read(learner.fit(X, y)))
    assert schema["age"].missing
    assert not schema.invalid_rows(X).any()


def test_yes_or_no_or_missing():
    X, y = table(5)
    X.loc[::3, "flag"] = np.nan
    schema = assumed_schema(gl.read(RandomForestClassifier(30, random_state=0).fit(X, y)))
    assert schema["flag"].missing
    assert not schema.invalid_rows(X).any()
