"""Pickles and joblib dumps become the same inert state as the live object, and run nothing."""

from __future__ import annotations

import io
import pickle
import time
from collections import Counter, OrderedDict, defaultdict
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hostile_pickles import dumped
from imodels import FIGSClassifier, GreedyRuleListClassifier
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from glassleak.errors import (
    MalformedModelError,
)
from glassleak.readers._limits import Limits
from glassleak.readers._live import state_of
from glassleak.readers._state import Reference, State, walk
from glassleak.readers.pickles._pickle import decode_pickle

LIMITS = Limits()
SMALL = Limits(file_bytes=10**7, unpacked_bytes=10**7, json_bytes=10**6, values=100_000, nesting=50)
PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)
COMPRESSIONS = (0, ("zlib", 3), ("gzip", 3), ("bz2", 3), ("lzma", 3), ("xz", 3))


def decode(raw: bytes, limits: Limits = LIMITS) -> Any:
    return decode_pickle(io.BytesIO(raw), limits)


def differences(got: Any, live: Any, path: str = "") -> list[str]:
    """Where two inert values differ in structure, type or content."""
    seen: set[tuple[int, int]] = set()
    found: list[str] = []
    stack = [(got, live, path)]
    while stack:
        one, two, where = stack.pop()
        if (id(one), id(two)) in seen:
            continue
        seen.add((id(one), id(two)))
        if type(one) is not type(two):
            found.append(f"{where}: {type(one).__name__} and {type(two).__name__}")
        elif isinstance(one, State):
            if one.type_name != two.type_name:
                found.append(f"{where}: {one.type_name} and {two.type_name}")
            stack.append((one.attributes, two.attributes, where))
            stack.append((one.args, two.args, f"{where}.args"))
        elif isinstance(one, np.ndarray):
            if one.dtype != two.dtype or one.shape != two.shape:
                found.append(f"{where}: {one.dtype}{one.shape} and {two.dtype}{two.shape}")
            elif one.dtype == object:
                stack.append((one.ravel().tolist(), two.ravel().tolist(), where))
            elif one.tobytes() != two.tobytes():
                found.append(f"{where}: other values")
        elif isinstance(one, dict):
            # numpy integers as keys: a pickle keeps the number.
            mine, theirs = ({str(k): v for k, v in d.items()} for d in (one, two))
            if list(mine) != list(theirs):
                found.append(f"{where}: keys {set(mine) ^ set(theirs)}")
            stack += [(mine[k], theirs[k], f"{where}.{k}") for k in mine if k in theirs]
        elif isinstance(one, list | tuple):
            if len(one) != len(two):
                found.append(f"{where}: lengths {len(one)} and {len(two)}")
            stack += [
                (a, b, f"{where}[{i}]") for i, (a, b) in enumerate(zip(one, two, strict=False))
            ]
        elif one != two and one == one:
            found.append(f"{where}: {one!r} and {two!r}")
    return found


@pytest.fixture(scope="module")
def fitted() -> dict[str, Any]:
    values, target = load_iris(return_X_y=True)
    frame = pd.DataFrame(values, columns=["sl", "sw", "pl", "pw"])
    names = np.array(["setosa", "versicolor", "virginica"])[target]
    binary = (target == 1).astype(int)
    return {
        "tree": DecisionTreeClassifier(random_state=0).fit(values, target),
        "forest": RandomForestClassifier(
            5, class_weight="balanced", oob_score=False, random_state=0
        ).fit(frame, names),
        "forest, labels as objects": RandomForestClassifier(3, random_state=0).fit(
            frame, names.astype(object)
        ),
        "bagging": BaggingClassifier(n_estimators=4, random_state=0).fit(values, target),
        "pipeline": make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=0)).fit(
            frame, names
        ),
        "rule list": GreedyRuleListClassifier().fit(values, binary),
        "figs": FIGSClassifier(max_rules=6).fit(values, binary),
    }


KINDS = (
    "tree",
    "forest",
    "forest, labels as objects",
    "bagging",
    "pipeline",
    "rule list",
    "figs",
)


@pytest.mark.parametrize("kind", KINDS)
def test_a_pickle_equals_the_live_object(fitted: dict[str, Any], kind: str) -> None:
    live = state_of(fitted[kind])
    for protocol in PROTOCOLS:
        assert differences(decode(pickle.dumps(fitted[kind], protocol)), live) == [], protocol


@pytest.mark.parametrize("kind", KINDS)
def test_a_joblib_dump_equals_the_live_object(fitted: dict[str, Any], kind: str) -> None:
    live = state_of(fitted[kind])
    for compress in COMPRESSIONS:
        assert differences(decode(dumped(fitted[kind], compress)), live) == [], compress


def test_the_comparison_itself_sees_differences(fitted: dict[str, Any]) -> None:
    one, two = (decode(pickle.dumps(fitted["tree"])) for _ in range(2))
    two.attributes["tree_"].attributes["nodes"] = two.attributes["tree_"].get("nodes")[::-1]
    two.attributes["extra"] = 1
    assert len(differences(one, two)) == 2


