"""glassleak's own learners: rules and labels stay, numbers of people go."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import skops.io
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import glassleak as gl
from glassleak.errors import SanitiseError
from glassleak.learners import (
    GreedyRuleListClassifier,
    ID3Classifier,
    OptimalRuleListClassifier,
    OptimalTreeClassifier,
    PrivateRuleListClassifier,
)
from glassleak.models import Missing, Noisy
from glassleak.sanitise import agreement, load_estimator

LEARNERS = [
    GreedyRuleListClassifier(),
    OptimalRuleListClassifier(),
    OptimalTreeClassifier(),
    ID3Classifier(),
]


def data(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (150, 6)).astype(float)
    return X, (X[:, 0] + X[:, 1] + (rng.random(150) < 0.2) > 1).astype(int)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda m: type(m).__name__)
def test_labels_stay_and_counts_go(learner: Any, tmp_path: Any) -> None:
    X, y = data()
    model = learner.fit(X, y)
    clean = gl.sanitise(model)
    every = np.array(np.meshgrid(*[[0.0, 1.0]] * 6)).reshape(6, -1).T
    assert np.array_equal(model.predict(every), clean.predict(every))
    assert agreement(model, clean).identical
    read = gl.read(clean)
    assert isinstance(read.counts, Missing)
    assert read.n_rows is None
    with pytest.raises(SanitiseError, match="removed"):
        clean.predict_proba(X)
    assert model.predict_proba(X).shape == (150, 2)
    kinds = {a.kind for a in gl.audit(clean, budget_seconds=2).opened.artefacts}
    assert not kinds
    skops.io.dump(clean, tmp_path / "clean.skops")
    assert np.array_equal(load_estimator(tmp_path / "clean.skops").predict(X), model.predict(X))
    with pytest.raises(SanitiseError, match="counts"):
        gl.sanitise(model, keep=("predict_proba",))
    with pytest.raises(SanitiseError):
        gl.sanitise(model, min_people=3)


def test_text_without_counts() -> None:
    X, y = data()
    model = GreedyRuleListClassifier().fit(X, y)
    assert "(" in model.to_text()
    clean = gl.sanitise(model)
    assert "-1" not in clean.to_text()
    assert isinstance(clean.to_model().counts, Missing)


def test_private_models_lose_their_seed_only() -> None:
    X, y = data()
    model = PrivateRuleListClassifier(random_state=3).fit(X, y)
    clean = gl.sanitise(model)
    assert clean.random_state is None
    assert isinstance(gl.read(clean).counts, Noisy)
    assert np.array_equal(clean.predict_proba(X), model.predict_proba(X))


def test_at_the_end_of_a_pipeline() -> None:
    X, y = data()
    pipe = make_pipeline(FunctionTransformer(), GreedyRuleListClassifier()).fit(X, y)
    assert np.array_equal(gl.sanitise(pipe).predict(X), pipe.predict(X))


def test_negative_counts_that_are_no_mark_are_refused() -> None:
    X, y = data()
    model = GreedyRuleListClassifier().fit(X, y)
    model.counts_ = model.counts_.copy()
    model.counts_[0, 0] = -1
    with pytest.raises(gl.GlassleakError):
        gl.read(model)
