"""Sanitised copies of scikit-learn's gradient boosting.

Leaves hold what is added to the score, which predictions need.  The bookkeeping goes, and of
histogram boosting the bin thresholds, which are training values.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from glassleak.errors import SanitiseError, UnsupportedModelError
from glassleak.sanitise._estimators import clean_tree, first_of
from glassleak.sanitise._nodes import without_directions
from glassleak.sanitise._options import Options
from glassleak.sanitise._parts import BOOSTED, HISTOGRAM, Removed, is_fitted, kept_copy
from glassleak.sanitise._result import Sanitised, result

_KINDS = ("GradientBoostingClassifier", "GradientBoostingRegressor")
_HISTOGRAMS = ("HistGradientBoostingClassifier", "HistGradientBoostingRegressor")
_BASELINES = ("DummyClassifier", "DummyRegressor", "ZeroEstimator")
_LEAVES = "what each adds to the score"


def clean_boosted(estimator: Any, options: Options) -> Sanitised:
    """Gradient boosting of either kind."""
    name = type(estimator).__name__
    for option in ("min_people", "suppress_below", "round_to"):
        if getattr(options, option) is not None:
            raise SanitiseError(f"{option} is not for boosted models: their leaves hold no shares")
    removed = Removed()
    if name in _KINDS:
        made = _gradient(estimator, options, removed)
    elif name in _HISTOGRAMS:
        made = _histogram(estimator, options, removed)
    else:
        raise UnsupportedModelError(f"a {name} is not sanitised")
    return result(made, options, removed, _LEAVES)


def _gradient(estimator: Any, options: Options, removed: Removed) -> Any:
    is_fitted(estimator, "estimators_")
    start = estimator.init_
    if not (isinstance(start, str) or type(start).__name__ in _BASELINES):
        raise UnsupportedModelError(f"boosting that starts from a {type(start).__name__}")
    stages = first_of(estimator.estimators_, options, removed)
    steps = [] if options.missing_values else [without_directions]
    cleaned = np.empty(stages.shape, dtype=object)
    for place in np.ndindex(stages.shape):
        cleaned[place] = clean_tree(stages[place], steps, removed)
    return kept_copy(
        estimator, BOOSTED, removed, estimators_=cleaned, n_estimators_=len(cleaned),
        n_estimators=len(cleaned),
    )  # fmt: skip


def _histogram(estimator: Any, options: Options, removed: Removed) -> Any:
    is_fitted(estimator, "_predictors")
    rounds = first_of(estimator._predictors, options, removed)
    cleaned = [[_predictor(tree, removed) for tree in stage] for stage in rounds]
    return kept_copy(
        estimator, HISTOGRAM, removed, _predictors=cleaned,
        _bin_mapper=_mapper(estimator._bin_mapper, removed),
    )  # fmt: skip


def _predictor(tree: Any, removed: Removed) -> Any:
    made = copy.copy(tree)
    nodes = tree.nodes.copy()
    inner = nodes["is_leaf"] == 0
    nodes["count"] = 0
    nodes["gain"] = np.nan
    # Raw tables are split by thresholds on values; those on bins serve training only.
    nodes["bin_threshold"] = 0
    nodes["value"][inner] = 0.0
    made.nodes = nodes
    made.binned_left_cat_bitsets = np.zeros_like(tree.binned_left_cat_bitsets)
    made.raw_left_cat_bitsets = tree.raw_left_cat_bitsets.copy()
    removed.add("rows and gains of the nodes of a tree")
    return made


def _mapper(mapper: Any, removed: Removed) -> Any:
    """Bins of numbers are forgotten; those of categories say which categories are known."""
    made = copy.deepcopy(mapper)
    made.random_state = None
    thresholds = []
    for column, cuts in enumerate(mapper.bin_thresholds_):
        named = bool(mapper.is_categorical_[column])
        thresholds.append(np.array(cuts) if named else np.empty(0, dtype=np.asarray(cuts).dtype))
        removed.add("bin thresholds of a column", int(not named))
    made.bin_thresholds_ = thresholds
    made.n_bins_non_missing_ = np.zeros_like(mapper.n_bins_non_missing_)
    return made
