"""The kinds of attribute a person can be described by, and the columns that carry them.

Every attribute answers the same three questions: which columns of the table it occupies, how many
*levels* (distinct joint values of those columns) it has, and which rows of a table it allows.
One-hot columns are not independent, so an attribute and not a column is the unit of counting.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from glassleak.errors import SchemaError
from glassleak.schema._checks import (
    BoolArray,
    Scalar,
    as_floats,
    as_tuple,
    check_column,
    check_columns,
    check_flag,
    check_levels,
    check_name,
    interval,
    is_missing,
)
from glassleak.schema._numbers import Numeric, Ordinal

__all__ = [
    "KINDS",
    "Attribute",
    "Binary",
    "Bins",
    "Categorical",
    "Numeric",
    "Ordinal",
    "Scalar",
    "columns_of",
]


@dataclass(frozen=True)
class Binary:
    """One column of zeros and ones.

    Parameters
    ----------
    name : str
    column : str, optional
        The table's column; the name itself by default.
    """

    name: str
    column: str | None = None
    kind: ClassVar[str] = "binary"

    def __post_init__(self) -> None:
        check_name(self.name)
        check_column(self.name, self.column)

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column or self.name,)

    @property
    def size(self) -> int:
        """Number of levels: always 2."""
        return 2

    def allows(self, values: npt.NDArray[Any]) -> BoolArray:
        """Which rows hold a valid value; `values` has one column per column of the attribute."""
        block = as_floats(values, self.name)[:, 0]
        valid: BoolArray = (block == 0) | (block == 1)
        return valid

    def level_values(self) -> npt.NDArray[np.float64]:
        """All levels, one line each, in the attribute's columns."""
        return np.array([[0.0], [1.0]])


@dataclass(frozen=True, init=False)
class Categorical:
    """A categorical attribute, one-hot over several columns or raw in one.

    Parameters
    ----------
    name : str
    columns : sequence of str, optional
        One-hot: exactly one of these columns is 1.  Leave out for a raw column.
    levels : sequence, optional
        Raw: the values of the single column `column`.  For one-hot columns, names of the levels
        (the columns' names by default).
    absent : bool
        One-hot only: "all columns zero" is one more level, because one was dropped at encoding or
        because people without any of the listed values exist.
    column : str, optional
        Raw only: the table's column; the name itself by default.
    missing : bool
        Raw only: whether "missing" (None, NaN) is one more level.
    """

    name: str
    columns: tuple[str, ...]
    levels: tuple[Scalar, ...]
    absent: bool
    one_hot: bool
    missing: bool
    kind: ClassVar[str] = "categorical"

    def __init__(
        self,
        name: str,
        columns: Sequence[str] | None = None,
        levels: Sequence[Scalar] | None = None,
        absent: bool = False,
        column: str | None = None,
        missing: bool = False,
    ) -> None:
        check_name(name)
        check_column(name, column)
        check_flag(name, "absent", absent)
        check_flag(name, "missing", missing)
        one_hot = columns is not None
        if columns is not None and column is not None:
            raise SchemaError(f"categorical {name!r}: give one-hot `columns` or a raw `column`")
        if columns is not None:
            columns = check_columns(name, columns)
            if missing:
                raise SchemaError(f"categorical {name!r}: missing=True is for a raw column")
            if len(columns) == 1 and not absent:
                raise SchemaError(
                    f"categorical {name!r} has one one-hot column and no absent level, so it could "
                    "only ever be 1; use Binary, or absent=True"
                )
            levels = columns if levels is None else check_levels(name, levels)
            if len(levels) != len(columns):
                raise SchemaError(
                    f"categorical {name!r}: {len(levels)} levels for {len(columns)} one-hot columns"
                )
        else:
            if levels is None:
                raise SchemaError(f"categorical {name!r} needs one-hot `columns` or raw `levels`")
            if absent:
                raise SchemaError(f"categorical {name!r}: absent=True is for one-hot columns")
            columns, levels = (column or name,), check_levels(name, levels)
        fields = {"name": name, "columns": columns, "levels": levels}
        flags = {"absent": absent, "one_hot": one_hot, "missing": missing}
        for key, value in (fields | flags).items():
            object.__setattr__(self, key, value)

    @property
    def size(self) -> int:
        """Number of levels, the absent or missing one included."""
        return len(self.levels) + int(self.absent) + int(self.missing)

    def allows(self, values: npt.NDArray[Any]) -> BoolArray:
        if not self.one_hot:
            known = set(self.levels)
            cells = values[:, 0].tolist()
            if not self.missing:
                return np.fromiter((v in known for v in cells), bool, len(cells))
            return np.fromiter((is_missing(v) or v in known for v in cells), bool, len(cells))
        block = as_floats(values, self.name)
        total = block.sum(axis=1)
        indicator: BoolArray = ((block == 0) | (block == 1)).all(axis=1)
        fits: BoolArray = (total == 1) | (total == 0) if self.absent else total == 1
        return indicator & fits

    def level_values(self) -> npt.NDArray[np.float64]:
        if not self.one_hot:
            # Models see raw categories as their codes (ordinal encoding), or as numbers they are.
            numeric = all(isinstance(v, int | float) for v in self.levels)
            codes = [float(v) for v in self.levels] if numeric else range(len(self.levels))
            listed = [*codes, math.nan] if self.missing else [*codes]
            return np.asarray(listed, dtype=np.float64)[:, None]
        levels = np.eye(len(self.columns))
        return np.vstack([levels, np.zeros(len(self.columns))]) if self.absent else levels


