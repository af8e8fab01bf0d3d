"""Optimal trees of small depth by dynamic programming, and the least leaky of them.

``f(R, d)`` is the smallest cost (errors plus a price per split) of a tree of depth d on the points
R.  What a tree leaves unknown, ``sum of C_j * log2(num(f_j))`` over its leaves (Ferry et al.,
equation 11), adds up over leaves as errors do; so the best and the worst of all optimal trees and
their number follow from the same recursion.
"""

from __future__ import annotations

import functools
import math
import time
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from glassleak.errors import SchemaError
from glassleak.learners._optimal_kernel import (
    DEPTH,
    ENTERING,
    FULL,
    PAUSED,
    Memory,
    Problem,
    key_of,
    reindex,
    settle,
    slot_of,
)
from glassleak.learners._optimal_problem import Points
from glassleak.learners._optimal_search import OutOfBudgetError, Rows, packed_words
from glassleak.learners._profiles import Profiles, Region
from glassleak.learners._tree_kernel import TreeFrames, advance, one_split

_SAME = 1e-9
# About a twentieth of a second of work between two looks at the clock.
_SLICE = 30_000_000
# Sets of points there is room for at first.
_ROOM = 1024


@dataclass(frozen=True)
class Leaf:
    """A leaf of a tree that is being built."""


@dataclass(frozen=True)
class Split:
    """A split on a literal: `low` where it does not hold, `high` where it does."""

    literal: int
    low: Node
    high: Node


Node: TypeAlias = Leaf | Split


@dataclass(frozen=True)
class TreeTies:
    """All optimal trees below some point: bits of the best and the worst, their number, the best.

    Attributes
    ----------
    most, least : float
    number : int
    best : Node
    """

    most: float
    least: float
    number: int
    best: Node


