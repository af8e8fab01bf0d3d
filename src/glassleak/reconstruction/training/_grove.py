"""All trees of a forest in flat arrays, with the rows that reached every node."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glassleak.errors import UnsupportedModelError
from glassleak.models import Exact, Forest, Tree
from glassleak.models._check import node_depths
from glassleak.reconstruction.training._best import worth_of
from glassleak.reconstruction.training._gate import Settings
from glassleak.reconstruction.values._nodes import _by_leaf, _ends

# What numpy's generator is asked for when a tree begins to grow.
_RAND_R_MAX = 2**31 - 1


class Grove(NamedTuple):
    """Nodes of all trees, one tree after the other.

    Attributes
    ----------
    first : (trees + 1,) int array
    left, right, column : (nodes,) int arrays
        Children, counted over all trees, and the column tested; -1 at leaves.
    searched : (nodes,) bool array
        Whether a split was looked for: at all inner nodes, and at leaves that are neither pure nor
        small nor deep enough to stop before that.
    worth : (nodes,) float array
        How good the published split is, by the published counts.
    threshold : (nodes,) float array
    low : (nodes,) int array
        Different rows that went left, by the published figures; 0 at leaves.
    row, times : int and float arrays
        Rows of all trees in the order of their leaves, and how often each was drawn.
    start, stop : (nodes,) int arrays
        A node's rows are ``row[start:stop]``.
    state : (trees,) uint32 array
        Where the generator of columns starts.
    """

    first: Any
    left: Any
    right: Any
    column: Any
    searched: Any
    worth: Any
    threshold: Any
    low: Any
    row: Any
    times: Any
    start: Any
    stop: Any
    state: Any


def grove_of(
    forest: Forest,
    seeds: npt.NDArray[np.int64],
    settings: Settings,
    values: npt.NDArray[np.float64],
    draws: npt.NDArray[np.int32],
) -> Grove:
    """Send the drawn rows of a table through all trees.

    Parameters
    ----------
    seeds : (trees,) int array
        The trees' own seeds.
    draws : (trees, rows) int array
        How often each tree drew each row; all ones without bagging.
    """
    columns: list[list[npt.NDArray[Any]]] = [[] for _ in Grove._fields]
    nodes = rows = 0
    for t, tree in enumerate(forest.trees):
        drawn = np.flatnonzero(draws[t] > 0)
        order, first = _by_leaf(tree.left, tree.right)
        place = order[tree.apply(values[drawn])]
        own = drawn[np.argsort(place, kind="stable")]
        before = np.concatenate([[0], np.cumsum(np.bincount(place, minlength=int(first[-1])))])
        everywhere = np.arange(tree.n_nodes)
        inner = tree.feature >= 0
        searched, worth, low = _published(tree, settings)
        parts = (
            np.array([nodes]),
            np.where(inner, tree.left + nodes, -1),
            np.where(inner, tree.right + nodes, -1),
            tree.feature.astype(np.int64),
            searched,
            worth,
            tree.threshold,
            low,
            own,
            draws[t][own].astype(np.float64),
            rows + before[first[:-1]],
            rows + before[_ends(tree.left, tree.right, first, everywhere)],
            np.array([_initial_state(int(seeds[t]))]),
        )
        for column, part in zip(columns, parts, strict=True):
            column.append(part)
        nodes, rows = nodes + tree.n_nodes, rows + len(own)
    columns[0].append(np.array([nodes]))
    return Grove(*[np.concatenate(column) for column in columns])


def _initial_state(seed: int) -> np.uint32:
    """The draw of rows uses a generator of its own, so it does not matter whether there was one."""
    return np.uint32(np.random.RandomState(seed).randint(0, _RAND_R_MAX))


def _published(
    tree: Tree, settings: Settings
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Where a split was looked for, what the one found was worth, and the rows that went left."""
    if not isinstance(tree.counts, Exact) or tree.distinct_rows is None:
        raise UnsupportedModelError("exact counts and numbers of different rows are needed")
    counts, distinct = tree.counts.values.astype(np.float64), tree.distinct_rows
    inner = tree.feature >= 0
    depths = node_depths(tree.left, tree.right)
    mixed = (counts > 0).sum(axis=1) > 1
    room = (distinct >= settings.min_samples_split) & (depths < settings.max_depth)
    worth = np.full(tree.n_nodes, np.nan)
    low = np.zeros(tree.n_nodes, dtype=np.int64)
    for node in np.flatnonzero(inner).tolist():
        left, right = int(tree.left[node]), int(tree.right[node])
        worth[node] = worth_of(counts[left], counts[right], settings.entropy)
        low[node] = distinct[left]
    return inner | (mixed & room), worth, low
