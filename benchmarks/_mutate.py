"""Damage a valid file: blindly, or knowing how its format is built."""

from __future__ import annotations

import lzma
import pickletools
import random
import zlib
from collections.abc import Callable

from benchmarks._corpus import Seed
from benchmarks._mutate_json import damage_json, damage_text
from benchmarks._mutate_skops import damage_archive

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
    "skops": damage_archive,
    "pickle": _pickle,
    "joblib": _joblib,
    "glassleak JSON": damage_json,
    "LightGBM JSON": damage_json,
    "XGBoost JSON": damage_json,
    "CORELS JSON": damage_json,
    "LightGBM text": damage_text,
    "CORELS text": damage_text,
}