class TreeSearch:
    """Costs of optimal trees, remembered for every set of points met.

    Parameters
    ----------
    points : Points
        Their literals are the questions a tree may ask, one per cut ("above").
    max_depth : int
    least : int
        Fewest rows in a leaf.
    price : float
        Cost of a split, in rows.
    deadline : float
        ``time.monotonic()`` at which to stop.
    memory_bytes : int
        Most memory for sets of points remembered.
    """

    def __init__(
        self, points: Points, max_depth: int, least: int, price: float, deadline: float,
        memory_bytes: int = 1_000_000_000,
    ) -> None:  # fmt: skip
        self.points = points
        self.max_depth = max_depth
        self.least = least
        self.price = price
        self.deadline = deadline
        # A set of points that splits select is known by the answers that occur in it.
        self._problem = Problem(
            captures=np.ascontiguousarray(points.holds, dtype=np.uint8),
            counts=points.counts.astype(np.int32),
            floor=points.floor.astype(np.int32),
            keys=packed_words(np.hstack([points.holds, ~points.holds])),
        )
        each = 8 * self._problem.keys.shape[1] + 20 * (max_depth + 1) + 32
        self._most = max(_ROOM, memory_bytes * 3 // 4 // each)
        self._memory = _memory(min(_ROOM, self._most), self._problem.keys.shape[1], max_depth)
        self._frames = _frames(max_depth, *points.holds.shape)
        self._ties: dict[tuple[Region, int], TreeTies] = {}

    @property
    def everything(self) -> Rows:
        """All points."""
        return np.arange(len(self.points.counts), dtype=np.int32)

    def cost(self, rows: Rows, depth: int) -> float:
        """``f(rows, depth)``.

        Raises
        ------
        OutOfBudgetError
            What was found until then is in `known`.
        """
        low, high = self.known(rows, depth)
        if low == high:
            return high
        if time.monotonic() > self.deadline:
            raise OutOfBudgetError
        frames, control = self._frames, self._frames.control
        control[DEPTH], control[ENTERING] = 0, 1
        frames.n_rows[0], frames.rows[0, : len(rows)] = len(rows), rows
        frames.limit[0] = np.inf
        while True:
            status = advance(
                self._problem, self._memory, frames, depth, self.least, self.price, _SLICE
            )
            full = status == FULL and not self._grow()
            if full or (status == PAUSED and time.monotonic() > self.deadline):
                self._give_up(depth)
                raise OutOfBudgetError
            if status not in (FULL, PAUSED):
                return self.known(rows, depth)[1]

    def known(self, rows: Rows, depth: int) -> tuple[float, float]:
        """Bounds on ``f(rows, depth)`` without looking further."""
        entry = self._find(rows)
        if entry < 0:
            return float(self.points.floor[rows].sum()), self.stop(rows)
        return float(self._memory.low[entry, depth]), float(self._memory.high[entry, depth])

    def tree(self, rows: Rows, depth: int) -> Node:
        """A tree that reaches the upper bound of ``f(rows, depth)``."""
        if depth == 0:
            return Leaf()
        # Trees of depth two are solved without remembering their halves.
        value, literal = one_split(self._problem, rows, len(rows), self.least, self.price)
        entry = self._find(rows)
        if entry >= 0 and self._memory.high[entry, depth] <= value:
            literal = int(self._memory.choice[entry, depth])
        if literal < 0:
            return Leaf()
        low, high = self.split(rows, literal)
        return Split(int(literal), self.tree(low, depth - 1), self.tree(high, depth - 1))

    def stop(self, rows: Rows) -> float:
        """Errors of a single leaf."""
        totals = self.points.counts[rows].sum(axis=0)
        return float(totals.sum() - totals.max())

    def split(self, rows: Rows, literal: int) -> tuple[Rows, Rows]:
        """The points for which a literal does not hold, and those for which it does."""
        holds = self.points.holds[rows, literal]
        return rows[~holds], rows[holds]

    def _allowed(self, low: Rows, high: Rows) -> bool:
        return all(int(self.points.counts[side].sum()) >= self.least for side in (low, high))

    def _find(self, rows: Rows) -> int:
        key = np.zeros(self._problem.keys.shape[1], dtype=np.uint64)
        key_of(self._problem, rows, len(rows), key)
        return int(self._memory.index[slot_of(self._memory, key)])

    def _give_up(self, height: int) -> None:
        """Keep the best trees of a paused search: of every frame but the one being entered."""
        frames = self._frames
        for depth in range(int(frames.control[DEPTH])):
            found = float(frames.best[depth]), int(frames.best_split[depth])
            settle(self._memory, int(frames.entry[depth]), height - depth, 0.0, *found)

    def _grow(self) -> bool:
        size = len(self._memory.keys)
        if size >= self._most:
            return False
        larger = _memory(min(4 * size, self._most), self._memory.keys.shape[1], self.max_depth)
        for name in ("keys", "low", "high", "choice"):
            getattr(larger, name)[:size] = getattr(self._memory, name)
        reindex(larger, size)
        self._memory = larger
        return True

    def ties(self, rows: Rows, region: Region, depth: int, profiles: Profiles) -> TreeTies:
        """All trees of depth `depth` on `rows` that cost ``f(rows, depth)``."""
        key = (region, depth)
        if key in self._ties:
            return self._ties[key]
        best = self.cost(rows, depth)
        found: TreeTies | None = None
        if self.stop(rows) <= best + _SAME:
            bits = int(self.points.counts[rows].sum()) * _log2(profiles, region)
            found = TreeTies(bits, bits, 1, Leaf())
        for literal in range(self.points.holds.shape[1] if depth else 0):
            low, high = self.split(rows, literal)
            if not self._allowed(low, high):
                continue
            spare = best + _SAME - self.price - float(self.points.floor[high].sum())
            if self.points.floor[low].sum() > spare:
                continue
            left = self.cost(low, depth - 1) + self.price
            if left > best + _SAME or left + self.cost(high, depth - 1) > best + _SAME:
                continue
            above, below = profiles.split(region, profiles.rule([literal]))
            found = _joined(
                found,
                literal,
                self.ties(low, below, depth - 1, profiles),
                self.ties(high, above, depth - 1, profiles),
            )
        assert found is not None
        self._ties[key] = found
        return found


def _joined(found: TreeTies | None, literal: int, low: TreeTies, high: TreeTies) -> TreeTies:
    most, least = low.most + high.most, low.least + high.least
    tree = Split(literal, low.best, high.best)
    if found is None:
        return TreeTies(most, least, low.number * high.number, tree)
    better = most > found.most * (1 + _SAME)
    return TreeTies(
        most if better else found.most,
        min(least, found.least),
        found.number + low.number * high.number,
        tree if better else found.best,
    )


def _log2(profiles: Profiles, region: Region) -> float:
    count = profiles.count(region)
    if count == 0:
        raise SchemaError("the table has rows that the schema does not allow")
    return math.log2(count)


@functools.cache
def warm_up() -> None:
    """Compile the search on a problem of four points, so that it does not cost a user's budget."""
    bits = np.array([[True, True], [True, False], [False, True], [False, False]])
    points = Points(bits, np.array([[2, 1], [1, 2], [2, 1], [1, 2]]))
    search = TreeSearch(points, 3, 1, 0.0, deadline=math.inf)
    search.cost(search.everything, 3)
    search.tree(search.everything, 3)
    search._grow()
    search._give_up(3)


def _memory(size: int, n_words: int, max_depth: int) -> Memory:
    shape = (size, max_depth + 1)
    return Memory(
        index=np.full(1 << (2 * size - 1).bit_length(), -1, dtype=np.int64),
        keys=np.zeros((size, n_words), dtype=np.uint64),
        low=np.zeros(shape),
        high=np.full(shape, np.inf),
        choice=np.full(shape, -1, dtype=np.int32),
    )


def _frames(max_depth: int, n_points: int, n_literals: int) -> TreeFrames:
    depth = max_depth + 2
    whole = [np.zeros(depth, dtype=np.int64) for _ in range(6)]
    costs = [np.zeros(depth) for _ in range(4)]
    return TreeFrames(
        control=np.zeros(4, dtype=np.int64),
        rows=np.zeros((depth, n_points), dtype=np.int32),
        n_rows=whole[0],
        queue=np.zeros((depth, n_literals), dtype=np.int64),
        n_splits=whole[1],
        at=whole[2],
        waiting=whole[3],
        floor=costs[0],
        side=costs[1],
        best=costs[2],
        best_split=whole[4],
        limit=costs[3],
        entry=whole[5],
    )
