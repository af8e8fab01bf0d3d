"""The command and the audit say how far numbers are known."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

import glassleak as gl
from glassleak.cli import main

SCHEMA = gl.Schema([gl.Ordinal("age", 18, 60), gl.Ordinal("grade", 1, 30)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("numbers")
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(18, 61, 25), "grade": rng.integers(1, 31, 25)})
    y = (X["age"] + X["grade"] + rng.normal(0, 8, 25) > 55).astype(int)
    forest = RandomForestClassifier(60, bootstrap=False, random_state=0).fit(X, y)
    gl.read(forest).to_json(folder / "model.json")
    X.to_csv(folder / "people.csv", index=False)
    SCHEMA.to_toml(folder / "schema.toml")
    return folder


def test_reconstruct_prints_and_records_the_shares(folder, capsys):
    arguments = ["reconstruct", str(folder / "model.json"), "--schema", str(folder / "schema.toml"),
                 "--truth", str(folder / "people.csv"), "--budget", "10"]  # fmt: skip
    assert main(arguments) == 0
    shown = capsys.readouterr().out
    assert "of the numbers are proved to the last digit" in shown
    assert "right to the last digit:" in shown
    assert main([*arguments, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["values"]["numbers"] == 50
    assert 0 < record["values"]["share_exact"] <= record["share_of_numbers_right"]
    assert record["values"]["share_exact"] <= record["values"]["share_pinned"]
    assert record["share_of_values_right"] == record["share_of_numbers_right"]


def test_the_audit_mentions_them(folder):
    data = pd.read_csv(folder / "people.csv")
    report = gl.audit(folder / "model.json", schema=SCHEMA, data=data, budget_seconds=15)
    finding = next(f for f in report.findings if f.id == "reconstruction.rows")
    assert "proved to the last digit" in finding.detail
    assert "of the numbers are right" in finding.detail
    assert finding.evidence["numbers"] == 50
    assert 0 < finding.evidence["share_of_numbers_proved"] <= 1
    right = finding.evidence["share_of_numbers_right"]
    assert finding.evidence["share_of_numbers_proved"] <= right <= 1
