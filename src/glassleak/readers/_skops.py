"""A .skops file as inert `State`.

A .skops file is a zip of ``schema.json`` (a description of the object graph) and .npy arrays.
skops itself imports and builds the named classes, and since version 0.16 asks for trust before it
builds a scikit-learn tree, because node indices in a hostile file make ``predict`` read outside
its memory.  glassleak never predicts with the object, so it does not build it either: the
description is read as data, whatever types it names.
"""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from glassleak.errors import MalformedModelError, ModelTooLargeError
from glassleak.readers._json_text import parse_json
from glassleak.readers._limits import Limits
from glassleak.readers._npy import array_from_npy
from glassleak.readers._state import Reference, State

_SCHEMA = "schema.json"
_ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError,
               NotImplementedError, MemoryError)  # fmt: skip


def decode_skops(path: Path, limits: Limits) -> Any:
    """The object graph described by the file at `path`."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _Decoder(archive, limits).decode()
    except MalformedModelError:
        raise
    except _ZIP_ERRORS as error:
        raise MalformedModelError(f"damaged archive: {error}", path.name) from None


class _Decoder:
    def __init__(self, archive: zipfile.ZipFile, limits: Limits) -> None:
        self.archive, self.limits = archive, limits
        self.memo: dict[int, Any] = {}
        self.arrays: dict[str, Any] = {}
        self.values = 0
        unpacked = sum(info.file_size for info in archive.infolist())
        if unpacked > limits.unpacked_bytes:
            raise ModelTooLargeError(f"unpacks to {unpacked:,} bytes")

    def decode(self) -> Any:
        if _SCHEMA not in self.archive.namelist():
            raise MalformedModelError(f"a .skops file holds {_SCHEMA}; this archive does not")
        schema = parse_json(self._member(_SCHEMA), self.limits, _SCHEMA)
        if not isinstance(schema, dict):
            raise MalformedModelError("expected an object", _SCHEMA)
        return self.node(schema, "model", 0)

    def _member(self, name: str) -> bytes:
        info = self.archive.getinfo(name)
        # zipfile stops at the declared size, so the sum checked above bounds what is read.
        with self.archive.open(info) as stream:
            return stream.read(info.file_size + 1)

    def node(self, node: Any, place: str, depth: int) -> Any:
        """One node of the description; shared nodes (same ``__id__``) come out as one object."""
        self.values += 1
        if depth > self.limits.nesting or self.values > self.limits.values:
            raise ModelTooLargeError("nested too deeply or too many values", place)
        if not isinstance(node, dict) or not isinstance(node.get("__loader__"), str):
            raise MalformedModelError("not a node of the object graph", place)
        loader = node["__loader__"]
        known = node.get("__id__")
        # As skops does: the first node with an id wins.  A file could otherwise show glassleak one
        # model and whoever loads it another.
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
            return parse_json(content, self.limits, place)
        if loader == "DictNode":
            return self._dict(content, place, depth)
        if loader in ("ListNode", "SetNode", "TupleNode"):
            items = self._list(content, place, depth)
            return tuple(items) if loader == "TupleNode" else items
        if loader == "NdArrayNode":
            return self._array(node, place, depth)
        if loader in ("TypeNode", "FunctionNode"):
            return Reference(_text(node, "__module__", place), _text(node, "__class__", place))
        return self._instance(node, place, depth)

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
                if name not in self.archive.namelist():
                    raise MalformedModelError(f"the archive lacks {name!r}", place)
                self.arrays[name] = array_from_npy(self._member(name), place)
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


def _text(node: dict[str, Any], key: str, place: str) -> str:
    value = node.get(key)
    if not isinstance(value, str):
        raise MalformedModelError(f"expected text for {key}", place)
    return value
