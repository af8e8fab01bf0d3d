"""Checks of parameters the learners share."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from glassleak.errors import SanitiseError
from glassleak.models import Counts, Exact, Missing
from glassleak.models._counts import REMOVED


def support_rows(min_support: Any, n_rows: int) -> int:
    """The smallest number of rows a rule may capture, at least 1.

    A float is a share of the table (``captured / n_rows >= min_support``), an integer a number of
    rows, as scikit-learn's ``min_samples_leaf``.
    """
    if isinstance(min_support, bool) or not isinstance(min_support, numbers.Real):
        raise ValueError(f"min_support must be a number, got {min_support!r}")
    if isinstance(min_support, numbers.Integral):
        if min_support < 0:
            raise ValueError(f"min_support must not be negative, got {min_support}")
        return max(1, int(min_support))
    share = float(min_support)
    if not 0 <= share < 1:
        raise ValueError(f"min_support as a share must lie in [0, 1), got {share}")
    rows = math.ceil(share * n_rows)
    # 0.07 * 100 is a little above 7 in floating point; the share itself is what was asked for.
    while rows > 0 and (rows - 1) / n_rows >= share:
        rows -= 1
    return max(1, rows)


def whole_number(value: Any, name: str, least: int, most: int | None = None) -> int:
    """`value` as an int in a range, or a `ValueError` that names the parameter."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
    if most is not None and int(value) > most:
        raise ValueError(f"{name} must be at most {most}, got {value!r}")
    return int(value)


def one_of(value: Any, name: str, choices: tuple[str, ...]) -> str:
    """`value` if it is one of `choices`."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")
    return str(value)


def not_negative(value: Any, name: str, none: float | None = None) -> float:
    """`value` as a number of at least 0; `none` stands for None where that is allowed."""
    if value is None and none is not None:
        return none
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not float(value) >= 0:
        raise ValueError(f"{name} must be a number of at least 0, got {value!r}")
    return float(value)


def plain_settings(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters that are plain finite values, as provenance keeps them."""
    return {
        name: value
        for name, value in parameters.items()
        if isinstance(value, str | int | bool)
        or (isinstance(value, float) and math.isfinite(value))
    }


def published(counts: npt.NDArray[Any]) -> Counts:
    """Exact counts as they are published; `glassleak.sanitise` leaves -1 where they were."""
    return Missing(REMOVED) if (counts < 0).any() else Exact(counts)


def check_counted(counts: npt.NDArray[Any]) -> None:
    """Raise where shares of classes are asked for and the counts were removed."""
    if (counts < 0).any():
        raise SanitiseError(f"{REMOVED}; it only predicts")
