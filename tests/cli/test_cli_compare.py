"""``glassleak compare``: models and records, exit codes, and predictions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.tree import DecisionTreeClassifier

import glassleak as gl
from glassleak.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compare")
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(0, 2, (300, 12)), columns=list("abcdefghijkl"))
    target = rng.integers(0, 2, 300)
    table.assign(y=target).to_csv(folder / "people.csv", index=False)
    deep = DecisionTreeClassifier(random_state=0).fit(table, target)
    large = DecisionTreeClassifier(max_depth=2, min_samples_leaf=40).fit(table, target)
    skops.io.dump(deep, folder / "deep.skops")
    skops.io.dump(large, folder / "large.skops")
    skops.io.dump(gl.sanitise(deep), folder / "clean.skops")
    narrow = DecisionTreeClassifier().fit(table[["a", "b"]], target)
    skops.io.dump(narrow, folder / "narrow.skops")
    gl.audit(folder / "deep.skops").to_json(folder / "deep.json")
    (folder / "model.json").write_text(gl.read(folder / "large.skops").to_json())
    return folder


def run(*arguments: Any) -> int:
    return main(["compare", *map(str, arguments)])


@pytest.mark.parametrize(
    ("one", "other", "code"),
    [
        ("deep.skops", "clean.skops", 0),
        ("deep.skops", "large.skops", 0),
        ("large.skops", "deep.skops", 1),
        ("deep.json", "clean.skops", 0),
        ("clean.skops", "deep.json", 1),
        ("deep.json", "deep.json", 0),
        ("deep.skops", "model.json", 0),
        ("deep.skops", "nowhere.skops", 2),
    ],
)
def test_exit_codes(folder: Path, one: str, other: str, code: int) -> None:
    assert run(folder / one, folder / other) == code


def test_predictions_are_compared(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--data", folder / "people.csv", "--json")
    run(folder / "deep.skops", folder / "clean.skops", *arguments)
    found = json.loads(capsys.readouterr().out)
    assert found["predictions"]["identical"] is True
    assert found["predictions"]["rows"] == 300
    assert found["worse"] is False
    run(folder / "deep.skops", folder / "large.skops", *arguments)
    found = json.loads(capsys.readouterr().out)
    assert found["predictions"]["identical"] is False
    assert found["predictions"]["different_rows"] > 0


@pytest.mark.parametrize("other", ["deep.json", "narrow.skops"])
def test_why_predictions_were_not_compared(
    folder: Path, other: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run(folder / "deep.skops", folder / other)
    assert "predictions: not compared" in capsys.readouterr().out


def test_the_terminal_says_what_is_gone_and_new(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(folder / "deep.skops", folder / "clean.skops")
    said = capsys.readouterr().out
    for words in ("gone", "new", "verdict", "not worse", "identical"):
        assert words in said


def test_records_made_in_different_ways_are_noted(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = gl.Policy(min_people=3)
    gl.audit(folder / "deep.skops", policy=policy).to_json(tmp_path / "lax.json")
    run(folder / "deep.json", tmp_path / "lax.json")
    assert "different policies" in capsys.readouterr().out


def test_a_broken_record_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text((folder / "deep.json").read_text()[:900])
    assert run(folder / "deep.json", tmp_path / "broken.json") == 2
