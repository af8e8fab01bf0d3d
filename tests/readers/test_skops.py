"""Hostile .skops files: typed errors that name the place, and nothing from the file is run."""

from __future__ import annotations

import io
import json
import struct
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skops.io
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from skops_surgery import Skops, json_node

import glassleak as gl
from glassleak.errors import (
    InconsistentModelError,
    MalformedModelError,
    ModelError,
    ModelTooLargeError,
    UnsupportedModelError,
)
from glassleak.readers import open_model

RNG = np.random.RandomState(0)
DATA = RNG.randint(0, 6, (80, 3)).astype(float)
LABELS = RNG.choice(["no", "yes"], 80)


def dumped(estimator: Any, folder: Path) -> Path:
    path = folder / "model.skops"
    skops.io.dump(estimator.fit(DATA, LABELS), path)
    return path


@pytest.fixture(scope="module")
def tree_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tree")
    return dumped(DecisionTreeClassifier(max_depth=3, random_state=0), folder)


@pytest.fixture(scope="module")
def forest_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dumped(RandomForestClassifier(3, random_state=0), tmp_path_factory.mktemp("forest"))


@pytest.fixture(scope="module")
def bag_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    bag = BaggingClassifier(DecisionTreeClassifier(), 3, max_features=0.7, random_state=0)
    return dumped(bag, tmp_path_factory.mktemp("bag"))


def refused(
    parts: Skops, folder: Path, error: type[ModelError], place: str, words: str = "."
) -> None:
    """The changed file must fail with `error`, at `place`."""
    with pytest.raises(error, match=words) as caught:
        gl.read(parts.write(folder / "changed.skops"))
    assert place in str(caught.value)


# ------------------------------------------------------------------------------------- the archive


def test_unchanged_parts_give_the_same_model(tree_file: Path, tmp_path: Path) -> None:
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2):
        copy = Skops(tree_file).write(tmp_path / "copy.skops", method)
        assert gl.read(copy) == gl.read(tree_file)


def test_lzma_is_refused_by_name(tree_file: Path, tmp_path: Path) -> None:
    copy = Skops(tree_file).write(tmp_path / "copy.skops", zipfile.ZIP_LZMA)
    with pytest.raises(UnsupportedModelError, match=r"schema\.json.*does not unpack"):
        gl.read(copy)


