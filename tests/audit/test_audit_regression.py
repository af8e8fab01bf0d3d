"""Audits of regression models: decided with reasons, never safe; what was not asked is listed."""

from __future__ import annotations

import json

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeRegressor

import glassleak as gl
from glassleak.cli import main

RNG = np.random.default_rng(0)
X = pd.DataFrame({"age": RNG.integers(18, 80, 50), "hours": RNG.integers(0, 60, 50)})
Y = 3.0 * X["hours"] + RNG.normal(0, 5, 50)
SCHEMA = gl.Schema([gl.Ordinal("age", 18, 100), gl.Ordinal("hours", 0, 80)])


def findings(audit: gl.Audit) -> dict[str, object]:
    return {finding.id: finding for finding in audit.findings}


@pytest.mark.parametrize(
    "estimator",
    [RandomForestRegressor(15, random_state=0), ExtraTreesRegressor(15, random_state=0)],
    ids=lambda e: type(e).__name__,
)
def test_targets_of_rows_are_a_reason_to_fix(estimator, tmp_path):
    skops.io.dump(estimator.fit(X, Y), tmp_path / "model.skops")
    audit = gl.audit(tmp_path / "model.skops", schema=SCHEMA, budget_seconds=20)
    assert audit.verdict == "fix"
    finding = findings(audit)["reconstruction.rows"]
    assert finding.effect == "fix"
    assert finding.evidence["targets_told"] == 50
    assert "min_samples_leaf" in finding.remedy
    assert any(reason.finding == "reconstruction.rows" for reason in audit.reasons)
    unanswered = {analysis.id for analysis, _ in audit.not_assessed}
    assert {"disclosure", "membership"} <= unanswered
    json.loads(audit.to_json())
    assert "min_samples_leaf" in audit.to_html()


@pytest.mark.parametrize(
    "estimator",
    [DecisionTreeRegressor(min_samples_leaf=15), GradientBoostingRegressor(n_estimators=2),
     RandomForestRegressor(3, min_samples_leaf=15, random_state=0),
     HistGradientBoostingRegressor(max_iter=2),
     lgb.LGBMRegressor(n_estimators=2, verbose=-1, n_jobs=1)],
    ids=lambda e: type(e).__name__,
)  # fmt: skip
def test_what_is_not_assessed_is_never_released(estimator):
    audit = gl.audit(estimator.fit(X, Y), schema=SCHEMA, budget_seconds=10)
    assert audit.verdict != "release"
    for analysis, result in audit.not_assessed:
        assert result.reason, analysis.id


def test_removing_counts_does_not_make_it_safe():
    bare = gl.sanitise(RandomForestRegressor(5, random_state=0).fit(X, Y))
    audit = gl.audit(bare, schema=SCHEMA, budget_seconds=10)
    assert audit.verdict != "release"
    asked = {analysis.id: result for analysis, result in audit.outcomes}
    assert asked["reconstruction"].status == "not assessed"
    assert "not for how many rows" in asked["reconstruction"].reason


def test_with_the_training_data(tmp_path):
    model = RandomForestRegressor(15, random_state=0).fit(X, Y)
    audit = gl.audit(model, schema=SCHEMA, data=X.assign(y=Y), target="y", budget_seconds=20)
    evidence = findings(audit)["reconstruction.rows"].evidence
    assert evidence["error"] < 0.1 * evidence["error_of_random_guessing"]
    assert all(result.status != "failed" for _, result in audit.outcomes)


def test_the_command_prints_what_was_found(tmp_path, capsys):
    skops.io.dump(RandomForestRegressor(15, random_state=0).fit(X, Y), tmp_path / "m.skops")
    SCHEMA.to_toml(tmp_path / "s.toml")
    arguments = ["reconstruct", str(tmp_path / "m.skops"), "--schema", str(tmp_path / "s.toml")]
    assert main([*arguments, "-o", str(tmp_path / "rows.csv")]) == 0
    assert "target" in capsys.readouterr().out
    rows = pd.read_csv(tmp_path / "rows.csv")
    assert np.allclose(rows["class"], Y)
    assert main([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["details"]["share_of_targets"] == 1
