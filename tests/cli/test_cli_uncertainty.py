"""``glassleak uncertainty``: exit codes, JSON, files, and text that nobody can forge."""

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
from glassleak.models import Condition, Exact, Missing, Rule, RuleList


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("uncertainty")
    rng = np.random.RandomState(0)
    table = pd.DataFrame({"age": rng.randint(18, 40, 300), "sex": rng.randint(0, 2, 300)})
    target = np.where(rng.rand(300) < table["age"] / 40, "yes", "no")
    table.assign(town=rng.choice(["x", "y"], 300)).to_csv(folder / "people.csv", index=False)
    fitted = DecisionTreeClassifier(max_depth=3, random_state=0).fit(table, target)
    skops.io.dump(fitted, folder / "tree.skops")
    gl.Schema([gl.Ordinal("age", 18, 39), gl.Binary("sex")]).to_toml(folder / "schema.toml")
    money = table.assign(money=rng.rand(300))
    skops.io.dump(DecisionTreeClassifier(random_state=0).fit(money, target), folder / "money.skops")
    rules = RuleList(
        ("a\x1b[2J", "b"), ("no", "yes"),
        (Rule((Condition(0, low=0.5), Condition(1, low=0.5)), "yes"), Rule((), "no")),
        Exact(np.array([[1, 9], [20, 3]])),
    )  # fmt: skip
    rules.to_json(folder / "rules.json")
    RuleList(rules.columns, rules.classes, rules.rules, Missing("removed")).to_json(
        folder / "nothing.json"
    )
    return folder


def run(*arguments: Any) -> int:
    return main(["uncertainty", *[str(a) for a in arguments]])


def test_figures_as_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder / "tree.skops", "--schema", folder / "schema.toml", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    model = gl.read(folder / "tree.skops")
    u = gl.uncertainty(model, gl.Schema.from_toml(folder / "schema.toml"))
    assert document["bits"] == u.bits
    assert document["dist_g"] == u.dist_g
    assert document["profiles"] == "44"
    assert document["exact"] is True
    assert u.per_leaf is not None
    assert [leaf["profiles"] for leaf in document["per_leaf"]] == [
        str(p) for p in u.per_leaf["profiles"]
    ]
    assert {line["convention"] for line in document["conventions"]} == {
        "valid profiles", "independent columns",
    }  # fmt: skip


def test_what_people_see(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    schema, data = folder / "schema.toml", folder / "people.csv"
    assert run(folder / "tree.skops", "--schema", schema, "--data", data, "--by", "town") == 0
    shown = capsys.readouterr().out
    for words in ("300 people, exact", "bits per person", "Dist_G", "Who is exposed", "█",
                  "Most exposed", "town = x"):  # fmt: skip
        assert words in shown
    assert "inferred" not in shown


def test_names_from_strangers_cannot_clear_the_screen(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(folder / "rules.json") == 0
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "inferred" in shown


def test_files(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [folder / "tree.skops", "--schema", folder / "schema.toml", "--json"]
    assert run(*arguments, "--worlds", tmp_path / "w.csv", "--n", 3,
               "--dataset", tmp_path / "d.json", "--leaves", tmp_path / "l.csv") == 0  # fmt: skip
    worlds = pd.read_csv(tmp_path / "w.csv")
    assert worlds.groupby("possible_table").size().tolist() == [300] * 3
    dataset = gl.uncertainty(
        gl.read(folder / "tree.skops"), gl.Schema.from_toml(folder / "schema.toml")
    ).dataset
    assert dataset is not None
    for _, world in worlds.groupby("possible_table"):
        assert dataset.contains(world, world["class"])
    assert json.loads((tmp_path / "d.json").read_text(encoding="utf-8"))["rows"] == 300
    assert pd.read_csv(tmp_path / "l.csv")["rows"].sum() == 300
    assert run(*arguments, "--dataset", tmp_path / "d.csv") == 0
    assert len(pd.read_csv(tmp_path / "d.csv")) == len(dataset.lines)
    capsys.readouterr()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["money.skops"], 4, "resolution"),
        (["nothing.json"], 4, "removed"),
        (["missing.skops"], 2, "missing.skops"),
        (["rules.json", "--by", "a"], 2, "--data"),
        (["rules.json", "--budget", "0"], 2, "--budget"),
        (["rules.json", "--worlds", "w.csv", "--n", "0"], 2, "--n"),
        (["rules.json", "rules.json"], 2, "--schema"),
    ],
)
def test_what_cannot_be_answered(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    code: int,
    words: str,
) -> None:
    monkeypatch.chdir(folder)
    assert run(*arguments) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert words in " ".join(captured.err.split())
