"""``glassleak sanitise``: what it writes, what it shows, and what it will not open."""

from __future__ import annotations

import json
import pickle
import zipfile
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.feature_selection import SelectFromModel
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

import glassleak as gl
from glassleak.cli import main
from glassleak.errors import GlassleakError, MalformedModelError, UnsupportedModelError
from glassleak.sanitise import load_estimator


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    rng = np.random.RandomState(0)
    table = pd.DataFrame((rng.rand(200, 14) < 0.5).astype(int), columns=list("abcdefghijklmn"))
    target = np.where(rng.rand(200) < 0.2 + 0.6 * table["a"], "yes", "no")
    table.assign(target=target).to_csv(folder / "people.csv", index=False)
    models = {
        "extra": ExtraTreesClassifier(40, random_state=0),
        "tree": DecisionTreeClassifier(random_state=0),
        "forest": RandomForestClassifier(6, max_depth=3, random_state=0),
    }
    for name, model in models.items():
        skops.io.dump(model.fit(table, target), folder / f"{name}.skops")
    (folder / "model.pkl").write_bytes(pickle.dumps(models["tree"]))
    joblib.dump(models["tree"], folder / "model.joblib")
    linear = LogisticRegression().fit(table, target)
    skops.io.dump(linear, folder / "linear.skops")
    inside = make_pipeline(SelectFromModel(models["tree"]), DecisionTreeClassifier())
    skops.io.dump(inside.fit(table, target), folder / "inside.skops")
    return folder


def run(*arguments: Any) -> int:
    return main(["sanitise", *map(str, arguments)])


def opened(path: Path) -> Any:
    return skops.io.load(path, trusted=skops.io.get_untrusted_types(file=path))


@pytest.mark.parametrize("name", ["extra", "tree", "forest"])
def test_the_copy_opens_in_scikit_learn_and_predicts_the_same(
    folder: Path, tmp_path: Path, name: str
) -> None:
    assert run(folder / f"{name}.skops", "-o", tmp_path / "clean.skops") == 0
    people = pd.read_csv(folder / "people.csv").drop(columns="target")
    before, after = opened(folder / f"{name}.skops"), opened(tmp_path / "clean.skops")
    assert type(before) is type(after)
    assert np.array_equal(before.predict(people), after.predict(people))
    assert gl.read(tmp_path / "clean.skops").n_rows is None


def test_the_unconstrained_forest_is_refused_and_its_copy_is_not(
    folder: Path, tmp_path: Path
) -> None:
    run(folder / "extra.skops", "-o", tmp_path / "clean.skops")
    before = gl.audit(folder / "extra.skops", budget_seconds=20)
    after = gl.audit(tmp_path / "clean.skops", budget_seconds=20)
    assert before.verdict == "fix"
    assert after.verdict != before.verdict
    assert {r.finding for r in before.reasons} - {r.finding for r in after.reasons}


def test_probabilities_are_kept_when_asked_for(folder: Path, tmp_path: Path) -> None:
    run(folder / "forest.skops", "-o", tmp_path / "c.skops", "--keep", "predict_proba")
    people = pd.read_csv(folder / "people.csv").drop(columns="target")
    before, after = opened(folder / "forest.skops"), opened(tmp_path / "c.skops")
    assert np.array_equal(before.predict_proba(people), after.predict_proba(people))


