"""Arrays, lists and records seen alike: so many rows of so many values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

_SCALARS = (bool, int, float, str, bytes, type(None))
_BIG = 2**53


@dataclass(frozen=True)
class Block:
    """Something with rows.

    Attributes
    ----------
    shape : tuple of int
    dtype : str
        As numpy calls it, or ``"list"`` for nested lists and records.
    values : array, optional
        The numbers or texts, where having them costs no copy of a large table.
    """

    shape: tuple[int, ...]
    dtype: str
    values: npt.NDArray[Any] | None = None

    @property
    def length(self) -> int:
        return self.shape[0]

    @property
    def is_column(self) -> bool:
        """One value per row."""
        return len(self.shape) == 1 or (len(self.shape) == 2 and self.shape[1] == 1)


def block_of(value: Any) -> Block | None:
    """`value` as rows, or ``None`` when it is no table, column or list of plain values."""
    if isinstance(value, np.ndarray):
        return _from_array(value)
    if isinstance(value, dict):
        plain = all(isinstance(v, _SCALARS) for v in value.values())
        return Block((len(value),), "mapping") if value and plain else None
    if isinstance(value, set):
        value = list(value)
    if not isinstance(value, list | tuple) or not value:
        return None
    first = value[0]
    if isinstance(first, _SCALARS):
        return _from_scalars(value)
    if isinstance(first, list | tuple | dict) and first:
        return _from_records(value)
    if isinstance(first, np.ndarray) and first.ndim == 1 and first.dtype != object:
        same = all(isinstance(v, np.ndarray) and v.shape == first.shape for v in value)
        return Block((len(value), len(first)), str(first.dtype)) if same else None
    return None


def _from_array(array: npt.NDArray[Any]) -> Block | None:
    if array.ndim == 0:
        return None
    if array.dtype.names is not None:
        return Block((*array.shape, len(array.dtype.names)), "record")
    if array.dtype == object:
        if array.ndim == 1:
            return block_of(array.tolist())
        plain = all(isinstance(v, _SCALARS) for v in array.ravel().tolist())
        return Block(array.shape, "object") if plain else None
    return Block(array.shape, str(array.dtype), array)


def _from_scalars(value: Sequence[Any]) -> Block | None:
    kinds = {type(v) for v in value}
    if not kinds <= set(_SCALARS):
        return None
    if kinds <= {bool}:
        return Block((len(value),), "bool", np.array(value, dtype=bool))
    numbers = kinds <= {bool, int, float} and all(abs(v) < _BIG or v != v for v in value)
    if numbers:
        whole = float not in kinds
        return Block(
            (len(value),), "list", np.array(value, dtype=np.int64 if whole else np.float64)
        )
    column = np.empty(len(value), dtype=object)
    column[:] = value
    return Block((len(value),), "list", column)


def _from_records(value: Sequence[Any]) -> Block | None:
    first = value[0]
    for record in value:
        if type(record) is not type(first) or len(record) != len(first):
            return None
        if isinstance(record, dict):
            if record.keys() != first.keys():
                return None
            record = list(record.values())
        if not all(isinstance(v, _SCALARS) for v in record):
            return None
    return Block((len(value), len(first)), "list")
