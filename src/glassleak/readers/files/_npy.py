"""Read a .npy member without pickle and without allocating more than is really there."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.errors import MalformedModelError

_MAX_HEADER = 10_000
_MAX_DIMENSIONS = 32
_SURROGATES = (0xD800, 0xDFFF)
_LAST_CHARACTER = 0x10FFFF


def array_from_npy(raw: bytes, place: str) -> npt.NDArray[Any]:
    """The array in `raw`, the content of a .npy file.

    `numpy.load` believes the header and allocates first; here the size is checked against the
    bytes present, and object arrays (which are pickles) are refused.
    """
    stream = io.BytesIO(raw)
    try:
        version = np.lib.format.read_magic(stream)
        if version == (1, 0):
            header = np.lib.format.read_array_header_1_0(stream, max_header_size=_MAX_HEADER)
        elif version == (2, 0):
            header = np.lib.format.read_array_header_2_0(stream, max_header_size=_MAX_HEADER)
        else:
            raise MalformedModelError(f"unknown .npy version {version}", place)
        shape, fortran, dtype = header
    except MalformedModelError:
        raise
    # numpy parses the header with ast.literal_eval and np.dtype, which fail in many ways.
    except Exception as error:
        raise MalformedModelError(f"bad .npy header: {error}", place) from None
    if dtype.hasobject:
        raise MalformedModelError("object arrays are pickles and are refused", place)
    if len(shape) > _MAX_DIMENSIONS or any(size < 0 for size in shape):
        raise MalformedModelError(f"impossible shape {str(shape)[:60]}", place)
    body = len(raw) - stream.tell()
    if dtype.itemsize == 0 or math.prod(shape) * dtype.itemsize != body:
        raise MalformedModelError(
            f"the header's shape {str(shape)[:60]} and type do not make {body:,} bytes", place
        )
    if body == 0:
        return np.empty(shape, dtype=dtype)
    array = np.frombuffer(raw, dtype=dtype, offset=stream.tell())
    _check_text(array, place)
    return array.reshape(shape, order="F" if fortran else "C")


def _check_text(array: npt.NDArray[Any], place: str) -> None:
    """Refuse text that is no Unicode; numpy would notice only when a value is taken out."""
    for name in array.dtype.names or ():
        _check_text(array[name], place)
    if array.dtype.kind == "U" and array.dtype.itemsize:
        codes = np.ascontiguousarray(array).view(array.dtype.byteorder.replace("|", "=") + "u4")
        low, high = _SURROGATES
        if (codes > _LAST_CHARACTER).any() or ((codes >= low) & (codes <= high)).any():
            raise MalformedModelError("text that is not Unicode", place)
