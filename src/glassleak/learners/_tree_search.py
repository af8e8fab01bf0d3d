"""Optimal trees of small depth by dynamic programming, and the least leaky of them.

``f(R, d)`` is the smallest cost (errors plus a price per split) of a tree of depth d on the points
R.  What a tree leaves unknown, ``sum of C_j * log2(num(f_j))`` over its leaves (Ferry et al.,
equation 11), adds up over leaves as errors do; so the best and the worst of all optimal trees and
their number follow from the same recursion.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from glassleak.errors import SchemaError
from glassleak.learners._compiled import compiled
from glassleak.learners._optimal_problem import Points
from glassleak.learners._optimal_search import OutOfBudgetError, Rows
from glassleak.learners._profiles import Profiles, Region

_SAME = 1e-9


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
    least : int
        Fewest rows in a leaf.
    price : float
        Cost of a split, in rows.
    deadline : float
        ``time.monotonic()`` at which `OutOfBudgetError` is raised.
    """

    def __init__(self, points: Points, least: int, price: float, deadline: float) -> None:
        self.points = points
        self.least = least
        self.price = price
        self.deadline = deadline
        self.holds = np.ascontiguousarray(points.holds, dtype=np.uint8)
        self.counts = points.counts.astype(np.int64)
        self.floor = points.floor
        self._costs: dict[tuple[bytes, int], float] = {}
        self._ties: dict[tuple[Region, int], TreeTies] = {}

    @property
    def everything(self) -> Rows:
        """All points."""
        return np.arange(len(self.counts), dtype=np.int32)

    def cost(self, rows: Rows, depth: int) -> float:
        """``f(rows, depth)``."""
        members = np.zeros(len(self.counts), dtype=bool)
        members[rows] = True
        key = (np.packbits(members).tobytes(), depth)
        if key not in self._costs:
            self._costs[key] = self._cost(rows, depth)
        return self._costs[key]

    def _cost(self, rows: Rows, depth: int) -> float:
        if time.monotonic() > self.deadline:
            raise OutOfBudgetError
        if depth <= 2:
            return float(shallow_cost(self.holds, self.counts, rows, depth, self.least, self.price))
        best = self.stop(rows)
        floor = float(self.floor[rows].sum())
        for literal in range(self.holds.shape[1]):
            if best <= floor + self.price:
                break
            low, high = self.split(rows, literal)
            if not self._allowed(low, high):
                continue
            # Rows that are alike but of different classes are errors in any tree.
            right = float(self.floor[high].sum())
            left = self.cost(low, depth - 1) + self.price
            if left + right < best:
                best = min(best, left + self.cost(high, depth - 1))
        return best

    def stop(self, rows: Rows) -> float:
        """Errors of a single leaf."""
        totals = self.counts[rows].sum(axis=0)
        return float(totals.sum() - totals.max())

    def split(self, rows: Rows, literal: int) -> tuple[Rows, Rows]:
        """The points for which a literal does not hold, and those for which it does."""
        holds = self.holds[rows, literal].astype(bool)
        return rows[~holds], rows[holds]

    def _allowed(self, low: Rows, high: Rows) -> bool:
        return all(int(self.counts[side].sum()) >= self.least for side in (low, high))

    def ties(self, rows: Rows, region: Region, depth: int, profiles: Profiles) -> TreeTies:
        """All trees of depth `depth` on `rows` that cost ``f(rows, depth)``."""
        key = (region, depth)
        if key in self._ties:
            return self._ties[key]
        best = self.cost(rows, depth)
        found: TreeTies | None = None
        if self.stop(rows) <= best + _SAME:
            bits = int(self.counts[rows].sum()) * _log2(profiles, region)
            found = TreeTies(bits, bits, 1, Leaf())
        for literal in range(self.holds.shape[1] if depth else 0):
            low, high = self.split(rows, literal)
            if not self._allowed(low, high):
                continue
            spare = best + _SAME - self.price - float(self.floor[high].sum())
            if self.floor[low].sum() > spare:
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


@compiled
def _one_split(holds: Any, counts: Any, rows: Any, n_rows: int, least: int, price: float) -> Any:
    """The smallest cost with at most one split."""
    n_literals = holds.shape[1]
    n_classes = counts.shape[1]
    inside = np.zeros((n_classes, n_literals), dtype=np.int64)
    totals = np.zeros(n_classes, dtype=np.int64)
    for i in range(n_rows):
        held = holds[rows[i]]
        for c in range(n_classes):
            weight = counts[rows[i], c]
            totals[c] += weight
            if weight:
                for j in range(n_literals):
                    inside[c, j] += weight * held[j]
    people = 0
    largest = 0
    for c in range(n_classes):
        people += totals[c]
        largest = max(largest, totals[c])
    best = float(people - largest)
    for j in range(n_literals):
        captured = 0
        most = 0
        most_left = 0
        for c in range(n_classes):
            captured += inside[c, j]
            most = max(most, inside[c, j])
            most_left = max(most_left, totals[c] - inside[c, j])
        if captured >= least and people - captured >= least:
            best = min(best, people - most - most_left + price)
    return best


@compiled
def shallow_cost(holds: Any, counts: Any, rows: Any, depth: int, least: int, price: float) -> Any:
    """``f(rows, depth)`` for depth 0, 1 or 2."""
    n_rows = rows.shape[0]
    n_classes = counts.shape[1]
    totals = np.zeros(n_classes, dtype=np.int64)
    for i in range(n_rows):
        for c in range(n_classes):
            totals[c] += counts[rows[i], c]
    people = 0
    largest = 0
    for c in range(n_classes):
        people += totals[c]
        largest = max(largest, totals[c])
    best = float(people - largest)
    if depth == 0:
        return best
    best = min(best, _one_split(holds, counts, rows, n_rows, least, price))
    if depth == 1:
        return best
    low = np.zeros(n_rows, dtype=np.int32)
    high = np.zeros(n_rows, dtype=np.int32)
    for j in range(holds.shape[1]):
        n_low = 0
        n_high = 0
        above = 0
        for i in range(n_rows):
            if holds[rows[i], j]:
                high[n_high] = rows[i]
                n_high += 1
                for c in range(n_classes):
                    above += counts[rows[i], c]
            else:
                low[n_low] = rows[i]
                n_low += 1
        if above < least or people - above < least:
            continue
        left = _one_split(holds, counts, low, n_low, least, price) + price
        if left < best:
            best = min(best, left + _one_split(holds, counts, high, n_high, least, price))
    return best
