"""The rows of a table under construction, and what the trees count of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from glassleak.reconstruction.mixed._axes import Axis
from glassleak.reconstruction.mixed._grove import Grove
from glassleak.reconstruction.mixed._sweep import enter, nodes_off, sweep

IntArray = npt.NDArray[np.int32]


class Rows:
    """A table in levels, every row in its leaf of every tree.

    Parameters
    ----------
    grove : Grove
    levels : (rows, attributes) int array
    labels : int array
        The class of every row; class totals are published.
    seed : int
    """

    def __init__(self, grove: Grove, levels: IntArray, labels: IntArray, seed: int) -> None:
        self.grove = grove
        self.rng = np.random.default_rng(seed)
        self.random = self.rng.integers(1, 2**63, 1).astype(np.uint64)
        self.labels = np.ascontiguousarray(labels, dtype=np.int32)
        self.place(levels)

    def place(self, levels: IntArray) -> None:
        """Start from another table."""
        g = self.grove
        self.levels = np.array(levels, dtype=np.int32, order="C")
        self.node = g.node.copy()
        self.counts = np.zeros(max(1, g.n_counts), dtype=np.int32)
        self.excess = -g.target.astype(np.int32)
        # Rows of each class per level: what is common in a class is likely for its rows.
        self.common = np.zeros((g.target.shape[1], int(g.starts[-1])), dtype=np.int32)
        np.add.at(self.common, (self.labels[:, None], g.starts[:-1] + self.levels), 1)
        self.leaf = np.zeros((len(levels), len(g.roots)), dtype=np.int32)
        for i, row in enumerate(self.levels):
            for t, root in enumerate(g.roots):
                self.leaf[i, t] = enter(
                    root, row, self.labels[i], self.node, g.twice, g.goes_low,
                    g.numbers, self.counts, self.excess,
                )  # fmt: skip

    def sweep(
        self,
        heat: float,
        half_way: float,
        wanted: IntArray | None = None,
        some: npt.NDArray[np.intp] | None = None,
    ) -> int:
        """Draw every attribute of every row again, in random order.

        Parameters
        ----------
        heat : float
            Temperature.
        half_way : float
            What a threshold costs that is not half way between the rows next to it, where a leaf
            whose count is off by one costs 1.
        wanted : (rows, attributes) int array, optional
            Do not draw, but take the level nearest to this one among those of least energy.
        some : int array, optional
            Only these rows.

        Returns
        -------
        int
            How many changed.
        """
        g, n_axes = self.grove, len(self.grove.sizes)
        rows = np.arange(len(self.levels)) if some is None else some
        order = (rows[:, None] * n_axes + np.arange(n_axes)).reshape(-1)
        self.rng.shuffle(order)
        if wanted is None:
            wanted = np.zeros((0, 0), dtype=np.int32)
        changed: int = sweep(
            order, heat, half_way, wanted, self.levels, self.labels, self.leaf, self.excess,
            self.counts, self.node, g.twice, g.goes_low, g.first, g.sizes, g.numbers, g.ordered,
            g.starts, g.low, g.high, g.depth, self.common, self.random,
        )  # fmt: skip
        return changed

    @property
    def miscounted(self) -> int:
        """Sum over leaves and classes of how far the count is off; even, as rows are only moved."""
        return int(np.abs(self.excess).sum())

    @property
    def not_half_way(self) -> int:
        """Thresholds that are not half way between the rows next to them."""
        g = self.grove
        return int(nodes_off(self.node, g.twice, g.starts, g.low, g.high))


def values_of(axes: Sequence[Axis], levels: IntArray, n_columns: int) -> npt.NDArray[np.float64]:
    """The table of `levels` in the model's columns."""
    out = np.empty((len(levels), n_columns))
    for b, axis in enumerate(axes):
        out[:, axis.columns] = axis.values[levels[:, b]]
    return out
