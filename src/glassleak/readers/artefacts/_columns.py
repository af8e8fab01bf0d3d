"""What preprocessing keeps of each column: extremes, bin edges, categories, averages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from glassleak.readers._state import State, Visited
from glassleak.readers.artefacts._artefact import Json, Severity
from glassleak.readers.artefacts._finding import Finding, tidy
from glassleak.readers.artefacts._rows import Rows
from glassleak.readers.artefacts._survey import Survey

_SHOWN_COLUMNS = 50
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
        "Lower and upper percentiles of {columns}; with a trim quantile of 0 they are the extremes.",
        "Nothing, unless the trim quantile is 0 or very few rows were used.",
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
    ),
)


def column_summaries(survey: Survey, rows: Rows) -> Iterator[Finding]:
    """Attributes of well-known transformers that summarise training columns."""
    for kept in _KEPT:
        for visited, state in survey.held_by(kept.attribute):
            value = state.attributes[kept.attribute]
            size = len(value) if isinstance(value, list | tuple | np.ndarray) and _sized(value) else 0
            if state.name not in kept.types or not size:
                continue
            yield Finding(
                kept.kind,
                Visited(f"{visited.path}.{kept.attribute}", value, state),
                kept.severity,
                kept.reveals.format(columns=_count(_width(value, size))),
                kept.remedy,
                {"columns": _width(value, size), **_column_names(state)},
                tuple(survey.arrays_of(state)),
            )


def quantiles(survey: Survey, rows: Rows) -> Iterator[Finding]:
    """QuantileTransformer keeps quantiles, and every single value of a small table."""
    for visited, state in survey.held_by("quantiles_"):
        array = state.attributes["quantiles_"]
        if not isinstance(array, np.ndarray) or array.ndim != 2 or state.name != "QuantileTransformer":
            continue
        kept, width = array.shape
        # As many quantiles as rows: every training value is there, sorted within its column.
        every = kept in rows.counts
        reveals = f"{kept:,} quantiles of {_count(width)}, from the smallest to the largest value."
        if every:
            reveals += " There are as many as training rows, so every value is there, sorted."
        yield Finding(
            "training-values",
            Visited(f"{visited.path}.quantiles_", array, state),
            "refer" if every else "fix",
            reveals,
            "Use far fewer quantiles than rows (`n_quantiles`), and clip the extremes.",
            {"quantiles": kept, "columns": width, "every_value": every, **_column_names(state)},
            tuple(survey.arrays_of(state)),
        )


def bin_thresholds(survey: Survey, rows: Rows) -> Iterator[Finding]:
    """Histogram boosting keeps the limits of its bins for every column."""
    for visited, state in survey.held_by("bin_thresholds_"):
        limits = state.attributes["bin_thresholds_"]
        if not isinstance(limits, list | tuple):
            continue
        sizes = [len(t) for t in limits if isinstance(t, np.ndarray) and t.ndim == 1 and len(t)]
        if not sizes:
            continue
        n_bins = state.get("n_bins")
        # One bin is for missing values; a column with fewer limits than bins has them all.
        most = n_bins - 2 if isinstance(n_bins, int) and not isinstance(n_bins, bool) else None
        separated = sum(size < most for size in sizes) if most is not None else 0
        reveals = (
            f"The limits of the training bins of {_count(len(sizes))}, {sum(sizes):,} in all. They "
            "are training values, or lie halfway between two neighbouring ones."
        )
        if separated:
            reveals += (
                f" For {_count(separated)} there is a limit between any two different training "
                "values, so the list of values that occur can be worked out."
            )
        yield Finding(
            "bin-edges",
            Visited(f"{visited.path}.bin_thresholds_", limits, state),
            "fix",
            reveals,
            "Empty the list after training (`_bin_mapper.bin_thresholds_ = []`); predictions use "
            "the thresholds in the trees. Round columns before training to keep the trees' own "
            "thresholds from being single people's values.",
            {
                "columns": len(sizes),
                "limits": sum(sizes),
                "columns_with_every_value_separated": separated,
            },
            tuple(survey.arrays_of(state)),
        )


def categories(survey: Survey, rows: Rows) -> Iterator[Finding]:
    """Lists of all categories that occur; a category can be one person."""
    for attribute in ("categories_", "pandas_categorical"):
        for visited, state in survey.held_by(attribute):
            lists = [c for c in _items(state.attributes[attribute]) if _sized(c) and len(c)]
            if lists:
                yield _category_finding(visited, state, attribute, lists, rows)
    for visited, state in survey.held_by("classes_"):
        classes = state.attributes["classes_"]
        if state.name in ("LabelEncoder", "LabelBinarizer", "MultiLabelBinarizer"):
            if _sized(classes) and _is_like_identifiers(len(classes), rows):
                yield _category_finding(visited, state, "classes_", [classes], rows)


def _category_finding(
    visited: Visited, state: State, attribute: str, lists: list[Any], rows: Rows
) -> Finding:
    sizes = [len(c) for c in lists]
    like_ids = sum(_is_like_identifiers(size, rows) for size in sizes)
    rare = sum(len(i) for i in _items(state.get("_infrequent_indices")) if _sized(i))
    reveals = f"Every category of {_count(len(sizes))} that occurs in training, {sum(sizes):,} in all"
    reveals += f"; {rare:,} of them are marked as rare." if rare else ". A rare one may be one person."
    if like_ids:
        reveals += (
            f" {_count(like_ids).capitalize()} has at least half as many categories as there are "
            "training rows: they may be names or numbers of people."
        )
    return Finding(
        "category-lists",
        Visited(f"{visited.path}.{attribute}", state.attributes[attribute], state),
        "fix" if like_ids else "note",
        reveals,
        "Drop columns that identify people, and merge rare categories before fitting."
        if like_ids
        else "Check that no category names a person or a very small group; merge rare ones before "
        "fitting.",
        {
            "columns": len(sizes),
            "categories": sum(sizes),
            "rare_categories": rare,
            "columns_like_identifiers": like_ids,
            **_column_names(state),
        },
        tuple(survey_values(lists)),
    )


def survey_values(lists: list[Any]) -> Iterator[Any]:
    """The arrays and lists themselves, to be claimed."""
    yield from lists


def _is_like_identifiers(size: int, rows: Rows) -> bool:
    return size >= 20 and any(size >= n / 2 for n in rows.counts)


def _column_names(state: State) -> dict[str, Json]:
    names = state.get("feature_names_in_")
    listed = [n for n in _items(names) if isinstance(n, str)]
    return {"column_names": [tidy(n, 60) for n in listed[:_SHOWN_COLUMNS]]} if listed else {}


def _width(value: Any, size: int) -> int:
    # Limits come as (2, columns) where lower and upper ones are stacked.
    return int(value.shape[1]) if isinstance(value, np.ndarray) and value.ndim == 2 else size


def _count(n: int) -> str:
    return "1 column" if n == 1 else f"{n:,} columns"


def _items(value: Any) -> list[Any]:
    if isinstance(value, np.ndarray):
        return value.tolist() if value.dtype == object and value.ndim == 1 else list(value.tolist()) if value.ndim == 1 else []
    return list(value) if isinstance(value, list | tuple) else []


def _sized(value: Any) -> bool:
    return isinstance(value, list | tuple | dict) or (
        isinstance(value, np.ndarray) and value.ndim > 0
    )


Detector = Callable[[Survey, Rows], Iterator[Finding]]
