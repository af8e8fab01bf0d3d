"""When the columns every split looked at can be drawn again, and with which settings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from glassleak.models import Exact, Forest

# Trained in another way than by drawing columns node by node, if set to anything else.
_PLAIN: Mapping[str, Any] = {
    "max_leaf_nodes": None,
    "class_weight": None,
    "monotonic_cst": None,
    "min_weight_fraction_leaf": 0,
    "min_impurity_decrease": 0,
    "ccp_alpha": 0,
}
_CRITERIA = {"gini": 0, "entropy": 1, "log_loss": 1}
_NO_LIMIT = 2**31 - 1


class Settings(NamedTuple):
    """How the trees were grown.

    Attributes
    ----------
    max_features : int
        Columns drawn per split; columns that are constant among the node's rows count, but at
        least one that is not is drawn where there is one.
    entropy : int
        1 if splits are measured by entropy, 0 if by Gini impurity.
    min_samples_leaf, min_samples_split, max_depth : int
    """

    max_features: int
    entropy: int
    min_samples_leaf: int
    min_samples_split: int
    max_depth: int


def choices_can_be_repeated(forest: Forest) -> tuple[bool, str]:
    """Whether the columns drawn for every split of `forest` can be repeated, and in words why.

    Seeds must be stored, which a `Forest` keeps only if its rows were drawn, too.
    """
    origin = forest.provenance
    if origin.library not in ("sklearn", "scikit-learn"):
        return False, "it is not known how the library draws columns"
    if origin.estimator != "RandomForestClassifier" or origin.settings.get("splitter") != "best":
        return (
            False,
            f"{origin.estimator or 'the learner'} is not known to draw columns in this way",
        )
    if forest.bagging.seeds is None or forest.bagging.recipe not in ("forest", "forest-weighted"):
        return False, "the model keeps no seeds"
    for name, plain in _PLAIN.items():
        if name not in origin.settings:
            return False, f"the setting {name} is not known"
        if origin.settings[name] != plain:
            return False, f"{name} = {origin.settings[name]!r} changes how trees are grown"
    if not all(isinstance(tree.counts, Exact) for tree in forest.trees):
        return False, "exact counts per class are needed"
    if any(tree.distinct_rows is None for tree in forest.trees):
        return False, "the trees do not say how many different rows reached each node"
    if any(tree.precision != "float32" or tree.comparison != "<=" for tree in forest.trees):
        return False, "the trees do not compare as scikit-learn's do"
    if any((tree.threshold >= np.finfo(np.float32).max).any() for tree in forest.trees):
        return False, "missing values were split off, which is not repeated"
    try:
        settings_of(forest)
    except (ValueError, TypeError) as error:
        return False, str(error)
    return True, "the columns drawn for every split can be repeated from the seeds"


def settings_of(forest: Forest) -> Settings:
    """Settings as whole numbers, as the library computes them.

    Raises
    ------
    ValueError
        A setting is not known.
    """
    stated = forest.provenance.settings
    for name in ("criterion", "max_features", "min_samples_leaf", "min_samples_split", "max_depth"):
        if name not in stated:
            raise ValueError(f"the setting {name} is not known")
    if stated["criterion"] not in _CRITERIA:
        raise ValueError(f"criterion = {stated['criterion']!r} is not known")
    if forest.n_rows is None:
        raise ValueError("the number of training rows is not known")
    leaf = _rows(stated["min_samples_leaf"], forest.n_rows)
    split = max(_rows(stated["min_samples_split"], forest.n_rows), 2, 2 * leaf)
    depth = stated["max_depth"]
    if depth is not None and not _is_whole(depth):
        raise ValueError(f"max_depth = {depth!r} is not known")
    return Settings(
        _columns(stated["max_features"], len(forest.columns)),
        _CRITERIA[stated["criterion"]],
        leaf,
        split,
        _NO_LIMIT if depth is None else min(int(depth), _NO_LIMIT),
    )


def _columns(stated: Any, n_columns: int) -> int:
    if stated is None:
        return n_columns
    if stated == "sqrt":
        return max(1, int(np.sqrt(n_columns)))
    if stated == "log2":
        return max(1, int(np.log2(n_columns)))
    if _is_whole(stated) and stated > 0:
        return min(int(stated), n_columns)
    if isinstance(stated, float) and 0 < stated <= 1:
        return max(1, int(stated * n_columns))
    raise ValueError(f"max_features = {stated!r} is not known")


def _rows(stated: Any, n_rows: int) -> int:
    if _is_whole(stated) and stated > 0:
        return min(int(stated), _NO_LIMIT // 2)
    if isinstance(stated, float) and 0 < stated <= 1:
        return math.ceil(stated * n_rows)
    raise ValueError(f"{stated!r} is no number of rows")


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
