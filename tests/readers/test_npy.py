"""Arrays inside archives: sizes are checked before anything is allocated."""

from __future__ import annotations

import io
import tracemalloc
from typing import Any

import numpy as np
import pytest

from glassleak.errors import MalformedModelError
from glassleak.readers.files._npy import array_from_npy


def npy(array: Any, version: Any = None) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asanyarray(array), version=version, allow_pickle=True)
    return stream.getvalue()


def with_header(header: str, body: bytes = b"") -> bytes:
    text = header.encode("latin1") + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + body


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0),
        np.asfortranarray(np.arange(6).reshape(2, 3)),
        np.array(7),
        np.empty((0, 3)),
        np.array([], dtype="<U4"),
        np.array(["a", "ä€😀"]),
        np.array(["big", "endian"], dtype=">U6"),
        np.array([b"bytes"]),
        np.array([True, False]),
        np.zeros(2, dtype=[("left", "<i8"), ("name", "<U3"), ("pair", "<f4", (2,))]),
    ],
    ids=lambda a: f"{a.dtype.str}{a.shape}",
)
def test_arrays_come_back_as_they_were(array: np.ndarray) -> None:
    for version in ((1, 0), (2, 0)):
        back = array_from_npy(npy(array, version), "x")
        assert back.dtype == array.dtype
        assert back.shape == array.shape
        assert np.array_equal(back, array)


HOSTILE = {
    "empty": b"",
    "not npy": b"hello world, this is no array",
    "magic only": b"\x93NUMPY",
    "version 3": b"\x93NUMPY\x03\x00" + b"\x10\x00\x00\x00",
    "version 9": b"\x93NUMPY\x09\x00" + b"\x10\x00",
    "header cut": npy(np.arange(3))[:40],
    "body cut": npy(np.arange(30))[:-1],
    "body too long": npy(np.arange(30)) + b"x",
    "header is code": with_header("__import__('os').system('true')"),
    "header is a list": with_header("[1, 2]"),
    "huge": with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (10**15,), }"),
    "huge literal": with_header(
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }", b"12345678"
    ),
    "negative": with_header(
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -1), }", b"12345678"
    ),
    "minus one": with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }"),
    "many dimensions": with_header(
        f"{{'descr': '|i1', 'fortran_order': False, 'shape': {(1,) * 65}, }}", b"1"
    ),
    "objects": npy(np.array([{"a": 1}, None], dtype=object)),
    "objects in a field": with_header(
        "{'descr': [('a', '|O')], 'fortran_order': False, 'shape': (1,), }", b"12345678"
    ),
    "items of no size": with_header("{'descr': '<U0', 'fortran_order': False, 'shape': (9,), }"),
    "unknown type": with_header("{'descr': '<q9', 'fortran_order': False, 'shape': (1,), }"),
    "long header": with_header("{'descr': '<f8', " + " " * 20_000 + "}"),
    "deep header": with_header("(" * 500 + ")" * 500),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_arrays_are_refused(name: str) -> None:
    with pytest.raises(MalformedModelError, match=r"^tree\.values: "):
        array_from_npy(HOSTILE[name], "tree.values")


@pytest.mark.parametrize("code", [0x110000, 0xFFFFFFFF, 0xD800, 0xDFFF])
@pytest.mark.parametrize("order", ["little", "big"])
def test_text_that_is_no_unicode_is_refused(code: int, order: Any) -> None:
    raw = npy(np.array(["ab"], dtype="<U2" if order == "little" else ">U2"))
    with pytest.raises(MalformedModelError, match="not Unicode"):
        array_from_npy(raw[:-4] + code.to_bytes(4, order), "x")


def test_text_inside_records_is_checked_too() -> None:
    raw = npy(np.zeros(1, dtype=[("n", "<i4"), ("inner", [("name", "<U1")])]))
    with pytest.raises(MalformedModelError, match="not Unicode"):
        array_from_npy(raw[:-4] + b"\xff\xff\xff\xff", "x")


def test_nothing_is_allocated_for_a_lie() -> None:
    tracemalloc.start()
    with pytest.raises(MalformedModelError):
        array_from_npy(HOSTILE["huge literal"], "x")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000
