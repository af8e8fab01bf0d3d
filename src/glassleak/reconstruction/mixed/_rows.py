"""The rows of a table under construction, and what the trees count of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from glassleak.reconstruction.mixed._axes import Axis
from glassleak.reconstruction.mixed._classes import relabel, tally
from glassleak.reconstruction.mixed._grove import Grove
from glassleak.reconstruction.mixed._sweep import fill, nodes_off, sweep
from glassleak.reconstruction.mixed._terms import Terms

IntArray = npt.NDArray[np.int32]


class Rows:
    """A table in levels, every row in its leaf of every tree.

    Parameters
    ----------
    grove : Grove
    terms : Terms
        What the leaves cost.
    levels : (rows, attributes) int array
    labels : int array
        The class of every row.
    seed : int
    times : (rows, trees) int array, optional
        How often each tree counts each row; once by default.
    allowed : (rows, classes) bool array, optional
        Classes each row can have; by default only its own.
    barred : (rows, levels of all attributes) bool array, optional
        Levels that rows must not take.
    """

    def __init__(
        self,
        grove: Grove,
        terms: Terms,
        levels: IntArray,
        labels: IntArray,
        seed: int,
        times: IntArray | None = None,
        allowed: npt.NDArray[np.bool_] | None = None,
        barred: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        self.grove, self.terms = grove, terms
        self.rng = np.random.default_rng(seed)
        self.random = self.rng.integers(1, 2**63, 1).astype(np.uint64)
        self.allowed = allowed
        self.barred = np.zeros((0, 0), dtype=bool) if barred is None else barred
        shape = (len(labels), len(grove.roots))
        self.times = np.ones(shape, np.int32) if times is None else times
        self.place(levels, labels)

    def place(self, levels: IntArray, labels: IntArray) -> None:
        """Start from another table."""
        g = self.grove
        self.levels = np.array(levels, dtype=np.int32, order="C")
        self.labels = np.array(labels, dtype=np.int32)
        self.node = g.node.copy()
        self.counts = np.zeros(max(1, g.n_counts), dtype=np.int32)
        self.held, self.seen = self.terms.empty.copy(), self.terms.seen_empty.copy()
        self.leaf = np.zeros(self.times.shape, dtype=np.int32)
        fill(
            self.levels, self.labels, self.times, self.leaf, self.held, self.seen, self.counts,
            self.node, g.twice, g.goes_low, g.numbers, g.roots,
        )  # fmt: skip

    def sweep(
        self,
        heat: float,
        half_way: float,
        wanted: IntArray | None = None,
        some: npt.NDArray[np.intp] | None = None,
    ) -> int:
        """Draw every attribute of every row again, in random order, and classes that are open.

        Parameters
        ----------
        heat : float
            Temperature.
        half_way : float
            What a threshold costs that is not half way between the rows next to it.
        wanted : (rows, attributes) int array, optional
            Do not draw, but take the level nearest to this one among those of least energy.
        some : int array, optional
            Only these rows.

        Returns
        -------
        int
            How many changed.
        """
        g, terms, n_axes = self.grove, self.terms, len(self.grove.sizes)
        rows = np.arange(len(self.levels)) if some is None else some
        order = (rows[:, None] * n_axes + np.arange(n_axes)).reshape(-1)
        self.rng.shuffle(order)
        usual = self.usual()
        drawn = wanted is None
        changed: int = sweep(
            order, heat, half_way, np.zeros((0, 0), np.int32) if drawn else wanted, self.levels,
            self.labels, self.leaf, self.held, self.seen, self.times, terms.kind, terms.term,
            terms.seen_kind, terms.seen_term, self.counts, self.node, g.twice, g.goes_low,
            g.first, g.sizes, g.numbers, g.ordered, g.starts, g.low, g.high, g.depth, usual,
            self.barred, self.random,
        )  # fmt: skip
        if drawn and self.allowed is not None:
            changed += relabel(
                rows, heat, self.allowed, self.levels, self.labels, self.leaf, self.held,
                self.times, terms.kind, terms.term, g.starts, usual, self.random,
            )  # fmt: skip
        return changed

    def usual(self) -> npt.NDArray[np.float64]:
        """How common each level is among the rows of each class, with what is expected beside it.

        Only rows count whose level some tree asks for: what nobody asks for says nothing, and
        would only repeat itself.  Yes/no attributes are expected to be answered as the others
        are, the levels of the rest equally often; this counts as one row per level.
        """
        g = self.grove
        out = np.empty((self.held.shape[1], int(g.starts[-1])))
        tally(self.levels, self.labels, self.leaf, self.times, g.first, g.starts, out)
        two = np.flatnonzero(g.sizes == 2)
        asked = out.sum(axis=0)
        no, yes = asked[g.starts[two]].sum() + 1.0, asked[g.starts[two] + 1].sum() + 1.0
        expected = np.ones(out.shape[1])
        expected[g.starts[two]] = 2.0 * no / (no + yes)
        expected[g.starts[two] + 1] = 2.0 * yes / (no + yes)
        return out + expected

    @property
    def energy(self) -> float:
        """What all leaves cost."""
        return self.terms.energy(self.held, self.seen)

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


def levels_of(axes: Sequence[Axis], values: npt.NDArray[np.float64]) -> IntArray:
    """The level of every attribute of every row of a table in the model's columns."""
    out = np.empty((len(values), len(axes)), dtype=np.int32)
    for b, axis in enumerate(axes):
        own = values[:, axis.columns]
        if axis.ordered:
            with np.errstate(over="ignore"):
                number = own[:, 0].astype(np.float32).astype(np.float64)
            level = np.searchsorted(axis.high[: axis.n_numbers], number)
            out[:, b] = np.where(
                np.isnan(number), len(axis) - 1, np.minimum(level, max(axis.n_numbers - 1, 0))
            )
        else:
            far = np.abs(axis.values[None, :, :] - own[:, None, :]).sum(axis=2)
            out[:, b] = far.argmin(axis=1)
    return out
