"""How many training rows of each class a node or rule saw: exactly, noisily, or not published."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from glassleak.errors import InconsistentModelError, MalformedModelError
from glassleak.models._equality import ValueEquality

# Far beyond any training set, and low enough that sums of a few million counts stay in int64.
MAX_COUNT = 2**40
# Why there are no counts in a model that `glassleak.sanitise` has been through.
REMOVED = "the numbers of training rows were removed from the model"

# Kinds of array that convert to a target kind without losing anything (but range, checked apart).
_EXACT_FROM = {"i": "iu", "f": "fiu", "b": "b"}


def frozen_array(values: Any, dtype: npt.DTypeLike, place: str, ndim: int = 1) -> npt.NDArray[Any]:
    """`values` as a read-only array of `dtype`; refuses what would not convert exactly."""
    target = np.dtype(dtype)
    try:
        given = np.asarray(values)
        # numpy would wrap or truncate silently; a stranger's file must not get that far.
        if given.size and given.dtype.kind not in _EXACT_FROM[target.kind]:
            raise MalformedModelError(f"expected {target}, got {given.dtype}", place)
        if given.size and target.kind == "i":
            bounds = np.iinfo(target)
            if int(given.min()) < bounds.min or int(given.max()) > bounds.max:
                raise MalformedModelError(f"a value does not fit {target}", place)
        if given.size and target.kind == "f" and given.dtype.kind in "iu":
            largest = max(abs(int(given.min())), abs(int(given.max())))
            if largest > 2**53:
                raise MalformedModelError(f"a value does not fit {target}", place)
        array = np.array(given, dtype=target, order="C")
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, MalformedModelError):
            raise
        raise MalformedModelError(f"not an array of {target}: {error}", place) from None
    if array.ndim != ndim:
        raise MalformedModelError(f"expected {ndim} dimensions, got {array.ndim}", place)
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False)
class Exact(ValueEquality):
    """Whole numbers of rows per class; shape (nodes, classes)."""

    values: npt.NDArray[np.int64]

    def __post_init__(self) -> None:
        given = np.asarray(self.values)
        if given.size and given.dtype.kind not in "iu":
            raise MalformedModelError(f"exact counts must be integers, got {given.dtype}", "counts")
        if given.size and (int(given.min()) < 0 or int(given.max()) > MAX_COUNT):
            where = np.argwhere((given < 0) | (given > MAX_COUNT))[0].tolist()
            raise InconsistentModelError(
                "a count is negative or impossibly large", f"counts{where}"
            )
        object.__setattr__(self, "values", frozen_array(given, np.int64, "counts", ndim=2))

    @property
    def totals(self) -> npt.NDArray[np.int64]:
        """Rows per node, all classes together."""
        totals: npt.NDArray[np.int64] = self.values.sum(axis=1)
        return totals


@dataclass(frozen=True, eq=False)
class Noisy(ValueEquality):
    """Counts with noise of a published scale; they may be negative and need not add up."""

    values: npt.NDArray[np.float64]
    scale: float
    mechanism: str

    def __post_init__(self) -> None:
        values = frozen_array(self.values, np.float64, "counts", ndim=2)
        if not np.isfinite(values).all():
            raise MalformedModelError("noisy counts must be finite", "counts")
        if not (math.isfinite(self.scale) and self.scale > 0):
            raise MalformedModelError("the noise scale must be a positive number", "counts.scale")
        object.__setattr__(self, "values", values)


@dataclass(frozen=True)
class Missing:
    """No per-class counts are published; `reason` says why."""

    reason: str


Counts: TypeAlias = Exact | Noisy | Missing
