"""What LightGBM's training parameters say about the rows each tree saw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from glassleak.models import Bagging, Tree
from glassleak.readers.libraries._typed import parameter

_SETTINGS = (
    "boosting", "objective", "num_iterations", "learning_rate", "num_leaves", "max_depth",
    "min_data_in_leaf", "min_sum_hessian_in_leaf", "min_gain_to_split", "lambda_l1", "lambda_l2",
    "max_delta_step", "path_smooth", "data_sample_strategy", "bagging_fraction",
    "pos_bagging_fraction", "neg_bagging_fraction", "bagging_freq", "bagging_seed", "top_rate",
    "other_rate", "feature_fraction", "feature_fraction_bynode", "extra_trees", "seed",
    "deterministic", "tree_learner", "num_machines", "device_type", "max_bin", "min_data_in_bin",
    "use_missing", "zero_as_missing", "linear_tree", "is_unbalance", "scale_pos_weight",
    "boost_from_average", "sigmoid",
)  # fmt: skip
_UNSTATED = (
    "the dump does not say whether rows were sampled; all trees report the same number, which is "
    "taken to be all of them"
)


def training_settings(parameters: Mapping[str, str]) -> dict[str, Any]:
    """The parameters that matter to an analysis."""
    return {name: parameter(parameters[name]) for name in _SETTINGS if name in parameters}


def has_estimated_counts(settings: Mapping[str, Any]) -> bool:
    """Whether rows per node are estimates: only the serial learner recounts after a split."""
    return settings.get("tree_learner", "serial") in ("data", "voting")


def sampling(
    settings: Mapping[str, Any], stated: bool, trees: list[Tree]
) -> tuple[Bagging, int | None, tuple[str, ...]]:
    """Whether trees saw all rows, how many rows there were, and how that is known."""
    unknown = Bagging("unknown")
    roots = {tree.n_rows for tree in trees} - {None}
    if settings.get("data_sample_strategy") == "goss" or settings.get("boosting") == "goss":
        # The first rounds (1 / learning rate of them) are trained on every row.
        rate = settings.get("learning_rate")
        full = isinstance(rate, int | float) and 0 < rate <= 1
        why = ("rows with small gradients were sampled (GOSS)",)
        return unknown, trees[0].n_rows if full else None, why
    fractions = [
        settings.get(name, 1)
        for name in ("bagging_fraction", "pos_bagging_fraction", "neg_bagging_fraction")
    ]
    if any(f != 1 for f in fractions) and settings.get("bagging_freq", 0) != 0:
        return unknown, None, ("every tree saw a sample of the rows, drawn without replacement",)
    if len(roots) > 1:
        why = ("trees report different numbers of rows: sampled, or trained in turns",)
        return unknown, None, why
    if not stated:
        return Bagging(), None, (_UNSTATED,)
    return Bagging(), None, ()
