"""Sanitised copies of glassleak's own rule lists and trees."""

from __future__ import annotations

from typing import Any

import numpy as np

from glassleak.errors import SanitiseError, UnsupportedModelError
from glassleak.sanitise._options import Options
from glassleak.sanitise._parts import Removed, is_fitted, kept_copy
from glassleak.sanitise._result import Sanitised, result

_COLUMNS = ("n_features_in_", "feature_names_in_", "classes_", "version_", "counts_")
_LIST = (*_COLUMNS, "conditions_", "predictions_")
_TREE = (*_COLUMNS, "feature_", "threshold_", "left_", "right_")
_MULTIWAY = (*_COLUMNS, "levels_", "feature_", "parent_", "branch_")
_PRIVATE = ("noise_scale_", "privacy_", "ledger_", "estimators_")
_KINDS = {
    "GreedyRuleListClassifier": _LIST,
    "OptimalRuleListClassifier": _LIST,
    "OptimalTreeClassifier": _TREE,
    "ID3Classifier": _MULTIWAY,
}
_PRIVATE_KINDS = {
    "PrivateRuleListClassifier": (*_LIST, *_PRIVATE),
    "PrivateTreeClassifier": (*_TREE, *_PRIVATE),
}


def clean_learner(estimator: Any, options: Options) -> Sanitised:
    """Rules and labels, without how many people stand behind them."""
    name = type(estimator).__name__
    if options.changes:
        raise SanitiseError(f"of a {name} only the counts can be dropped")
    removed = Removed()
    if name in _PRIVATE_KINDS:
        is_fitted(estimator, "counts_")
        made = kept_copy(estimator, _PRIVATE_KINDS[name], removed)
        return result(made, options, removed, "noisy counts, private as they are")
    if name not in _KINDS:
        raise UnsupportedModelError(f"a {name} is not sanitised")
    if options.keeps_scores:
        raise SanitiseError(
            f"the probabilities of a {name} are computed from its counts; without them it only "
            'predicts (keep=("predict",))'
        )
    is_fitted(estimator, "counts_")
    counts = np.full_like(estimator.counts_, -1)
    said = getattr(estimator, "predictions_", None)
    best = estimator.counts_.argmax(axis=1) if said is None else said
    counts[np.arange(len(counts)), best] = 0
    removed.add("training rows per rule and class" if said is not None else "rows per node")
    made = kept_copy(estimator, _KINDS[name], removed, counts_=counts)
    return result(made, options, removed, "one label each")