def test_truncated_anywhere(forest_file: Path, tmp_path: Path) -> None:
    content = forest_file.read_bytes()
    path = tmp_path / "cut.skops"
    for size in [*range(0, 64, 7), *range(64, len(content), len(content) // 60)]:
        path.write_bytes(content[:size])
        with pytest.raises(ModelError):
            gl.read(path)


def test_one_flipped_byte_is_never_another_model(tree_file: Path, tmp_path: Path) -> None:
    """Members have checksums, so damage inside them cannot go unnoticed."""
    content, model = tree_file.read_bytes(), gl.read(tree_file)
    path = tmp_path / "flipped.skops"
    for at in range(0, len(content), len(content) // 150):
        path.write_bytes(content[:at] + bytes([content[at] ^ 0x41]) + content[at + 1 :])
        try:
            assert gl.read(path) == model
        except ModelError:
            continue


def test_bomb_by_declared_size(tree_file: Path, tmp_path: Path) -> None:
    parts = Skops(tree_file)
    parts.members["filler.npy"] = b"\0" * 30_000_000
    bomb = parts.write(tmp_path / "bomb.skops", zipfile.ZIP_DEFLATED)
    assert bomb.stat().st_size < 100_000
    with pytest.raises(ModelTooLargeError, match="unpacks to"):
        gl.read(bomb, limits=gl.Limits(unpacked_bytes=20_000_000))


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_bomb_that_lies_about_its_size(method: int, tree_file: Path, tmp_path: Path) -> None:
    parts = Skops(tree_file)
    name = parts.attribute("values")["file"]
    real = 50_000_000
    parts.members[name] = b"\0" * real
    content = parts.write(tmp_path / "bomb.skops", method).read_bytes()
    (tmp_path / "bomb.skops").write_bytes(
        content.replace(struct.pack("<L", real), struct.pack("<L", 100))
    )
    with pytest.raises(MalformedModelError, match="tree_"):
        gl.read(tmp_path / "bomb.skops", limits=gl.Limits(unpacked_bytes=5_000_000))


def test_description_that_would_fill_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "bomb.skops"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", "[" + "{}," * 5_000_000 + "{}]")
    assert path.stat().st_size < 100_000
    started = time.perf_counter()
    with pytest.raises(ModelTooLargeError, match=r"schema\.json"):
        gl.read(path, limits=gl.Limits(memory_bytes=10**9))
    assert time.perf_counter() - started < 5


def test_an_archive_of_something_else(tmp_path: Path) -> None:
    path = tmp_path / "thing.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "hello")
    opened = open_model(path)
    assert opened.model is None
    assert not opened.scanned
    with pytest.raises(UnsupportedModelError, match=r"without schema\.json"):
        gl.read(path)


def test_encrypted_member(tree_file: Path, tmp_path: Path) -> None:
    content = bytearray(tree_file.read_bytes())
    for mark, offset in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        at = content.find(mark)
        content[at + offset] |= 1
    path = tmp_path / "secret.skops"
    path.write_bytes(content)
    with pytest.raises(MalformedModelError, match="damaged archive"):
        gl.read(path)


def test_missing_member(tree_file: Path, tmp_path: Path) -> None:
    parts = Skops(tree_file)
    del parts.members[parts.attribute("nodes")["file"]]
    refused(parts, tmp_path, MalformedModelError, "model.tree_.nodes", "the archive lacks")


# --------------------------------------------------------------------------------- the description


@pytest.mark.parametrize("content", ["", "{", "[]", "3", '"x"', "null", "{}", '{"__loader__": 3}'])
def test_descriptions_that_are_none(content: str, tmp_path: Path) -> None:
    path = tmp_path / "model.skops"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("schema.json", content)
    with pytest.raises(MalformedModelError, match=r"schema\.json|model"):
        gl.read(path)


def test_cached_node_without_an_object(tree_file: Path, tmp_path: Path) -> None:
    parts = Skops(tree_file)
    parts.set("tree_", {"__loader__": "CachedNode", "__id__": 12345})
    refused(parts, tmp_path, MalformedModelError, "model.tree_", "not seen before")


def test_cached_node_of_its_own_parent(tree_file: Path, tmp_path: Path) -> None:
    parts = Skops(tree_file)
    parts.set("tree_", {"__loader__": "CachedNode", "__id__": parts.schema["__id__"]})
    refused(parts, tmp_path, MalformedModelError, "model.tree_", "not seen before")


def test_an_id_for_two_objects(tree_file: Path, tmp_path: Path) -> None:
    """skops would load the first it meets; which one that is depends on its version."""
    parts = Skops(tree_file)
    decoy = json_node(7) | {"__id__": parts.attribute("max_depth")["__id__"]}
    parts.set("min_samples_leaf", decoy)
    refused(parts, tmp_path, MalformedModelError, "schema.json", "two different objects")


def test_an_id_for_two_arrays(tree_file: Path, tmp_path: Path) -> None:
    parts = Skops(tree_file)
    values = parts.attribute("values")
    parts.members["other.npy"] = parts.members[values["file"]]
    twin = dict(values, file="other.npy")
    parts.add("twin", twin)
    assert gl.read(parts.write(tmp_path / "same.skops")) == gl.read(tree_file)
    changed = bytearray(parts.members["other.npy"])
    changed[-1] ^= 1
    parts.members["other.npy"] = bytes(changed)
    refused(parts, tmp_path, MalformedModelError, "schema.json", "two different objects")


def test_ids_must_be_numbers(tree_file: Path, tmp_path: Path) -> None:
    parts = Skops(tree_file)
    parts.attribute("max_depth")["__id__"] = [1]
    refused(parts, tmp_path, MalformedModelError, "schema.json", "id that is no number")


@pytest.mark.parametrize("depth", [150, 600, 5_000, 200_000])
def test_deep_nesting(depth: int, tree_file: Path, tmp_path: Path) -> None:
    parts = Skops(tree_file)
    parts.set("splitter", "HERE")
    opening = '{"__loader__":"ListNode","__class__":"list","__module__":"builtins","content":['
    text = json.dumps(parts.schema).replace('"HERE"', opening * depth + "]}" * depth)
    path = tmp_path / "deep.skops"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("schema.json", text)
        for name, content in parts.members.items():
            archive.writestr(name, content)
    if depth == 150:
        assert gl.read(path).n_rows == 80
        return
    with pytest.raises((ModelTooLargeError, MalformedModelError), match="nested too deeply"):
        gl.read(path)


@pytest.mark.parametrize(
    ("name", "node", "place"),
    [
        ("classes_", {"__loader__": "NdArrayNode", "type": "numpy"}, "model.classes_"),
        ("classes_", {"__loader__": "NdArrayNode", "type": "json"}, "model.classes_"),
        ("criterion", {"__loader__": "JsonNode", "content": "{"}, "model.criterion"),
        ("criterion", {"__loader__": "JsonNode", "content": 3}, "model.criterion"),
        ("criterion", {"__loader__": "ListNode", "content": {}}, "model.criterion"),
        ("criterion", {"__loader__": "DictNode", "content": []}, "model.criterion"),
        ("criterion", {"__loader__": "ObjectNode"}, "model.criterion"),
        ("criterion", {"__loader__": "TypeNode", "__class__": "a"}, "model.criterion"),
        ("criterion", "text", "model.criterion"),
        ("criterion", None, "model.criterion"),
        ("criterion", {"content": "1"}, "model.criterion"),
    ],
)
def test_nodes_that_are_none(
    name: str, node: Any, place: str, tree_file: Path, tmp_path: Path
) -> None:
    parts = Skops(tree_file)
    parts.set(name, node)
    refused(parts, tmp_path, MalformedModelError, place)


def test_too_many_values(forest_file: Path) -> None:
    with pytest.raises(ModelTooLargeError, match="too many values"):
        gl.read(forest_file, limits=gl.Limits(values=50))


@pytest.mark.parametrize("depth", [10, 250])
def test_deep_nesting_inside_plain_values(depth: int, tree_file: Path, tmp_path: Path) -> None:
    parts = Skops(tree_file)
    node = json_node(None)
    node["content"] = '{"a":' * depth + "1" + "}" * depth
    parts.set("class_weight", node)
    path = parts.write(tmp_path / "deep.skops")
    if depth == 10:
        settings = gl.read(path).provenance.settings
        assert settings["class_weight"] == {"a": {"a": {"a": "<dict>"}}}
        return
    with pytest.raises(ModelTooLargeError, match=r"model\.class_weight"):
        gl.read(path)


def test_a_setting_may_be_anything(forest_file: Path, tmp_path: Path) -> None:
    parts = Skops(forest_file)
    parts.set("class_weight", {k: v for k, v in parts.attribute("values").items() if k != "__id__"})
    assert gl.read(parts.write(tmp_path / "x.skops")).provenance.settings["class_weight"] == (
        "<ndarray>"
    )


# ------------------------------------------------------------------------------------ what it holds


def nodes(**changes: Any) -> Any:
    """An edit of the node array: field name to {node: value}."""

    def change(array: np.ndarray) -> None:
        for field, values in changes.items():
            for at, value in values.items():
                array[field][at] = value

    return change


BROKEN_NODES = {
    "own child": (nodes(left_child={1: 1}), MalformedModelError, "nodes"),
    "child of an ancestor": (nodes(left_child={1: 0}), MalformedModelError, "left"),
    "child beyond the end": (nodes(right_child={0: 999}), MalformedModelError, "right[0]"),
    "child before the start": (nodes(right_child={0: -7}), MalformedModelError, "right[0]"),
    "huge child": (nodes(left_child={0: 2**40}), MalformedModelError, "left"),
    "column beyond the end": (nodes(feature={0: 3}), MalformedModelError, "feature[0]"),
    "column before the start": (nodes(feature={0: -5}), MalformedModelError, "feature[0]"),
    "threshold NaN": (nodes(threshold={0: np.nan}), MalformedModelError, "threshold[0]"),
    "threshold -inf": (nodes(threshold={0: -np.inf}), MalformedModelError, "threshold[0]"),
    "negative rows": (nodes(n_node_samples={0: -1}), InconsistentModelError, "distinct_rows[0]"),
    "rows too many": (nodes(n_node_samples={0: 2**50}), InconsistentModelError, "distinct_rows"),
    "rows do not add up": (nodes(n_node_samples={1: 3}), InconsistentModelError, "distinct_rows"),
    "weight NaN": (
        nodes(weighted_n_node_samples={1: np.nan}), InconsistentModelError, "values[1]"),
    "weight inf": (
        nodes(weighted_n_node_samples={0: np.inf}), InconsistentModelError, "values[0]"),
    "weights do not add up": (
        nodes(weighted_n_node_samples={1: 7.5}), InconsistentModelError, "values[0]"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN_NODES)
def test_broken_nodes(name: str, tree_file: Path, tmp_path: Path) -> None:
    change, error, place = BROKEN_NODES[name]
    parts = Skops(tree_file)
    parts.edit("nodes", change)
    refused(parts, tmp_path, error, f"DecisionTreeClassifier.tree_.{place}")


def test_threshold_above_everything_asks_for_missing_values(
    tree_file: Path, tmp_path: Path
) -> None:
    """scikit-learn writes infinity where a split only separates missing from present."""
    parts = Skops(tree_file)
    parts.edit("nodes", nodes(threshold={0: np.inf}))
    model = gl.read(parts.write(tmp_path / "changed.skops"))
    assert model.threshold[0] == np.finfo(np.float64).max


def other_type(field: str, dtype: str) -> Any:
    def change(array: np.ndarray) -> np.ndarray:
        descr = [(n, dtype if n == field else array.dtype[n].str) for n in array.dtype.names or ()]
        out = np.zeros(len(array), dtype=descr)
        for name in array.dtype.names or ():
            if name != field or np.dtype(dtype).kind in "iuf":
                out[name] = np.abs(array[name]) if dtype.startswith("<u") else array[name]
        return out

    return change


def lacking(field: str) -> Any:
    def change(array: np.ndarray) -> np.ndarray:
        names = [n for n in array.dtype.names or () if n != field]
        out = np.zeros(len(array), dtype=[(n, array.dtype[n].str) for n in names])
        for name in names:
            out[name] = array[name]
        return out

    return change


FIELDS = (
    "left_child", "right_child", "feature", "threshold", "n_node_samples",
    "weighted_n_node_samples",
)  # fmt: skip


@pytest.mark.parametrize("field", FIELDS)
def test_nodes_lacking_a_field(field: str, tree_file: Path, tmp_path: Path) -> None:
    parts = Skops(tree_file)
    parts.edit("nodes", lacking(field))
    refused(parts, tmp_path, MalformedModelError, "tree_.nodes", f"no usable field '{field}'")


@pytest.mark.parametrize("dtype", ["<U3", "<u8", "<c16", "|S4", "<M8[s]", "|V8"])
@pytest.mark.parametrize("field", [*FIELDS, "missing_go_to_left"])
def test_nodes_with_fields_of_another_type(
    field: str, dtype: str, tree_file: Path, tmp_path: Path
) -> None:
    if field == "missing_go_to_left" and dtype == "<u8":
        return  # any whole number can say yes or no
    parts = Skops(tree_file)
    parts.edit("nodes", other_type(field, dtype))
    refused(parts, tmp_path, MalformedModelError, "tree_.nodes", f"no usable field '{field}'")


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(0, dtype=[("left_child", "<i8")]),
        np.zeros((2, 2)),
        np.array(5),
        np.array(["text"]),
        np.zeros((3, 3), dtype=[("left_child", "<i8")]),
    ],
    ids=lambda a: f"{a.dtype.kind}{a.shape}",
)
def test_nodes_that_are_another_array(array: Any, tree_file: Path, tmp_path: Path) -> None:
    parts = Skops(tree_file)
    parts.put("nodes", array)
    refused(parts, tmp_path, MalformedModelError, "tree_.nodes")


def scaled(at: int, factor: float) -> Any:
    def change(values: np.ndarray) -> None:
        values[at] *= factor

    return change


def moved(values: np.ndarray) -> None:
    """The classes of the root change places; totals stay."""
    values[0, 0] = values[0, 0, ::-1]


BROKEN_VALUES = {
    "too few nodes": (lambda v: v[:-1], MalformedModelError, "values"),
    "another class": (lambda v: np.dstack([v, v[:, :, :1]]), MalformedModelError, "values"),
    "a class less": (lambda v: v[:, :, :1], MalformedModelError, "values"),
    "flat": (lambda v: v[:, 0, :], MalformedModelError, "values"),
    "whole numbers": (lambda v: v.astype(int), MalformedModelError, "values"),
    "complex": (lambda v: v.astype(complex), MalformedModelError, "values"),
    "NaN": (scaled(1, np.nan), InconsistentModelError, "values[1]"),
    "inf": (scaled(2, np.inf), InconsistentModelError, "values[2]"),
    "do not add up to 1": (scaled(1, 1.5), InconsistentModelError, "values[1]"),
    "children differ": (moved, InconsistentModelError, "counts[0]"),
    "two targets": (lambda v: np.concatenate([v, v], axis=1), UnsupportedModelError, " predicts"),
}


@pytest.mark.parametrize("name", BROKEN_VALUES)
def test_broken_values(name: str, tree_file: Path, tmp_path: Path) -> None:
    change, error, place = BROKEN_VALUES[name]
    parts = Skops(tree_file)
    parts.edit("values", change)
    dot = ":" if place.startswith(" ") else "."
    refused(parts, tmp_path, error, f"DecisionTreeClassifier.tree_{dot}{place}")


@pytest.mark.parametrize(
    "content",
    [b"", b"\x93NUMPY", b"not an array", b"\x80\x04K\x01."],
)
def test_arrays_that_are_none(content: bytes, tree_file: Path, tmp_path: Path) -> None:
    parts = Skops(tree_file)
    parts.members[parts.attribute("values")["file"]] = content
    refused(parts, tmp_path, MalformedModelError, "model.tree_.values", "npy")


def test_pickled_array(tree_file: Path, tmp_path: Path) -> None:
    parts = Skops(tree_file)
    parts.put("classes_", np.array([{"a": 1}, "b"], dtype=object))
    refused(parts, tmp_path, MalformedModelError, "model.classes_", "pickles and are refused")


@pytest.mark.parametrize(
    ("labels", "error", "words"),
    [
        (np.array(["only one"]), MalformedModelError, "2 classes, the model has 1"),
        (np.array(["a", "b", "c"]), MalformedModelError, "2 classes, the model has 3"),
        (np.array(["a", "a"]), MalformedModelError, "listed twice"),
        (np.array([[1, 2]]), MalformedModelError, "no class labels"),
        (np.array([], dtype=int), MalformedModelError, "no class labels"),
        (np.array([0.5, np.nan]), MalformedModelError, "cannot be a class label"),
        (np.array([0.5, np.inf]), MalformedModelError, "cannot be a class label"),
        (np.array([b"a", b"b"]), UnsupportedModelError, "labels of type bytes"),
        (np.array(["2020-01-01", "2021-01-01"], "M8[D]"), UnsupportedModelError, "type date"),
    ],
    ids=lambda v: str(v).replace("\n", " ") if isinstance(v, np.ndarray) else None,
)
def test_class_labels(labels: Any, error: Any, words: str, tree_file: Path, tmp_path: Path) -> None:
    parts = Skops(tree_file)
    parts.put("classes_", labels)
    with pytest.raises(error, match=words):
        gl.read(parts.write(tmp_path / "changed.skops"))


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        (0, MalformedModelError, "not recorded"),
        (-3, MalformedModelError, "not recorded"),
        ("3", MalformedModelError, "not recorded"),
        (None, MalformedModelError, "not recorded"),
        (1, MalformedModelError, "1 columns"),
        (10**12, ModelTooLargeError, "columns"),
    ],
)
def test_number_of_columns(
    value: Any, error: Any, words: str, tree_file: Path, tmp_path: Path
) -> None:
    parts = Skops(tree_file)
    parts.set("n_features_in_", json_node(value))
    with pytest.raises(error, match=words):
        gl.read(parts.write(tmp_path / "changed.skops"))


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["a", "b"], "2 names for 3 columns"),
        (["a", "b", "b"], "listed twice"),
        (["a", "b", 3], "not text"),
        (["a", "b", None], "not text"),
    ],
)
def test_column_names(names: Any, words: str, tree_file: Path, tmp_path: Path) -> None:
    parts = Skops(tree_file)
    listed = [json_node(name) for name in names]
    parts.add("feature_names_in_", {"__loader__": "ListNode", "content": listed})
    with pytest.raises(MalformedModelError, match=words):
        gl.read(parts.write(tmp_path / "changed.skops"))


