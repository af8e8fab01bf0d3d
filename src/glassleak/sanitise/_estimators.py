"""Sanitised copies of scikit-learn's trees and ensembles, kind by kind."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from glassleak.errors import SanitiseError, UnsupportedModelError
from glassleak.sanitise._nodes import (
    Nodes,
    pruned,
    put_together,
    rounded,
    suppressed,
    take_apart,
    without_bookkeeping,
    without_directions,
)
from glassleak.sanitise._options import Options
from glassleak.sanitise._parts import BAG, FOREST, TREE, Removed, is_fitted, kept_copy

TREES = ("DecisionTreeClassifier", "ExtraTreeClassifier", "DecisionTreeRegressor",
         "ExtraTreeRegressor")  # fmt: skip
FORESTS = ("RandomForestClassifier", "ExtraTreesClassifier", "RandomForestRegressor",
           "ExtraTreesRegressor")  # fmt: skip
BAGS = ("BaggingClassifier", "BaggingRegressor")
Step = Callable[[Nodes], Nodes]


def clean_tree(estimator: Any, steps: Sequence[Step], removed: Removed, **settings: Any) -> Any:
    """One tree: `steps` on its nodes, then everything but splits and values of leaves dropped."""
    is_fitted(estimator, "tree_")
    nodes = take_apart(estimator.tree_)
    for step in steps:
        nodes = step(nodes)
    removed.add("rows, weighted rows and impurities of the nodes of a tree", int(nodes.counted))
    fresh = put_together(without_bookkeeping(nodes), estimator.tree_)
    return kept_copy(estimator, TREE, removed, tree_=fresh, **settings)


def clean_forest(estimator: Any, steps: Sequence[Step], options: Options, removed: Removed) -> Any:
    """A forest that averages its trees."""
    is_fitted(estimator, "estimators_")
    members = first_of(estimator.estimators_, options, removed)
    own = leaf_size(estimator, options)
    cleaned = [clean_tree(member, steps, removed, **own) for member in members]
    new: dict[str, Any] = {"estimators_": cleaned, "n_estimators": len(cleaned), **own}
    return kept_copy(estimator, FOREST, removed, **new)


def clean_bag(estimator: Any, steps: Sequence[Step], options: Options, removed: Removed) -> Any:
    """A bag of trees; each may see its own columns."""
    is_fitted(estimator, "estimators_")
    members = first_of(estimator.estimators_, options, removed)
    for member in members:
        if type(member).__name__ not in TREES:
            raise UnsupportedModelError(
                f"a bag of {type(member).__name__}; only bags of trees are sanitised"
            )
    cleaned = [
        clean_tree(member, steps, removed, **leaf_size(member, options)) for member in members
    ]
    new: dict[str, Any] = {
        "estimators_": cleaned,
        "n_estimators": len(cleaned),
        "estimators_features_": copy.deepcopy(estimator.estimators_features_[: len(cleaned)]),
    }
    return kept_copy(estimator, BAG, removed, **new)


def leaf_size(estimator: Any, options: Options) -> dict[str, Any]:
    """After merging, the setting that was trained with no longer describes the leaves."""
    if options.min_people is None:
        return {}
    before = estimator.min_samples_leaf
    larger = isinstance(before, int) and before >= options.min_people
    return {} if larger else {"min_samples_leaf": options.min_people}


def first_of(members: Any, options: Options, removed: Removed) -> Any:
    """The trees that stay."""
    if options.trees is None or options.trees >= len(members):
        return members
    removed.add("a tree", len(members) - options.trees)
    return members[: options.trees]


def requested(options: Options, *, classifier: bool) -> list[Step]:
    """What was asked for that changes single trees."""
    steps: list[Step] = []
    if not options.missing_values:
        steps.append(without_directions)
    if options.min_people is not None:
        limit = options.min_people
        steps.append(lambda nodes: pruned(nodes, limit))
    if options.suppress_below is not None:
        _need_classes("suppress_below", classifier)
        fewest = options.suppress_below
        steps.append(lambda nodes: suppressed(nodes, fewest))
    if options.round_to is not None:
        _need_classes("round_to", classifier)
        parts = options.round_to
        steps.append(lambda nodes: rounded(nodes, parts))
    return steps


def _need_classes(option: str, classifier: bool) -> None:
    if not classifier:
        raise SanitiseError(f"{option} is about class shares; this model has no classes")


def fitted_trees(estimator: Any) -> list[tuple[Any, Any]]:
    """Every ``tree_`` of an estimator, with the columns it saw (``None``: all)."""
    if type(estimator).__name__ in TREES:
        return [(estimator.tree_, None)]
    columns = getattr(estimator, "estimators_features_", None)
    members = np.ravel(np.asarray(estimator.estimators_, dtype=object))
    return [
        (member.tree_, None if columns is None else columns[i]) for i, member in enumerate(members)
    ]
