"""``glassleak train``: a private rule list from a table, its account, its curve, its check."""

import json

import numpy as np
import pandas as pd
import pytest

import glassleak as gl
from glassleak.cli import main
from glassleak.learners.private import _tools
from glassleak.learners.private._exact import discrete_laplace
from glassleak.models import Noisy


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (600, 4)), columns=["a", "b", "c", "d"])
    frame["age"] = rng.integers(18, 90, 600)
    frame["income"] = np.where(frame["a"] & frame["b"], "high", "low")
    path = tmp_path / "people.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture
def schema(tmp_path):
    path = tmp_path / "schema.toml"
    attributes = [gl.Binary(name) for name in "abcd"]
    gl.Schema([*attributes, gl.Ordinal("age", low=0, high=120)]).to_toml(path)
    return path


def test_model_is_written_and_can_be_read_back(table, schema, tmp_path, capsys):
    model = tmp_path / "model.json"
    assert main(["train", str(table), "--target", "income", "--schema", str(schema),
                 "--epsilon", "20", "-o", str(model)]) == 0  # fmt: skip
    text = capsys.readouterr().out
    assert "ε = 20" in text
    assert "counts of all rules (discrete Laplace)" in text
    assert "the set of classes is public" in text
    read = gl.read(model)
    assert isinstance(read.counts, Noisy)
    assert read.counts.scale == pytest.approx(1 / (20 * 0.3))
    assert len(read.rules) == 5


def test_json(table, schema, capsys):
    main(["train", str(table), "--target", "income", "--schema", str(schema), "--json"])
    document = json.loads(capsys.readouterr().out)
    assert document["privacy"]["certified"] is True
    assert sum(line["epsilon"] for line in document["ledger"]) == pytest.approx(1.0)
    assert len(document["counts"]) == len(document["rules"]) == 5


def test_curve_rises_and_says_that_it_is_not_private(table, schema, capsys):
    arguments = ["train", str(table), "--target", "income", "--schema", str(schema),
                 "--curve", "0.01,100", "--runs", "4"]  # fmt: skip
    assert main(arguments) == 0
    assert "not private" in capsys.readouterr().out
    main([*arguments, "--json"])
    low, high = json.loads(capsys.readouterr().out)
    assert high["accuracy"] > 0.95 > low["accuracy"]
    assert high["worst"] <= high["accuracy"]


def test_verification_passes_and_can_fail(table, capsys, monkeypatch):
    frame = pd.read_csv(table).drop(columns="age")
    frame.to_csv(table, index=False)
    arguments = ["train", str(table), "--target", "income", "--length", "0", "--epsilon", "2",
                 "--verify", "--draws", "1500"]  # fmt: skip
    assert main(arguments) == 0
    assert "not refuted" in capsys.readouterr().out
    monkeypatch.setattr(_tools, "discrete_laplace", lambda scale, s: discrete_laplace(scale / 3, s))
    assert main(arguments) == 1
    assert ": refuted" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "kind", "words"),
    [
        (["--learner", "private-tree", "--depth", "2"], gl.Tree, "splits at depth 1"),
        (["--learner", "private-forest", "--trees", "2", "--depth", "1"], gl.Forest, "tree 2"),
        (
            ["--learner", "private-forest", "--delta", "1e-5", "--depth", "1"],
            gl.Forest,
            "δ = 1e-05",
        ),
        (["--learner", "greedy", "--support", "0.05"], gl.RuleList, "not private"),
        (["--learner", "optimal", "--length", "2"], gl.RuleList, "not private"),
    ],
)
def test_every_learner_writes_a_model(table, schema, tmp_path, capsys, more, kind, words):
    path = tmp_path / "model.json"
    arguments = ["train", str(table), "--target", "income", "--schema", str(schema), *more]
    assert main([*arguments, "-o", str(path)]) == 0
    assert words in capsys.readouterr().out
    assert isinstance(gl.read(path), kind)
    main([*arguments, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert (found["privacy"] is None) == ("private" not in more[1])


def test_declared_classes_are_not_taken_from_the_table(table, schema, capsys):
    main(["train", str(table), "--target", "income", "--schema", str(schema), "--json",
          "--classes", "low, high,none"])  # fmt: skip
    found = json.loads(capsys.readouterr().out)
    assert found["classes"] == ["high", "low", "none"]
    assert not any("set of classes" in line for line in found["privacy"]["assumptions"])


def test_self_test_catches_every_broken_learner(table, schema, capsys):
    arguments = ["train", str(table), "--target", "income", "--schema", str(schema), "--length",
                 "1", "--width", "1", "--self-test", "--draws", "1500"]  # fmt: skip
    assert main(arguments) == 0
    text = capsys.readouterr().out
    assert text.count(": caught") == 6
    # Too few draws to catch anything is said, and is not a success.
    assert main([*arguments[:-1], "8"]) == 1
    assert "not caught" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--target", "income", "--learner", "greedy", "--epsilon", "1"], "no such thing"),
        (["--target", "income", "--learner", "greedy", "--verify"], "no such thing"),
        (["--target", "income", "--depth", "2"], "--depth"),
        (["--target", "income", "--learner", "private-tree", "--trees", "2"], "--trees"),
        (["--target", "a", "--classes", "x,y"], "not a list of numbers"),
        (["--target", "income", "--classes", "low"], "not declared"),
        (["--target", "nothing"], "no column 'nothing'"),
        (["--target", "income", "--epsilon", "-1"], "epsilon must be positive"),
        (["--target", "income", "--curve", "1,x"], "not a list of numbers"),
        (["--target", "income", "--curve", "1", "--runs", "1"], "runs must be at least 2"),
        (["--target", "income", "-o", "/no/such/folder/model.json"], "no such folder"),
    ],
)
def test_wrong_use_is_one_line(table, more, words, capsys):
    assert main(["train", str(table), *more]) == 2
    message = capsys.readouterr().err
    assert words in message
    assert "Traceback" not in message


def test_text_in_a_column_is_refused_with_its_name(table, capsys):
    frame = pd.read_csv(table).assign(town="Ulm")
    frame.to_csv(table, index=False)
    assert main(["train", str(table), "--target", "income"]) == 2
    assert "town" in capsys.readouterr().err
