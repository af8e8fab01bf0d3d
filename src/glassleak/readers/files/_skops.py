"""A .skops file as inert `State`.

A .skops file is a zip of ``schema.json`` (a description of the object graph) and .npy arrays.
skops itself imports and builds the named classes, and since version 0.16 asks for trust before it
builds a scikit-learn tree, because node indices in a hostile file make ``predict`` read outside
its memory.  glassleak never predicts with the object, so it does not build it either: the
description is read as data, whatever types it names.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from glassleak.errors import (
    MalformedModelError,
    ModelTooLargeError,
    UnsupportedModelError,
)
from glassleak.readers._limits import Limits
from glassleak.readers._state import Reference, State
from glassleak.readers.files._json_text import parse_json
from glassleak.readers.files._npy import array_from_npy
from glassleak.readers.files._skops_ids import check_ids

_SCHEMA = "schema.json"
# LZMA members may ask for a dictionary of gigabytes, and zipfile offers no way to refuse.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)
_WORDS = {"true": True, "false": False}


def decode_skops(path: Path, limits: Limits) -> Any:
    """The object graph described by the file at `path`."""
    with _opened(path, path.name) as archive:
        try:
            return _Decoder(archive, limits).decode()
        except RecursionError:
            raise ModelTooLargeError("nested too deeply", path.name) from None
        except MemoryError:
            raise ModelTooLargeError("takes more memory than there is", path.name) from None


def _opened(file: Path | io.BytesIO, place: str) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(file)
    # zipfile believes what a damaged archive says about itself, and fails in many ways.
    except Exception as error:
        raise MalformedModelError(f"damaged archive: {error}", place) from None


class _Decoder:
    def __init__(self, archive: zipfile.ZipFile, limits: Limits) -> None:
        self.archive, self.limits = archive, limits
        self.members = archive.NameToInfo
        self.memo: dict[int, Any] = {}
        self.arrays: dict[str, Any] = {}
        self.values = 0
        self.unpacked = 0
        self._check_size(archive, "archive")

    def _check_size(self, archive: zipfile.ZipFile, place: str) -> None:
        self.unpacked += sum(info.file_size for info in archive.infolist())
        if self.unpacked > self.limits.unpacked_bytes:
            raise ModelTooLargeError(f"unpacks to {self.unpacked:,} bytes", place)

    def decode(self) -> Any:
        if _SCHEMA not in self.members:
            raise UnsupportedModelError(
                f"an archive without {_SCHEMA}, hence not a .skops file", "archive"
            )
        schema = parse_json(self._member(_SCHEMA, _SCHEMA), self.limits, _SCHEMA)
        if not isinstance(schema, dict):
            raise MalformedModelError("expected an object", _SCHEMA)
        check_ids(schema, 2 * self.limits.values, self._same_file)
        return self.node(schema, "model", 0)

    def _member(self, name: str, place: str) -> bytes:
        return self._unpacked(self.archive, self.members[name], place)

    def _unpacked(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo, place: str) -> bytes:
        name = info.filename
        if info.compress_type not in _METHODS:
            raise UnsupportedModelError(
                f"{name!r} is compressed with a method glassleak does not unpack", place
            )
        try:
            # zipfile stops at the declared size, so the sum checked before bounds what is read.
            with archive.open(info) as stream:
                return stream.read(info.file_size + 1)
        except MemoryError:
            raise
        # Wrong offsets, checksums, encryption flags and deflate streams each fail differently.
        except Exception as error:
            raise MalformedModelError(f"damaged archive: {name!r}: {error}", place) from None

    def _same_file(self, one: str, other: str) -> bool:
        if one not in self.members or other not in self.members:
            return False
        # Sizes are declared and cheap; the bytes decide.
        if self.members[one].file_size != self.members[other].file_size:
            return False
        return self._member(one, _SCHEMA) == self._member(other, _SCHEMA)

    def node(self, node: Any, place: str, depth: int) -> Any:
        """One node of the description; shared nodes (same ``__id__``) come out as one object."""
        self.values += 1
        if depth > self.limits.nesting or self.values > self.limits.values:
            raise ModelTooLargeError("nested too deeply or too many values", place)
        if not isinstance(node, dict) or not isinstance(node.get("__loader__"), str):
            raise MalformedModelError("not a node of the object graph", place)
        loader = node["__loader__"]
        known = node.get("__id__")
        if isinstance(known, int) and known in self.memo:
            return self.memo[known]
        if loader == "CachedNode":
            raise MalformedModelError("refers to an object not seen before", place)
        value = self._value(loader, node, place, depth + 1)
        if isinstance(known, int):
            self.memo[known] = value
        return value

    def _value(self, loader: str, node: dict[str, Any], place: str, depth: int) -> Any:
        content = node.get("content")
        if loader == "JsonNode":
            if not isinstance(content, str):
                raise MalformedModelError("expected JSON text", place)
            value = parse_json(content, self.limits, place, constants=True)
            self._check_nesting(value, depth, place)
            return value
        if loader == "DictNode":
            found = self._dict(content, place, depth)
            return _keyed(found, _key_types(node.get("key_types")))
        if loader in ("ListNode", "SetNode", "TupleNode"):
            items = self._list(content, place, depth)
            return tuple(items) if loader == "TupleNode" else items
        if loader == "NdArrayNode":
            return self._array(node, place, depth)
        if loader == "SparseMatrixNode":
            return self._sparse(node, place)
        if loader in ("TypeNode", "FunctionNode"):
            return Reference(_text(node, "__module__", place), _text(node, "__class__", place))
        return self._instance(node, place, depth)

    def _check_nesting(self, value: Any, depth: int, place: str) -> None:
        """Plain values are described by JSON text inside the JSON; they count like all others."""
        level = [value]
        while level := [item for item in level if isinstance(item, dict | list)]:
            depth += 1
            level = [i for c in level for i in (c.values() if isinstance(c, dict) else c)]
            self.values += len(level)
            if depth > self.limits.nesting or self.values > self.limits.values:
                raise ModelTooLargeError("nested too deeply or too many values", place)

    def _dict(self, content: Any, place: str, depth: int) -> dict[Any, Any]:
        if not isinstance(content, dict):
            raise MalformedModelError("expected an object", place)
        return {key: self.node(item, f"{place}.{key}", depth) for key, item in content.items()}

    def _list(self, content: Any, place: str, depth: int) -> list[Any]:
        if not isinstance(content, list):
            raise MalformedModelError("expected a list", place)
        return [self.node(item, f"{place}[{i}]", depth) for i, item in enumerate(content)]

    def _array(self, node: dict[str, Any], place: str, depth: int) -> Any:
        if node.get("type") == "numpy":
            name = _text(node, "file", place)
            if name not in self.arrays:
                if name not in self.members:
                    raise MalformedModelError(f"the archive lacks {name!r}", place)
                self.arrays[name] = array_from_npy(self._member(name, place), place)
            array = self.arrays[name]
            # numpy scalars are stored as arrays without dimensions.
            return array.item() if array.ndim == 0 and array.dtype.names is None else array
        items = self._list(node.get("content"), place, depth)
        shape = self.node(node.get("shape"), place, depth)
        out = np.empty(len(items), dtype=object)
        out[:] = items
        flat = isinstance(shape, tuple | list) and len(shape) == 1
        # Object arrays of more dimensions are stored as nested lists; their nesting tells enough.
        return out if flat else items

    def _sparse(self, node: dict[str, Any], place: str) -> State:
        """A sparse matrix is an archive of arrays inside the archive."""
        state = State(_text(node, "__module__", place), _text(node, "__class__", place))
        name = _text(node, "file", place)
        if name not in self.members:
            raise MalformedModelError(f"the archive lacks {name!r}", place)
        inner = _opened(io.BytesIO(self._member(name, place)), place)
        with inner:
            self._check_size(inner, place)
            for info in inner.infolist():
                key = info.filename.removesuffix(".npy")
                content = self._unpacked(inner, info, place)
                state.attributes[key] = array_from_npy(content, f"{place}.{key}")
        return state

    def _instance(self, node: dict[str, Any], place: str, depth: int) -> State:
        state = State(_text(node, "__module__", place), _text(node, "__class__", place))
        reduce = node.get("__reduce__")
        if isinstance(reduce, dict) and "args" in reduce:
            args = self.node(reduce["args"], f"{place}.args", depth)
            state.args = tuple(args) if isinstance(args, tuple | list) else (args,)
        content = node.get("content")
        if isinstance(content, dict) and "__loader__" in content:
            held = self.node(content, place, depth)
            state.attributes.update(held if isinstance(held, dict) else {"__state__": held})
        elif isinstance(content, dict):
            # Special nodes (partial, masked array, …) hold several named nodes, or plain values.
            for key, item in content.items():
                inner = isinstance(item, dict) and "__loader__" in item
                state.attributes[key] = self.node(item, f"{place}.{key}", depth) if inner else item
        elif content is not None:
            state.attributes["__state__"] = content
        return state


def _key_types(node: Any) -> list[str]:
    """The names of the types a dictionary's keys had before JSON made text of them."""
    content = node.get("content") if isinstance(node, dict) else None
    if not isinstance(content, list):
        return []
    return [str(item.get("__class__")) if isinstance(item, dict) else "" for item in content]


def _keyed(found: dict[str, Any], types: list[str]) -> dict[Any, Any]:
    if len(types) != len(found) or all(name == "str" for name in types):
        return found
    return {_key(key, name): value for (key, value), name in zip(found.items(), types, strict=True)}


def _key(key: str, type_name: str) -> Any:
    try:
        if type_name.startswith("bool"):
            return _WORDS.get(key, key)
        if type_name.startswith(("int", "uint")):
            return int(key)
        return float(key) if type_name.startswith("float") else key
    except ValueError:
        return key


def _text(node: dict[str, Any], key: str, place: str) -> str:
    value = node.get(key)
    if not isinstance(value, str):
        raise MalformedModelError(f"expected text for {key}", place)
    return value
