"""Every split as two sets of rows: those that went low and those that went high.

Rows are put in the order of the leaves they reach, so the rows of every node of a tree are
neighbours, and a split is three positions.  Memory: O(trees x rows + nodes).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glassleak._compiled import compiled
from glassleak.models import Tree


class Splits(NamedTuple):
    """Splits of all trees on one column or on all.

    Attributes
    ----------
    row : int array
        The rows of all trees, tree by tree in the order of their leaves.
    start, middle, stop : (splits,) int arrays
        Rows ``row[start:middle]`` went low, ``row[middle:stop]`` high.
    column : (splits,) int array
    threshold : (splits,) float array
    tree, node : (splits,) int arrays
        Where the split is.
    """

    row: Any
    start: Any
    middle: Any
    stop: Any
    column: Any
    threshold: Any
    tree: Any
    node: Any

    def on(self, column: int) -> Splits:
        """Those on one column, smallest first: they say most about each of their rows."""
        return self.take(self.places(column))

    def places(self, column: int) -> npt.NDArray[np.int64]:
        """Where those on one column are, smallest first."""
        own = np.flatnonzero(self.column == column)
        return own[np.argsort(self.stop[own] - self.start[own], kind="stable")]

    def take(self, places: npt.NDArray[np.int64]) -> Splits:
        """The splits at `places`."""
        return Splits(self.row, *[getattr(self, name)[places] for name in self._fields[1:]])

    def any_row(self, which: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """For every split, whether one of the rows in `which` reaches it."""
        before = np.concatenate([[0], np.cumsum(which[self.row])])
        out: npt.NDArray[np.bool_] = before[self.stop] > before[self.start]
        return out


def partly_drawn(splits: Splits, trees: Sequence[Tree]) -> npt.NDArray[np.bool_]:
    """Splits that some row of the table reaches without having been drawn, or may do so.

    The largest value on the low side may be that of a row the tree never saw.
    """
    out = np.ones(len(splits.start), dtype=bool)
    for t, tree in enumerate(trees):
        if tree.distinct_rows is not None:
            own = splits.tree == t
            reach = (splits.stop - splits.start)[own]
            out[own] = reach != tree.distinct_rows[splits.node[own]]
    return out


def splits_of(
    trees: Sequence[Tree],
    values: npt.NDArray[np.float64],
    draws: npt.NDArray[np.int32] | None,
) -> Splits:
    """Send the rows each tree drew through it."""
    rows: list[npt.NDArray[np.int64]] = []
    parts: list[list[npt.NDArray[Any]]] = [[] for _ in Splits._fields[1:]]
    offset = 0
    for t, tree in enumerate(trees):
        drawn = np.arange(len(values)) if draws is None else np.flatnonzero(draws[t] > 0)
        order, first = _by_leaf(tree.left, tree.right)
        place = order[tree.apply(values[drawn])]
        rows.append(drawn[np.argsort(place, kind="stable")])
        before = np.concatenate([[0], np.cumsum(np.bincount(place, minlength=int(first[-1])))])
        split = np.flatnonzero(tree.feature >= 0)
        own = (
            offset + before[first[split]],
            offset + before[first[tree.right[split]]],
            offset + before[_ends(tree.left, tree.right, first, split)],
            tree.feature[split].astype(np.int64),
            tree.threshold[split],
            np.full(len(split), t),
            split,
        )
        for part, column in zip(parts, own, strict=True):
            part.append(column)
        offset += len(drawn)
    return Splits(np.concatenate(rows), *[np.concatenate(part) for part in parts])


@compiled
def _by_leaf(left: Any, right: Any) -> Any:
    """Number the leaves from left to right.

    Returns the number of each leaf, and for every node the first number below it; the last entry
    is the number of leaves.
    """
    order = np.full(len(left), -1, np.int64)
    first = np.zeros(len(left) + 1, np.int64)
    stack = np.empty(len(left) + 1, np.int64)
    stack[0] = 0
    top, count = 1, 0
    while top > 0:
        top -= 1
        node = stack[top]
        first[node] = count
        if left[node] < 0:
            order[node] = count
            count += 1
        else:
            stack[top] = right[node]
            stack[top + 1] = left[node]
            top += 2
    first[len(left)] = count
    return order, first


@compiled
def _ends(left: Any, right: Any, first: Any, nodes: Any) -> Any:
    """For each node, one past the last number of a leaf below it."""
    out = np.empty(len(nodes), np.int64)
    for k in range(len(nodes)):
        node = nodes[k]
        while left[node] >= 0:
            node = right[node]
        out[k] = first[node] + 1
    return out
