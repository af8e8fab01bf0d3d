"""Models of other libraries lose the rows they retain, and still predict."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import glassleak as gl
from glassleak.errors import SanitiseError, UnsupportedModelError
from glassleak.sanitise import Options, sanitised


def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (120, 6))
    return X, ((X[:, 0] & X[:, 1]) ^ (rng.random(120) < 0.1)).astype(int)


def figs() -> Any:
    imodels = pytest.importorskip("imodels")
    return imodels.FIGSClassifier(max_rules=4)


def skope() -> Any:
    imodels = pytest.importorskip("imodels")
    return imodels.SkopeRulesClassifier(random_state=0)


def streed() -> Any:
    return pytest.importorskip("pystreed").STreeDClassifier(max_depth=2)


def grave(model: Any) -> list[str]:
    found = gl.audit(model, budget_seconds=2).opened.artefacts
    return [a.where for a in found if a.severity != "note"]


@pytest.mark.parametrize("make", [figs, skope, streed])
def test_retained_rows_are_taken_out(make: Any) -> None:
    X, y = data()
    model = make().fit(X, y)
    assert grave(model), "the case is there"
    found = sanitised(model, Options())
    assert not grave(found.estimator)
    assert found.removed
    assert "checked on" in found.same
    assert np.array_equal(model.predict(X), found.estimator.predict(X))
    assert grave(model), "the original is left alone"


def test_what_probabilities_are_computed_from_cannot_go() -> None:
    X, y = data()
    model = streed().fit(X, y)
    with pytest.raises(UnsupportedModelError, match="without what it retains"):
        gl.sanitise(model, keep=("predict", "predict_proba"))


def test_nothing_else_can_be_asked_for() -> None:
    X, y = data()
    with pytest.raises(SanitiseError):
        gl.sanitise(figs().fit(X, y), min_people=5)
