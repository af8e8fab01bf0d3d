"""What one column of a table can hold, judged by what it does hold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.errors import SchemaError
from glassleak.schema._attributes import Attribute, Categorical, Numeric, Ordinal, Scalar
from glassleak.schema._checks import MAX_WHOLE, is_missing
from glassleak.schema._schema import Guess

# Up to this many whole numbers are levels of a scale; more are a quantity.
MAX_ORDINAL = 1_000
# Numbers beyond this are too close, as floats, for steps of 1 to be told apart reliably.
MAX_STEPS_OF_ONE = 2**46
_MAX_DECIMALS = 6
_DATES = ("date", "time", "period")


@dataclass(frozen=True)
class Column:
    """A column of a table: numbers (NaN where missing), or a list of labels.

    Attributes
    ----------
    name : str
    numbers : array, optional
    labels : tuple, optional
        The distinct labels, sorted.
    missing : bool
        Whether some row has no value.
    n_rows : int
    """

    name: str
    numbers: npt.NDArray[Any] | None
    labels: tuple[Scalar, ...] | None
    missing: bool
    n_rows: int

    @property
    def is_indicator(self) -> bool:
        """Whether every row holds 0 or 1."""
        if self.numbers is None or self.missing:
            return False
        if self.numbers.dtype.kind == "b":
            return True
        return bool(((self.numbers == 0) | (self.numbers == 1)).all())


def read_column(name: str, values: npt.NDArray[Any], *, declared: bool = False) -> Column:
    """Sort one column of a table into numbers or labels; dates and infinities are refused.

    Parameters
    ----------
    declared : bool
        Whether the table itself says that the column is categorical, whatever it holds.
    """
    kind = values.dtype.kind
    if declared and not bool(np.isin(values, (0, 1)).all()):
        return _labels(name, values)
    if kind == "O":
        values = _from_objects(name, values)
        kind = values.dtype.kind
    if kind in "mM":
        raise SchemaError(_date_message(name))
    if kind in "SVc" or kind not in "biufUTO":
        raise SchemaError(f"column {name!r} holds {values.dtype}; convert it to numbers or text")
    if kind in "UTO":
        return _labels(name, values)
    missing = False
    if kind == "f":
        missing = bool(np.isnan(values).any())
        if np.isinf(values).any():
            raise SchemaError(f"column {name!r} holds infinite values")
        if missing and np.isnan(values).all():
            raise SchemaError(f"column {name!r} holds no value in any row; leave it out")
    return Column(name, values, None, missing, len(values))


def infer_column(column: Column) -> tuple[Attribute, Guess]:
    """The attribute a column that is not yes/no carries, and what was assumed about it."""
    if column.labels is not None:
        return _categorical(column, column.labels)
    assert column.numbers is not None
    values = column.numbers
    if column.missing:
        values = values[~np.isnan(values)]
    low, high = values.min().item(), values.max().item()
    if values.dtype.kind in "biu" or bool((values == np.rint(values)).all()):
        return _whole(column, int(low), int(high))
    resolution = _resolution(values, float(low), float(high))
    if resolution is not None:
        # On the grid itself, which values stored in single precision are only near to.
        low, high = (round(end / resolution) / round(1 / resolution) for end in (low, high))
    attribute = Numeric(column.name, float(low), float(high), resolution, missing=column.missing)
    steps = "" if resolution is None else f" in steps of {resolution:g}"
    why = (
        "no step of a millionth or more divides all values"
        if resolution is None
        else f"all values are multiples of {resolution:g}"
    )
    return attribute, _range_guess(column, f"numbers from {low:g} to {high:g}{steps}", why)


def _whole(column: Column, low: int, high: int) -> tuple[Attribute, Guess]:
    name, missing = column.name, column.missing
    why = "only whole numbers occur"
    if high - low < MAX_ORDINAL and max(abs(low), abs(high)) <= MAX_WHOLE:
        what = f"whole numbers from {low} to {high}"
        return Ordinal(name, low, high, missing=missing), _range_guess(column, what, why)
    if max(abs(low), abs(high)) < MAX_STEPS_OF_ONE:
        what = f"numbers from {low} to {high} in steps of 1"
        return Numeric(name, low, high, 1, missing=missing), _range_guess(column, what, why)
    what = f"numbers from {low:g} to {high:g}"
    why = "whole numbers, but too large for steps of 1 to be told apart"
    return Numeric(name, low, high, missing=missing), _range_guess(column, what, why)


def _resolution(values: npt.NDArray[Any], low: float, high: float) -> float | None:
    """The largest 0.1, 0.01, … that all `values` are multiples of."""
    wide = values.astype(np.float64)
    largest = max(abs(low), abs(high))
    # Decimals are rounded to the precision the column is stored in.
    rounding = largest * float(np.finfo(values.dtype).eps)
    for digits in range(1, _MAX_DECIMALS + 1):
        scale = 10**digits
        tolerance = max(1e-9, rounding * scale)
        if tolerance > (1e-6 if values.dtype.itemsize >= 8 else 0.01):
            return None  # the column is not precise enough to tell
        scaled = wide * scale
        if bool((np.abs(scaled - np.rint(scaled)) <= tolerance).all()):
            return float(1 / scale)
    return None


def _range_guess(column: Column, what: str, why: str) -> Guess:
    either = " or missing" if column.missing else ""
    seen = f"{why} in {column.n_rows:,} rows; the true range may be wider"
    return Guess(column.name, what + either, seen, "data")


def _categorical(column: Column, labels: tuple[Scalar, ...]) -> tuple[Attribute, Guess]:
    attribute = Categorical(column.name, levels=labels, missing=column.missing)
    what = f"one of {len(labels):,} levels{' or missing' if column.missing else ''}"
    reason = f"the distinct values of {column.n_rows:,} rows; there may be others"
    if len(labels) == column.n_rows > 20:
        reason += ". Every row has its own: this may be an identifier"
    return attribute, Guess(column.name, what, reason, "data")


def _from_objects(name: str, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Numbers that only look like objects, or the objects unchanged."""
    from pandas.api.types import infer_dtype

    kind = infer_dtype(values, skipna=True)
    if any(word in kind for word in _DATES):
        raise SchemaError(_date_message(name))
    if kind == "empty":
        raise SchemaError(f"column {name!r} holds no value in any row; leave it out")
    if kind in ("boolean", "integer", "floating", "mixed-integer-float", "decimal"):
        plain = [math.nan if is_missing(v) else v for v in values.tolist()]
        try:
            if kind != "integer" or any(isinstance(v, float) for v in plain):
                return np.asarray(plain, dtype=np.float64)
            return np.asarray(plain, dtype=np.int64)
        except (TypeError, ValueError, OverflowError) as error:
            raise SchemaError(f"column {name!r} holds unusable numbers: {error}") from None
    return values


def _labels(name: str, values: npt.NDArray[Any]) -> Column:
    cells = values.tolist()
    try:
        distinct = set(cells)
    except TypeError:
        raise SchemaError(f"column {name!r} holds lists or other containers") from None
    known = [v for v in distinct if not is_missing(v)]
    for value in known:
        if not isinstance(value, str | int | float | bool):
            raise SchemaError(
                f"column {name!r} holds values of type {type(value).__name__}; "
                "convert them to numbers or text"
            )
    if not known:
        raise SchemaError(f"column {name!r} holds no value in any row; leave it out")
    missing = len(known) < len(distinct)
    return Column(name, None, _sorted(known), missing, len(cells))


def _sorted(labels: Sequence[Scalar]) -> tuple[Scalar, ...]:
    # Text and numbers do not compare; numbers first, each sort in its own order.
    numbers = sorted(v for v in labels if not isinstance(v, str))
    return (*numbers, *sorted(v for v in labels if isinstance(v, str)))


def _date_message(name: str) -> str:
    return (
        f"column {name!r} holds dates or times; convert them to numbers first, "
        "such as years or days since a fixed day"
    )
