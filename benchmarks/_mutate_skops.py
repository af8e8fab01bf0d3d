"""Damage a .skops file inside its archive, so that checksums fit and readers get to see it."""

from __future__ import annotations

import copy
import io
import json
import random
import re
import zipfile
from typing import Any

import numpy as np

from benchmarks._corpus import zipped
from benchmarks._mutate_json import TOKENS, change_json, damage_json, odd_value

_SHAPES = (b"()", b"(0,)", b"(1,)", b"(-1,)", b"(10**9,)", b"(99999999999,)", b"(2, 3, 4)", b"7")
_TYPES = (b"'|O'", b"'<f8'", b"'>f8'", b"'<f2'", b"'<i8'", b"'<u8'", b"'|b1'", b"'<U3'", b"'|S8'",
          b"'<M8[ns]'", b"'|V8'", b"'<c16'", b"[('left_child', '<i8')]", b"'<f16'")  # fmt: skip
_KINDS = ("<u8", "<i4", "<u1", "<f4", ">f8", "<f2", "|b1", "<U4", "|S4", "<c16", "<M8[s]")
_CLASSES = ("DecisionTreeClassifier", "RandomForestClassifier", "BaggingClassifier", "Pipeline",
            "GridSearchCV", "DecisionTreeRegressor", "Tree", "", "x" * 300)  # fmt: skip
_VERSIONS = ("1.8.0", "1.2", "1.²", "9" * 5000, "", "nonsense")