def test_scikit_learns_cython_tree(fitted: dict[str, Any]) -> None:
    tree = decode(pickle.dumps(fitted["tree"])).get("tree_")
    real = fitted["tree"].tree_
    assert (tree.module, tree.name) == ("sklearn.tree._tree", "Tree")
    assert set(tree.attributes) == {"max_depth", "node_count", "nodes", "values"}
    assert tree.args[0] == 4
    assert tree.args[1].tolist() == [3]
    np.testing.assert_array_equal(tree.get("nodes")["threshold"], real.threshold)
    np.testing.assert_array_equal(tree.get("values"), real.value)


@pytest.mark.parametrize("write", [pickle.dumps, dumped], ids=["pickle", "joblib"])
def test_a_retained_table_keeps_every_value(write: Any) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 90, 30),
            "income": rng.normal(size=30),
            "city": rng.choice(["Ulm", "Graz"], 30).astype(object),
            "born": pd.date_range("1950-01-01", periods=30),
        }
    )
    model = RandomForestClassifier(2, random_state=0).fit(
        table[["age", "income"]], rng.integers(0, 2, 30)
    )
    model.train_ = table
    root = decode(write(model))
    kept = root.get("train_")
    assert kept.name == "DataFrame"
    held = [v.value for v in walk(kept) if isinstance(v.value, np.ndarray)]
    for column in ("age", "income"):
        wanted = table[column].to_numpy()
        assert any(
            a.dtype == wanted.dtype and a.size == 30 and (a.ravel() == wanted).all() for a in held
        )
    assert any(a.dtype == object and a.ravel().tolist() == table["city"].tolist() for a in held)
    assert any(a.dtype.kind == "M" and a.ravel()[3] == np.datetime64("1950-01-04") for a in held)
    # Everything but the table is as in the live object.
    live = state_of(model)
    del root.attributes["train_"], live.attributes["train_"]
    assert differences(root, live) == []


def test_random_generators_are_states() -> None:
    for protocol in PROTOCOLS:
        legacy = decode(pickle.dumps(np.random.RandomState(7), protocol))
        assert legacy.type_name == "numpy.random.mtrand.RandomState"
        np.testing.assert_array_equal(
            legacy.get("state")["key"],
            np.random.RandomState(7).get_state()[1],
        )
        modern = decode(pickle.dumps(np.random.default_rng(7), protocol))
        assert modern.type_name == "numpy.random._generator.Generator"
        assert modern.args[0].name == "PCG64"


ARRAYS = [
    np.arange(12.0).reshape(3, 4),
    np.asfortranarray(np.arange(12).reshape(3, 4)),
    np.arange(24.0).reshape(2, 3, 4).transpose(1, 0, 2),
    np.arange(10)[::3],
    np.array(3.5),
    np.empty((0, 3)),
    np.array([True, False]),
    np.array(["Ulm", "Grüße"]),
    np.array([b"a", b"bcd"]),
    np.arange(5, dtype=">i4"),
    np.array([1 + 2j]),
    np.array(["2020-01-02", "NaT"], dtype="M8[D]"),
    np.array([5], dtype="m8[25s]"),
    np.array([(1, 2.5)], dtype=[("a", "i4"), ("b", "f8")]),
    np.array([((1, 2), 3)], dtype=np.dtype([("p", [("x", "i2"), ("y", "i2")]), ("q", "u1")])),
    np.array([[1, "x"], [None, (2, 3)]], dtype=object),
    np.zeros(2000),  # long enough for numpy to share memory with the bytes it is given
    np.matrix([[1, 2]]),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: f"{a.dtype}{a.shape}"[:40])
def test_arrays_of_every_kind(array: np.ndarray) -> None:
    plain = np.asarray(array)
    raws = [pickle.dumps(array, p) for p in PROTOCOLS] + [dumped(array), dumped(array, 3)]
    for raw in raws:
        got = decode(raw)
        assert type(got) is np.ndarray
        # numpy turns the bytes around when it fills an array; both orders are the same numbers.
        assert got.dtype.newbyteorder("=") == plain.dtype.newbyteorder("=")
        assert got.shape == plain.shape
        assert got.tolist() == plain.tolist()


def test_shared_and_cyclic_objects_stay_shared() -> None:
    array = np.arange(3)
    box: dict[str, Any] = {"one": array, "two": array}
    box["self"] = box
    cyclic = np.empty(1, dtype=object)
    cyclic[0] = cyclic
    for protocol in PROTOCOLS:
        got = decode(pickle.dumps(box, protocol))
        assert got["one"] is got["two"]
        assert got["self"] is got
    got = decode(pickle.dumps(cyclic, 4))
    assert got[0] is got


def test_masked_arrays_keep_their_data() -> None:
    masked = np.ma.masked_array([1.0, 2.0, 3.0], mask=[False, True, False])
    assert decode(pickle.dumps(masked)).tolist() == [1.0, 2.0, 3.0]


