"""Damage a valid file: blindly, or knowing how its format is built."""

from __future__ import annotations

import io
import json
import lzma
import pickletools
import random
import re
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks._corpus import Seed, zipped

# Values that break assumptions: signs, sizes, kinds.
NUMBERS = (0, -1, 1, 2, 7, 255, 2**31 - 1, 2**31, 2**32, 2**40, 2**53 + 1, 2**63, 2**64, 10**30,
           10**400, -(2**63), 0.5, -0.0, 1e-320, 1e16, 1e308, -1e308)  # fmt: skip
ODD = (None, True, False, "", "a", "NaN", "-1", "1e999", "[/]\x1b[2J", "\ud800", "x" * 5000, [], {},
       [[]], [None], {"a": 1}, [0] * 3)  # fmt: skip
TOKENS = ("NaN", "Infinity", "-Infinity", "1e999", "-1e999", "[" * 3000 + "]" * 3000, "1" * 5000,
          '{"a":' * 500 + "1" + "}" * 500)  # fmt: skip
_MARK = "@glassleak-fuzz@"
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_TEXT_NUMBERS = ("-1", "0", "99999999999999999999", "1e308", "1e999", "nan", "inf", "-inf", "0x10",
                 "", "1" * 400, "٣", "1_0", "+5", " ", "-0", "2147483648")  # fmt: skip


# How often each kind is chosen; archives and pickles have the most to get wrong.
_SHARES = {"skops": 4, "pickle": 3, "joblib": 2, "glassleak JSON": 2}


def damaged(rng: random.Random, corpus: tuple[Seed, ...]) -> tuple[Seed, bytes]:
    """Some file of the corpus and a damaged copy of it."""
    kinds = sorted({seed.kind for seed in corpus})
    (kind,) = rng.choices(kinds, [_SHARES.get(k, 1) for k in kinds])
    seed = rng.choice([s for s in corpus if s.kind == kind])
    content = seed.content
    for _ in range(rng.choice((1, 1, 1, 2, 4)) + 5):
        aware = _AWARE.get(seed.kind)
        if aware is not None and rng.random() < 0.7:
            content = aware(rng, content)
        else:
            content = _blind(rng, content, corpus)
        # Some mutations find nothing to change, some undo each other; one in six goes on.
        if content != seed.content and rng.random() < 0.7:
            break
    return seed, content


def file_number(index: int, seed: int, corpus: tuple[Seed, ...]) -> tuple[Seed, bytes]:
    """The same file for the same numbers, on every machine."""
    return damaged(random.Random(f"{seed}/{index}"), corpus)


def _blind(rng: random.Random, content: bytes, corpus: tuple[Seed, ...]) -> bytes:
    out = bytearray(content)
    if not out:
        return b"\x80"
    at = rng.randrange(len(out))
    size = rng.choice((1, 1, 2, 4, 8, 64))
    kind = rng.randrange(7)
    if kind == 0:
        for _ in range(size):
            out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    elif kind == 1:
        out[at:at] = rng.randbytes(size)
    elif kind == 2:
        del out[at : at + size]
    elif kind == 3:
        del out[at:]
    elif kind == 4:
        other = rng.choice(corpus).content
        out[at:] = other[rng.randrange(len(other)) :]
    elif kind == 5:
        piece = out[at : at + 16 * size]
        where = rng.randrange(len(out))
        out[where:where] = piece * rng.choice((1, 2, 50))
    else:
        out[at : at + size] = rng.choice((b"\x00", b"\xff", b"\x80", b"\x7f")) * size
    return bytes(out)


# ----------------------------------------------------------------------------------------- JSON


