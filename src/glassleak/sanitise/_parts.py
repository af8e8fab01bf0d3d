"""Which attributes of an estimator a prediction needs; everything else stays behind.

A list of what may stay, and not of what must go: whatever else hangs on the object (rows somebody
attached, out-of-bag votes, the weights of rows, fields of a version yet to come) is dropped
without having to be known.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from glassleak.errors import UnsupportedModelError

_COLUMNS = ("n_features_in_", "feature_names_in_")
_TARGET = ("classes_", "n_classes_", "n_outputs_")
TREE = (*_COLUMNS, *_TARGET, "tree_")
FOREST = (*_COLUMNS, *_TARGET, "estimator", "estimator_params", "estimators_")
BAG = (*_COLUMNS, *_TARGET, "estimator_params", "estimators_", "estimators_features_")
BOOSTED = (*_COLUMNS, *_TARGET, "n_trees_per_iteration_", "_loss", "init_", "estimators_",
           "n_estimators_", "alpha")  # fmt: skip
HISTOGRAM = (*_COLUMNS, "classes_", "n_trees_per_iteration_", "_n_features", "_loss",
             "is_categorical_", "_preprocessor", "_is_categorical_remapped", "_label_encoder",
             "_bin_mapper", "_baseline_prediction", "_predictors",
             "do_early_stopping_")  # fmt: skip


@dataclass
class Removed:
    """What was left behind, in words, with how often."""

    counts: dict[str, int] = field(default_factory=dict)

    def add(self, what: str, times: int = 1) -> None:
        """Note that `what` was removed."""
        if times:
            self.counts[what] = self.counts.get(what, 0) + times

    def listed(self) -> tuple[str, ...]:
        """One line each."""
        return tuple(
            what if times == 1 else f"{what} ({times:,} times)"
            for what, times in self.counts.items()
        )


def kept_copy(estimator: Any, attributes: Iterable[str], removed: Removed, **new: Any) -> Any:
    """A new object of the same class with its settings, `attributes`, and what is in `new`."""
    settings = tuple(estimator._get_param_names())
    held = vars(estimator)
    wanted = dict.fromkeys((*settings, *attributes))
    made = object.__new__(type(estimator))
    state: dict[str, Any] = {}
    for name in wanted:
        if name in new:
            state[name] = new[name]
        elif name in held:
            state[name] = _setting(held[name]) if name in settings else copy.deepcopy(held[name])
    if state.get("random_state") is not None:
        removed.add(f"{type(estimator).__name__}.random_state")
        state["random_state"] = None
    if "estimator" in state:
        state["estimator"] = _setting(held["estimator"])
    made.__dict__.update(state)
    for name, value in held.items():
        if name not in wanted and value is not None:
            removed.add(f"{type(estimator).__name__}.{name}")
    return made


def _setting(value: Any) -> Any:
    """A parameter.  A template may itself have been fitted before, and may carry a seed."""
    if not hasattr(value, "get_params") or isinstance(value, type):
        return copy.deepcopy(value)
    from sklearn.base import clone

    template = clone(value)
    seeds = {k: None for k in template.get_params(deep=True) if k.split("__")[-1] == "random_state"}
    return template.set_params(**seeds)


def is_fitted(estimator: Any, attribute: str) -> None:
    """Raise unless the object has been trained."""
    if getattr(estimator, attribute, None) is None:
        raise UnsupportedModelError("it has not been trained", type(estimator).__name__)