# ------------------------------------------------------------------------------------------ forests


@pytest.mark.parametrize(
    ("name", "value", "error", "words"),
    [
        ("_n_samples", -1, MalformedModelError, "no number of rows"),
        ("_n_samples", "80", MalformedModelError, "no number of rows"),
        ("_n_samples", 2**50, MalformedModelError, "no number of rows"),
        ("_n_samples", 1, InconsistentModelError, "distinct rows of 1"),
        ("_n_samples_bootstrap", 0, MalformedModelError, "no number of rows"),
        ("estimators_", [], MalformedModelError, "no trained trees"),
        ("estimators_", "trees", MalformedModelError, "no trained trees"),
        ("_sample_weight", [1.0], MalformedModelError, "one number per row"),
        ("_sample_weight", "heavy", MalformedModelError, "one number per row"),
    ],
)
def test_broken_forests(
    name: str, value: Any, error: Any, words: str, forest_file: Path, tmp_path: Path
) -> None:
    parts = Skops(forest_file)
    parts.add(name, json_node(value))
    with pytest.raises(error, match=words):
        gl.read(parts.write(tmp_path / "changed.skops"))


@pytest.mark.parametrize("rows", [10**9, 2**39])
def test_draws_too_large_to_repeat_are_not_repeated(
    rows: int, forest_file: Path, tmp_path: Path
) -> None:
    parts = Skops(forest_file)
    parts.set("_n_samples", json_node(rows))
    started = time.perf_counter()
    model = gl.read(parts.write(tmp_path / "changed.skops"))
    assert time.perf_counter() - started < 5
    assert model.bagging.kind == "unknown"
    assert any("not repeated" in note for note in model.provenance.notes)


