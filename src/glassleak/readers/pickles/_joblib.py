"""What joblib adds to pickle: compression of the whole file, and arrays beside the instructions."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from glassleak.errors import MalformedModelError, ModelTooLargeError, UnsupportedModelError
from glassleak.readers._limits import Limits
from glassleak.readers._state import State
from glassleak.readers.pickles._pickle_input import Input
from glassleak.readers.pickles._pickle_numpy import Arrays, checked_shape

_CHUNK: Final = 1 << 20
_MODULE: Final = "joblib.numpy_pickle"
# A dictionary of several gigabytes is legal in these formats and would be allocated at once.
_LZMA_MEMORY: Final = 1 << 28


_FORMATS: Final[tuple[tuple[bytes, str, Callable[[], Any]], ...]] = (
    (b"\x1f\x8b", "gzip", lambda: zlib.decompressobj(wbits=31)),
    (b"BZh", "bz2", bz2.BZ2Decompressor),
    (b"\xfd7zXZ\x00", "xz", lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, _LZMA_MEMORY)),
    (b"]\x00\x00", "lzma", lambda: lzma.LZMADecompressor(lzma.FORMAT_ALONE, _LZMA_MEMORY)),
    (b"x", "zlib", zlib.decompressobj),
)


def unpacked(raw: bytearray, limits: Limits) -> bytearray:
    """`raw`, decompressed when it is compressed; never more than ``limits.unpacked_bytes``."""
    if raw.startswith(b"\x04\x22\x4d\x18"):
        raise UnsupportedModelError("compressed with lz4, which needs another library", "byte 0")
    if raw.startswith(b"ZF0x"):
        raise UnsupportedModelError("written by joblib before version 0.10", "byte 0")
    for magic, name, factory in _FORMATS:
        if raw.startswith(magic):
            try:
                return _decompress(raw, factory(), limits.unpacked_bytes)
            except (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError) as error:
                if isinstance(error, MalformedModelError):
                    raise
                raise MalformedModelError(f"damaged {name} data: {error}", "file") from None
    return raw


def _decompress(raw: bytearray, member: Any, most: int) -> bytearray:
    view, position = memoryview(raw), 0
    out = bytearray()
    pending: bytes | memoryview = b""
    while not member.eof:
        if not pending and getattr(member, "needs_input", True):
            pending = view[position : position + _CHUNK]
            position += len(pending)
        piece = member.decompress(pending, _CHUNK)
        # zlib hands back what it did not consume; bz2 and lzma keep it themselves.
        pending = getattr(member, "unconsumed_tail", b"")
        if len(out) + len(piece) > most:
            raise ModelTooLargeError(f"unpacks to more than {most:,} bytes", "file")
        out += piece
        if not piece and not pending and position >= len(raw) and not member.eof:
            raise MalformedModelError("the compressed data ends too early", "file")
    if member.unused_data or position < len(raw):
        raise MalformedModelError("something follows the compressed data", "file")
    return out


def is_array_wrapper(state: State) -> bool:
    """Whether joblib put the bytes of an array right behind `state`."""
    if _MODULE not in state.module:  # scikit-learn once carried a copy of joblib
        return False
    if state.name in ("NDArrayWrapper", "ZNDArrayWrapper"):
        raise UnsupportedModelError("joblib before version 0.10 kept arrays in other files")
    return state.name == "NumpyArrayWrapper"


def wrapped_array(
    wrapper: State, source: Input, arrays: Arrays, object_array: Callable[[], Any]
) -> Any:
    """The array whose bytes follow in `source`.

    Parameters
    ----------
    wrapper : State
        joblib's description of it: shape, dtype, order, alignment.
    source : Input
    arrays : Arrays
        Knows the dtypes of the file.
    object_array : callable
        Decodes the nested pickle by which joblib stores arrays of objects.
    """
    shape = checked_shape(wrapper.get("shape"))
    dtype = arrays.dtype_of(wrapper.get("dtype"))
    order = wrapper.get("order")
    if not isinstance(order, str) or order not in ("C", "F"):
        raise MalformedModelError("joblib array of unknown order")
    if dtype.hasobject:
        array = object_array()
        if not isinstance(array, np.ndarray) or array.dtype != object or array.shape != shape:
            raise MalformedModelError("joblib announced an array of objects; something else came")
        return array
    alignment = wrapper.get("numpy_array_alignment_bytes")
    if alignment is not None:
        source.take(source.byte())
    return arrays.from_bytes(source.take, dtype, shape, order)
