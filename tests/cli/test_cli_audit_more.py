"""``glassleak audit`` with policies, data, folders, and for other tools."""

from __future__ import annotations

import json
import tomllib
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
    folder = tmp_path_factory.mktemp("models")
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(0, 30, (800, 3)), columns=["a", "b", "c"])
    target = np.where(rng.random(800) < np.where(table["a"] > 14, 0.7, 0.3), "yes", "no")
    people = table.assign(y=target)
    people[:400].to_csv(folder / "train.csv", index=False)
    people[400:].to_csv(folder / "others.csv", index=False)
    for name, settings in {
        "release": {"max_depth": 1},
        "fix": {},
    }.items():
        tree = DecisionTreeClassifier(random_state=0, **settings).fit(table[:400], target[:400])
        skops.io.dump(tree, folder / f"{name}.skops")
    return folder


def run(*arguments: Any) -> int:
    return main([str(a) for a in arguments])


def record(capsys: pytest.CaptureFixture[str], *arguments: Any) -> Any:
    run("audit", *arguments, "--json", "-", "--budget", 5)
    return json.loads(capsys.readouterr().out)


# ------------------------------------------------------------------------------------------ policy


def test_a_policy_file_and_what_overrides_it(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "ours.toml"
    path.write_text('extends = "sacro"\nname = "ours"\nmin_people = 3\nallow_pure_leaves = true')
    found = record(capsys, folder / "fix.skops", "--policy", path, "--min-people", 2)
    lines = {line["name"]: line for line in found["policy"]}
    assert (lines["min_people"]["value"], lines["min_people"]["origin"]) == (2, "command line")
    assert lines["allow_pure_leaves"] | {"reason": ""} == {
        "name": "allow_pure_leaves", "value": True, "default": False, "reason": "",
        "source": "set by policy 'ours'", "origin": "ours",
    }  # fmt: skip
    assert lines["forests_need_degrees_of_freedom"]["origin"] == "sacro"
    assert found["settings"]["policy"] == "ours"


def test_the_policy_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        run("audit", "--policy", "sacro", "--min-people", 7, "--print-policy")
    assert caught.value.code in (0, None)
    printed = tomllib.loads(capsys.readouterr().out)
    assert printed["min_people"]["value"] == 7
    assert printed["forests_need_degrees_of_freedom"]["value"] is True
    assert all(set(v) == {"value", "reason", "source"} for v in printed.values() if
               isinstance(v, dict))  # fmt: skip


def test_a_policy_that_is_none(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("audit", folder / "fix.skops", "--policy", "nowhere.toml") == 2
    assert "no policy file" in capsys.readouterr().err
    with pytest.raises(SystemExit) as caught:
        run("audit", "--policy", "nowhere.toml", "--print-policy")
    assert caught.value.code == 2


# -------------------------------------------------------------------------------------------- data


def test_with_data_more_is_answered(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = ("--data", folder / "train.csv", "--holdout", folder / "others.csv", "--target", "y")
    found = record(capsys, folder / "fix.skops", *data, "--quasi-identifiers", "a, b")
    status = {a["id"]: a["status"] for a in found["analyses"]}
    assert status["membership"] == "done"
    assert status["disclosure"] in ("done", "partial")
    assert found["settings"]["quasi_identifiers"] == ["a", "b"]
    (disclosed,) = [a for a in found["analyses"] if a["id"] == "disclosure"]
    assert any("'c'" in text for text in disclosed["assumptions"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--data", "none.csv"], "no table at"),
        (["--holdout", "{others}"], "give both"),
        (["--data", "{train}", "--target", "z"], "no column 'z'"),
        (["--quasi-identifiers", "zip"], "no column 'zip'"),
        (["--data", "{empty}"], "has no rows"),
        (["--data", "{binary}"], "not a readable CSV"),
        (["--jobs", "2"], "--jobs is for folders"),
        (["--html"], "needs a file name"),
    ],
)
def test_what_is_wrong_is_one_line(
    options: list[str], words: str, folder: Path, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    (tmp_path / "empty.csv").write_text("a,b,c,y\n")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00\x01,\x00")
    places = {
        "train": folder / "train.csv", "others": folder / "others.csv",
        "empty": tmp_path / "empty.csv", "binary": tmp_path / "binary.csv",
    }  # fmt: skip
    given = [option.format(**places) for option in options]
    assert run("audit", folder / "release.skops", *given) == 2
    captured = capsys.readouterr()
    assert words in captured.err
    assert len(captured.err.strip().splitlines()) == 1


# ----------------------------------------------------------------------------------------- folders


def test_a_folder(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    options = ("--out", out, "--backend", "sequential", "--budget", 5)
    assert run("audit", folder, *options) == 1
    shown = capsys.readouterr().out
    assert "2 models: 1 fix, 1 release" in shown
    assert "2 files with other endings were not looked at" in shown
    summary = json.loads((out / "summary.json").read_text())
    assert summary["worst"] == "fix"
    assert run("audit", folder, *options, "--json", "-") == 1
    assert json.loads(capsys.readouterr().out)["models"] == summary["models"]


@pytest.mark.parametrize(
    ("file", "content", "code"),
    [("bad.skops", "PK\x03\x04 cut", 2), ("unknown.json", '{"no": "model"}', 4)],
)
def test_the_worst_outcome_is_the_exit_code(
    file: str,
    content: str,
    code: int,
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "release.skops").write_bytes((folder / "release.skops").read_bytes())
    (tmp_path / "in" / file).write_text(content)
    options = ("--out", tmp_path / "out", "--backend", "sequential", "--budget", 5)
    assert run("audit", tmp_path / "in", *options, "--quiet") == code
    assert capsys.readouterr().out == ""


def test_a_folder_takes_no_data(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("audit", folder, "--data", folder / "train.csv") == 2
    assert "--data is for one model" in capsys.readouterr().err
    assert run("audit", folder, "--html", "page.html") == 2
    assert "no file name for a folder" in capsys.readouterr().err


# ------------------------------------------------------------------------------------- other tools


def test_the_layout_of_sacro_ml(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "sacro.json"
    run("audit", folder / "fix.skops", "--sacro", path, "--quiet", "--budget", 5)
    found = json.loads(path.read_text())
    assert set(found) == {"log_id", "log_time", "metadata", "attack_experiment_logger"}
    metadata = found["metadata"]
    assert metadata["attack_name"] == "Structural Attack"
    assert metadata["target_model"] == "DecisionTreeClassifier"
    metrics = found["attack_experiment_logger"]["attack_instance_logger"]["instance_0"]
    assert metrics == metadata["global_metrics"]
    assert metrics["k_anonymity_risk"] is True
    assert metrics["class_disclosure_risk"] is True
    assert metrics["test_acc"] is None, "not measured, and no default in its place"
    tree = gl.read(folder / "fix.skops")
    splits = tree.n_nodes - tree.n_leaves  # type: ignore[union-attr]
    assert metrics["details"]["parameters"] == 2 * splits + tree.n_leaves  # type: ignore[union-attr]


def test_resumed(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = record(capsys, folder / "fix.skops", "--resume", tmp_path / "kept")
    assert first["settings"]["resumed"] == []
    again = record(capsys, folder / "fix.skops", "--resume", tmp_path / "kept")
    assert "reconstruction" in again["settings"]["resumed"]
    findings = [[a["findings"] for a in found["analyses"]] for found in (first, again)]
    assert findings[0] == findings[1]