def test_plain_values_and_containers() -> None:
    values = [
        None, True, False, 0, -1, 255, 65_535, -(2**31), 2**40, -(2**200), 0.1, -0.0, 1e300,
        "", "Grüße 😀\n'\"\\", b"", b"\x00\xff\n", (), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), [],
        [1, [2, [3]]], {}, {"a": 1, 2: "b", None: 3.5, True: 0},
    ]  # fmt: skip
    for protocol in PROTOCOLS:
        for value in values:
            got = decode(pickle.dumps(value, protocol))
            assert got == value
            assert type(got) is type(value)
        assert np.isnan(decode(pickle.dumps(float("nan"), protocol)))


def test_containers_of_the_standard_library() -> None:
    default: defaultdict[str, list[int]] = defaultdict(list, {"a": [1]})
    for protocol in PROTOCOLS:
        again = {
            "ordered": OrderedDict([("b", 1), ("a", 2)]),
            "default": default,
            "counter": Counter("aab"),
            "set": {3},
            "frozen": frozenset({"x"}),
            "bytes": bytearray(b"ab"),
            "nothing": type(None),
            "function": np.mean,
        }
        got = decode(pickle.dumps(again, protocol))
        assert got["ordered"] == {"b": 1, "a": 2}
        assert list(got["ordered"]) == ["b", "a"]
        assert got["default"] == {"a": [1]}
        assert got["counter"] == {"a": 2, "b": 1}
        assert got["set"] == [3]
        assert got["frozen"] == ["x"]
        assert got["bytes"] == b"ab"
        assert got["nothing"] == Reference("builtins", "NoneType")
        assert got["function"] == Reference("numpy", "mean")
        slices = decode(pickle.dumps([range(1, 9, 2), complex(1, 2), slice(3)], protocol))
        assert [s.name for s in slices] == ["range", "complex", "slice"]
        assert slices[0].args == (1, 9, 2)


def test_numpy_scalars_are_plain_values() -> None:
    values = [np.float32(0.5), np.int64(-3), np.bool_(True), np.str_("a"), np.float16(2)]
    for protocol in PROTOCOLS:
        got = decode(pickle.dumps(values, protocol))
        assert got == [0.5, -3, True, "a", 2.0]
        assert [type(v) for v in got] == [float, int, bool, str, float]


class ListLike(list):  # type: ignore[type-arg]
    pass


class DictLike(dict):  # type: ignore[type-arg]
    pass


class Slotted:
    __slots__ = ("__dict__", "left")


class Opinionated:
    def __setstate__(self, state: Any) -> None:
        raise AssertionError("a method of the pickled class ran")

    def __getstate__(self) -> Any:
        return ["no", "dictionary"]


def test_instances_keep_all_they_held() -> None:
    listed, mapped, slotted = ListLike([1, 2]), DictLike(a=1), Slotted()
    listed.note = "kept"  # type: ignore[attr-defined]
    slotted.left, slotted.right = 1, 2  # type: ignore[attr-defined]
    for protocol in PROTOCOLS:
        got = decode(pickle.dumps(listed, protocol))
        assert got.name == "ListLike"
        assert got.attributes == {"__values__": [1, 2], "note": "kept"}
        assert decode(pickle.dumps(mapped, protocol)).attributes == {"__items__": {"a": 1}}
        if protocol >= 2:
            got = decode(pickle.dumps(slotted, protocol))
            assert got.attributes == {"left": 1, "right": 2}
        got = decode(pickle.dumps(Opinionated(), protocol))
        assert got.attributes == {"__state__": ["no", "dictionary"]}


def test_keys_that_are_not_plain_become_text() -> None:
    for protocol in PROTOCOLS:
        got = decode(pickle.dumps({(1, "a"): 1, b"k": 2, (1, (2,)): 3, (3, (4,)): 4}, protocol))
        assert got["(1, 'a')"] == 1
        assert got["b'k'"] == 2
        assert sorted(got.values()) == [1, 2, 3, 4]  # none has overwritten another


def test_several_dumps_in_one_file() -> None:
    raw = pickle.dumps({"a": 1}) + pickle.dumps(["b"])
    assert decode(raw) == ({"a": 1}, ["b"])
    with pytest.raises(MalformedModelError, match=r"byte \d+"):
        decode(pickle.dumps(1) + b"garbage")


def test_names_of_python_2() -> None:
    raw = b"\x80\x02c__builtin__\nset\n]K\x01a\x85R."
    assert decode(raw) == [1]
    assert decode(b"\x80\x02c__builtin__\nunicode\n.") == Reference("builtins", "str")
    old = (
        b"\x80\x02cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R"
        b"(K\x01K\x02\x85cnumpy\ndtype\nU\x02i2K\x00K\x01\x87R"
        b"(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89U\x04\x01\x00\xff\xfftb."
    )
    assert decode(old).tolist() == [1, -1]


def test_a_large_forest_takes_seconds() -> None:
    rng = np.random.default_rng(0)
    model = RandomForestClassifier(10, random_state=0).fit(
        rng.random((300, 5)), rng.integers(0, 2, 300)
    )
    model.estimators_ = [pickle.loads(pickle.dumps(t)) for t in model.estimators_ * 100]
    for raw in (pickle.dumps(model), dumped(model)):
        start = time.perf_counter()
        root = decode(raw)
        assert time.perf_counter() - start < 10
        assert len(root.get("estimators_")) == 1000
