"""Recognise a file by its first bytes; names and suffixes prove nothing."""

from __future__ import annotations

import enum
import re
from pathlib import Path

_HEAD = 4096
# What joblib may wrap a pickle in.  lz4 and the like have no reader in the standard library.
_COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"]\x00\x00", b"x\x01", b"x^", b"x\x9c",
               b"x\xda", b"\x04\x22\x4d\x18")  # fmt: skip

# Protocols 0 and 1 have no mark of their own; those of objects and containers start with a global
# ("c" or "(i", module, name), or with a container that is put into the memo at once.
_OLD_PICKLE = re.compile(rb"(?:c|\(i)[A-Za-z_][\w.]*\r?\n[\w.]+\r?\n|\([ld]p|[\]})]q\x00")

# CORELS also starts with a brace when it saves a rule of several conditions.
_JSON = re.compile(rb"\{\s*[\"}]|\{\s*$|\[")
_ARCHIVE = (b"PK\x03\x04", b"PK\x05\x06")


class FileKind(enum.Enum):
    """Containers glassleak tells apart; the value is how the report calls them."""

    SKOPS = "skops"
    PICKLE = "pickle"
    JSON = "JSON"
    TEXT = "text"
    UNKNOWN = "unknown"

    @property
    def label(self) -> str:
        return self.value


def sniff(path: Path) -> FileKind:
    """The kind of the file at `path`."""
    with path.open("rb") as stream:
        head = stream.read(_HEAD)
    if head.startswith(_ARCHIVE):
        return FileKind.SKOPS
    if head[:1] == b"\x80" or head.startswith(_COMPRESSED) or _OLD_PICKLE.match(head):
        return FileKind.PICKLE
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    # XGBoost's binary JSON also starts with a brace, followed by a type byte and a null.
    if _JSON.match(text) and b"\x00" not in head:
        return FileKind.JSON
    if text and b"\x00" not in head:
        return FileKind.TEXT
    return FileKind.UNKNOWN
