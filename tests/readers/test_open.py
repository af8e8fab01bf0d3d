"""Opening whatever holds a model."""

from __future__ import annotations

import hashlib
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skops.io
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import glassleak as gl
from glassleak.errors import (
    MalformedModelError,
    ModelError,
    ModelTooLargeError,
    UnsupportedModelError,
    UntrustedFileError,
)
from glassleak.readers import open_model

DATA = np.random.RandomState(0).randint(0, 5, (60, 3))
LABELS = np.random.RandomState(1).randint(0, 2, 60)


@pytest.fixture(scope="module")
def forest() -> RandomForestClassifier:
    return RandomForestClassifier(3, random_state=0).fit(DATA, LABELS)


@pytest.fixture
def skops_file(forest: Any, tmp_path: Path) -> Path:
    path = tmp_path / "forest.skops"
    skops.io.dump(forest, path)
    return path


def test_every_container_gives_the_same_model(
    forest: Any, skops_file: Path, tmp_path: Path
) -> None:
    model = gl.read(forest)
    lists, packed = tmp_path / "lists.json", tmp_path / "packed.json"
    model.to_json(lists)
    model.to_json(packed, packed=True)
    pickled = tmp_path / "forest.pkl"
    pickled.write_bytes(pickle.dumps(forest))
    sources = [model, skops_file, str(skops_file), lists, packed, lists.read_text()]
    for source in (*sources, json.loads(packed.read_text())):
        assert gl.read(source) == model
    assert gl.read(pickled, trust="sandbox") == model


def test_a_file_is_known_by_its_bytes(skops_file: Path) -> None:
    opened = open_model(skops_file)
    content = skops_file.read_bytes()
    assert opened.sha256 == hashlib.sha256(content).hexdigest()
    assert opened.n_bytes == len(content)
    assert opened.name == "forest.skops"
    assert opened.container == "skops"
    assert opened.scanned
    assert opened.protection == ()
    renamed = skops_file.rename(skops_file.with_name("model.json"))
    assert open_model(renamed).model == opened.model


def test_an_object_has_no_bytes(forest: Any) -> None:
    opened = open_model(forest)
    assert (opened.sha256, opened.n_bytes) == (None, None)
    assert opened.container == "estimator"
    assert opened.name == "RandomForestClassifier"
    assert opened.scanned


def test_a_description_alone_was_not_scanned(forest: Any) -> None:
    model = gl.read(forest)
    for source in (model, model.to_json(), json.loads(model.to_json())):
        opened = open_model(source)
        assert not opened.scanned
        assert opened.artefacts == ()


def test_pickles_are_opened_only_on_request(forest: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.skops"
    path.write_bytes(pickle.dumps(forest))
    with pytest.raises(UntrustedFileError, match="sandbox"):
        gl.read(path)
    opened = open_model(path, trust="sandbox")
    assert opened.container == "pickle"
    assert "separate process" in opened.protection
    assert opened.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_trust_is_one_of_two_words(forest: Any) -> None:
    with pytest.raises(ValueError, match="trust must be"):
        gl.read(forest, trust="yes")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("absent.skops", "no such file"),
        ("", "not a file"),
        ("a" * 5000, "no such file"),
        ("nul\0byte", "no such file"),
    ],
)
def test_what_is_no_file(name: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(MalformedModelError, match=words):
        gl.read(str(tmp_path / name))


def test_files_of_other_kinds_have_a_problem_and_no_model(tmp_path: Path) -> None:
    boosted = tmp_path / "boosted.skops"
    skops.io.dump(HistGradientBoostingClassifier(max_iter=2).fit(DATA, LABELS), boosted)
    strange = {
        "image.png": b"\x89PNG\r\n\x1a\n\x00",
        "letter.txt": b"Dear Sir or Madam",
        "other.json": b'{"weights": [1, 2]}',
        "list.json": b"[1, 2, 3]",
    }
    paths = [boosted]
    for name, content in strange.items():
        (tmp_path / name).write_bytes(content)
        paths.append(tmp_path / name)
    for path in paths:
        opened = open_model(path)
        assert opened.model is None
        assert isinstance(opened.problem, UnsupportedModelError)
        assert opened.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
        with pytest.raises(UnsupportedModelError):
            gl.read(path)
    assert open_model({"weights": [1]}).problem is not None


def _broken(folder: Path, forest: Any) -> list[Path]:
    """Damaged files of every kind, whose errors arise in different corners of the readers."""
    skops.io.dump(forest, folder / "whole.skops")
    contents = {
        "cut.pkl": pickle.dumps(forest)[:400],
        "cut.skops": (folder / "whole.skops").read_bytes()[:3000],
        "cut.json": gl.read(forest).to_json().encode()[:300],
        "cut.txt": b"tree\nversion=v4\nnum_class=1\nmax_feature_idx=1\nfeature_names=a b\n",
        "other.json": b'{"weights": [1, 2]}',
        "tree": b"tree\nversion=v4\nnum_class=x\n",
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return [folder / name for name in contents]


def test_errors_name_the_file_once(forest: Any, tmp_path: Path) -> None:
    for path in _broken(tmp_path, forest):
        with pytest.raises(ModelError) as caught:
            gl.read(path, trust="sandbox")
        assert str(caught.value).startswith(path.name), str(caught.value)
        assert str(caught.value).count(f"{path.name}: ") == 1, str(caught.value)


def test_saved_rules_that_look_like_json(tmp_path: Path) -> None:
    path = tmp_path / "rules.txt"
    path.write_text("{age<=22,sex:Male}~1;not priors>3~0;default~1")
    model = gl.read(path)
    assert isinstance(model, gl.RuleList)
    assert len(model) == 3


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "model.txt"
    path.write_bytes(b"tree\nname=\xff\xfe\n")
    with pytest.raises(MalformedModelError, match="not text"):
        gl.read(path)


def test_files_over_the_limit_are_not_read(skops_file: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelTooLargeError, match="over 100"):
        gl.read(skops_file, limits=gl.Limits(file_bytes=100))
    text = tmp_path / "model.json"
    gl.read(DecisionTreeClassifier().fit(DATA, LABELS)).to_json(text)
    with pytest.raises(ModelTooLargeError, match="over 100"):
        gl.read(text, limits=gl.Limits(json_bytes=100))


def test_forests_over_the_limit_are_refused(forest: Any, skops_file: Path) -> None:
    for source in (forest, skops_file, gl.read(forest).to_json()):
        with pytest.raises(ModelTooLargeError, match="nodes"):
            gl.read(source, limits=gl.Limits(nodes=20))


def test_many_columns_times_many_trees_are_refused(forest: Any) -> None:
    document = json.loads(gl.read(forest).to_json())
    document["columns"] = [f"c{i}" for i in range(100_000)]
    document["trees"] = document["trees"][:1] * 2000
    with pytest.raises(ModelTooLargeError, match="columns"):
        gl.read(document)
