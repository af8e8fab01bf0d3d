"""How far apart two rows are: the share of their attributes that differ.

Both tables are turned into numbers together.  A *unit* is what counts as one thing to get wrong: a
column, or an attribute with all its columns.  Rows that agree in every unit are one *profile*, and
distances are computed between profiles only.

Every unit's distance is a metric with values from 0 to 1 (equal or not; or a range-normalised
difference, capped at 1), so their sum is a metric too.  The matching relies on that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from glassleak.errors import SchemaError
from glassleak.schema import Attribute, Categorical, Numeric, Ordinal, Schema

Per: TypeAlias = Literal["column", "attribute"]
IntArray: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]

# Values with more levels than this are compared one by one and not as 0/1 indicators.
_INDICATED = 32


@dataclass(frozen=True)
class Profiles:
    """Profiles in the form distances are computed from.

    Attributes
    ----------
    bits : (profiles, bits) float32 array of zeros and ones
        Indicators; a difference in one costs its weight.
    weights : float32 array
        1 for the indicator of a two-level unit, 1/2 for the others (two of them differ at a time).
    codes : (profiles, units) int64 array
        Units with many levels.
    numbers : (profiles, units) float64 array
        Numeric units, divided by their range; NaN is "missing".
    """

    bits: npt.NDArray[np.float32]
    weights: npt.NDArray[np.float32]
    codes: IntArray
    numbers: FloatArray

    def __len__(self) -> int:
        return len(self.bits)

    def take(self, index: npt.NDArray[np.intp] | slice) -> Profiles:
        """The profiles at `index`."""
        return Profiles(self.bits[index], self.weights, self.codes[index], self.numbers[index])

    def to_all(self, other: Profiles) -> npt.NDArray[np.floating]:
        """Number of units that differ, for each pair with `other`: (own, other) array."""
        weighted = self.bits * self.weights
        # |a - b| = a + b - 2ab for zeros and ones; sums of halves are exact in float32.
        distance: npt.NDArray[np.floating] = weighted @ other.bits.T
        distance *= -2
        distance += weighted.sum(axis=1)[:, None]
        distance += other.bits @ self.weights
        if self.codes.shape[1] or self.numbers.shape[1]:
            distance = distance.astype(np.float64)
        for own_code, other_code in zip(self.codes.T, other.codes.T, strict=True):
            distance += own_code[:, None] != other_code
        for own_number, other_number in zip(self.numbers.T, other.numbers.T, strict=True):
            distance += _difference(own_number[:, None], other_number[None, :])
        return distance

    def to_each(self, other: Profiles) -> FloatArray:
        """Number of units that differ, pair by pair; to the last bit what `to_all` says."""
        distance: FloatArray = (np.abs(self.bits - other.bits) @ self.weights).astype(np.float64)
        for own_code, other_code in zip(self.codes.T, other.codes.T, strict=True):
            distance += own_code != other_code
        for own_number, other_number in zip(self.numbers.T, other.numbers.T, strict=True):
            distance += _difference(own_number, other_number)
        return distance


@dataclass(frozen=True)
class Encoded:
    """Two tables of equal length as profiles.

    Attributes
    ----------
    truth, table : int arrays
        The profile of each row.
    profiles : Profiles
    n_units : int
    whole : bool
        Whether all distances are whole numbers of units.
    """

    truth: IntArray
    table: IntArray
    profiles: Profiles
    n_units: int
    whole: bool


def encode(truth: Any, table: Any, schema: Schema, per: Per) -> Encoded:
    """Turn both tables into profiles.

    Raises
    ------
    SchemaError
        A table lacks columns, has values that cannot be compared, or the two differ in length.
    """
    if per not in ("column", "attribute"):
        raise SchemaError(f'per must be "column" or "attribute", got {per!r}')
    sizes = [_n_rows(truth), _n_rows(table)]
    if sizes[0] != sizes[1]:
        raise SchemaError(f"{sizes[0]} true rows cannot be matched with {sizes[1]} rows")
    units: list[IntArray] = []
    numeric: list[FloatArray | None] = []
    for attribute in schema:
        columns = both_tables(truth, table, attribute, schema)
        scaled = _scaled(attribute, columns[0])
        if scaled is not None:
            units.append(_codes(scaled))
            numeric.append(scaled)
        elif per == "column":
            units.extend(_codes(column) for column in columns)
            numeric.extend(None for _ in columns)
        else:
            units.append(_joint([_codes(column) for column in columns]))
            numeric.append(None)
    ids = _joint(units)
    _, first = np.unique(ids, return_index=True)
    profiles = _profiles([unit[first] for unit in units], numeric, first)
    n = sizes[0]
    return Encoded(ids[:n], ids[n:], profiles, len(units), profiles.numbers.shape[1] == 0)


def both_tables(
    truth: Any, table: Any, attribute: Attribute, schema: Schema
) -> list[npt.NDArray[Any]]:
    """The columns of one attribute, of both tables: the true rows first.

    Raises
    ------
    SchemaError
        A table lacks columns or has values that cannot be compared.
    """
    return [_both(truth, table, column, attribute, schema.columns) for column in attribute.columns]


def _profiles(
    units: Sequence[IntArray], numeric: Sequence[FloatArray | None], first: npt.NDArray[np.intp]
) -> Profiles:
    n = len(first)
    bits: list[npt.NDArray[Any]] = [np.empty((n, 0))]
    weights: list[float] = []
    codes: list[IntArray] = []
    numbers: list[FloatArray] = []
    for unit, values in zip(units, numeric, strict=True):
        n_levels = int(unit.max(initial=0)) + 1
        if values is not None:
            numbers.append(values[first])
        elif n_levels <= 2:
            bits.append(unit[:, None])
            weights.append(1.0)
        elif n_levels <= _INDICATED:
            bits.append(unit[:, None] == np.arange(n_levels))
            weights.extend([0.5] * n_levels)
        else:
            codes.append(unit)
    return Profiles(
        np.hstack(bits).astype(np.float32),
        np.array(weights, dtype=np.float32),
        np.column_stack(codes) if codes else np.empty((n, 0), np.int64),
        np.column_stack(numbers) if numbers else np.empty((n, 0)),
    )


def _difference(one: FloatArray, other: FloatArray) -> FloatArray:
    """Difference of range-normalised numbers, at most 1; "missing" differs from every number."""
    gap = one - other
    # In place and only where needed: this is the inner loop over all pairs of profiles.
    np.abs(gap, out=gap)
    np.minimum(gap, 1.0, out=gap)
    one_missing, other_missing = np.isnan(one), np.isnan(other)
    if one_missing.any() or other_missing.any():
        np.copyto(gap, 1.0, where=one_missing | other_missing)
        np.copyto(gap, 0.0, where=one_missing & other_missing)
    return gap


def _scaled(attribute: Attribute, column: npt.NDArray[Any]) -> FloatArray | None:
    """The column over its range for a numeric attribute, else ``None``."""
    if not isinstance(attribute, Ordinal | Numeric) or attribute.low == attribute.high:
        return None
    scaled: FloatArray = column / float(attribute.high - attribute.low)
    return scaled


def _codes(values: npt.NDArray[Any]) -> IntArray:
    """Equal values get equal numbers; every missing value is the same value."""
    codes, _ = pd.factorize(values, use_na_sentinel=False)
    return codes.astype(np.int64)


def _joint(units: Sequence[IntArray]) -> IntArray:
    """One number for every combination of the units' codes."""
    joint = units[0]
    for unit in units[1:]:
        joint = _codes(joint * (int(unit.max(initial=0)) + 1) + unit)
    return joint


