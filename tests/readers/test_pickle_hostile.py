"""Hostile pickles: nothing is run, nothing is believed, and every refusal is a typed error."""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import random
import struct
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hostile_pickles import NAMES, Calls, dumped, load_for_real, payloads
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

from glassleak.errors import (
    MalformedModelError,
    ModelError,
    ModelTooLargeError,
    UnsupportedModelError,
)
from glassleak.readers._limits import Limits
from glassleak.readers._state import walk
from glassleak.readers.pickles._pickle import decode_pickle

LIMITS = Limits()
SMALL = Limits(file_bytes=10**7, unpacked_bytes=10**7, json_bytes=10**6, values=100_000, nesting=50)
PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)
COMPRESSIONS = (("zlib", 3), ("gzip", 3), ("bz2", 3), ("lzma", 3), ("xz", 3))


def decode(raw: bytes, limits: Limits = LIMITS) -> Any:
    return decode_pickle(io.BytesIO(raw), limits)


@pytest.fixture(scope="module")
def forest() -> RandomForestClassifier:
    values, target = load_iris(return_X_y=True)
    labels = np.array(["setosa", "versicolor", "virginica"], dtype=object)[target]
    return RandomForestClassifier(3, random_state=0).fit(values, labels)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_in_the_file_is_run(name: str, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    raw = payloads(marker)[name]
    before = set(sys.modules)
    with contextlib.suppress(ModelError):
        decode(raw)
    assert not marker.exists()
    assert set(sys.modules) == before, "a module was imported"
    # The same bytes do harm when they are loaded, so the test above could fail.
    with contextlib.suppress(Exception):
        load_for_real(raw)
    assert marker.exists()


def test_a_call_is_only_recorded() -> None:
    root = decode(pickle.dumps(Calls(os.system, "echo")))
    assert root.type_name == f"{os.name}.system"
    assert root.args == ("echo",)
    assert decode(b"cpip\nmain\n(Vinstall\ntR.").type_name == "pip.main"


def test_unknown_classes_need_not_exist() -> None:
    root = decode(b"\x80\x04\x8c\x0bno.such.lib\x8c\x05Model\x93)\x81}\x8c\x01aK\x01sb.")
    assert (root.type_name, root.attributes) == ("no.such.lib.Model", {"a": 1})


@pytest.mark.parametrize(
    "raw",
    [
        b"Pid\n.", b"K\x01Q.", b"\x82\x01.", b"\x83\x01\x00.", b"\x84\x01\x00\x00\x00.", b"\x97.",
        b"", b".", b"0.", b"t.", b"\x85.", b"R.", b"K\x01K\x02R.", b"]]R.", b"b.", b"K\x01}b.",
        b"]}b.", b"K\x01K\x02a.", b"K\x01K\x02K\x03s.", b"}(K\x01u.", b"(K\x01d.", b"h\x00.",
        b"g5\n.", b"Iabc\n.", b"Fabc\n.", b"L12", b"S'a\n.", b"Sabc\n.",
        b"V\\ud800\n.", b"\x8c\x01\xff.",
        b"X\xff\xff\xff\x00a.", b"K\x01K\x02\x93.", b"\xff.", b"\x80\x09.", b"]K\x01]\x92.", b"(o.",
        b"I" + b"1" * 5000 + b"\n.", b"c" + b"a" * 5000 + b"\nb\n.",
    ],
)  # fmt: skip
def test_damaged_programs_are_refused_with_a_place(raw: bytes) -> None:
    with pytest.raises((MalformedModelError, UnsupportedModelError), match=r"^byte \d+: "):
        decode(raw)


@pytest.mark.parametrize("write", [pickle.dumps, dumped, lambda m: dumped(m, 3)])
def test_files_cut_off_anywhere(forest: RandomForestClassifier, write: Any) -> None:
    raw = write(forest)
    for size in range(0, len(raw), 97):
        with pytest.raises(MalformedModelError):
            decode(raw[:size])


def test_announced_sizes_are_not_believed() -> None:
    start = time.perf_counter()
    for raw in (
        b"\x8e" + struct.pack("<Q", 2**40) + b"a.",  # BINBYTES8
        b"\x96" + struct.pack("<Q", 2**62) + b"a.",  # BYTEARRAY8
        b"\x8d" + struct.pack("<Q", 2**20) + b"a.",  # BINUNICODE8
        b"B" + struct.pack("<I", 2**32 - 1) + b"a.",
        b"\x8b" + struct.pack("<i", 2**31 - 1) + b"a.",  # LONG4
        b"\x8b" + struct.pack("<i", -5) + b"a.",
        b"\x8b" + struct.pack("<i", 100_000) + b"\x01" * 100_000 + b".",
        b"\x95" + struct.pack("<Q", 2**63) + b".",  # FRAME
        b"cbuiltins\nbytearray\nJ\xff\xff\xff\x7f\x85R.",
        b"cbuiltins\nbytes\nJ\xff\xff\xff\x7f\x85R.",
    ):
        with pytest.raises(MalformedModelError):
            decode(raw)
    ranges = decode(b"cbuiltins\nlist\ncbuiltins\nrange\nJ\xff\xff\xff\x7f\x85R\x85R.")
    assert ranges.type_name == "builtins.list"  # recorded, not expanded
    assert time.perf_counter() - start < 2


def test_doubling_through_the_memo_costs_nothing() -> None:
    doubled = b"]q\x000" + b"".join(
        b"h" + bytes([i]) + b"h" + bytes([i]) + b"\x86q" + bytes([i + 1]) + b"0" for i in range(40)
    )
    assert len(decode(doubled + b"h\x28.")) == 2
    as_key = doubled + b"}h\x28K\x01s."
    assert list(decode(as_key).values()) == [1]
    in_a_set = doubled + b"\x8f(h\x28\x90."
    assert len(decode(in_a_set)) == 1


def test_copying_again_and_again_is_paid_for() -> None:
    many = b"](" + b"N" * 50_000 + b"eq\x000"
    copies = b"cbuiltins\nlist\nh\x00\x85R0" * 100_000
    with pytest.raises(ModelTooLargeError):
        decode(many + copies + b"N.", SMALL)
    text = b"X" + struct.pack("<I", 900_000) + b"a" * 900_000 + b"q\x000"
    with pytest.raises(ModelTooLargeError):
        decode(text + b"c_codecs\nencode\nh\x00Vlatin1\n\x86R0" * 1000 + b"N.", SMALL)


def test_too_many_values_and_instructions() -> None:
    with pytest.raises(ModelTooLargeError, match="values"):
        decode(b"](" + b"N" * 150_000 + b"e.", SMALL)
    with pytest.raises(ModelTooLargeError, match="instructions"):
        decode(b"N0" * 2_000_000 + b"N.", SMALL)
    with pytest.raises(ModelTooLargeError, match="bytes"):
        decode(b"N" * 10_000_001, SMALL)


@pytest.mark.parametrize("wrap", [b"\x85", b"]q\x01Nh\x00", None])
def test_deep_nesting(wrap: bytes | None) -> None:
    if wrap == b"\x85":
        raw = b"N" + b"\x85" * 90_000 + b"."
    elif wrap is None:
        raw = b"]" * 90_000 + b"a" * 89_999 + b"."
    else:
        # The innermost list is also an entry of the outermost: a short way there and a long one.
        raw = b"]q\x00" + b"\x85" * 60 + b"h\x00\x86."
    with pytest.raises(ModelTooLargeError, match="nested"):
        decode(raw, SMALL)
    assert decode(b"N" + b"\x85" * 40 + b".", SMALL) != ()


RECONSTRUCT = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85C\x01b\x87R"
END = b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00t"


def array_program(code: bytes, shape: bytes, content: bytes) -> bytes:
    dtype = b"cnumpy\ndtype\nV" + code + b"\n\x89\x88\x87R(K\x03V<\n" + END + b"b"
    return RECONSTRUCT + b"(K\x01" + shape + dtype + b"\x89" + content + b"tb."


def test_the_array_program_is_a_valid_one() -> None:
    assert decode(array_program(b"i2", b"K\x02\x85", b"C\x04\x01\x00\x02\x00")).tolist() == [1, 2]


@pytest.mark.parametrize(
    "raw",
    [
        array_program(b"i8", b"J\xff\xff\xff\x7f\x85", b"C\x04abcd"),  # more than is there
        array_program(b"i2", b"K\x01\x85", b"C\x04abcd"),  # less than is there
        array_program(b"i8", b"(" + b"J\xff\xff\xff\x7f" * 30 + b"t", b"C\x00"),
        array_program(b"i8", b"J\xff\xff\xff\xff\x85", b"C\x00"),  # a negative dimension
        array_program(b"O8", b"K\x01\x85", b"C\x08abcdefgh"),  # pointers as bytes
        array_program(b"O8", b"K\x02\x85", b"]"),
        array_program(b"i8", b"K\x00\x85", b"]"),
        array_program(b"V0", b"J\xff\xff\xff\x7f\x85", b"C\x00"),  # elements of no bytes
        array_program(b"b1", b"K\x01\x85", b"C\x01\x07"),  # neither True nor False
        array_program(b"U1", b"K\x01\x85", b"C\x04\xff\xff\xff\xff"),  # no character
        array_program(b"i8,O", b"K\x00\x85", b"C\x00"),
        array_program(b"(2,)i8", b"K\x00\x85", b"C\x00"),
        array_program(b"Q9999999999", b"K\x00\x85", b"C\x00"),
        RECONSTRUCT + b"K\x01b.",
        b"cnumpy.core.multiarray\nscalar\ncnumpy\ndtype\nVi8\n\x89\x88\x87RC\x04abcd\x86R.",
        b"cnumpy.core.numeric\n_frombuffer\n(C\x04abcdcnumpy\ndtype\nVi8\n\x89\x88\x87RK\x01\x85VC\ntR.",
        b"cnumpy.core.numeric\n_frombuffer\n(C\x04abcdcnumpy\ndtype\nVO8\n\x89\x88\x87RK\x01\x85VC\ntR.",
    ],
)
def test_arrays_that_are_not_what_they_say(raw: bytes) -> None:
    with pytest.raises((MalformedModelError, UnsupportedModelError)):
        decode(raw)


def record_program(fields: bytes, size: int, names: bytes = b"Va\n\x85") -> bytes:
    whole = b"V" + f"V{size}".encode() + b"\n"
    state = b"(K\x03V|\nN" + names + fields + b"J" + struct.pack("<i", size) + b"K\x01K\x10tb"
    return b"cnumpy\ndtype\n" + whole + b"\x89\x88\x87R" + state


INT8, OBJECT = (b"cnumpy\ndtype\nV" + c + b"\n\x89\x88\x87R" for c in (b"i8", b"O8"))


def test_records_from_raw_bytes() -> None:
    good = record_program(b"}Va\n" + INT8 + b"K\x00\x86s", 8)
    assert decode(good + b".").type_name == "numpy.dtypes.VoidDType"
    for bad in (
        record_program(b"}Va\n" + INT8 + b"K\x04\x86s", 8),  # the field sticks out
        record_program(b"}Va\n" + INT8 + b"J\xf8\xff\xff\xff\x86s", 8),  # or begins before
        record_program(b"}Va\n" + OBJECT + b"K\x00\x86s", 8),  # pointers in raw bytes
        record_program(b"}Vb\n" + INT8 + b"K\x00\x86s", 8),
        record_program(b"}", 8, b")"),
        record_program(b"N", 8),
    ):
        with pytest.raises((MalformedModelError, UnsupportedModelError)):
            decode(bad + b".")


def test_records_in_records_are_bounded() -> None:
    inner = record_program(b"}Va\n" + INT8 + b"K\x00\x86s", 8)
    for _ in range(20):
        inner = record_program(b"}Va\n" + inner + b"K\x00\x86s", 8)
    with pytest.raises(MalformedModelError, match="fields in fields"):
        decode(inner + b".")


def test_joblib_arrays_are_checked_against_the_file() -> None:
    raw = dumped(np.arange(1000.0))
    with pytest.raises(MalformedModelError):
        decode(raw.replace(struct.pack("<H", 1000), struct.pack("<H", 1001), 1))
    # Something other than the array of objects that joblib announced.
    trap = dumped(np.array([None], dtype=object))
    start = trap.rindex(b"\x80\x05")
    for other in (pickle.dumps(5), pickle.dumps(np.zeros(1)), pickle.dumps(np.array([None, None]))):
        with pytest.raises(MalformedModelError, match="joblib"):
            decode(trap[:start] + other + trap[trap.index(b".", start) + 1 :])


@pytest.mark.parametrize("compress", COMPRESSIONS)
def test_decompression_stops_at_the_limit(compress: Any) -> None:
    bomb = dumped(bytes(30_000_000), compress)
    assert len(bomb) < 200_000
    with pytest.raises(ModelTooLargeError, match="unpacks"):
        decode(bomb, SMALL)
    assert decode(bomb) == bytes(30_000_000)


def test_damaged_or_foreign_compression() -> None:
    for raw, error in (
        (b"\x04\x22\x4d\x18abc", UnsupportedModelError),  # lz4
        (b"ZF0x10", UnsupportedModelError),
        (b"x\x9cabc", MalformedModelError),
        (b"BZh9abc", MalformedModelError),
        (b"\x1f\x8b", MalformedModelError),
        (b"\xfd7zXZ\x00abc", MalformedModelError),
        (dumped([1], 3) + b"more", MalformedModelError),
        (bytes([93, 0, 0, 255, 255, 255, 255, 255]) + bytes(20), MalformedModelError),
    ):
        with pytest.raises(error):
            decode(raw)


def test_old_joblib_is_named() -> None:
    raw = b"cjoblib.numpy_pickle\nNDArrayWrapper\n)\x81}b."
    with pytest.raises(UnsupportedModelError, match=r"joblib before version 0\.10"):
        decode(raw)


def test_random_damage_gives_typed_errors(forest: RandomForestClassifier) -> None:
    rng = random.Random(5)
    sources = [pickle.dumps(forest, p) for p in PROTOCOLS]
    sources.append(dumped(forest))
    refused = 0
    for _ in range(1500):
        raw = bytearray(rng.choice(sources))
        for _ in range(rng.choice((1, 3, 10))):
            raw[rng.randrange(len(raw))] = rng.randrange(256)
        try:
            decode(bytes(raw), SMALL)
        except ModelError:
            refused += 1
    assert refused > 500


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.sampled_from(
                [bytes([c]) for c in b"(012NI])}tlaeusdRbo.\x81\x85\x86\x87\x88\x8f\x90\x91\x94"]
            ),
            st.sampled_from(
                [b"K\x01", b"h\x00", b"q\x00", b"Va\n", b"cbuiltins\nlist\n", RECONSTRUCT]
            ),
            st.sampled_from(
                [b"cnumpy\ndtype\n", b"Vi8\n", b"ccopyreg\n_reconstructor\n", b"C\x01a"]
            ),
            st.binary(max_size=3),
        ),
        max_size=40,
    )
)
def test_any_program_ends_well(parts: list[bytes]) -> None:
    try:
        root = decode(b"".join(parts) + b".", SMALL)
    except ModelError:
        return
    assert sum(1 for _ in walk(root)) >= 1
