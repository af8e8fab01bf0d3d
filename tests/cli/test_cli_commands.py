"""The command line: exit codes, what goes where, and help that helps."""

from __future__ import annotations

import json
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import glassleak as gl
from glassleak.audit import json_schema
from glassleak.cli import main
from glassleak.cli._main import _COMMANDS

COMMANDS = tuple(module.NAME for module in _COMMANDS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One model per outcome."""
    folder = tmp_path_factory.mktemp("models")
    rng = np.random.RandomState(0)
    table = pd.DataFrame({"age": rng.randint(18, 90, 2000), "sex": rng.randint(0, 2, 2000)})
    table["hours"] = rng.randint(1, 80, 2000)
    target = np.where(rng.rand(2000) < np.where(table["age"] > 50, 0.7, 0.3), "yes", "no")
    table.assign(target=target).to_csv(folder / "people.csv", index=False)
    large_leaves = DecisionTreeClassifier(min_samples_leaf=30, max_depth=2, random_state=0)
    skops.io.dump(large_leaves.fit(table, target), folder / "release.skops")
    forest = RandomForestClassifier(20, random_state=0).fit(table[:300], target[:300])
    skops.io.dump(forest, folder / "fix.skops")
    boosted = HistGradientBoostingClassifier(max_iter=3).fit(table, target)
    skops.io.dump(boosted, folder / "boosted.skops")
    linear = LogisticRegression(max_iter=500).fit(table, target)
    skops.io.dump(linear, folder / "linear.skops")
    (folder / "cut.skops").write_bytes((folder / "fix.skops").read_bytes()[:5000])
    (folder / "model.pkl").write_bytes(pickle.dumps(large_leaves))
    return folder


def run(*arguments: Any) -> int:
    return main([str(a) for a in arguments])


# ------------------------------------------------------------------------------------------- audit


@pytest.mark.parametrize(
    ("file", "code", "words"),
    [
        ("release.skops", 0, "RELEASE"),
        ("fix.skops", 1, "FIX"),
        ("boosted.skops", 1, "boosted model"),  # cannot be read, but holds training values
        ("linear.skops", 4, "NOT ASSESSED"),
    ],
)
def test_the_verdict_is_the_exit_code(
    file: str, code: int, words: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("audit", folder / file, "--budget", 5) == code
    out = capsys.readouterr().out
    assert words in out
    assert file in out


def test_refer_is_a_risk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rules.txt"
    path.write_text("if (a) then ({y=1})\nelse ({y=0})\n")
    assert run("audit", path, "--budget", 5) == 1
    assert "REFER" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("cut.skops", "damaged archive"),
        ("absent.skops", "absent.skops: no such file"),
        ("model.pkl", "--trust sandbox"),
    ],
)
def test_bad_input_is_one_line_and_two(
    file: str, words: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run("audit", folder / file)
    captured = capsys.readouterr()
    assert code == 2
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    assert words in captured.err
    assert len(captured.err.strip().splitlines()) == 1


def test_a_damaged_archive_is_bad_input(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = bytearray((folder / "fix.skops").read_bytes())
    content[len(content) // 2] ^= 0xFF
    path = tmp_path / "damaged.skops"
    path.write_bytes(content)
    assert run("audit", path) == 2
    assert "error:" in capsys.readouterr().err


def test_pickles_open_in_the_sandbox(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("audit", folder / "model.pkl", "--trust", "sandbox", "--budget", 5) == 0
    assert "separate process" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["audit"],
        ["audit", "x", "--min-people", "many"],
        ["audit", "x", "--trust", "yes"],
        ["audit", "x", "--bogus"],
        ["unknown"],
        [],
    ],
)
def test_wrong_use_is_two(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage:" in capsys.readouterr().err


def test_an_unknown_option_shows_the_usage_of_its_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["reconstruct", "x", "--bogus"])
    shown = capsys.readouterr().err
    assert shown.startswith("usage: glassleak reconstruct")
    assert "--bogus" in shown


@pytest.mark.parametrize("option", [["--budget", "0"], ["--budget", "inf"], ["--min-people", "0"]])
def test_wrong_values_are_two(
    option: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("audit", folder / "release.skops", *option) == 2
    assert "error:" in capsys.readouterr().err


def test_json_to_standard_output_is_only_json(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("audit", folder / "fix.skops", "--json", "-", "--budget", 5) == 1
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    jsonschema.Draft202012Validator(json_schema()).validate(document)
    assert document["verdict"]["decision"] == "fix"
    assert captured.out.isascii()


def test_json_to_a_file_beside_the_summary(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "report.json"
    assert run("audit", folder / "release.skops", "--json", report, "--budget", 5) == 0
    out = capsys.readouterr().out
    assert "RELEASE" in out
    assert f"full report: {report}" in out
    assert json.loads(report.read_text())["verdict"]["decision"] == "release"
    assert [p.name for p in tmp_path.iterdir()] == ["report.json"]


def test_a_report_that_cannot_be_written(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "absent" / "report.json"
    assert run("audit", folder / "release.skops", "--json", target, "--budget", 5) == 2
    assert "error:" in capsys.readouterr().err


def test_quiet_says_nothing(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "report.json"
    arguments = ("audit", folder / "fix.skops", "--quiet", "--json", report, "--budget", 5)
    assert run(*arguments) == 1
    assert capsys.readouterr().out == ""
    assert report.exists()


def test_the_policy_can_be_set(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--min-people", 3, "--allow-pure-leaves", "--allow-small-classes")
    run("audit", folder / "fix.skops", "--json", "-", "--budget", 5, "--seed", 9, *options)
    document = json.loads(capsys.readouterr().out)
    assert {t["name"]: t["value"] for t in document["policy"]} == gl.Policy().values | {
        "min_people": 3, "allow_pure_leaves": True, "allow_small_classes": True,
    }  # fmt: skip
    given = {t["name"] for t in document["policy"] if t["origin"] == "command line"}
    assert given == {"min_people", "allow_pure_leaves", "allow_small_classes"}
    assert document["settings"]["seed"] == 9


def test_the_json_schema_needs_no_model(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["audit", "--json-schema"])
    assert caught.value.code in (0, None)
    assert json.loads(capsys.readouterr().out) == json_schema()


# -------------------------------------------------------------------------------------------- help


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([command, "--help"])
    assert caught.value.code == 0
    out = capsys.readouterr().out
    assert "examples:" in out
    assert f"\n  glassleak {command}" in out


def test_every_command_is_listed_and_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    listed = capsys.readouterr().out
    assert "exit codes:" in listed
    assert {"audit", "convert", "schema", "datasets", "demo"} <= set(COMMANDS)
    for command in COMMANDS:
        assert re.search(rf"^ +{command}\s", listed, re.MULTILINE)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"glassleak {gl.__version__}\n"


# ----------------------------------------------------------------------------------- other commands


@pytest.mark.parametrize("packed", [False, True])
def test_convert_keeps_the_model(
    packed: bool, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "model.json"
    options = ["--packed"] if packed else []
    assert run("convert", folder / "fix.skops", "-o", target, *options) == 0
    assert f"wrote {target}: Forest" in capsys.readouterr().out
    assert gl.read(target) == gl.read(folder / "fix.skops")


def test_convert_to_standard_output(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("convert", folder / "release.skops") == 0
    assert gl.read(capsys.readouterr().out) == gl.read(folder / "release.skops")


def test_convert_refuses_what_it_cannot_read(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("convert", folder / "boosted.skops", "-o", tmp_path / "x.json") == 2
    assert "boosted model" in capsys.readouterr().err
    assert not (tmp_path / "x.json").exists()


def test_schema_of_a_table(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "schema.toml"
    assert run("schema", folder / "people.csv", "--target", "target", "-o", saved) == 0
    out = capsys.readouterr().out
    assert "valid profiles:" in out
    assert "guesses" in out
    assert gl.Schema.from_toml(saved).columns == ("age", "sex", "hours")
    assert run("schema", saved, "--check", folder / "people.csv", "--target", "target") == 0
    assert "0 of 2,000 rows match no profile" in capsys.readouterr().out


def test_schema_check_counts_impossible_rows(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "schema.toml"
    gl.Schema([gl.Binary("sex")]).to_toml(saved)
    table = tmp_path / "odd.csv"
    pd.DataFrame({"sex": [0, 1, 2, 7]}).to_csv(table, index=False)
    assert run("schema", saved, "--check", table, "--json") == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["invalid_rows"] == 2
    assert summary["profiles"] == "2"


def test_schema_of_a_model(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("schema", folder / "fix.skops", "--json") == 0
    summary = json.loads(capsys.readouterr().out)
    columns = [c for a in summary["attributes"] for c in a["columns"]]
    assert sorted(columns) == ["age", "hours", "sex"]
    assert summary["guesses"]


def test_schema_with_more_profiles_than_python_writes_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "wide.toml"
    gl.Schema([gl.Ordinal(f"o{i}", 0, 10**10 - 1) for i in range(450)]).to_toml(saved)
    assert run("schema", saved, "--json") == 0
    digits = json.loads(capsys.readouterr().out)["profiles"]
    assert digits == "1" + "0" * 4500
    assert run("schema", saved) == 0
    out = capsys.readouterr().out
    assert "valid profiles: about 10^4500.0" in out
    assert "and 250 more" in out


@pytest.mark.parametrize(
    ("name", "content"),
    [("absent.csv", None), ("empty.csv", b""), ("nul.csv", b"\xff\xfe\x00")],
)
def test_tables_that_are_none(
    name: str, content: bytes | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    assert run("schema", tmp_path / name) == 2
    assert name in capsys.readouterr().err


def test_an_absent_target_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("schema", folder / "people.csv", "--target", "nothing") == 2
    assert "no column 'nothing'" in capsys.readouterr().err


def test_datasets_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("datasets") == 0
    out = capsys.readouterr().out
    for name in ("adult", "compas", "german", "default_credit"):
        assert name in out
    assert run("datasets", "--json") == 0
    assert {entry["name"] for entry in json.loads(capsys.readouterr().out)} >= {"adult", "compas"}


def test_a_dataset_is_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "adult.csv"
    assert run("datasets", "adult", "--variant", "binary", "-o", table, "--json") == 0
    summary = json.loads(capsys.readouterr().out)
    frame = pd.read_csv(table)
    assert summary["rows"] == len(frame) == 48_842
    assert summary["columns"] == frame.shape[1] - 1


def test_an_unknown_dataset_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("datasets", "titanic") == 2
    assert "titanic" in capsys.readouterr().err


def test_the_demo_leaves_a_model_and_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "demo"
    assert run("demo", "--rows", 300, "--output", target) == 0
    out = capsys.readouterr().out
    assert "300 people" in out
    assert "FIX" in out
    for name in ("RandomForestClassifier", "ExtraTreesClassifier", "DecisionTreeClassifier"):
        report = json.loads((target / f"{name}.audit.json").read_text())
        assert report["model"]["rows"] == 300
        assert report["model"]["estimator"] == name
        assert gl.read(target / f"{name}.skops").n_rows == 300
    assert "proved" in out


@pytest.mark.parametrize("rows", [0, -5, 1])
def test_a_demo_without_people(rows: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("demo", "--rows", rows) == 2
    assert "--rows" in capsys.readouterr().err


def test_as_a_program_in_a_poor_terminal(folder: Path) -> None:
    """ASCII only: the frame and the arrows cannot be encoded, the report is shown all the same."""
    result = subprocess.run(
        [sys.executable, "-c", "import sys; from glassleak.cli import main; sys.exit(main())",
         "audit", str(folder / "fix.skops"), "--budget", "5"],
        capture_output=True, check=False, timeout=120,
        env={"PYTHONIOENCODING": "ascii", "PATH": "", "PYTHONPATH": ":".join(sys.path)},
    )  # fmt: skip
    assert result.returncode == 1, result.stderr
    assert b"FIX" in result.stdout
    assert result.stdout.isascii()
