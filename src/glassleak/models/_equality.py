"""Equality by value for frozen dataclasses that hold arrays."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np


class ValueEquality:
    """Objects are equal when their types and all their fields are, arrays element by element."""

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return same_value(self, other)

    # Arrays are not hashable; a hash by identity would contradict equality by value.
    __hash__ = None  # type: ignore[assignment]


def same_value(one: Any, other: Any) -> bool:
    """Deep equality; NaN equals NaN, and an int never equals a bool or a float."""
    if isinstance(one, np.ndarray):
        return (
            isinstance(other, np.ndarray)
            and one.dtype == other.dtype
            and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
        )
    if type(one) is not type(other):
        return False
    if dataclasses.is_dataclass(one):
        return all(
            same_value(getattr(one, f.name), getattr(other, f.name))
            for f in dataclasses.fields(one)
        )
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same_value, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same_value(v, other[k]) for k, v in one.items())
    return bool(one == other)