@pytest.mark.parametrize(
    "weights", [np.zeros(80), np.full(80, 1e308), np.full(80, np.nan), np.ones((80, 2))]
)
def test_row_weights_that_cannot_steer(weights: Any, forest_file: Path, tmp_path: Path) -> None:
    parts = Skops(forest_file)
    node = dict(parts.attribute("nodes"), file="weights.npy")
    node.pop("__id__")
    stream = io.BytesIO()
    np.save(stream, weights)
    parts.members["weights.npy"] = stream.getvalue()
    parts.add("_sample_weight", node)
    refused(parts, tmp_path, MalformedModelError, "RandomForestClassifier._sample_weight")


def test_too_many_or_too_few_row_weights(forest_file: Path, tmp_path: Path) -> None:
    parts = Skops(forest_file)
    node = dict(parts.attribute("nodes"), file="weights.npy")
    node.pop("__id__")
    stream = io.BytesIO()
    np.save(stream, np.ones(79))
    parts.members["weights.npy"] = stream.getvalue()
    parts.add("_sample_weight", node)
    refused(parts, tmp_path, InconsistentModelError, "bagging.row_weights", "79 entries, not 80")


@pytest.mark.parametrize("version", ["1.²", "9" * 5000, "", "nonsense", "1.9.dev0", None, 3])
def test_any_version_text(version: Any, forest_file: Path, tmp_path: Path) -> None:
    parts = Skops(forest_file)
    parts.set("_sklearn_version", json_node(version))
    changed, model = gl.read(parts.write(tmp_path / "changed.skops")), gl.read(forest_file)
    assert [tree.counts.values.tolist() for tree in changed] == [
        tree.counts.values.tolist() for tree in model
    ]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ([0, 9], "does not exist"),
        ([-1, 0], "not a list of columns"),
        ([], "not a list of columns"),
        ([[0], [1, 2]], "not a list of columns"),
        (["a"], "not a list of columns"),
        ([0.5], "not a list of columns"),
        ([0], "did not see"),
        ("ab", "not a list of columns"),
    ],
)
def test_columns_of_a_bag(columns: Any, words: str, bag_file: Path, tmp_path: Path) -> None:
    parts = Skops(bag_file)
    parts.attribute("estimators_features_")["content"][0] = json_node(columns)
    with pytest.raises(MalformedModelError, match=words):
        gl.read(parts.write(tmp_path / "changed.skops"))


