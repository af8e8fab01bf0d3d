"""LightGBM classifiers and regressors: model text, JSON dump, and fitted or unpickled objects.

LightGBM publishes how many training rows reached every node (exactly, also under row weights),
but not of which class they were.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from glassleak.errors import (
    InconsistentModelError,
    MalformedModelError,
    ModelTooLargeError,
    UnsupportedModelError,
)
from glassleak.models import Forest, Label, Model, Provenance
from glassleak.readers._limits import Limits
from glassleak.readers._state import State
from glassleak.readers.libraries._lightgbm_json import parse_dump
from glassleak.readers.libraries._lightgbm_text import parse_text
from glassleak.readers.libraries._lightgbm_training import (
    has_estimated_counts,
    sampling,
    training_settings,
)
from glassleak.readers.libraries._lightgbm_trees import Splits, tree_of
from glassleak.readers.libraries._typed import check_width, integer, located, number, shown

_REGRESSION = ("regression", "regression_l1", "huber", "fair", "poisson", "quantile", "mape",
               "gamma", "tweedie")  # fmt: skip
_RANKING = ("lambdarank", "rank_xendcg")


@dataclass(frozen=True)
class _Booster:
    """What text and JSON have in common."""

    columns: tuple[str, ...]
    objective: str
    n_classes: int
    per_round: int
    averaged: bool
    trees: list[Splits]
    parameters: Mapping[str, str] | None
    format: str
    notes: tuple[str, ...] = ()
    ranges: Mapping[str, list[float]] = field(default_factory=dict)


def read_lightgbm_text(text: str, limits: Limits) -> Model:
    """A model saved with ``Booster.save_model``."""
    return _forest(_from_text(text, limits), limits)


def read_lightgbm_json(document: Any, limits: Limits) -> Model:
    """A model as ``Booster.dump_model`` gives it."""
    dump = parse_dump(document, limits)
    booster = _Booster(
        columns=dump.columns,
        objective=dump.objective,
        n_classes=dump.n_classes,
        per_round=dump.per_round,
        averaged=dump.averaged,
        trees=dump.trees,
        parameters=None,
        format=dump.version,
        ranges=dump.ranges,
    )
    return _forest(booster, limits)


def read_lightgbm_state(state: State, limits: Limits) -> Model:
    """A fitted or unpickled ``LGBMClassifier``, ``LGBMRegressor`` or ``Booster``."""
    inner = state if state.name == "Booster" else state.get("_Booster")
    if not isinstance(inner, State):
        raise MalformedModelError("no trained model in it", f"{state.name}._Booster")
    text = inner.get("_handle", inner.get("handle"))
    if not isinstance(text, str):
        raise MalformedModelError("the model's text is not in it", f"{inner.name}._handle")
    with located(state.name):
        booster = _from_text(text, limits)
        labels = state.get("_classes")
        if isinstance(labels, np.ndarray) and labels.ndim == 1:
            return _forest(booster, limits, state.name, tuple(labels.tolist()))
        return _forest(booster, limits, state.name)


def _from_text(text: str, limits: Limits) -> _Booster:
    if len(text) > limits.json_bytes:
        raise ModelTooLargeError(f"more than {limits.json_bytes:,} characters")
    saved = parse_text(text, limits)
    header = saved.header
    columns = tuple(header.get("feature_names", "").split())
    if integer(header.get("max_feature_idx"), "max_feature_idx") + 1 != len(columns):
        raise InconsistentModelError(f"{len(columns)} names", "feature_names")
    notes: tuple[str, ...] = ()
    if saved.linear:
        notes = ("leaves hold linear models; only the partition and its counts are read",)
    return _Booster(
        columns=columns,
        objective=header.get("objective", ""),
        n_classes=integer(header.get("num_class"), "num_class"),
        per_round=integer(header.get("num_tree_per_iteration"), "num_tree_per_iteration"),
        averaged="average_output" in header,
        trees=saved.trees,
        parameters=saved.parameters,
        format=header.get("version", ""),
        notes=notes,
        ranges=_ranges(columns, header.get("feature_infos", "").split()),
    )


def _ranges(columns: tuple[str, ...], infos: list[str]) -> dict[str, list[float]]:
    """Smallest and largest training value per column, which LightGBM publishes as ``[a:b]``."""
    found = {}
    for column, info in zip(columns, infos, strict=False):
        low, separator, high = info.removeprefix("[").removesuffix("]").partition(":")
        if info.startswith("[") and separator:
            place = f"feature_infos.{column[:60]}"
            found[column] = [number(low, place), number(high, place)]
    return found


def _forest(
    booster: _Booster,
    limits: Limits,
    estimator: str = "Booster",
    labels: tuple[Label, ...] | None = None,
) -> Forest:
    classes = _classes(booster, labels)
    if not booster.trees:
        raise MalformedModelError("the model has no trees", "trees")
    if len(booster.trees) % booster.per_round:
        raise InconsistentModelError(
            f"{len(booster.trees)} trees in rounds of {booster.per_round}", "num_tree_per_iteration"
        )
    check_width(len(booster.trees), len(booster.columns), limits)
    trees = []
    for t, splits in enumerate(booster.trees):
        with located(f"Tree={t}"):
            trees.append(tree_of(splits, booster.columns, classes))
    notes = booster.notes
    if booster.per_round > 1:
        notes += (
            f"every round adds one tree per class: tree t is for class t mod {booster.per_round}",
        )
    settings = training_settings(booster.parameters or {})
    settings |= {"objective": booster.objective, "format": booster.format}
    if booster.ranges:
        settings["feature_ranges"] = dict(booster.ranges)
    if has_estimated_counts(settings):
        notes += ("trained on several machines: rows per node are estimates and were left out",)
        trees = [replace(tree, rows=None, n_rows=None) for tree in trees]
    bagging, n_rows, why = sampling(settings, booster.parameters is not None, trees)
    return Forest(
        tuple(trees),
        bagging,
        n_rows,
        "mean" if booster.averaged else "sum",
        Provenance("lightgbm", "", estimator, settings, notes + why),
    )


def _classes(booster: _Booster, labels: tuple[Label, ...] | None) -> tuple[Label, ...]:
    objective = (booster.objective.split() or [""])[0]
    if objective in _REGRESSION:
        # Leaves hold what is left over of the targets; the numbers of rows are exact all the same.
        if booster.n_classes != 1 or booster.per_round != 1:
            raise InconsistentModelError(f"{booster.n_classes} classes in {objective}", "num_class")
        return ()
    if objective in _RANKING:
        raise UnsupportedModelError(f"ranking ({objective}): there are no classes", "objective")
    if objective not in ("binary", "multiclass", "multiclassova"):
        what = shown(objective) if objective else "none given (a custom one?), which"
        raise UnsupportedModelError(f"{what} is not known to train a classifier", "objective")
    binary = objective == "binary"
    wanted = 1 if binary else booster.n_classes
    if booster.n_classes < 1 or booster.per_round != wanted or (binary and booster.n_classes != 1):
        raise InconsistentModelError(
            f"{booster.n_classes} classes but {booster.per_round} trees per round for {objective}",
            "num_class",
        )
    # Before the labels are made: the number is the file's and may be anything.
    if booster.per_round > max(len(booster.trees), 1):
        raise InconsistentModelError(
            f"{booster.per_round} trees per round, {len(booster.trees)} in all", "num_class"
        )
    size = 2 if binary else booster.n_classes
    if labels is None:
        return tuple(range(size))
    if len(labels) != size:
        raise InconsistentModelError(f"{len(labels)} labels for {size} classes", "_classes")
    return labels
