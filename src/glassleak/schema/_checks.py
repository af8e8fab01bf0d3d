"""Small checks that every kind of attribute shares; a schema file may hold anything."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from glassleak.errors import SchemaError

Scalar: TypeAlias = str | int | float | bool
BoolArray: TypeAlias = npt.NDArray[np.bool_]

# Levels are listed as arrays; beyond this a schema of one line could fill the memory.
MAX_LISTED = 10_000_000
# Tables hold numbers as float64: beyond this whole numbers are no longer all different.
MAX_WHOLE = 2**53


def check_name(name: object) -> None:
    """Raise unless `name` is text and not empty."""
    if not isinstance(name, str) or not name:
        raise SchemaError(f"an attribute needs a non-empty name, got {name!r}")


def check_column(name: str, column: object) -> None:
    """Raise unless `column` can name a column (``None``: not given)."""
    if column is not None and (not isinstance(column, str) or not column):
        raise SchemaError(f"attribute {name!r}: a column's name is text, got {column!r}")


def check_columns(name: str, columns: Iterable[str]) -> tuple[str, ...]:
    """`columns` as a tuple of distinct names."""
    listed = as_tuple(f"attribute {name!r}: columns", columns)
    if not listed:
        raise SchemaError(f"attribute {name!r} names no columns")
    for column in listed:
        check_column(name, column)
    if len(set(listed)) != len(listed):
        raise SchemaError(f"attribute {name!r} names a column twice")
    return listed


def check_levels(name: str, levels: Iterable[Scalar]) -> tuple[Scalar, ...]:
    """`levels` as a tuple of distinct plain values."""
    listed = as_tuple(f"categorical {name!r}: levels", levels)
    if not listed:
        raise SchemaError(f"categorical {name!r} lists no levels")
    plain = tuple(v.item() if isinstance(v, np.generic) else v for v in listed)
    for level in plain:
        if not isinstance(level, str | int | float | bool):
            raise SchemaError(f"categorical {name!r}: {level!r} cannot be a level")
        if isinstance(level, float) and not math.isfinite(level):
            raise SchemaError(f"categorical {name!r}: {level!r} cannot be a level, see `missing`")
        if isinstance(level, int) and abs(level) > MAX_WHOLE:
            raise SchemaError(f"categorical {name!r}: {level!r} is too large a number for a level")
    if len(set(plain)) != len(plain):
        raise SchemaError(f"categorical {name!r} lists a level twice")
    return plain


def check_flag(name: str, what: str, value: bool) -> None:
    """Raise unless `value` is True or False; ``"false"`` would otherwise count as true."""
    if not isinstance(value, bool):
        raise SchemaError(f"{name!r}: {what} must be true or false, got {value!r}")


def check_listable(name: str, size: int) -> None:
    """Raise when `size` levels are too many to hold in an array."""
    if size > MAX_LISTED:
        raise SchemaError(f"{name!r} has {size:,} levels, too many to list")


def finite(name: str, what: str, value: Any) -> float:
    """`value` as a finite float; text, NaN and integers beyond floats are refused."""
    try:
        number = math.nan if isinstance(value, str) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise SchemaError(f"{name!r}: {what} must be a finite number, got {value!r}")
    return number


def interval(name: str, column: str, ends: Any) -> tuple[float, float]:
    """A (from, to) pair; unlike a bound an end may be infinite."""
    listed = as_tuple(f"{name!r}: the interval of {column!r}", ends)
    if len(listed) != 2:
        raise SchemaError(f"{name!r}: {column!r} needs (from, to), got {ends!r}")
    start, stop = (
        end
        if isinstance(end, float) and math.isinf(end)
        else finite(name, f"an end of {column!r}", end)
        for end in listed
    )
    if start > stop:
        raise SchemaError(f"{name!r}: {column!r} runs from {start} down to {stop}")
    return start, stop


def as_floats(values: npt.NDArray[Any], name: str) -> npt.NDArray[np.float64]:
    """A block of a table as floats."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise SchemaError(f"the columns of attribute {name!r} must be numbers ({error})") from None


def is_missing(value: Any) -> bool:
    """Whether a table's cell says "not known": None, NaN or ``pandas.NA``."""
    if isinstance(value, float):
        return math.isnan(value)
    # pandas need not be imported to tell: its NA equals nothing, not even itself.
    return value is None or type(value).__name__ == "NAType"


def as_tuple(what: str, values: Any) -> tuple[Any, ...]:
    """`values` as a tuple, unless it is no list at all."""
    # Text is a sequence of texts too; taken as one it would be its letters.
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise SchemaError(f"{what} must be a list, got {values!r}")
    return tuple(values)
