"""Rule lists and trees trained with glassleak's own learners.

A fitted list holds ``conditions_`` (per rule a list of ``(column, low, high)``; none for the last
one), ``counts_`` and ``predictions_``; a fitted tree holds one entry per node in ``feature_``,
``threshold_``, ``left_``, ``right_`` and ``counts_``.  The learners themselves are not imported.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.errors import MalformedModelError
from glassleak.models import (
    Bagging,
    Condition,
    Counts,
    Forest,
    Label,
    Noisy,
    Provenance,
    Rule,
    RuleList,
    Tree,
)
from glassleak.readers._limits import Limits
from glassleak.readers._state import State
from glassleak.readers.libraries._sklearn_tree import class_labels, column_names
from glassleak.readers.libraries._typed import exact_or_removed, integer, located, sequence, shown

_SETTINGS = ("max_length", "min_support", "max_width", "negations", "criterion", "support_of",
             "protect_default", "regularization", "tie_break", "tolerance", "max_depth",
             "n_thresholds", "budget_seconds", "memory_mb", "solver", "epsilon",
             "counts_share", "n_estimators", "accounting", "delta")  # fmt: skip
_NOISES = ("discrete Laplace", "discrete Gaussian")


def read_rule_list(state: State, limits: Limits) -> RuleList:
    """The IR of a fitted rule list given as `State`."""
    with located(state.name):
        return _read_rule_list(state, limits)


def read_learned_tree(state: State, limits: Limits) -> Tree:
    """The IR of a fitted tree given as `State`."""
    with located(state.name):
        return _read_tree(state, limits)


def read_learned_forest(state: State, limits: Limits) -> Forest:
    """The IR of a fitted private forest given as `State`: every tree saw a part of the people."""
    with located(state.name):
        members = sequence(state.get("estimators_"), "estimators_")
        limits.check_nodes(len(members))
        trees = []
        for i, member in enumerate(members):
            if not isinstance(member, State):
                raise MalformedModelError(f"{shown(member)} is no tree", f"estimators_[{i}]")
            with located(f"estimators_[{i}]"):
                trees.append(_read_tree(member, limits))
        return Forest(tuple(trees), Bagging("unknown"), provenance=_provenance(state))


def _read_rule_list(state: State, limits: Limits) -> RuleList:
    columns, classes = column_names(state, limits), class_labels(state)
    listed = sequence(state.get("conditions_"), "conditions_")
    limits.check_nodes(len(listed))
    predictions = _array(state, "predictions_", 1)
    counts = _array(state, "counts_", 2)
    if len(predictions) != len(listed):
        raise MalformedModelError(
            f"{len(predictions)} predictions for {len(listed)} rules", "predictions_"
        )
    rules = []
    for i, raw in enumerate(listed):
        conditions = tuple(
            _condition(entry, f"conditions_[{i}][{j}]")
            for j, entry in enumerate(sequence(raw, f"conditions_[{i}]"))
        )
        rules.append(Rule(conditions, _label(predictions[i], classes, f"predictions_[{i}]")))
    return RuleList(
        columns=columns,
        classes=classes,
        rules=tuple(rules),
        counts=_counts(state, counts),
        provenance=_provenance(state),
    )


def _read_tree(state: State, limits: Limits) -> Tree:
    columns, classes = column_names(state, limits), class_labels(state)
    counts = _array(state, "counts_", 2)
    limits.check_nodes(len(counts))
    return Tree(
        columns=columns,
        classes=classes,
        feature=_array(state, "feature_", 1),
        threshold=state.need("threshold_", np.ndarray, "model"),
        left=_array(state, "left_", 1),
        right=_array(state, "right_", 1),
        counts=_counts(state, counts),
        precision="float64",
        provenance=_provenance(state),
    )


def _counts(state: State, counts: npt.NDArray[Any]) -> Counts:
    """Private learners say how much noise their counts carry."""
    scale = state.get("noise_scale_")
    if scale is None:
        return exact_or_removed(counts)
    if type(scale) not in (int, float) or not (math.isfinite(scale) and scale > 0):
        raise MalformedModelError(f"{shown(scale)} is no scale of noise", "noise_scale_")
    name = state.get("noise_", _NOISES[0])
    if not isinstance(name, str) or name not in _NOISES:
        raise MalformedModelError(f"{shown(name)} is no noise these learners draw", "noise_")
    return Noisy(counts.astype(np.float64), float(scale), name)


def _condition(entry: Any, place: str) -> Condition:
    if not isinstance(entry, tuple | list) or len(entry) != 3:
        raise MalformedModelError("expected (column, low, high)", place)
    ends = entry[1:]
    if any(type(end) not in (int, float) or math.isnan(end) for end in ends):
        raise MalformedModelError(f"{shown(ends[0])} to {shown(ends[1])} is no interval", place)
    with located(place):
        return Condition(integer(entry[0], "column"), float(ends[0]), float(ends[1]))


def _label(code: Any, classes: tuple[Label, ...], place: str) -> Label:
    if not 0 <= int(code) < len(classes):
        raise MalformedModelError(f"class {int(code)} of {len(classes)}", place)
    return classes[int(code)]


def _array(state: State, name: str, ndim: int) -> npt.NDArray[Any]:
    found: npt.NDArray[Any] = state.need(name, np.ndarray, "model")
    if found.ndim != ndim or found.dtype.kind not in "iu":
        raise MalformedModelError(
            f"expected whole numbers in {ndim} dimensions, got {found.dtype} in {found.ndim}", name
        )
    return found


def _provenance(state: State) -> Provenance:
    settings = {
        name: value
        for name in _SETTINGS
        if isinstance(value := state.get(name), str | int | bool)
        or (isinstance(value, float) and math.isfinite(value))
    }
    version = state.get("version_", "")
    return Provenance(
        library="glassleak",
        library_version=version if isinstance(version, str) else "",
        estimator=state.name,
        settings=settings,
    )
