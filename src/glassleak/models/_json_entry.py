"""Typed look-ups in JSON data: what is not as expected becomes an error that names its place."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.errors import MalformedModelError, ModelError

_DTYPES = {"i1", "i2", "i4", "i8", "f4", "f8", "b1"}
_MAX_PACKED_BYTES = 2**32
_ENTRY_TYPES: dict[str, set[type]] = {
    "i4": {int}, "i8": {int}, "f8": {int, float}, "b1": {bool},
}  # fmt: skip
_ENTRY_WORDS = {"i4": "whole numbers", "i8": "whole numbers", "f8": "numbers", "b1": "booleans"}


@contextmanager
def within(place: str) -> Iterator[None]:
    """Put `place` before the place an error names."""
    try:
        yield
    except ModelError as error:
        if not place:
            raise
        inner = f"{place}.{error.place}" if error.place else place
        raise type(error)(error.message, inner) from None


class Entry:
    """A JSON object that knows its place, with typed look-ups."""

    def __init__(self, value: Any, place: str) -> None:
        if not isinstance(value, Mapping):
            raise MalformedModelError(f"expected an object, got {type(value).__name__}", place)
        self.value, self.place = value, place

    def _at(self, name: str) -> str:
        return name if self.place == "model" else f"{self.place}.{name}"

    def get(self, name: str) -> Any:
        """The value as it is, or ``None``."""
        return self.value.get(name)

    def list(self, name: str) -> list[Any]:
        """A list."""
        value = self.value.get(name)
        if not isinstance(value, list):
            raise MalformedModelError("expected a list", self._at(name))
        return value

    def text(self, name: str) -> str:
        """Text."""
        value = self.value.get(name)
        if not isinstance(value, str):
            raise MalformedModelError("expected text", self._at(name))
        return value

    def integer(self, name: str) -> int | None:
        """A whole number from 0 on, or ``None``."""
        value = self.value.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**53:
            raise MalformedModelError("expected a whole number >= 0", self._at(name))
        return value

    def number(self, name: str) -> float | None:
        """A finite number, or ``None``."""
        value = self.value.get(name)
        if value is None:
            return None
        # Whole numbers beyond 2**53 have no float of their own, the largest have none at all.
        if type(value) is int and abs(value) <= 2**53:
            return float(value)
        if type(value) is not float or not math.isfinite(value):
            raise MalformedModelError("expected a number", self._at(name))
        return value

    def array(self, name: str, dtype: str, *, optional: bool = False) -> Any:
        """An array of `dtype`, given as a list or packed; the model checks range and shape."""
        value = self.value.get(name)
        if value is None:
            if optional:
                return None
            raise MalformedModelError("missing", self._at(name))
        if isinstance(value, Mapping):
            return unpack(value, self._at(name))
        if not isinstance(value, list):
            raise MalformedModelError("expected a list", self._at(name))
        if not value:
            return np.empty(0, dtype=dtype)
        nested = all(type(line) is list for line in value)
        flat = list(chain.from_iterable(value)) if nested else value
        if dtype == "f8" and not nested:
            value = flat = [math.nan if v is None else v for v in value]
        # numpy would take True for 1, round what floats cannot hold, and reserve the length of
        # the longest text for every entry.
        kinds = set(map(type, flat))
        if not kinds <= _ENTRY_TYPES[dtype] or (
            dtype == "f8" and int in kinds and any(abs(v) > 2**53 for v in flat if type(v) is int)
        ):
            raise MalformedModelError(f"expected {_ENTRY_WORDS[dtype]}", self._at(name))
        try:
            # No dtype here: a cast could wrap or truncate; the model's own check decides.
            return np.asarray(value)
        except (ValueError, TypeError, OverflowError) as error:
            raise MalformedModelError(f"not an array: {error}", self._at(name)) from None


def unpack(value: Mapping[str, Any], place: str) -> npt.NDArray[Any]:
    """An array from base64 of its little-endian bytes."""
    dtype, shape, text = value.get("dtype"), value.get("shape"), value.get("base64")
    known = isinstance(dtype, str) and dtype in _DTYPES
    if not known or not isinstance(text, str) or not isinstance(shape, list):
        raise MalformedModelError("a packed array needs dtype, shape and base64", place)
    if len(shape) > 2 or not all(type(s) is int and 0 <= s <= _MAX_PACKED_BYTES for s in shape):
        raise MalformedModelError("bad shape", place)
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise MalformedModelError(f"bad base64: {error}", place) from None
    kind = np.dtype(dtype).newbyteorder("<")
    if len(raw) != math.prod(shape) * kind.itemsize:
        raise MalformedModelError(f"{len(raw)} bytes do not make shape {shape}", place)
    if dtype == "b1" and raw.strip(b"\x00\x01"):
        raise MalformedModelError("not booleans", place)
    return np.frombuffer(raw, dtype=kind).astype(dtype).reshape(shape)