def damage_archive(rng: random.Random, content: bytes) -> bytes:
    """Change one part of the archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except Exception:  # an earlier mutation broke it
        return content
    if not members:
        return content
    arrays = [name for name in members if name != "schema.json"]
    kind = rng.randrange(12)
    if kind <= 5 and "schema.json" in members:
        change = damage_json if kind == 0 else _damage_schema
        members["schema.json"] = change(rng, members["schema.json"])
    elif kind <= 9 and arrays:
        name = rng.choice(arrays)
        change = rng.choice((_npy_header, _npy_payload, _npy_values, _npy_values, _npy_type))
        members[name] = change(rng, members[name])
    elif kind == 10 and arrays:
        one, other = rng.choice(arrays), rng.choice(arrays)
        members[one], members[other] = members[other], members[one]
    else:
        name = rng.choice(list(members))
        piece = members.pop(name)
        if rng.random() < 0.7:
            members[rng.choice(("schema.json", "x" + name, "../" + name, name.upper()))] = piece
    method = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2))
    return zipped(members, method)


def _damage_schema(rng: random.Random, content: bytes) -> bytes:
    """Change one node of the object graph, and give it no id that could give it away."""
    try:
        schema = json.loads(content)
    except (ValueError, RecursionError):
        return content
    places = [
        (holder, key)
        for holder in _containers(schema)
        for key in (holder if isinstance(holder, dict) else range(len(holder)))
        if isinstance(holder[key], dict) and "__loader__" in holder[key]
    ]
    if not places:
        return content
    holder, key = rng.choice(places)
    node = copy.deepcopy(holder[key])
    kind = rng.randrange(7)
    if kind <= 2 and node.get("__loader__") == "JsonNode":
        node["content"] = _other_json(rng, node.get("content"))
    elif kind == 3:
        other, elsewhere = rng.choice(places)
        node = copy.deepcopy(other[elsewhere])
    elif kind == 4:
        node = _strange_node(rng, node)
    elif kind == 5:
        node["__class__"] = rng.choice(_CLASSES)
    else:
        node = _json_node(rng.choice(_VERSIONS) if rng.random() < 0.3 else odd_value(rng))
    for inner in _containers(node):
        if isinstance(inner, dict):
            inner.pop("__id__", None)
    if rng.random() < 0.1:
        del holder[key]
    else:
        holder[key] = node
    return json.dumps(schema).encode()


def _containers(value: Any) -> list[Any]:
    found, stack = [], [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict | list):
            found.append(item)
            stack.extend(item.values() if isinstance(item, dict) else item)
    return found


def _other_json(rng: random.Random, content: Any) -> Any:
    if rng.random() < 0.2:
        return rng.choice(TOKENS)
    try:
        value = json.loads(content)
    except (TypeError, ValueError, RecursionError):
        return content
    if isinstance(value, dict | list) and value and rng.random() < 0.5:
        change_json(rng, value)
    elif isinstance(value, int) and rng.random() < 0.3:
        value += rng.choice((-1, 1, 10))
    else:
        value = odd_value(rng)
    return json.dumps(value)


def _json_node(value: Any) -> dict[str, Any]:
    return {
        "__class__": "str",
        "__module__": "builtins",
        "__loader__": "JsonNode",
        "content": json.dumps(value),
    }


def _strange_node(rng: random.Random, node: dict[str, Any]) -> dict[str, Any]:
    named = {"__module__": rng.choice(("os", "builtins", "numpy")), "__class__": "system"}
    return rng.choice(
        (
            {"__loader__": "FunctionNode", **named},
            {"__loader__": "CachedNode", "__id__": rng.randrange(30)},
            {"__loader__": "ListNode", "content": [node] * rng.choice((0, 1, 3, 200))},
            {"__loader__": "TupleNode", "content": [node, _json_node(odd_value(rng))]},
            {"__loader__": "DictNode", "content": {"a": node, "": _json_node(odd_value(rng))}},
            {"__loader__": "NdArrayNode", "type": "json", "content": [node] * 3,
             "shape": _json_node(rng.choice(([3], [1, 3], "x")))},
            {"__loader__": "ObjectNode", **named, "content": node},
        )
    )  # fmt: skip


def _npy_header(rng: random.Random, content: bytes) -> bytes:
    """Another shape, type or order; the length in front is kept true now and then."""
    head, body = content[:10], content[10:]
    if rng.random() < 0.5:
        changed = re.sub(rb"'shape': \([^)]*\)", b"'shape': " + rng.choice(_SHAPES), body, count=1)
    else:
        changed = re.sub(rb"'descr': ('[^']*')", b"'descr': " + rng.choice(_TYPES), body, count=1)
    if rng.random() < 0.8:
        length = int.from_bytes(head[8:10], "little") + len(changed) - len(body)
        head = head[:8] + (length % 65536).to_bytes(2, "little")
    return head + changed


def _npy_payload(rng: random.Random, content: bytes) -> bytes:
    start = 10 + int.from_bytes(content[8:10], "little")
    out = bytearray(content)
    for _ in range(rng.choice((1, 1, 3, 20))):
        if start < len(out):
            at = rng.randrange(start, len(out))
            out[at : at + 8] = rng.choice(
                (rng.randbytes(8), b"\xff" * 8, b"\x00" * 8, np.float64(np.nan).tobytes(),
                 np.float64(np.inf).tobytes(), np.int64(-2).tobytes(), np.int64(2**40).tobytes())
            )[: len(out) - at]  # fmt: skip
    return bytes(out)


def _npy_values(rng: random.Random, content: bytes) -> bytes:
    """Change single values, knowing their type."""
    array = _loaded(content)
    if array is None:
        return content
    fields = array.dtype.names
    column = array[rng.choice(fields)] if fields else array
    if column.size and column.dtype.kind in "iuf":
        flat = column if fields else column.reshape(-1)
        at = rng.randrange(len(flat))
        if rng.random() < 0.5:
            flat[at] = flat[rng.randrange(len(flat))]
        elif column.dtype.kind == "f":
            flat[at] = rng.choice((np.nan, np.inf, -np.inf, -1.0, 0.0, 1e300, flat[at] + 1e-3))
        else:
            bounds = np.iinfo(column.dtype)
            value = rng.choice((int(flat[at]) - 1, int(flat[at]) + 1, 3))
            flat[at] = min(max(value, bounds.min), bounds.max)
    if rng.random() < 0.2 and array.ndim:
        array = array[:: rng.choice((-1, 2))]
    return _dumped(array)


def _npy_type(rng: random.Random, content: bytes) -> bytes:
    """The same values as another type, of one field if there are several."""
    array = _loaded(content)
    if array is None:
        return content
    other, fields = rng.choice(_KINDS), array.dtype.names
    with np.errstate(all="ignore"):
        try:
            if not fields:
                return _dumped(array.astype(other))
            chosen = rng.choice(fields)
            types = [(name, other if name == chosen else array.dtype[name].str) for name in fields]
            out = np.zeros(array.shape, dtype=types)
            for name in fields:
                out[name] = array[name].astype(out.dtype[name])
            return _dumped(out)
        except (TypeError, ValueError):
            return content


def _loaded(content: bytes) -> Any:
    try:
        return np.load(io.BytesIO(content)).copy()
    except Exception:  # an earlier mutation broke it
        return None


def _dumped(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()
