"""What preprocessing keeps of each column: extremes, bin edges, averages, encodings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from glassleak.readers._state import State, Visited
from glassleak.readers.artefacts._artefact import Severity
from glassleak.readers.artefacts._finding import Finding
from glassleak.readers.artefacts._survey import Survey
from glassleak.readers.artefacts._words import column_names, columns, is_sized, items

_COARSEN = (
    "Clip or round the column before fitting (for instance to the 1st and 99th percentile, or to "
    "round limits set without looking at the data), so that the figure is no single person's value."
)


@dataclass(frozen=True)
class _Kept:
    """An attribute of a well-known transformer and what it tells."""

    attribute: str
    types: tuple[str, ...]
    kind: str
    severity: Severity
    reveals: str
    remedy: str
    per: str = "columns"
    """What the entries are."""


_EXTREMES = (
    "The smallest and largest training value of {columns}. An extreme value usually belongs to one "
    "person."
)
_KEPT = (
    _Kept("data_max_", ("MinMaxScaler",), "extreme-values", "fix", _EXTREMES, _COARSEN),
    _Kept(
        "max_abs_",
        ("MaxAbsScaler",),
        "extreme-values",
        "fix",
        "The largest absolute training value of {columns}, which usually belongs to one person.",
        _COARSEN,
    ),
    _Kept(
        "bin_edges_",
        ("KBinsDiscretizer",),
        "bin-edges",
        "fix",
        "The edges of the bins of {columns}: the first and last are the smallest and largest "
        "training value, and with quantile bins the others are training values too.",
        _COARSEN,
    ),
    _Kept(
        "bsplines_",
        ("SplineTransformer",),
        "extreme-values",
        "fix",
        "The knots of {columns}: the outer ones are the smallest and largest training value.",
        "Pass `knots` explicitly instead of taking them from the data.",
    ),
    _Kept(
        "winsor_lims",
        ("Winsorizer",),
        "column-statistics",
        "note",
        "Lower and upper percentiles of {columns}; with a quantile of 0 they are the extremes.",
        "Nothing, unless that quantile is 0 or very few rows were used.",
    ),
    _Kept(
        "center_",
        ("RobustScaler",),
        "column-statistics",
        "note",
        "Medians of {columns} (and ranges between quantiles). A median can be one person's value.",
        "Nothing, unless very few rows were used.",
    ),
    _Kept(
        "mean_",
        ("StandardScaler",),
        "column-statistics",
        "note",
        "Averages and variances of {columns}.",
        "Nothing, unless very few rows were used.",
    ),
    _Kept(
        "statistics_",
        ("SimpleImputer",),
        "column-statistics",
        "note",
        "The value filled in for missing ones in {columns}: a mean, median or most frequent value.",
        "Nothing, unless very few rows were used.",
    ),
    _Kept(
        "encodings_",
        ("TargetEncoder",),
        "category-targets",
        "fix",
        "For every category of {columns} the (smoothed) average target of the people in it. For a "
        "rare category that is the target of one or two people.",
        "Merge rare categories before fitting, or raise `smooth`.",
    ),
    _Kept(
        "X_thresholds_",
        ("IsotonicRegression",),
        "training-values",
        "fix",
        "The corners of the fitted curve are training values of the input (or of the score that "
        "is calibrated), copied unchanged, and its ends are the smallest and largest.",
        "Round the input before fitting, or replace the curve by one with fixed corners.",
        "corners",
    ),
)


def _claims(survey: Survey, state: State, value: Any) -> tuple[Any, ...]:
    """The arrays inside, and copies of the same values that a fitted curve keeps."""
    plain = isinstance(value, np.ndarray) and value.dtype != object
    curve = state.get("f_")
    copies = survey.arrays_of(curve) if isinstance(curve, State) else []
    return (*([] if plain else items(value)), state.get("y_thresholds_"), *copies)


def column_summaries(survey: Survey) -> Iterator[Finding]:
    """Attributes of well-known transformers that summarise training columns."""
    for kept in _KEPT:
        for visited, state in survey.held_by(kept.attribute):
            value = state.attributes[kept.attribute]
            if state.name not in kept.types or not is_sized(value) or not len(value):
                continue
            # Lower and upper limits come stacked, as (2, columns).
            stacked = isinstance(value, np.ndarray) and value.ndim == 2
            width = value.shape[1] if stacked else len(value)
            yield Finding(
                kept.kind,
                Visited(f"{visited.path}.{kept.attribute}", value, state),
                kept.severity,
                kept.reveals.format(columns=columns(width)),
                kept.remedy,
                {kept.per: width, **column_names(state)},
                _claims(survey, state, value),
            )
