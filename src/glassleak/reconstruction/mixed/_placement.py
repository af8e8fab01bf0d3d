"""Which rows stand in which leaf, and how much every leaf still misses."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from glassleak.reconstruction.mixed._grove import BLOCK, COUNTS, CUT, HIGH, LOW, MISSING, Grove

LongArray = npt.NDArray[np.int64]


class Placement:
    """The published counts, and how often each tree counts each row.

    Parameters
    ----------
    grove : Grove
    target : (leaves, classes) int array
        The published counts.
    labels : int array
    weights : (rows, trees) int array, optional
        How often each tree counts each row; once if not given.
    distinct : (leaves,) int array, optional
        How many rows of positive weight each leaf has.

    Attributes
    ----------
    plain : bool
        Whether rows of a class count alike everywhere, so that it does not matter which is which.
    """

    def __init__(
        self,
        grove: Grove,
        target: LongArray,
        labels: npt.NDArray[np.integer],
        weights: npt.NDArray[np.integer] | None = None,
        distinct: npt.NDArray[np.integer] | None = None,
    ) -> None:
        self.grove = grove
        self.labels = np.asarray(labels, dtype=np.int64)
        shape = (len(self.labels), len(grove.roots))
        self.plain = weights is None
        self.weights: LongArray = np.ones(shape, dtype=np.int64)
        if weights is not None:
            self.weights = np.asarray(weights, dtype=np.int64)
        self.distinct = None if distinct is None else np.asarray(distinct, dtype=np.int64)
        # Both kinds of figures side by side: per class, and (last) distinct rows.
        self.wanted: LongArray = np.zeros((len(target), target.shape[1] + 1), dtype=np.int64)
        self.wanted[:, :-1] = target
        if self.distinct is not None:
            self.wanted[:, -1] = self.distinct

    def leaves_of(self, levels: npt.NDArray[np.integer]) -> LongArray:
        """The leaf of every row of `levels` in every tree."""
        g = self.grove
        rows = np.arange(len(levels))[:, None]
        at = np.broadcast_to(g.roots.astype(np.int64), (len(levels), len(g.roots))).copy()
        for _ in range(g.depth + 1):
            block = g.node[at, BLOCK]
            inner = block >= 0
            if not inner.any():
                break
            block = np.maximum(block, 0)
            level = levels[rows, block]
            kind = g.node[at, MISSING]
            low = (level < g.node[at, CUT]) | ((kind == 1) & (level >= g.numbers[block]))
            if len(g.goes_low):
                line = np.where(inner & (kind == 2), g.node[at, COUNTS] + level, 0)
                low = np.where(kind == 2, g.goes_low[line], low)
            at = np.where(inner, np.where(low, g.node[at, LOW], g.node[at, HIGH]), at)
        leaf: LongArray = g.node[at, LOW].astype(np.int64)
        return leaf

    def missing(self, leaf: LongArray, rows: LongArray | None = None) -> LongArray:
        """How much is missing per leaf and class (last: distinct rows); negative: too much.

        Parameters
        ----------
        leaf : (rows, trees) int array
        rows : int array, optional
            Count only these rows.
        """
        some = np.arange(len(leaf)) if rows is None else rows
        out = self.wanted.copy()
        np.subtract.at(out, (leaf[some], self.labels[some, None]), self.weights[some])
        if self.distinct is not None:
            np.subtract.at(out[:, -1], leaf[some], (self.weights[some] > 0).astype(np.int64))
        return out

    def energy(self, levels: npt.NDArray[np.integer]) -> int:
        """How far all counts are off, in total."""
        return int(np.abs(self.missing(self.leaves_of(levels))).sum())