def _places(document: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) in a document."""
    found: list[tuple[Any, Any]] = []
    stack = [document]
    while stack:
        value = stack.pop()
        keys = list(value) if isinstance(value, dict) else range(len(value))
        for key in keys:
            found.append((value, key))
            if isinstance(value[key], dict | list):
                stack.append(value[key])
    return found


def _json(rng: random.Random, content: bytes) -> bytes:
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        return content
    if not isinstance(document, dict | list) or not document:
        return content
    token = _change_json(rng, document)
    text = json.dumps(document)
    if token is not None:
        text = text.replace(json.dumps(_MARK), token)
    return text.encode()


def _change_json(rng: random.Random, document: Any) -> str | None:
    """Change one place; returns raw text to put where the mark is, if any."""
    places = _places(document)
    holder, key = rng.choice(places)
    kind = rng.randrange(9)
    if kind == 0:
        holder[key] = rng.choice(NUMBERS)
    elif kind == 1:
        holder[key] = rng.choice(ODD)
    elif kind == 2:
        holder[key] = _MARK
        return rng.choice(TOKENS)
    elif kind == 3:
        other, elsewhere = rng.choice(places)
        holder[key], other[elsewhere] = other[elsewhere], holder[key]
        if _cyclic(document):
            holder[key] = None
            other[elsewhere] = None
    elif kind == 4:
        del holder[key]
    elif kind == 5 and isinstance(holder, list):
        holder[key:key] = [holder[key]] * rng.choice((1, 3, 1000))
    elif kind == 6 and isinstance(holder[key], str):
        holder[key] = _text(rng, holder[key].encode("utf-8", "replace")).decode("utf-8", "replace")
    elif kind == 7 and isinstance(holder[key], int | float) and not isinstance(holder[key], bool):
        holder[key] = holder[key] + rng.choice((-1, 1, 0.5, 1e-7))
    elif isinstance(holder, dict):
        holder[rng.choice(("x", "", "__id__", "kind", str(key) * 2))] = holder.pop(key)
    return None


def _cyclic(document: Any) -> bool:
    try:
        json.dumps(document)
    except ValueError:
        return True
    return False


# ----------------------------------------------------------------------------------------- text


def _text(rng: random.Random, content: bytes) -> bytes:
    text = content.decode("utf-8", "replace")
    kind = rng.randrange(5)
    numbers = list(_NUMBER.finditer(text))
    lines = text.split("\n")
    if kind <= 1 and numbers:
        match = rng.choice(numbers)
        text = text[: match.start()] + rng.choice(_TEXT_NUMBERS) + text[match.end() :]
    elif kind == 2:
        i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
        lines[i], lines[j] = lines[j], lines[i]
        text = "\n".join(lines)
    elif kind == 3:
        del lines[rng.randrange(len(lines))]
        text = "\n".join(lines)
    else:
        i = rng.randrange(len(lines))
        lines[i:i] = [lines[i]] * rng.choice((1, 2, 500))
        text = "\n".join(lines)
    return text.encode("utf-8", "replace")


# ---------------------------------------------------------------------------------------- skops


def _archive(rng: random.Random, content: bytes) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except Exception:  # an earlier mutation broke it
        return content
    if not members:
        return content
    arrays = [name for name in members if name != "schema.json"]
    kind = rng.randrange(8)
    if kind <= 2 and "schema.json" in members:
        members["schema.json"] = _json(rng, members["schema.json"])
    elif kind <= 5 and arrays:
        name = rng.choice(arrays)
        members[name] = rng.choice((_npy_header, _npy_payload, _npy_values))(rng, members[name])
    elif kind == 6 and arrays:
        one, other = rng.choice(arrays), rng.choice(arrays)
        members[one], members[other] = members[other], members[one]
    else:
        name = rng.choice(list(members))
        piece = members.pop(name)
        if rng.random() < 0.7:
            members[rng.choice(("schema.json", "x" + name, "../" + name, name.upper()))] = piece
    method = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2))
    return zipped(members, method)


_SHAPES = (b"()", b"(0,)", b"(1,)", b"(-1,)", b"(10**9,)", b"(99999999999,)", b"(2, 3, 4)", b"7")
_TYPES = (b"'|O'", b"'<f8'", b"'>f8'", b"'<f2'", b"'<i8'", b"'<u8'", b"'|b1'", b"'<U3'", b"'|S8'",
          b"'<M8[ns]'", b"'|V8'", b"'<c16'", b"[('left_child', '<i8')]", b"'<f16'")  # fmt: skip


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
    try:
        array = np.load(io.BytesIO(content)).copy()
    except Exception:  # an earlier mutation broke it
        return content
    fields = array.dtype.names
    column = array[rng.choice(fields)] if fields else array
    if column.size and column.dtype.kind in "iuf":
        flat = column.reshape(-1) if not fields else column
        at = rng.randrange(len(flat))
        with np.errstate(all="ignore"):
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
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


# --------------------------------------------------------------------------------------- pickle


_GLOBALS = (b"cos\nsystem\n", b"cbuiltins\nexec\n", b"cbuiltins\ngetattr\n", b"cnumpy\nload\n",
            b"cnumpy._core.multiarray\n_reconstruct\n", b"cnumpy\ndtype\n", b"cnumpy\nndarray\n",
            b"cjoblib.numpy_pickle\nNumpyArrayWrapper\n", b"ccollections\nOrderedDict\n",
            b"csklearn.tree._tree\nTree\n", b"cbuiltins\nset\n")  # fmt: skip
_CODES = tuple(op.code.encode("latin1") for op in pickletools.opcodes)


def _pickle(rng: random.Random, content: bytes) -> bytes:
    """Delete, repeat, swap or insert instructions, or change what one carries."""
    starts = []
    try:
        for _, _, position in pickletools.genops(content):
            starts.append(position)
    except Exception:  # arrays between the instructions (joblib), or an earlier mutation
        if len(starts) < 2:
            return content
    starts.append(len(content))
    i, j = sorted((rng.randrange(len(starts) - 1), rng.randrange(len(starts) - 1)))
    first = content[starts[i] : starts[i + 1]]
    second = content[starts[j] : starts[j + 1]]
    kind = rng.randrange(7)
    if kind == 0:
        return content[: starts[i]] + content[starts[i + 1] :]
    if kind == 1:
        return content[: starts[i]] + first * rng.choice((2, 3, 2000)) + content[starts[i + 1] :]
    if kind == 2 and i < j:
        between = content[starts[i + 1] : starts[j]]
        return content[: starts[i]] + second + between + first + content[starts[j + 1] :]
    if kind == 3:
        return content[: starts[i]] + rng.choice(_CODES) + content[starts[i] :]
    if kind == 4:
        return content[: starts[i]] + rng.choice(_GLOBALS) + content[starts[i] :]
    if kind == 5:
        return content[: starts[i]] + rng.choice(_GLOBALS) + content[starts[i + 1] :]
    changed = bytearray(first)
    changed[rng.randrange(len(changed))] = rng.randrange(256)
    return content[: starts[i]] + bytes(changed) + content[starts[i + 1] :]


def _joblib(rng: random.Random, content: bytes) -> bytes:
    """As a pickle, also inside the compression."""
    for magic, unpack, pack in (
        (b"x", zlib.decompress, zlib.compress),
        (b"\xfd7zXZ", lzma.decompress, lzma.compress),
    ):
        if content.startswith(magic):
            try:
                return pack(_pickle(rng, unpack(content)))
            except (zlib.error, lzma.LZMAError):
                return content
    return _pickle(rng, content)


_AWARE: dict[str, Callable[[random.Random, bytes], bytes]] = {
    "skops": _archive,
    "pickle": _pickle,
    "joblib": _joblib,
    "glassleak JSON": _json,
    "LightGBM JSON": _json,
    "XGBoost JSON": _json,
    "CORELS JSON": _json,
    "LightGBM text": _text,
    "CORELS text": _text,
}