def test_an_existing_file_is_replaced_only_by_force(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    there = tmp_path / "there.skops"
    there.write_text("mine")
    assert run(folder / "tree.skops", "-o", there) == 2
    assert "--force" in capsys.readouterr().err
    assert there.read_text() == "mine"
    assert run(folder / "tree.skops", "-o", there, "--force") == 0
    assert gl.read(there).n_rows is None
    assert [p.name for p in tmp_path.iterdir()] == ["there.skops"]


def test_the_model_itself_is_never_replaced(folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.skops"
    model.write_bytes((folder / "tree.skops").read_bytes())
    assert run(model, "-o", model, "--force") == 2
    assert gl.read(model).n_rows == 200


@pytest.mark.parametrize("name", ["model.pkl", "model.joblib"])
def test_pickles_are_explained(
    folder: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(folder / name, "-o", tmp_path / "c.skops") == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "runs code" in said
    assert "skops" in said
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["linear", "inside"])
def test_what_cannot_be_checked_is_not_built(folder: Path, name: str) -> None:
    with pytest.raises(UnsupportedModelError):
        load_estimator(folder / f"{name}.skops")


def test_classes_nobody_knows_are_not_built(tmp_path: Path) -> None:
    X, y = np.arange(8).reshape(-1, 1), np.arange(8) % 2
    pipe = make_pipeline(FunctionTransformer(__import__("os").system), DecisionTreeClassifier())
    pipe.steps[1][1].fit(X, y)
    skops.io.dump(pipe, tmp_path / "m.skops")
    with pytest.raises(UnsupportedModelError, match="does not know"):
        load_estimator(tmp_path / "m.skops")


def test_nodes_that_point_outside_are_refused_before_anything_is_built(
    folder: Path, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.skops"
    with zipfile.ZipFile(folder / "tree.skops") as old, zipfile.ZipFile(bad, "w") as new:
        for item in old.namelist():
            content = old.read(item)
            if item.endswith(".npy") and b"left_child" in content[:400]:
                nodes = np.lib.format.read_array(_stream(content))
                nodes["left_child"][0] = 2**40
                content = _npy(nodes)
            new.writestr(item, content)
    with pytest.raises(MalformedModelError):
        load_estimator(bad)


def _stream(content: bytes) -> Any:
    import io

    return io.BytesIO(content)


def _npy(array: np.ndarray) -> bytes:
    stream = _stream(b"")
    np.lib.format.write_array(stream, array)
    return stream.getvalue()


def test_damaged_files_are_refused(folder: Path, tmp_path: Path) -> None:
    content = (folder / "extra.skops").read_bytes()
    for cut in (0, 10, len(content) // 2):
        (tmp_path / "cut.skops").write_bytes(content[:cut])
        with pytest.raises(GlassleakError):
            load_estimator(tmp_path / "cut.skops")


def test_the_table_shows_predictions_and_audit(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(
        folder / "extra.skops", "--table", "--json", "--budget", 10,
        "--data", folder / "people.csv", "--target", "target", "--private", 1,
    )  # fmt: skip
    assert code == 0
    lines = {line["option"]: line for line in json.loads(capsys.readouterr().out)["options"]}
    as_it_is, labels = lines["as it is"], lines["what labels need"]
    assert as_it_is["verdict"] == "fix"
    assert as_it_is["certain_rows"] > 0
    assert labels["verdict"] != "fix"
    assert labels["certain_rows"] is None
    assert "identical" in labels["predictions"]
    assert labels["accuracy"] == as_it_is["accuracy"]
    assert labels["reasons"], "what remains is said"
    private = next(line for option, line in lines.items() if "privately" in option)
    assert private["accuracy_on"] != as_it_is["accuracy_on"]


def test_the_table_on_the_terminal(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder / "tree.skops", "--table", "--budget", 5) == 0
    said = capsys.readouterr().out
    assert "what labels need" in said
    assert "identical" in said
    assert "by construction" in said


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("-o", "x.json"),
        ("-o", "x.skops", "--private", "1"),
        ("--table", "--min-people", "0"),
        ("--table", "--budget", "-1"),
        ("--table", "--data", "nowhere.csv"),
        ("--table", "--seed", "-1"),
        ("-o", "x.skops", "--within-schema"),
    ],
    ids=str,
)
def test_wrong_use(
    folder: Path, arguments: tuple[str, ...], tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(folder / "tree.skops", *arguments) == 2
    assert not list(tmp_path.iterdir())


def test_a_table_without_the_models_columns(folder: Path, tmp_path: Path) -> None:
    pd.DataFrame({"z": [1, 2]}).to_csv(tmp_path / "other.csv", index=False)
    assert run(folder / "tree.skops", "--table", "--data", tmp_path / "other.csv") == 2


def test_tables_the_model_cannot_read(folder: Path, tmp_path: Path) -> None:
    people = pd.read_csv(folder / "people.csv")
    people.assign(a="text").to_csv(tmp_path / "text.csv", index=False)
    assert run(folder / "tree.skops", "--table", "--data", tmp_path / "text.csv") == 2
    people.assign(target=7).to_csv(tmp_path / "other.csv", index=False)
    assert (
        run(folder / "tree.skops", "--table", "--data", tmp_path / "other.csv", "--target",
            "target") == 2
    )  # fmt: skip


def test_within_a_schema(folder: Path, tmp_path: Path) -> None:
    people = pd.read_csv(folder / "people.csv").drop(columns="target")
    gl.Schema([gl.Binary(c) for c in people.columns]).to_toml(tmp_path / "schema.toml")
    target = tmp_path / "clean.skops"
    code = run(
        folder / "extra.skops", "-o", target, "--within-schema",
        "--schema", tmp_path / "schema.toml",
    )  # fmt: skip
    assert code == 0
    before, after = opened(folder / "extra.skops"), opened(target)
    assert np.array_equal(before.predict(people), after.predict(people))


def test_pipelines(folder: Path, tmp_path: Path) -> None:
    people = pd.read_csv(folder / "people.csv")
    model = make_pipeline(SimpleImputer(), RandomForestClassifier(5, random_state=0))
    model.fit(people.drop(columns="target"), people["target"])
    skops.io.dump(model, tmp_path / "pipe.skops")
    clean = tmp_path / "clean.skops"
    data = ("--data", folder / "people.csv", "--target", "target")
    assert run(tmp_path / "pipe.skops", "-o", clean, "--table", "--budget", 2, *data) == 0
    table = people.drop(columns="target")
    assert np.array_equal(opened(clean).predict(table), model.predict(table))
    assert opened(clean)[-1].random_state is None


def test_retrained_privately(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "private.skops"
    code = run(
        folder / "tree.skops", "-o", target, "--private", 2,
        "--data", folder / "people.csv", "--target", "target",
    )  # fmt: skip
    assert code == 0
    assert gl.read(target).counts.scale > 0
