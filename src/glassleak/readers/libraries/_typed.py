"""Typed look-ups in a stranger's document: wrong kinds become errors that name the place.

Lists are checked entry by entry before numpy sees them: one long text among a million numbers
would otherwise make numpy reserve that length for every entry.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.errors import (
    InconsistentModelError,
    MalformedModelError,
    ModelError,
    ModelTooLargeError,
)
from glassleak.models import Exact, Missing
from glassleak.models._counts import MAX_COUNT, REMOVED
from glassleak.readers._limits import Limits

_WHOLE = 1e-6


def shown(value: Any) -> str:
    """`value` for an error message, cut short."""
    words = repr(value) if isinstance(value, str | int | float | bytes) else type(value).__name__
    return words if len(words) <= 60 else words[:57] + "..."


def mapping(value: Any, place: str) -> Mapping[Any, Any]:
    """`value` if it is an object (a JSON object, a dict)."""
    if not isinstance(value, Mapping):
        raise MalformedModelError(f"expected an object, got {type(value).__name__}", place)
    return value


def sequence(value: Any, place: str) -> list[Any]:
    """`value` if it is a list."""
    if not isinstance(value, list):
        raise MalformedModelError(f"expected a list, got {type(value).__name__}", place)
    return value


def text(value: Any, place: str) -> str:
    """`value` if it is text."""
    if not isinstance(value, str):
        raise MalformedModelError(f"expected text, got {type(value).__name__}", place)
    return value


def number(value: Any, place: str) -> float:
    """`value` as a finite float; also from text, as some libraries write their numbers."""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        try:
            converted = float(value)
        except (ValueError, OverflowError):
            converted = math.nan
        if math.isfinite(converted):
            return converted
    raise MalformedModelError(f"expected a number, got {shown(value)}", place)


def integer(value: Any, place: str) -> int:
    """`value` as a whole number of at most 63 bits; also from text."""
    converted = value
    if isinstance(value, str):
        try:
            converted = int(value)
        except ValueError:
            converted = None
    if not isinstance(converted, int) or isinstance(converted, bool) or abs(converted) >= 2**63:
        raise MalformedModelError(f"expected a whole number, got {shown(value)}", place)
    return converted


def count(value: Any, place: str) -> int:
    """`value` as a number of rows: whole (to 1e-6), not negative, not absurd."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise MalformedModelError(f"expected a number of rows, got {shown(value)}", place)
    if not 0 <= value <= MAX_COUNT:
        raise InconsistentModelError(f"{shown(value)} rows", place)
    rounded = round(value)
    if abs(value - rounded) > _WHOLE:
        raise InconsistentModelError(f"{value!r} is not a whole number of rows", place)
    return rounded


def numbers(values: Any, place: str) -> npt.NDArray[np.float64]:
    """A list of numbers as float64; entries may be infinite or NaN, never another type."""
    for i, value in enumerate(sequence(values, place)):
        if type(value) not in (int, float) or (type(value) is int and abs(value) >= 2**63):
            raise MalformedModelError(f"expected a number, got {shown(value)}", f"{place}[{i}]")
    return np.asarray(values, dtype=np.float64)


def integers(values: Any, place: str) -> npt.NDArray[np.int64]:
    """A list of whole numbers as int64."""
    for i, value in enumerate(sequence(values, place)):
        if type(value) is not int or abs(value) >= 2**63:
            raise MalformedModelError(
                f"expected a whole number, got {shown(value)}", f"{place}[{i}]"
            )
    return np.asarray(values, dtype=np.int64)


def texts(values: Any, place: str) -> tuple[str, ...]:
    """A list of texts as a tuple."""
    return tuple(text(v, f"{place}[{i}]") for i, v in enumerate(sequence(values, place)))


def parameter(word: Any) -> str | int | float:
    """A training parameter, usually written as text: a number where it is one."""
    written = str(word)[:200]
    try:
        converted = float(written)
    except ValueError:
        return written
    if not math.isfinite(converted):
        return written
    return int(converted) if converted.is_integer() and abs(converted) < 2**53 else converted


@contextmanager
def located(place: str) -> Iterator[None]:
    """Put `place` before the place of a model error raised inside."""
    try:
        yield
    except ModelError as error:
        inner = f"{place}.{error.place}" if error.place else place
        raise type(error)(error.message, inner) from None


def check_width(n_trees: int, n_columns: int, limits: Limits) -> None:
    """Raise when trees times columns is out of bounds.

    Every tree carries the list of columns, so a small file with many columns and many empty trees
    would keep a reader busy for hours.
    """
    if n_trees * n_columns > limits.nodes:
        raise ModelTooLargeError(
            f"{n_trees:,} trees times {n_columns:,} columns, over {limits.nodes:,}"
        )


def exact_or_removed(counts: npt.NDArray[Any]) -> Exact | Missing:
    """Counts of glassleak's own learners, unless `glassleak.sanitise` took them out.

    It leaves 0 at the class a node or rule predicts and -1 at all others, as no count can be.
    """
    if counts.ndim == 2 and counts.size and counts.shape[1] > 1 and int(counts.min()) == -1:
        marked = ((counts == 0).sum(axis=1) == 1) & (
            (counts == -1).sum(axis=1) == counts.shape[1] - 1
        )
        if marked.all():
            return Missing(REMOVED)
    return Exact(counts)