def _n_rows(table: Any) -> int:
    if isinstance(table, pd.DataFrame):
        return len(table)
    array = np.asarray(table)
    if array.ndim != 2:
        raise SchemaError(f"expected a table, got an array of shape {array.shape}")
    return len(array)


def _both(
    truth: Any, table: Any, column: str, attribute: Attribute, order: Sequence[str]
) -> npt.NDArray[Any]:
    """One column of both tables, the true rows first."""
    parts = [_column(one, column, order) for one in (truth, table)]
    if isinstance(attribute, Categorical) and not attribute.one_hot:
        for part in parts:
            _check_levels(attribute, part)
        return np.concatenate([part.astype(object) for part in parts])
    try:
        values = np.concatenate([part.astype(np.float64) for part in parts])
    except (TypeError, ValueError) as error:
        raise SchemaError(f"column {column!r} must hold numbers ({error})") from None
    if np.isinf(values).any():
        raise SchemaError(f"column {column!r} holds an infinite value")
    return values


def _check_levels(attribute: Categorical, values: npt.NDArray[Any]) -> None:
    """Refuse codes where names are declared: every row would look wrong, and nobody would know."""
    known = set(attribute.levels)
    for value in pd.unique(values):
        if not pd.isna(value) and value not in known:
            raise SchemaError(
                f"column {attribute.columns[0]!r} holds {str(value)!r}, which is no level of "
                f"attribute {attribute.name!r}"
            )


def _column(table: Any, column: str, order: Sequence[str]) -> npt.NDArray[Any]:
    """A frame's column by name, an array's by its place in the schema."""
    if isinstance(table, pd.DataFrame):
        where = [i for i, name in enumerate(table.columns) if str(name) == column]
        if len(where) != 1:
            raise SchemaError(f"the table has {len(where)} columns named {column!r}")
        series = table.iloc[:, where[0]]
        if isinstance(series.dtype, np.dtype):
            return np.asarray(series)
        # Categories, nullable numbers and strings: their missing value is not always a float NaN.
        return np.asarray(series.astype(object).where(series.notna(), np.nan))
    array = np.asarray(table)
    if array.shape[1] != len(order):
        raise SchemaError(f"expected {len(order)} columns, got {array.shape[1]}")
    values: npt.NDArray[Any] = array[:, order.index(column)]
    return values
