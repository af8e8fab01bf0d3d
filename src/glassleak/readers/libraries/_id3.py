"""glassleak's own ID3 learner: trees with one branch per level of a column."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from glassleak.errors import MalformedModelError
from glassleak.models import Label, MultiwayTree, Provenance
from glassleak.readers._limits import Limits
from glassleak.readers._state import State
from glassleak.readers.libraries._sklearn_tree import class_labels, column_names
from glassleak.readers.libraries._typed import exact_or_removed, located

_SETTINGS = ("criterion", "max_depth", "min_samples_split", "min_gain")
# The classic name of the method, by which analyses know how columns were chosen.
_ESTIMATOR = "ID3"


def read_id3(state: State, limits: Limits) -> MultiwayTree:
    """The IR of an `ID3Classifier` given as `State`."""
    columns, classes = column_names(state, limits), class_labels(state)
    feature = state.need("feature_", np.ndarray, state.name)
    limits.check_nodes(len(feature) if feature.ndim else 0)
    with located(state.name):
        counts = state.need("counts_", np.ndarray, "model")
        if feature.ndim != 1 or feature.dtype.kind != "i":
            raise MalformedModelError(f"{feature.dtype} is no list of columns", "feature_")
        if counts.shape != (len(feature), len(classes)) or counts.dtype.kind not in "iu":
            raise MalformedModelError(f"counts of shape {counts.shape}", "counts_")
        label = np.where(feature < 0, np.argmax(counts, axis=1), -1)
        return MultiwayTree(
            columns=columns,
            classes=classes,
            levels=_levels(state.need("levels_", list, "model"), limits),
            feature=feature,
            parent=state.need("parent_", np.ndarray, "model"),
            branch=state.need("branch_", np.ndarray, "model"),
            counts=exact_or_removed(counts),
            label=label.astype(np.int32),
            provenance=Provenance(
                library="glassleak",
                estimator=_ESTIMATOR,
                settings={n: v for n in _SETTINGS if _is_plain(v := state.get(n))},
            ),
        )


def _levels(found: list[Any], limits: Limits) -> tuple[tuple[Label, ...], ...]:
    levels: list[tuple[Label, ...]] = []
    for i, own in enumerate(found):
        if not isinstance(own, list):
            raise MalformedModelError(f"expected a list, got {type(own).__name__}", f"levels_[{i}]")
        levels.append(tuple(own))
    limits.check_nodes(sum(len(own) for own in levels))
    return tuple(levels)


def _is_plain(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str | int | bool)