def test_a_bag_that_draws_more_columns_than_there_are(bag_file: Path, tmp_path: Path) -> None:
    parts = Skops(bag_file)
    parts.set("_max_features", json_node(50))
    with pytest.raises(MalformedModelError, match=r"bagging\.features"):
        gl.read(parts.write(tmp_path / "changed.skops"))


def test_an_old_bag_with_nodes_of_another_type(bag_file: Path, tmp_path: Path) -> None:
    parts = Skops(bag_file)
    parts.set("_max_samples", json_node(None))
    for node in [n for n in parts.nodes() if "content" in n]:
        content = node["content"]
        if isinstance(content, dict) and isinstance(content.get("nodes"), dict):
            stream = io.BytesIO()
            np.save(stream, np.array([("x",)], dtype=[("weighted_n_node_samples", "<U9")]))
            parts.members[content["nodes"]["file"]] = stream.getvalue()
    refused(parts, tmp_path, MalformedModelError, "tree_.nodes", "no usable field")


def test_a_search_that_found_itself(tree_file: Path, tmp_path: Path) -> None:
    parts = Skops(tree_file)
    inner: Any = json_node(None)
    for i in range(30):
        inner = {
            "__loader__": "ObjectNode",
            "__class__": "GridSearchCV",
            "__module__": "sklearn.model_selection._search",
            "__id__": i,
            "content": {"__loader__": "DictNode", "content": {"best_estimator_": inner}},
        }
    parts.schema = inner
    refused(parts, tmp_path, UnsupportedModelError, "GridSearchCV")


