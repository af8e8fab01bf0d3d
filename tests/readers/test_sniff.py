"""Files are recognised by what is in them, whatever they are called."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import pickle
import zipfile
import zlib
from pathlib import Path

import joblib
import numpy as np
import pytest

from glassleak.readers.files._sniff import FileKind, sniff


def archive() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as target:
        target.writestr("schema.json", "{}")
    return stream.getvalue()


def dumped(compress: object) -> bytes:
    stream = io.BytesIO()
    joblib.dump({"a": np.arange(9)}, stream, compress=compress)
    return stream.getvalue()


MODEL = {"a": [1, 2], "b": "text"}
CASES = {
    **{f"pickle {p}": (pickle.dumps(MODEL, protocol=p), FileKind.PICKLE) for p in range(6)},
    "pickled object, protocol 0": (pickle.dumps(np.float64(2), protocol=0), FileKind.PICKLE),
    **{
        f"joblib {c}": (dumped(c), FileKind.PICKLE)
        for c in (0, 1, 9, ("gzip", 3), ("bz2", 3), ("xz", 3), ("lzma", 3))
    },
    "gzip": (gzip.compress(b"x"), FileKind.PICKLE),
    "bz2": (bz2.compress(b"x"), FileKind.PICKLE),
    "xz": (lzma.compress(b"x"), FileKind.PICKLE),
    "zlib": (zlib.compress(b"x"), FileKind.PICKLE),
    "lz4": (b"\x04\x22\x4d\x18rest", FileKind.PICKLE),
    "archive": (archive(), FileKind.SKOPS),
    "archive cut": (archive()[:30], FileKind.SKOPS),
    "archive of nothing": (b"PK\x05\x06" + b"\0" * 18, FileKind.SKOPS),
    "letters": (b"PKW 7,5 t", FileKind.TEXT),
    "object": (b'{"a": 1}', FileKind.JSON),
    "list": (b"[1]", FileKind.JSON),
    "indented": (b'\n  {"a": 1}', FileKind.JSON),
    "byte order mark": (b'\xef\xbb\xbf{"a": 1}', FileKind.JSON),
    "binary JSON": (b"{L\x00\x00\x00\x00\x00\x00\x00\x07learner", FileKind.UNKNOWN),
    "saved rules": (b"{age<=22,sex:Male}~1;default~0", FileKind.TEXT),
    "JSON cut": (b"{ ", FileKind.JSON),
    "empty object": (b"{\n}", FileKind.JSON),
    "LightGBM": (b"tree\nversion=v4\n", FileKind.TEXT),
    "rules": (b"if (a) then (b)", FileKind.TEXT),
    "nothing": (b"", FileKind.UNKNOWN),
    "blanks": (b" \n ", FileKind.UNKNOWN),
    "zeros": (b"\x00" * 50, FileKind.UNKNOWN),
    "PNG": (b"\x89PNG\r\n\x1a\n\x00\x00", FileKind.UNKNOWN),
}


@pytest.mark.parametrize("name", CASES)
def test_content_decides(name: str, tmp_path: Path) -> None:
    content, kind = CASES[name]
    path = tmp_path / "innocent.json"
    path.write_bytes(content)
    assert sniff(path) is kind


def test_labels_are_words_for_the_report() -> None:
    assert {kind.label for kind in FileKind} == {"skops", "pickle", "JSON", "text", "unknown"}
