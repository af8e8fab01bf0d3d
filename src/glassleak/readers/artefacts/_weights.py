"""Row weights that are the labels in disguise.

Class weights are one number per class.  Once they are multiplied out to one number per row, the
array *is* the label column, in the order of the training rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.readers._state import State
from glassleak.readers.artefacts._artefact import Json
from glassleak.readers.artefacts._finding import Finding
from glassleak.readers.artefacts._rows import Rows
from glassleak.readers.artefacts._survey import Survey

_NAMES = ("_sample_weight", "sample_weight_", "sample_weight")
_TOLERANCE = 1e-6


def labels_in_weights(survey: Survey, rows: Rows) -> Iterator[Finding]:
    """Arrays of row weights that take one value per class."""
    for visited in survey.arrays:
        name, array, owner = survey.attribute(visited), visited.value, visited.owner
        if name not in _NAMES or owner is None or array.ndim != 1 or array.dtype.kind not in "fiu":
            continue
        n_classes = _n_classes(owner) or rows.n_classes
        values, counts = np.unique(array, return_counts=True)
        if n_classes is None or not 1 < len(values) <= n_classes or not np.isfinite(values).all():
            continue
        setting = owner.get("class_weight")
        classes_behind = _classes_behind(setting, values, counts, n_classes)
        sizes = tuple(sorted(counts.tolist()))
        confirmed = classes_behind is not None or sizes == rows.class_counts
        if setting is None and not confirmed:
            continue
        if classes_behind is None:
            # One value per class, or the sizes agree: each value stands for one class.
            single = len(values) == n_classes or sizes == rows.class_counts
            classes_behind = np.ones(len(values), np.int64) if single else None
        yield Finding(
            "labels-in-weights",
            visited,
            "fix",
            *_words(name, len(array), counts, classes_behind),
            evidence=_evidence(array, len(values), n_classes, counts, classes_behind, confirmed),
        )


def _classes_behind(
    setting: Any, values: npt.NDArray[Any], counts: npt.NDArray[Any], n_classes: int
) -> npt.NDArray[np.int64] | None:
    """How many classes share each weight, if the setting explains every weight; else ``None``."""
    if isinstance(setting, str) and setting == "balanced":
        # weight = n / (classes * size of the class)
        with np.errstate(all="ignore"):
            shares = counts / counts.sum() * n_classes * values.astype(np.float64)
            whole = np.round(shares)
            off = ~(np.abs(shares - whole) <= _TOLERANCE)
        if off.any() or whole.sum() != n_classes:
            return None
        shared: npt.NDArray[np.int64] = whole.astype(np.int64)
        return shared
    if isinstance(setting, dict):
        given = [v for v in setting.values() if isinstance(v, int | float) and abs(v) < 1e300]
        weights = np.sort(np.array(given + [1.0] * (n_classes - len(given)), dtype=np.float64))
        last = np.searchsorted(weights, values + _TOLERANCE, "right")
        first = np.searchsorted(weights, values - _TOLERANCE, "left")
        behind: npt.NDArray[np.int64] = np.asarray(last - first, dtype=np.int64)
        return behind if bool(behind.all()) else None
    return None


def _words(
    name: str, n: int, counts: npt.NDArray[Any], behind: npt.NDArray[np.int64] | None
) -> tuple[str, str]:
    told = int(counts[behind == 1].sum()) if behind is not None else 0
    if behind is not None and told == n:
        reveals = (
            f"This is the label column in row order: `{name}` takes a different value for each "
            f"class, so the label of every one of the {n:,} training rows can be read off."
        )
    elif told:
        reveals = (
            f"`{name}` takes one value per class: the labels of {told:,} of {n:,} training rows "
            "can be read off in row order; the others are in classes that share a weight."
        )
    else:
        reveals = (
            f"`{name}` was made from class weights: it splits the {n:,} training rows, in row "
            f"order, into {len(counts)} groups of classes."
        )
    remedy = (
        f"Set `{name} = None` on the fitted object before saving it; predictions do not use it. "
        "(scikit-learn 1.9 keeps it to be able to repeat its random draws.)"
    )
    return reveals, remedy


def _evidence(
    array: npt.NDArray[Any],
    n_values: int,
    n_classes: int,
    counts: npt.NDArray[Any],
    behind: npt.NDArray[np.int64] | None,
    confirmed: bool,
) -> dict[str, Json]:
    return {
        "rows": len(array),
        "dtype": str(array.dtype),
        "distinct_values": n_values,
        "classes": n_classes,
        "rows_with_label_revealed": int(counts[behind == 1].sum()) if behind is not None else 0,
        "agrees_with_class_sizes": confirmed,
    }


def _n_classes(owner: State) -> int | None:
    classes = owner.get("classes_")
    if isinstance(classes, np.ndarray) and classes.ndim == 1:
        return len(classes)
    return None