# ------------------------------------------------------------------------------ nothing is executed


def test_nothing_is_imported_built_or_called(tree_file: Path, tmp_path: Path) -> None:
    """In a process of its own, watched by an audit hook."""
    marker = tmp_path / "marker"
    parts = Skops(tree_file)
    command = f"open({str(marker)!r}, 'w')"
    content = parts.schema["content"]["content"]
    parts.schema["content"].pop("key_types")
    content["a"] = {"__loader__": "FunctionNode", "__module__": "os", "__class__": "system"}
    content["b"] = {
        "__loader__": "ObjectNode", "__module__": "no_such_module_anywhere", "__class__": "Thing",
        "content": json_node({"x": 1}),
    }  # fmt: skip
    content["c"] = {
        "__loader__": "ObjectNode", "__module__": "subprocess", "__class__": "Popen",
        "__reduce__": {"args": {"__loader__": "TupleNode", "content": [json_node(command)]}},
    }  # fmt: skip
    content["d"] = {
        "__loader__": "PartialNode", "__module__": "functools", "__class__": "partial",
        "content": {
            "func": {"__loader__": "FunctionNode", "__module__": "builtins", "__class__": "exec"},
            "args": {"__loader__": "TupleNode", "content": [json_node(command)]},
            "kwds": json_node({}), "namespace": json_node(None),
        },
    }  # fmt: skip
    content["e"] = {
        "__loader__": "OperatorFuncNode", "__module__": "operator", "__class__": "methodcaller",
        "attrs": json_node(["system"]),
    }  # fmt: skip
    content["f"] = {"__loader__": "TypeNode", "__module__": "antigravity", "__class__": "fly"}
    content["g"] = {
        "__loader__": "MethodNode", "__module__": "colorsys", "__class__": "rgb_to_hls",
        "content": {"func": "rgb_to_hls", "obj": json_node(1)},
    }  # fmt: skip
    path = parts.write(tmp_path / "hostile.skops")
    script = """
import sys
import glassleak as gl
from glassleak.readers import open_model
open_model(sys.argv[1])  # whatever is loaded lazily is loaded now
before, events = set(sys.modules), []
WATCHED = ("import", "os.system", "subprocess.Popen", "exec", "os.exec", "os.fork",
           "os.posix_spawn", "socket.connect", "pickle.find_class", "ctypes.dlopen")
def hook(event, arguments):
    writes = event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+")
    if event in WATCHED or writes:
        events.append((event, repr(arguments[:1])))
sys.addaudithook(hook)
opened = open_model(sys.argv[2])
found = list(events)
assert opened.model is not None
assert not found, found
assert set(sys.modules) == before, set(sys.modules) - before
assert "antigravity" not in sys.modules and "colorsys" not in sys.modules
assert "sklearn" not in sys.modules and "skops" not in sys.modules
print("clean", len(opened.artefacts))
"""
    result = subprocess.run(
        [sys.executable, "-c", script, str(tree_file), str(path)],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("clean")
    assert not marker.exists()


def test_the_same_file_is_dangerous_elsewhere(tree_file: Path) -> None:
    """skops itself asks for trust before it builds a tree; glassleak has no need to."""
    with pytest.raises(Exception, match=r"trust|Untrusted"):
        skops.io.load(tree_file, trusted=[])
