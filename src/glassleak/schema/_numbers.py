"""Attributes that are numbers: whole ones, and decimals or continuous ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from glassleak.errors import SchemaError
from glassleak.schema._checks import (
    MAX_WHOLE,
    BoolArray,
    as_floats,
    check_column,
    check_flag,
    check_listable,
    check_name,
    finite,
)


@dataclass(frozen=True)
class Ordinal:
    """Whole numbers from `low` to `high`, both included.

    Parameters
    ----------
    name : str
    low, high : int
    column : str, optional
        The table's column; the name itself by default.
    missing : bool
        Whether "missing" (NaN) is one more level.
    """

    name: str
    low: int
    high: int
    column: str | None = None
    missing: bool = False
    kind: ClassVar[str] = "ordinal"

    def __post_init__(self) -> None:
        check_name(self.name)
        check_column(self.name, self.column)
        check_flag(self.name, "missing", self.missing)
        for end in ("low", "high"):
            bound = getattr(self, end)
            if not finite(self.name, end, bound).is_integer() or abs(bound) > MAX_WHOLE:
                raise SchemaError(
                    f"ordinal {self.name!r} needs whole bounds within ±2**53, got {bound!r}"
                )
            object.__setattr__(self, end, int(bound))
        if self.low > self.high:
            raise SchemaError(f"ordinal {self.name!r}: low {self.low} is above high {self.high}")

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column or self.name,)

    @property
    def size(self) -> int:
        return self.high - self.low + 1 + int(self.missing)

    def allows(self, values: npt.NDArray[Any]) -> BoolArray:
        valid: BoolArray
        block = as_floats(values, self.name)[:, 0]
        valid = (block == np.floor(block)) & (block >= self.low) & (block <= self.high)
        return valid | np.isnan(block) if self.missing else valid

    def level_values(self) -> npt.NDArray[np.float64]:
        check_listable(self.name, self.size)
        levels = np.arange(self.low, self.high + 1, dtype=np.float64)
        return np.append(levels, np.nan)[:, None] if self.missing else levels[:, None]


@dataclass(frozen=True)
class Numeric:
    """Numbers from `low` to `high` in steps of `resolution`.

    Without a resolution the attribute is continuous: it has no finite number of levels, and
    whatever counts profiles says so instead of inventing one.
    """

    name: str
    low: float
    high: float
    resolution: float | None = None
    column: str | None = None
    missing: bool = False
    kind: ClassVar[str] = "numeric"

    def __post_init__(self) -> None:
        check_name(self.name)
        check_column(self.name, self.column)
        check_flag(self.name, "missing", self.missing)
        for end in ("low", "high"):
            object.__setattr__(self, end, finite(self.name, end, getattr(self, end)))
        if self.low > self.high:
            raise SchemaError(f"numeric {self.name!r}: low {self.low} is above high {self.high}")
        if not math.isfinite(self.high - self.low):
            raise SchemaError(f"numeric {self.name!r}: the range is wider than a number can say")
        if self.resolution is None:
            return
        resolution = finite(self.name, "resolution", self.resolution)
        if resolution <= 0:
            raise SchemaError(f"numeric {self.name!r}: resolution must be a positive number")
        if resolution < 64 * self._spacing:
            raise SchemaError(
                f"numeric {self.name!r}: steps of {resolution} are finer than floating-point "
                f"numbers near {max(abs(self.low), abs(self.high))} can be"
            )
        object.__setattr__(self, "resolution", resolution)

    @property
    def _spacing(self) -> float:
        """Distance between neighbouring floats at the larger bound."""
        return math.ulp(max(abs(self.low), abs(self.high)))

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column or self.name,)

    @property
    def size(self) -> int | None:
        """Number of levels, or ``None`` when no resolution is declared."""
        if self.resolution is None:
            return None
        return self._last_step + 1 + int(self.missing)

    @property
    def _last_step(self) -> int:
        assert self.resolution is not None
        # Fractions are exact where the quotient has more digits than a float; the tolerance
        # absorbs binary rounding of decimals such as (0.3 - 0.0) / 0.1.
        tolerance = max(1e-9, 4 * self._spacing / self.resolution)
        width = Fraction(self.high) - Fraction(self.low)
        return math.floor(width / Fraction(self.resolution) + Fraction(tolerance))

    def allows(self, values: npt.NDArray[Any]) -> BoolArray:
        valid: BoolArray
        block = as_floats(values, self.name)[:, 0]
        if self.resolution is None:
            valid = (block >= self.low) & (block <= self.high)
            return valid | np.isnan(block) if self.missing else valid
        ulps = self._spacing / self.resolution
        # scikit-learn keeps tables in float32, whose spacing is 2**29 times wider.
        single = 2.0**29 * ulps
        tolerance = max(1e-6, 4 * ulps, single if single <= 0.01 else 0.0)
        steps = (block - self.low) / self.resolution
        nearest = np.round(steps)
        with np.errstate(invalid="ignore"):  # infinity minus infinity: off any step, as it should
            near = np.abs(steps - nearest) <= tolerance
        valid = near & (nearest >= 0) & (nearest <= self._last_step)
        return valid | np.isnan(block) if self.missing else valid

    def level_values(self) -> npt.NDArray[np.float64]:
        if self.size is None or self.resolution is None:
            raise SchemaError(f"numeric {self.name!r} has no resolution, so no list of levels")
        check_listable(self.name, self.size)
        levels = self.low + self.resolution * np.arange(self.size - int(self.missing))
        # Rounding may carry the last step past the bound: 0.1 * 3 is more than 0.3.
        levels = np.minimum(levels, self.high)
        return np.append(levels, np.nan)[:, None] if self.missing else levels[:, None]
