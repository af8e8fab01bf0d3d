"""Grow a tree over categories (ID3, Quinlan 1986).

Top-down, at every node by the column that tells most, with one branch per level.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Criterion: TypeAlias = Literal["entropy", "gini", "gain_ratio"]
IntArray: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]

# Scores of columns that tell equally much differ in the last bits, by the order of summation.
TIE = 1e-12


@dataclass(frozen=True)
class Stops:
    """When a node is not split further, besides being pure or having nothing to split on.

    Attributes
    ----------
    max_depth : int, optional
    min_samples_split : int
        Smallest number of rows that is split.
    min_gain : float
        Smallest gain per row of the node that the best split must bring.
    """

    max_depth: int | None = None
    min_samples_split: int = 2
    min_gain: float = 0.0


@dataclass(frozen=True)
class GrownTree:
    """Nodes in the order of a walk that visits branches by level code; node 0 is the root.

    Attributes
    ----------
    feature, parent, branch : int32 arrays
        As in `glassleak.models.MultiwayTree`.
    counts : (nodes, classes) int64 array
    """

    feature: npt.NDArray[np.int32]
    parent: npt.NDArray[np.int32]
    branch: npt.NDArray[np.int32]
    counts: IntArray


def grow(
    codes: IntArray, labels: IntArray, n_classes: int, criterion: Criterion, stops: Stops
) -> GrownTree:
    """Grow the whole tree.

    Parameters
    ----------
    codes : (rows, columns) int array
        Level codes, from 0 in every column.
    labels : int array
        Classes, from 0.
    n_classes : int
    criterion, stops

    Notes
    -----
    Of columns that tell equally much the first is taken, and a column is asked for at most once on
    a path.  A node is a leaf when it is pure, when every column left is constant in it, or when
    `stops` says so.  Costs O(rows × columns × depth) and a sort of that size.
    """
    sizes = codes.max(axis=0, initial=-1) + 1
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    # One number per (column, level, class): a node's tables are the runs of equal numbers.
    keys = (codes + offsets[:-1]) * n_classes + labels[:, None]
    tables = _Tables(keys, offsets, n_classes, criterion)
    feature: list[int] = []
    parent: list[int] = []
    branch: list[int] = []
    counts: list[IntArray] = []
    everything = np.arange(len(codes))
    tasks = [(everything, np.arange(codes.shape[1]), -1, -1, 0)]
    while tasks:
        rows, columns, above, level, depth = tasks.pop()
        node = len(feature)
        here = np.bincount(labels[rows], minlength=n_classes)
        parent.append(above)
        branch.append(level)
        counts.append(here)
        feature.append(-1)
        if (
            not columns.size
            or int(here.max()) == len(rows)
            or len(rows) < stops.min_samples_split
            or (stops.max_depth is not None and depth >= stops.max_depth)
        ):
            continue
        chosen = tables.best(rows, columns, here, stops.min_gain)
        if chosen is None:
            continue
        feature[node] = chosen
        left = columns[columns != chosen]
        for own, code in reversed(_split(rows, codes[rows, chosen])):
            tasks.append((own, left, node, code, depth + 1))
    return GrownTree(
        np.array(feature, np.int32),
        np.array(parent, np.int32),
        np.array(branch, np.int32),
        np.array(counts, np.int64).reshape(len(feature), n_classes),
    )


def _split(rows: IntArray, codes: IntArray) -> list[tuple[IntArray, int]]:
    """The rows of every level that occurs, by level."""
    order = np.argsort(codes, kind="stable")
    levels, first = np.unique(codes[order], return_index=True)
    return list(zip(np.split(rows[order], first[1:]), levels.tolist(), strict=True))


class _Tables:
    """Scores columns by their tables of levels and classes, without the empty entries."""

    def __init__(
        self, keys: IntArray, offsets: IntArray, n_classes: int, criterion: Criterion
    ) -> None:
        self.keys, self.offsets, self.n_classes = keys, offsets, n_classes
        self.criterion = criterion

    def best(
        self, rows: IntArray, columns: IntArray, here: IntArray, min_gain: float
    ) -> int | None:
        """The column to ask for; ``None`` if none tells rows apart or the best gains too little."""
        found, count = np.unique(self.keys[np.ix_(rows, columns)], return_counts=True)
        level, start = np.unique(found // self.n_classes, return_index=True)
        total = np.add.reduceat(count, start)
        column = np.searchsorted(self.offsets, level, side="right") - 1
        first = np.searchsorted(column, columns)
        several = np.diff(np.append(first, len(column))) > 1
        if not several.any():
            return None
        of_level = np.repeat(np.arange(len(level)), np.diff(np.append(start, len(found))))
        n = len(rows)
        if self.criterion == "gini":
            pure = np.add.reduceat(count.astype(float) ** 2 / total[of_level], start)
            gain = (np.add.reduceat(pure, first) - float((here.astype(float) ** 2).sum()) / n) / n
        else:
            within = np.add.reduceat(_spread(total) - np.add.reduceat(_spread(count), start), first)
            gain = (float(_spread(np.array([n])).sum() - _spread(here).sum()) - within) / n
        score = gain
        if self.criterion == "gain_ratio":
            # Split information is zero only for a column that is constant here.
            information = (
                float(_spread(np.array([n]))[0]) - np.add.reduceat(_spread(total), first)
            ) / n
            score = np.where(several, gain / np.where(several, information, 1.0), -np.inf)
        score = np.where(several, score, -np.inf)
        chosen = int(np.flatnonzero(score >= score.max() - TIE)[0])
        # The best column must be good enough; a worse one that is would make "the chosen column
        # has the best score of all" untrue.
        return int(columns[chosen]) if gain[chosen] >= min_gain - TIE else None


def _spread(counts: IntArray) -> FloatArray:
    """``k log2 k``, zero at zero."""
    k = counts.astype(float)
    spread: FloatArray = k * np.log2(np.maximum(k, 1.0))
    return spread
