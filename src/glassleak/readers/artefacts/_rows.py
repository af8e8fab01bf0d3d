"""How many training rows the object was fitted on, by every account it gives."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from glassleak.models import Exact, Forest, Model, RuleList
from glassleak.readers._state import State, Visited
from glassleak.readers.artefacts._finding import tidy
from glassleak.readers.artefacts._names import is_training_table
from glassleak.readers.artefacts._survey import Survey

_STATED = ("_n_samples", "n_samples_fit_", "n_samples_seen_", "n_train_", "_n_train")
# Results that libraries give for every training row.
_PER_ROW = {
    "RMatrix",
    "embedding_",
    "idxs",
    "inlier_mask_",
    "label_distributions_",
    "labels_",
    "oob_decision_function_",
    "oob_prediction_",
    "transduction_",
}
_MOST = 2**40


@dataclass(frozen=True)
class Rows:
    """Numbers of training rows and what is known about their classes.

    Attributes
    ----------
    counts : dict of int to str
        Each number of rows the object admits to (folds and held-out parts differ), and where.
    n_classes : int, optional
    class_counts : tuple of int, optional
        Training rows of each class, sorted by size, where the model publishes them.
    n_columns : frozenset of int
        Numbers of columns; an array of such a length may describe columns and not rows.
    """

    counts: dict[int, str] = field(default_factory=dict)
    n_classes: int | None = None
    class_counts: tuple[int, ...] | None = None
    n_columns: frozenset[int] = frozenset()

    @property
    def known(self) -> bool:
        return bool(self.counts)

    def listed(self) -> str:
        """The numbers of rows in words, a few of them."""
        shown = [f"{n:,}" for n in list(self.counts)[:3]]
        return " or ".join(shown) + (" or another number" if len(self.counts) > 3 else "")


def training_rows(survey: Survey, model: Model | None) -> Rows:
    """What `model` and the object's own attributes say about the number of training rows."""
    counts: dict[int, str] = {}
    if model is not None and model.n_rows is not None and model.n_rows > 1:
        counts[model.n_rows] = "the model"
    for number, where in _stated(survey):
        counts.setdefault(number, tidy(where))
    if not counts:
        counts = _from_roots(survey)
    return Rows(counts, _n_classes(survey, model), _class_counts(model), _n_columns(survey, model))


def _stated(survey: Survey) -> Iterator[tuple[int, str]]:
    for visited in survey.states:
        state: State = visited.value
        for name in _STATED:
            number = _whole(state.attributes.get(name))
            if number:
                yield number, f"{visited.path}.{name}"
        shape = state.attributes.get("shape_fit_")
        if isinstance(shape, tuple | list) and shape and _whole(shape[0]):
            yield shape[0], f"{visited.path}.shape_fit_"
    for visited in survey.arrays:
        if _tells_rows(survey, visited):
            yield len(visited.value), visited.path


def _tells_rows(survey: Survey, visited: Visited) -> bool:
    """Whether an array's name alone says that it has one entry per training row."""
    array, name = visited.value, survey.attribute(visited)
    if array.ndim == 0 or len(array) < 2 or not survey.is_direct(visited):
        return False
    table = array.ndim == 2 and is_training_table(name, visited.owner)
    return name in _PER_ROW or table


def _whole(value: Any) -> int | None:
    """A plausible number of rows, or ``None``; an array of them (one per column) counts once."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "iu" and value.size:
        value = int(value.max())
    if isinstance(value, float) and value.is_integer() and abs(value) < _MOST:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 1 < value < _MOST else None


def _from_roots(survey: Survey) -> dict[int, str]:
    """The rows at the roots of trees, when nothing says it outright.

    Under bagging the roots differ in distinct rows and agree in rows drawn; a draw as large as the
    training set is scikit-learn's default.
    """
    plain: dict[int, str] = {}
    drawn: dict[int, str] = {}
    for visited in survey.arrays:
        names = visited.value.dtype.names or ()
        if visited.value.ndim != 1 or not len(visited.value):
            continue
        root = visited.value[0]
        for field_name, found in (
            ("n_node_samples", plain),
            ("count", plain),
            ("weighted_n_node_samples", drawn),
        ):
            if field_name not in names:
                continue
            value = root[field_name].item()
            number = value if isinstance(value, int | float) and math.isfinite(value) else None
            rows = _whole(number)
            if rows:
                found.setdefault(rows, tidy(visited.path))
    for found in (plain, drawn):
        if len(found) == 1:
            return found
    return {}


def _n_classes(survey: Survey, model: Model | None) -> int | None:
    if model is not None and len(model.classes):
        return len(model.classes)
    for _, state in survey.held_by("classes_"):
        classes = state.attributes["classes_"]
        if isinstance(classes, np.ndarray) and classes.ndim == 1:
            return len(classes)
    return None


def _class_counts(model: Model | None) -> tuple[int, ...] | None:
    if isinstance(model, Forest):
        # Drawn rows are not the training rows; only trees that saw everybody tell.
        return _class_counts(model.trees[0]) if model.bagging.kind == "none" else None
    if model is None or not isinstance(model.counts, Exact):
        return None
    values = model.counts.values
    per_class = values.sum(axis=0) if isinstance(model, RuleList) else values[0]
    return tuple(sorted(int(c) for c in per_class if c))


def _n_columns(survey: Survey, model: Model | None) -> frozenset[int]:
    found = {len(model.columns)} if model is not None else set()
    for name in ("n_features_in_", "_n_features", "n_features_", "n_features"):
        for _, state in survey.held_by(name):
            value = state.attributes[name]
            if isinstance(value, int) and not isinstance(value, bool):
                found.add(value)
    return frozenset(found)
