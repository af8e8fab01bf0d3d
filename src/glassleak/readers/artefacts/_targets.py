"""Targets of single training rows in the leaves of regression trees.

A leaf publishes the mean of its rows' targets and how many rows it holds.  A leaf of one row holds
that row's target; a leaf of two, whose variance is published too, holds both: mean plus and minus
the standard deviation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.readers._state import State, Visited
from glassleak.readers.artefacts._finding import Finding
from glassleak.readers.artefacts._survey import Survey

_TREES = ("DecisionTreeRegressor", "ExtraTreeRegressor")
_OWNERS = (
    "RandomForestRegressor", "ExtraTreesRegressor", "BaggingRegressor", "AdaBoostRegressor",
    "VotingRegressor", "StackingRegressor", "MultiOutputRegressor", "RegressorChain",
)  # fmt: skip
# Under these the impurity of a node is the variance of its rows' targets.
_VARIANCE = ("squared_error", "mse", "friedman_mse")
_FIELDS = {"left_child", "impurity", "n_node_samples", "weighted_n_node_samples"}


@dataclass
class _Told:
    """What the trees of one estimator tell."""

    visited: Visited
    trees: int = 0
    leaves: int = 0
    alone: int = 0
    pairs: int = 0
    targets: list[npt.NDArray[np.float64]] = field(default_factory=list)


def leaf_targets(survey: Survey) -> Iterator[Finding]:
    """Regression trees and forests whose leaves publish targets of single rows."""
    found: dict[int, _Told] = {}
    for visited, state in survey.held_by("tree_"):
        if state.name not in _TREES:
            continue
        owner = visited.owner
        if owner is not None and not _hands_on_targets(owner):
            continue
        whole = owner if owner is not None and "estimators_" in owner.attributes else state
        place = visited.path if whole is state else survey.paths.get(id(whole), visited.path)
        told = found.setdefault(id(whole), _Told(Visited(place, whole, None)))
        _add(told, state)
    for told in found.values():
        if told.alone + told.pairs:
            yield _finding(told)


def _hands_on_targets(owner: State) -> bool:
    """Whether what holds the tree trained it on the targets themselves.

    Boosted trees see what is left over, isolation forests noise, and other libraries what they
    like.
    """
    if "estimators_" in owner.attributes:
        return owner.package == "sklearn" and owner.name in _OWNERS
    return owner.package == "sklearn" and owner.name != "TransformedTargetRegressor"


def _add(told: _Told, state: State) -> None:
    """Add what one tree tells; a tree that is not as scikit-learn makes it tells nothing."""
    tree = state.get("tree_")
    nodes: Any = tree.get("nodes") if isinstance(tree, State) else None
    values: Any = tree.get("values") if isinstance(tree, State) else None
    if not isinstance(nodes, np.ndarray) or not isinstance(values, np.ndarray):
        return
    if not set(nodes.dtype.names or ()) >= _FIELDS or values.dtype.kind != "f":
        return
    if values.ndim != 3 or values.shape != (len(nodes), 1, 1):
        return
    leaf = nodes["left_child"] == -1
    rows, weight = nodes["n_node_samples"][leaf], nodes["weighted_n_node_samples"][leaf]
    variance = nodes["impurity"][leaf]
    alone = rows == 1
    both = (rows == 2) & (weight == 2) & np.isfinite(variance) & (variance >= 0)
    if state.get("criterion") not in _VARIANCE:
        both &= False
    told.trees += 1
    told.leaves += int(leaf.sum())
    told.alone += int(alone.sum())
    told.pairs += int(both.sum())
    told.targets.append(values[leaf, 0, 0][alone].astype(np.float64))


def _finding(told: _Told) -> Finding:
    targets = np.concatenate(told.targets)
    # A mean of one value, drawn several times, may differ from it in the last digits.
    scale = max(float(np.abs(targets).max(initial=0.0)), 1e-300)
    exact = np.unique(np.round(targets / scale, 12))
    return Finding(
        "leaf-targets",
        told.visited,
        "refer",
        f"Leaves with a single training row publish that row's target exactly: {told.alone:,} of "
        f"{told.leaves:,} leaves, with {len(exact):,} different values. {told.pairs:,} leaves of "
        "two rows publish both targets, as mean and variance. Whoever knows a person's columns "
        "finds the leaf and reads off the target.",
        "Train with min_samples_leaf of 10 or more; bagging does not help. Removing `impurity` and "
        "the numbers of rows from the published trees hides which leaves hold one row, and not "
        "the values.",
        {
            "trees": told.trees,
            "leaves": told.leaves,
            "leaves_with_one_row": told.alone,
            "different_targets": len(exact),
            "leaves_with_two_rows_told": told.pairs,
        },
    )
