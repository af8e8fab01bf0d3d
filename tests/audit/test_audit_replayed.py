"""Bagged forests in the audit: with their seeds every row is found, and the seeds are named."""

from __future__ import annotations

from sklearn.ensemble import RandomForestClassifier

import glassleak as gl
from glassleak import datasets


def rows_finding(forest, compas, seconds: float):
    result = gl.audit(forest, schema=compas.schema, budget_seconds=seconds)
    return next(f for f in result.findings if f.id == "reconstruction.rows")


def test_stored_seeds_are_named_as_the_reason_and_their_absence_shows(ask_only):
    ask_only("reconstruction")
    compas = datasets.load("compas", variant="binary")
    X, y = compas.data.head(100), compas.target.head(100)
    forest = RandomForestClassifier(100, random_state=0).fit(X, y)
    found = rows_finding(forest, compas, 60)
    assert found.effect == "fix"
    assert "stored seeds" in found.title
    assert found.remedy.startswith("Remove the seeds")
    assert found.evidence["rows_at_their_own_position"] is True
    assert "seeds" in found.evidence["draws"]
    forest.random_state = None
    for tree in forest.estimators_:
        tree.random_state = None
    without = rows_finding(forest, compas, 2)
    assert without.evidence["rows_at_their_own_position"] is False
    assert "seeds" not in without.title