@dataclass(frozen=True)
class Bins:
    """Overlapping yes/no columns of one base attribute, such as ``age<=25`` and ``age=24-30``.

    Only some combinations of the columns can occur; they are listed in `patterns`.

    Parameters
    ----------
    name : str
    columns : sequence of str
    patterns : sequence of sequence of int
        Every combination of zeros and ones that can occur, one per level.
    """

    name: str
    columns: tuple[str, ...]
    patterns: tuple[tuple[int, ...], ...]
    kind: ClassVar[str] = "bins"

    def __post_init__(self) -> None:
        check_name(self.name)
        object.__setattr__(self, "columns", check_columns(self.name, self.columns))
        listed = as_tuple(f"bins {self.name!r}: patterns", self.patterns)
        given = tuple(as_tuple(f"bins {self.name!r}: a pattern", p) for p in listed)
        for pattern in given:
            if len(pattern) != len(self.columns) or any(v not in (0, 1) for v in pattern):
                raise SchemaError(
                    f"bins {self.name!r}: pattern {pattern} is not one zero or one "
                    f"for each of {len(self.columns)} columns"
                )
        patterns = tuple(tuple(int(v) for v in pattern) for pattern in given)
        if not patterns or len(set(patterns)) != len(patterns):
            raise SchemaError(f"bins {self.name!r} need patterns, each listed once")
        object.__setattr__(self, "patterns", patterns)

    @classmethod
    def from_intervals(
        cls,
        name: str,
        intervals: Mapping[str, tuple[float, float]],
        low: float,
        high: float,
        resolution: float = 1,
    ) -> Bins:
        """Work the patterns out from what each column means.

        Parameters
        ----------
        intervals : mapping of column to (from, to)
            The column is 1 when the base value lies in the interval, both ends included.
        low, high, resolution
            The base attribute's own range.
        """
        given: object = intervals
        if not isinstance(given, Mapping) or not intervals:
            raise SchemaError(f"bins {name!r}: intervals must map columns to (from, to)")
        base = Numeric(name, low, high, resolution)
        values = base.level_values()[:, 0]
        tolerance = resolution * 1e-9
        indicators = []
        for column, ends in intervals.items():
            start, stop = interval(name, column, ends)
            indicators.append((values >= start - tolerance) & (values <= stop + tolerance))
        stacked = np.column_stack(indicators).astype(int)
        # Order of first appearance keeps the levels in the base attribute's own order.
        patterns = tuple(dict.fromkeys(map(tuple, stacked.tolist())))
        return cls(name, tuple(intervals), patterns)

    @property
    def size(self) -> int:
        return len(self.patterns)

    def allows(self, values: npt.NDArray[Any]) -> BoolArray:
        block = as_floats(values, self.name)
        allowed = set(self.patterns)
        return np.fromiter((tuple(row) in allowed for row in block.tolist()), bool, len(block))

    def level_values(self) -> npt.NDArray[np.float64]:
        return np.asarray(self.patterns, dtype=np.float64)


Attribute: TypeAlias = Binary | Categorical | Ordinal | Numeric | Bins
KINDS: dict[str, type[Attribute]] = {
    cls.kind: cls for cls in (Binary, Categorical, Ordinal, Numeric, Bins)
}


def columns_of(attributes: Sequence[Attribute]) -> tuple[str, ...]:
    """All columns of `attributes`, in order."""
    return tuple(itertools.chain.from_iterable(a.columns for a in attributes))
