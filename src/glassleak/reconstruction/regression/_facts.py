"""What the leaves of regression trees publish, in one table over all trees.

Boxes are ranges of *levels*: the intervals between thresholds that some tree tells apart, column by
column, in ascending order.  Two boxes meet if their ranges do in every column, and any number of
boxes that meet two by two have a profile in common.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.errors import InconsistentModelError, ModelTooLargeError, UnsupportedModelError
from glassleak.knowledge import Space, profile_space
from glassleak.models import Forest, Tree, node_depths
from glassleak.schema import Schema

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
# Ends of boxes, two per leaf and column.
_MOST_ENDS = 200_000_000
_VARIANCE = ("squared_error", "mse", "friedman_mse")
_MEANS = (*_VARIANCE, "poisson")
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Facts:
    """All leaves of all trees, tree by tree.

    Attributes
    ----------
    first : (trees + 1,) int array
        Leaves of tree t are ``first[t]:first[t + 1]``.
    node : (leaves,) int array
        The node each leaf is, in its tree.
    distinct, drawn : (leaves,) int arrays
        Rows in the leaf, and draws of rows: a row drawn twice counts twice.
    weighted : bool
        Rows carry weights of their own: draws are not told, and means say nothing.
    mean, spread, slack : (leaves,) float arrays
        Of the targets; how far rounding may move the spread.
    scale : float
        How far targets are apart: the standard deviation of all of them, or the like.
    means, variances : bool
        Whether `mean` is the mean (and not the median) and `spread` the variance.
    low, high : (leaves, columns) int arrays
        The box of each leaf, both ends included.
    levels, edges : tuple of float array
        One value per level, and the thresholds between levels, for every column.
    space : Space
    n_rows : int
    bagged : bool
    draws : (trees, rows) int array, optional
        How often each tree drew each row, where that is known.
    """

    first: IntArray
    node: IntArray
    distinct: IntArray
    drawn: IntArray
    weighted: bool
    mean: FloatArray
    spread: FloatArray
    slack: FloatArray
    scale: float
    means: bool
    variances: bool
    low: npt.NDArray[np.int32]
    high: npt.NDArray[np.int32]
    levels: tuple[FloatArray, ...]
    edges: tuple[FloatArray, ...]
    space: Space
    n_rows: int
    bagged: bool
    draws: npt.NDArray[np.int32] | None

    @property
    def n_trees(self) -> int:
        return len(self.first) - 1

    @property
    def n_leaves(self) -> int:
        return len(self.node)

    @property
    def tree(self) -> IntArray:
        """The tree of every leaf."""
        return np.repeat(np.arange(self.n_trees), np.diff(self.first))

    def leaves_of(self, tree: int) -> IntArray:
        return np.arange(self.first[tree], self.first[tree + 1])


def facts_of(model: Tree | Forest, schema: Schema, draws: npt.NDArray[np.int32] | None) -> Facts:
    """The facts of a regression model.

    Raises
    ------
    UnsupportedModelError
        Targets or numbers of rows are not published.
    InconsistentModelError
        A leaf holds rows, and the schema has no profile for it.
    """
    trees = model.trees if isinstance(model, Forest) else (model,)
    if any(attribute.missing for attribute in schema if hasattr(attribute, "missing")):
        raise UnsupportedModelError("regression with missing values is not assessed")
    if model.n_rows is None:
        raise UnsupportedModelError("the model does not say on how many rows it was trained")
    space = profile_space(
        schema, model.columns, model.split_evidence().thresholds,
        trees[0].precision, trees[0].comparison,
    )  # fmt: skip
    levels = _levels(space)
    if 2 * sum(tree.n_nodes for tree in trees) * len(levels) > _MOST_ENDS:
        raise ModelTooLargeError(f"{len(levels):,} columns in {len(trees):,} trees")
    criterion = model.provenance.settings.get("criterion", "squared_error")
    parts: list[tuple[npt.NDArray[Any], ...]] = []
    bagged = isinstance(model, Forest) and model.bagging.kind != "none"
    weighted = any(tree.rows is None for tree in trees)
    if weighted and bagged:
        raise UnsupportedModelError("rows carry weights, and every tree drew its own sample")
    for t, tree in enumerate(trees):
        distinct = tree.distinct_rows
        if tree.targets is None or tree.spread is None or distinct is None:
            raise UnsupportedModelError("targets and rows per leaf are not published", f"tree {t}")
        leaves = tree.leaves
        low, high = _boxes(tree, levels)
        drawn = distinct if tree.rows is None else tree.rows
        empty = (low > high).any(axis=1) & (distinct[leaves] > 0)
        if empty.any():
            raise InconsistentModelError(
                "the leaf holds rows, but the schema has no profile for it",
                f"tree {t}, leaf {leaves[np.argmax(empty)]}",
            )
        parts.append((
            leaves, distinct[leaves], drawn[leaves], tree.targets[leaves], tree.spread[leaves],
            _slack(tree, drawn, leaves), low, high,
        ))  # fmt: skip
    node, distinct, drawn, mean, spread, slack, low, high = (
        np.concatenate(part) for part in zip(*parts, strict=True)
    )
    # Without bagging all roots say the same.
    roots = np.array([tree.spread[0] for tree in trees if tree.spread is not None])
    scale = float(np.abs(roots).max())
    scale = float(np.sqrt(scale)) if criterion in _VARIANCE else scale
    first = np.cumsum([0, *(len(part[0]) for part in parts)])
    return Facts(
        first, node.astype(np.int64), distinct, drawn, weighted, mean, spread, slack, scale,
        criterion in _MEANS and not weighted, criterion in _VARIANCE and not weighted,
        low, high, levels, _edges(levels, model), space, int(model.n_rows), bagged, draws,
    )  # fmt: skip


def _levels(space: Space) -> tuple[FloatArray, ...]:
    out: list[FloatArray] = [np.empty(0)] * space.n_columns
    for block in space.blocks:
        for j, column in enumerate(block.columns.tolist()):
            values = np.unique(block.values[:, j])
            out[column] = values[~np.isnan(values)]
    return tuple(out)


def _edges(levels: tuple[FloatArray, ...], model: Tree | Forest) -> tuple[FloatArray, ...]:
    """For each column, a threshold between any two neighbouring levels.

    Thresholds that no value separates are left out, so that numbers between edges count levels.
    """
    thresholds = model.split_evidence().thresholds
    out = []
    for column, values in zip(model.columns, levels, strict=True):
        cuts = thresholds.get(column, np.empty(0))
        with np.errstate(over="ignore"):
            seen = values.astype(np.float32).astype(np.float64)
        below = np.searchsorted(seen, cuts, side="right")
        inner = (below > 0) & (below < len(values))
        _, at = np.unique(below[inner], return_index=True)
        out.append(cuts[inner][at])
    return tuple(out)


def _boxes(
    tree: Tree, levels: tuple[FloatArray, ...]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """The range of levels that reaches each leaf, column by column."""
    last = np.array([len(values) - 1 for values in levels], dtype=np.int32)
    low = np.zeros((tree.n_nodes, len(levels)), dtype=np.int32)
    high = np.broadcast_to(last, low.shape).copy()
    # How many levels of its column go low at each split.
    below = np.zeros(tree.n_nodes, dtype=np.int32)
    dtype = np.float32 if tree.precision == "float32" else np.float64
    side: Any = "right" if tree.comparison == "<=" else "left"
    for column in np.unique(tree.feature[tree.feature >= 0]).tolist():
        own = np.flatnonzero(tree.feature == column)
        with np.errstate(over="ignore"):
            seen = levels[column].astype(dtype).astype(np.float64)
        below[own] = np.searchsorted(seen, tree.threshold[own], side=side)
    depth = node_depths(tree.left, tree.right)
    order = np.argsort(depth, kind="stable")
    ends = np.searchsorted(depth[order], np.arange(int(depth.max()) + 2))
    for start, stop in itertools.pairwise(ends.tolist()):
        nodes = order[start:stop]
        nodes = nodes[tree.feature[nodes] >= 0]
        left, right, column_of = tree.left[nodes], tree.right[nodes], tree.feature[nodes]
        for child in (left, right):
            low[child], high[child] = low[nodes], high[nodes]
        high[left, column_of] = np.minimum(high[left, column_of], below[nodes] - 1)
        low[right, column_of] = np.maximum(low[right, column_of], below[nodes])
    leaves = tree.leaves
    return low[leaves], high[leaves]


def _slack(tree: Tree, drawn: IntArray, leaves: npt.NDArray[np.intp]) -> FloatArray:
    """How far rounding may move the published variance of each leaf.

    scikit-learn computes a right child's sum of squares as its parent's minus its sibling's, so the
    error is that of the parent's sum.
    """
    assert tree.targets is not None
    assert tree.spread is not None
    parent = np.arange(tree.n_nodes)
    internal = np.flatnonzero(tree.feature >= 0)
    parent[tree.left[internal]] = internal
    parent[tree.right[internal]] = internal
    above = parent[leaves]
    squares = drawn[above] * (np.abs(tree.spread[above]) + tree.targets[above] ** 2)
    terms = 16.0 + 4.0 * np.sqrt(drawn[above])
    slack: FloatArray = terms * _EPS * squares / np.maximum(drawn[leaves], 1)
    return slack
