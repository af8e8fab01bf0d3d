"""Profiles that labels alone prove: always true, and what they assume is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import glassleak as gl
from glassleak.errors import InconsistentModelError, MalformedModelError, UnsupportedModelError
from glassleak.models import Forest
from glassleak.reconstruction import presence

COLUMNS = tuple("abcdefghij")
SCHEMA = gl.Schema([gl.Binary(c) for c in COLUMNS])


def people(seed: int, n: int = 60, n_classes: int = 2) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.integers(0, 2, (n, len(COLUMNS))), columns=list(COLUMNS))
    return table, rng.integers(0, n_classes, n)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n_classes", [2, 3])
def test_what_is_certain_is_true(seed: int, n_classes: int) -> None:
    table, target = people(seed, n_classes=n_classes)
    model = ExtraTreesClassifier(40, random_state=seed).fit(table, target)
    found = presence(gl.read(gl.sanitise(model)), SCHEMA)
    real = {tuple(row) for row in np.column_stack([table, target]).astype(float).tolist()}
    said = np.column_stack([found.table, found.labels]).tolist()
    assert found.certain == len(said) == len({tuple(s) for s in said})
    assert found.certain > 0
    assert all(tuple(row) in real for row in said)
    assert found.possible is not None
    assert len(real) <= 2 * found.possible
    assert found.possible < 2 ** len(COLUMNS)


def test_every_real_profile_stays_possible() -> None:
    """Brute force: the profiles that no tree excludes are those that are counted."""
    table, target = people(3)
    model = ExtraTreesClassifier(15, random_state=0).fit(table, target)
    every = np.array(np.meshgrid(*[[0, 1]] * len(COLUMNS))).reshape(len(COLUMNS), -1).T
    shares = np.stack([t.predict_proba(every.astype(float)) for t in model.estimators_])
    possible = (shares > 0).all(axis=0).any(axis=1)
    assert presence(gl.read(gl.sanitise(model)), SCHEMA).possible == possible.sum()


def test_models_it_says_nothing_about() -> None:
    table, target = people(1)
    bagged = gl.read(gl.sanitise(RandomForestClassifier(5).fit(table, target)))
    with pytest.raises(UnsupportedModelError):
        presence(bagged, SCHEMA)
    counted = gl.read(ExtraTreesClassifier(5).fit(table, target))
    with pytest.raises(UnsupportedModelError):
        presence(counted, SCHEMA)
    with pytest.raises(UnsupportedModelError):
        presence(gl.read(gl.sanitise(DecisionTreeClassifier().fit(table, target))), SCHEMA)


def test_the_audit_says_what_labels_prove() -> None:
    table, target = people(2)
    clean = gl.sanitise(ExtraTreesClassifier(40, random_state=0).fit(table, target))
    outcome = gl.audit(clean, schema=SCHEMA, budget_seconds=20)
    finding = next(f for f in outcome.findings if f.id == "presence.labels")
    assert finding.effect == "refer"
    assert finding.evidence["certain"] > 0
    analysis = next(r for a, r in outcome.outcomes if a.id == "presence")
    assert any("as trained" in text or "after training" in text for text in analysis.assumptions)
    assert analysis.exhibits[0].personal


def shares_of(model: Any) -> np.ndarray:
    return np.array(model.trees[0].shares)


def test_shares_survive_json_and_must_make_sense() -> None:
    from dataclasses import replace

    table, target = people(2)
    model = gl.read(gl.sanitise(ExtraTreesClassifier(3, random_state=0).fit(table, target)))
    assert isinstance(model, Forest)
    for packed in (False, True):
        assert gl.read(model.to_json(packed=packed)) == model
    tree, shares = model.trees[0], shares_of(model)
    leaf = int(tree.leaves[0])
    for value in (2.0, np.nan, -1.0):
        wrong = shares.copy()
        wrong[leaf, 0] = value
        with pytest.raises(InconsistentModelError, match="shares"):
            replace(tree, shares=wrong)
    inner = shares.copy()
    inner[0] = 0.5
    with pytest.raises(InconsistentModelError, match="no leaf"):
        replace(tree, shares=inner)
    with pytest.raises(MalformedModelError):
        replace(tree, shares=shares[:-1])
