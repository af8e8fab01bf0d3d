"""``glassleak disclosure``: what it prints, writes and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier

import glassleak as gl
from glassleak.cli import main
from glassleak.learners import ID3Classifier


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("disclosure")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.integers(18, 40, 120), "sex": rng.integers(0, 2, 120)})
    income = np.where(rng.random(120) < 0.4, "high", "low")
    table.assign(income=income).to_csv(folder / "people.csv", index=False)
    table.to_csv(folder / "strangers.csv", index=False)
    table.iloc[:50].to_csv(folder / "some.csv", index=False)
    skops.io.dump(
        DecisionTreeClassifier(max_depth=4, random_state=0).fit(table, income),
        folder / "tree.skops",
    )
    skops.io.dump(
        GradientBoostingClassifier(n_estimators=2).fit(table, income), folder / "boosted.skops"
    )
    text = pd.DataFrame({"job": ["NA", "1", "2", "1"] * 5, "town": ["x", "y"] * 10})
    text.assign(income=(["low"] * 3 + ["high"]) * 5).to_csv(folder / "text.csv", index=False)
    tree = ID3Classifier(max_depth=1).fit(text, (["low"] * 3 + ["high"]) * 5)
    gl.read(tree).to_json(folder / "tree.json")
    return folder


def run(folder: Path, model: str, people: str, *more: object) -> int:
    return main(
        ["disclosure", str(folder / model), "--quasi-identifiers", str(folder / people),
         *map(str, more)]
    )  # fmt: skip


def test_what_people_read(folder, capsys):
    assert run(folder, "tree.skops", "people.csv", "--sensitive", "income", "--top", 2) == 0
    out = capsys.readouterr().out
    for words in ("120 people", "rightly", "income", "proved", "lower means more is disclosed",
                  "who split facts say most about"):  # fmt: skip
        assert words in out


def test_without_the_truth_nothing_is_said_about_it(folder, capsys):
    assert run(folder, "tree.skops", "strangers.csv") == 0
    out = capsys.readouterr().out
    assert "rightly" not in out
    assert "divergence" not in out


def test_json_is_the_same_as_python(folder, capsys):
    assert run(folder, "tree.skops", "people.csv", "--truth", "income", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    people = pd.read_csv(folder / "people.csv")
    d = gl.disclosure(gl.read(folder / "tree.skops"), people, truth="income")
    assert document["overall"]["d_overall"] == d.overall.d_overall
    assert document["certificate"]["kind"] == d.certificate.kind
    assert document["lower_divergence_means"] == "more disclosure"


def test_the_csv_has_every_line(folder, capsys, tmp_path):
    target = tmp_path / "out.csv"
    assert run(folder, "tree.skops", "people.csv", "--sensitive", "income", "--csv", target) == 0
    out, people = pd.read_csv(target), pd.read_csv(folder / "people.csv")
    pd.testing.assert_frame_equal(out[people.columns], people)
    np.testing.assert_allclose(out["P(high)"] + out["P(low)"], 1)
    assert (out["right"] == (out["most_likely"] == out["income"])).all()


@pytest.mark.parametrize("suffix", ["svg", "png"])
@pytest.mark.parametrize("people", ["people.csv", "strangers.csv"])
def test_the_figure_is_drawn_and_the_same_every_time(folder, tmp_path, suffix, people):
    pytest.importorskip("matplotlib")
    files = [tmp_path / f"{i}.{suffix}" for i in range(2)]
    for file in files:
        assert run(folder, "tree.skops", people, "--bounds", "leaves", "--plot", file) == 0
    assert files[0].read_bytes() == files[1].read_bytes()
    assert len(files[0].read_bytes()) > 5000


def test_text_stays_text(folder, capsys):
    """Levels "1" and "NA" of the tree are not the number 1 and a missing value."""
    assert run(folder, "tree.json", "text.csv", "--sensitive", "income") == 0
    assert "20 people" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("model", "people", "more", "code", "words"),
    [
        ("tree.skops", "some.csv", (), 2, "training set"),
        ("tree.skops", "nowhere.csv", (), 2, "no table"),
        ("tree.skops", "text.csv", (), 2, "no column"),
        ("tree.skops", "people.csv", ("--truth", "wealth"), 2, "no column"),
        ("tree.skops", "people.csv", ("--truth", "age"), 2, "no class"),
        ("tree.skops", "people.csv", ("--plot", "figure.gif"), 2, ".svg"),
        ("nowhere.skops", "people.csv", (), 2, "no such file"),
        ("boosted.skops", "people.csv", (), 4, "not assessed"),
    ],
)
def test_failures_are_one_line_and_a_code(folder, capsys, model, people, more, code, words):
    assert run(folder, model, people, *more) == code
    captured = capsys.readouterr()
    assert words in captured.err
    assert "Traceback" not in captured.err
    assert not captured.out
