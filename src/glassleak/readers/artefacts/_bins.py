"""Bins and quantiles: limits that are training values, or lie just between two of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.readers._state import State, Visited
from glassleak.readers.artefacts._finding import Finding
from glassleak.readers.artefacts._rows import Rows
from glassleak.readers.artefacts._survey import Survey
from glassleak.readers.artefacts._words import column_names, columns, items


def quantiles(survey: Survey, rows: Rows) -> Iterator[Finding]:
    """QuantileTransformer keeps quantiles, and every single value of a small table."""
    for visited, state in survey.held_by("quantiles_"):
        array = state.attributes["quantiles_"]
        if (
            not isinstance(array, np.ndarray)
            or array.ndim != 2
            or state.name != "QuantileTransformer"
        ):
            continue
        kept, width = array.shape
        # As many quantiles as rows: every training value is there, sorted within its column.
        every = kept in rows.counts
        reveals = f"{kept:,} quantiles of {columns(width)}, from the smallest to the largest value."
        if every:
            reveals += " There are as many as training rows, so every value is there, sorted."
        yield Finding(
            "training-values",
            Visited(f"{visited.path}.quantiles_", array, state),
            "refer" if every else "fix",
            reveals,
            "Use far fewer quantiles than rows (`n_quantiles`), and clip the extremes.",
            {"quantiles": kept, "columns": width, "every_value": every, **column_names(state)},
        )


def bin_thresholds(survey: Survey) -> Iterator[Finding]:
    """Histogram boosting keeps the limits of its bins for every column."""
    for visited, state in survey.held_by("bin_thresholds_"):
        limits = state.attributes["bin_thresholds_"]
        if not isinstance(limits, list | tuple):
            continue
        # A single limit separates two values, as in a yes/no column, and is neither.
        sizes = [len(t) for t in _numeric(limits, state) if len(t) > 1]
        if not sizes:
            continue
        n_bins = state.get("n_bins")
        # One bin is for missing values; a column with fewer limits than bins has them all.
        most = n_bins - 2 if isinstance(n_bins, int) and not isinstance(n_bins, bool) else None
        separated = sum(size < most for size in sizes) if most is not None else 0
        reveals = (
            f"The limits of the training bins of {columns(len(sizes))}, {sum(sizes):,} in all. "
            "They are training values, or lie halfway between two neighbouring ones."
        )
        if separated:
            reveals += (
                f" For {columns(separated)} there is a limit between any two different training "
                "values, so the list of values that occur can be worked out."
            )
        yield Finding(
            "bin-edges",
            Visited(f"{visited.path}.bin_thresholds_", limits, state),
            "fix",
            reveals,
            "After training, replace the limits of every numeric column by an empty array (in "
            "`_bin_mapper.bin_thresholds_`); predictions use the thresholds in the trees. Round "
            "columns before training, so that those are no single person's values either.",
            {
                "columns": len(sizes),
                "limits": sum(sizes),
                "columns_with_every_value_separated": separated,
            },
            tuple(limits),
        )


def _numeric(limits: Sequence[Any], state: State) -> Iterator[npt.NDArray[Any]]:
    """The limits of numeric columns; for the others the list holds their categories."""
    marks = items(state.get("is_categorical_"))
    categorical = {i for i, mark in enumerate(marks) if isinstance(mark, int) and mark}
    for i, entry in enumerate(limits):
        if i not in categorical and isinstance(entry, np.ndarray) and entry.ndim == 1:
            yield entry
