"""Arrays, lists and records seen alike."""

from __future__ import annotations

import numpy as np
import pytest

from glassleak.readers._state import State
from glassleak.readers.artefacts._block import block_of


def objects(*items) -> np.ndarray:
    out = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        out[i] = item
    return out


@pytest.mark.parametrize(
    ("value", "shape", "dtype"),
    [
        (np.zeros((4, 2), np.int8), (4, 2), "int8"),
        ([1, 2, 3], (3,), "list"),
        ((1, 2.5, None), (3,), "list"),
        ([True, False], (2,), "bool"),
        ({"a", "b"}, (2,), "list"),
        ({"a": 1, "b": "x"}, (2,), "mapping"),
        ([[1, 2], [3, 4], [5, 6]], (3, 2), "list"),
        ([(1, "x"), (2, "y")], (2, 2), "list"),
        ([{"a": 1, "b": 2}, {"a": 3, "b": 4}], (2, 2), "list"),
        ([np.zeros(3), np.ones(3)], (2, 3), "float64"),
        (objects(1, "x"), (2,), "list"),
        (np.array([[1, "x"]], dtype=object), (1, 2), "object"),
        (np.zeros(5, dtype=[("a", "f8"), ("b", "i4")]), (5, 2), "record"),
        ([10**400, 1], (2,), "list"),
    ],
)
def test_what_has_rows(value, shape, dtype) -> None:
    block = block_of(value)
    assert block is not None
    assert (block.shape, block.dtype) == (shape, dtype)
    if block.values is not None:
        assert block.values.shape == shape


@pytest.mark.parametrize(
    "value",
    [
        None,
        "text",
        7,
        [],
        {},
        np.array(3.0),
        State("a", "B"),
        [State("a", "B")],
        [1, State("a", "B")],
        [1, [2]],
        [[1, 2], [3]],
        [[1, 2], (3, 4)],
        [[1], [State("a", "B")]],
        [{"a": 1}, {"b": 1}],
        {"a": [1]},
        [np.zeros(3), np.zeros(4)],
        [np.zeros(3), 1],
        objects(State("a", "B"), 1),
        np.array([[State("a", "B"), 1]], dtype=object),
    ],
)
def test_what_has_none(value) -> None:
    assert block_of(value) is None


def test_numbers_keep_their_values() -> None:
    np.testing.assert_array_equal(block_of([3, 1, 2]).values, [3, 1, 2])
    np.testing.assert_array_equal(block_of([0.5, float("nan")]).values, [0.5, np.nan])
    assert block_of([3, 1]).values.dtype == np.int64
    assert block_of([3, "x"]).values.tolist() == [3, "x"]
