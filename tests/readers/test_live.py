"""A live object as inert data: everything it holds, none of its code."""

from __future__ import annotations

import collections
import enum
import sys
import types
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import glassleak as gl
from glassleak.errors import UnsupportedModelError
from glassleak.readers._live import state_of
from glassleak.readers._state import Reference, State


class Plain:
    def __init__(self, **held: Any) -> None:
        self.__dict__.update(held)


class Slotted:
    __slots__ = ("weight",)


class Stubborn:
    """Refuses to be pickled and has nothing to show."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise RuntimeError("not for you")


def test_plain_values_stay_and_numpy_scalars_become_plain() -> None:
    state = state_of(Plain(a=1, b=2.5, c="x", d=None, e=b"y", f=np.float32(0.5), g=np.bool_(True)))
    assert state.type_name == f"{__name__}.Plain"
    assert state.attributes == {
        "a": 1, "b": 2.5, "c": "x", "d": None, "e": b"y", "f": 0.5, "g": True,
    }  # fmt: skip
    assert type(state.attributes["g"]) is bool


def test_arrays_are_shared_and_not_copied() -> None:
    array = np.arange(1000)
    assert np.shares_memory(state_of(Plain(a=array)).attributes["a"], array)


def test_containers_keep_their_order_and_keys() -> None:
    held = collections.OrderedDict([("b", [1, {2}]), (3, (4, None)), (np.int64(5), "x")])
    converted = state_of(held)
    assert list(converted) == ["b", 3, 5]
    assert converted["b"] == [1, [2]]
    assert converted[3] == (4, None)


def test_shared_and_cyclic_objects_stay_shared_and_cyclic() -> None:
    inner = Plain(x=1)
    outer = Plain(one=inner, two=[inner])
    inner.back = outer
    state = state_of(outer)
    assert state.attributes["one"] is state.attributes["two"][0]
    assert state.attributes["one"].attributes["back"] is state


def test_arrays_of_objects_hold_states() -> None:
    array = np.array([[Plain(x=1), "a"], [None, 2]], dtype=object)
    converted = state_of(array)
    assert converted.shape == (2, 2)
    assert isinstance(converted[0, 0], State)
    assert converted[0, 1] == "a"
    assert isinstance(array[0, 0], Plain), "the original is left alone"


def test_functions_and_classes_are_only_named() -> None:
    state = state_of(Plain(f=len, g=np.add, h=dict, i=test_single_names))
    assert state.attributes["f"] == Reference("builtins", "len")
    assert state.attributes["h"] == Reference("builtins", "dict")
    assert state.attributes["g"].name == "add"
    assert state.attributes["i"] == Reference(__name__, "test_single_names")


def test_single_names() -> None:
    class Colour(enum.Enum):
        RED = 1

    assert state_of(Colour.RED).name == "Colour"


def test_slots_and_cython_objects_give_what_they_would_pickle() -> None:
    slotted = Slotted()
    slotted.weight = 3
    assert isinstance(state_of(slotted), State)
    fitted = DecisionTreeClassifier(max_depth=1).fit([[0], [1]], [0, 1])
    tree = state_of(fitted).attributes["tree_"]
    assert tree.type_name == "sklearn.tree._tree.Tree"
    assert len(tree.attributes["nodes"]) == 3


def test_objects_that_cannot_be_pickled_are_opaque() -> None:
    state = state_of(Plain(inner=Stubborn(), module=types.ModuleType("m")))
    assert state.attributes["inner"].attributes == {}


def test_nothing_of_the_object_is_called() -> None:
    calls = []

    class Trap:
        def __init__(self) -> None:
            self.held = 1

        @property
        def expensive(self) -> int:
            calls.append("property")
            return 1

        def __getattr__(self, name: str) -> Any:
            calls.append(name)
            raise AttributeError(name)

        def __len__(self) -> int:
            calls.append("len")
            return 0

        def __bool__(self) -> bool:
            calls.append("bool")
            return False

    state = state_of(Trap())
    assert state.attributes == {"held": 1}
    assert calls == []


def test_versions_are_noted_as_scikit_learn_would() -> None:
    state = state_of(DecisionTreeClassifier())
    assert state.attributes["_sklearn_version"] == sys.modules["sklearn"].__version__


@pytest.mark.parametrize("thing", [3, None, [1, 2], object(), pd.DataFrame({"a": [1]}), len])
def test_what_is_no_model_is_refused(thing: Any) -> None:
    with pytest.raises(UnsupportedModelError):
        gl.read(thing)
