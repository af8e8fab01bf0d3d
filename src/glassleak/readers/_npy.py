"""Read a .npy member without pickle and without allocating more than is really there."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.errors import MalformedModelError

_MAX_HEADER = 10_000


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
    body = len(raw) - stream.tell()
    if dtype.itemsize == 0 or math.prod(shape) * dtype.itemsize != body:
        raise MalformedModelError(
            f"header says {math.prod(shape)} x {dtype.itemsize} bytes, file has {body}", place
        )
    array = np.frombuffer(raw, dtype=dtype, offset=stream.tell())
    return array.reshape(shape, order="F" if fortran else "C")
