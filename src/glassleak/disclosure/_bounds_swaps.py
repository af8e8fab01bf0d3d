"""Integer tables that fit everything, found by exchanging two people's values.

A witness costs nothing to believe: it is sent through every fact.  What witnesses attain need not
be asked of a solver any more.
"""

from __future__ import annotations

import time
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from glassleak.disclosure._bounds_facts import Nodes, Question

IntArray: TypeAlias = npt.NDArray[np.int64]
_Snapshot: TypeAlias = tuple[IntArray, list[IntArray], list[float], set[int]]
# Exchanges tried to mend what one exchange broke; a solver takes over after that.
_TRIES = 40
_PARTNERS = 3


def first_table(people: IntArray, leaf: IntArray, counts: IntArray) -> IntArray:
    """A table that fits every leaf, each group of people close to its leaf's distribution.

    Cumulated shares are rounded down, group after group, so that rows and columns add up.
    """
    table = np.zeros((len(people), counts.shape[1]), dtype=np.int64)
    order = np.argsort(leaf, kind="stable")
    starts = np.searchsorted(leaf[order], np.arange(len(counts) + 1))
    for one in range(len(counts)):
        inside = order[starts[one] : starts[one + 1]]
        left = counts[one].copy()
        for q in inside.tolist():
            n, total = int(people[q]), int(left.sum())
            share = left * n // max(total, 1)
            rest = n - int(share.sum())
            most = np.argsort(-((left * n) % max(total, 1)), kind="stable")
            share[most[(share < left)[most]][:rest]] += 1
            table[q] = share
            left -= share
    return table


class Swaps:
    """A table, and what exchanging values within a leaf does to the facts.

    Attributes
    ----------
    table : (groups, classes) int array
    least, most : (groups, classes) int arrays
        Smallest and largest count met in any table that fits everything.
    """

    def __init__(self, table: IntArray, leaf: IntArray, nodes: Nodes) -> None:
        self.leaf, self.nodes = leaf, nodes
        self.questions = [q for own in nodes.questions.values() for q in own]
        number = {id(question): i for i, question in enumerate(self.questions)}
        self.own = {node: [number[id(q)] for q in own] for node, own in nodes.questions.items()}
        # Of every question: the histogram, by how much it is broken, and the first member.
        self.histogram: list[IntArray] = [np.empty((0, 0), np.int64)] * len(number)
        self.excess = [0.0] * len(number)
        self.broken: set[int] = set()
        self.start_of = [int(q.members[0]) for q in self.questions]
        self.least = np.full_like(table, np.iinfo(np.int64).max)
        self.most = np.full_like(table, -1)
        # Leaves with several groups of people and several classes; exchanges never change which.
        self.open_leaves = _open_leaves(table, leaf)
        self.start(table)

    def start(self, table: IntArray) -> None:
        """Go on from another table."""
        self.table = table
        for i in range(len(self.questions)):
            self._refresh(i)
        if self.fits:
            self.record()

    def _refresh(self, i: int) -> None:
        histogram = self.questions[i].histogram(self.table)
        self._put(i, histogram, _excess(self.questions[i], histogram))

    def _put(self, i: int, histogram: IntArray, excess: float) -> None:
        (self.broken.add if excess > 0 else self.broken.discard)(i)
        self.histogram[i], self.excess[i] = histogram, excess

    @property
    def fits(self) -> bool:
        """Whether the table breaks no fact."""
        return not self.broken

    def record(self) -> None:
        """Note the counts of a table that fits."""
        np.minimum(self.least, self.table, out=self.least)
        np.maximum(self.most, self.table, out=self.most)

    def replace(self, members: IntArray, rows: IntArray) -> bool:
        """Put other rows in place if the whole then fits; whether it did."""
        changed = np.flatnonzero((self.table[members] != rows).any(axis=1))
        if not changed.size:
            return self.fits
        before = self.table[members].copy()
        self.table[members] = rows
        touched = self._above(self.leaf[members[changed]])
        old = [(i, self.histogram[i], self.excess[i]) for i in touched]
        for i in touched:
            self._refresh(i)
        if self.fits:
            self.record()
            return True
        self.table[members] = before
        for i, histogram, excess in old:
            self._put(i, histogram, excess)
        return False

    def snapshot(self) -> _Snapshot:
        """What `restore` needs; histograms are never changed in place."""
        return self.table.copy(), self.histogram.copy(), self.excess.copy(), self.broken.copy()

    def restore(self, kept: _Snapshot) -> None:
        """Go back to a snapshot."""
        table, histogram, excess, broken = kept
        self.table, self.histogram = table.copy(), histogram.copy()
        self.excess, self.broken = excess.copy(), broken.copy()

    def _above(self, leaves: IntArray) -> list[int]:
        nodes = {node for one in np.unique(leaves).tolist() for node in self.nodes.paths[one]}
        return [i for node in sorted(nodes) for i in self.own.get(node, ())]

    def exchange(self, one: int, other: int, x: int, y: int, *, worse: float = 0.0) -> bool:
        """`one` gives an ``x`` for a ``y`` of `other`, of the same leaf.

        Unless facts would be broken by more than `worse` beyond what they are.
        """
        change = 0.0
        new: list[tuple[int, IntArray, float]] = []
        for node in self.nodes.paths[int(self.leaf[one])]:
            for i in self.own.get(node, ()):
                code, start = self.questions[i].code, self.start_of[i]
                first, second = int(code[one - start]), int(code[other - start])
                if first == second:
                    continue
                histogram = self.histogram[i].copy()
                histogram[first, x] -= 1
                histogram[first, y] += 1
                histogram[second, x] += 1
                histogram[second, y] -= 1
                excess = _excess(self.questions[i], histogram)
                change += excess - self.excess[i]
                new.append((i, histogram, excess))
        if change > worse:
            return False
        fitted = self.fits
        for i, histogram, excess in new:
            self._put(i, histogram, excess)
        for q, less, more in ((one, x, y), (other, y, x)):
            self.table[q, less] -= 1
            self.table[q, more] += 1
        if self.fits and not fitted:
            self.record()
        elif fitted and self.fits:
            for q in (one, other):
                np.minimum(self.least[q], self.table[q], out=self.least[q])
                np.maximum(self.most[q], self.table[q], out=self.most[q])
        return True


def _excess(question: Question, histogram: IntArray) -> float:
    """By how much the worst candidates break their limits, per person."""
    over = question.values(histogram) - question.ceiling
    return float(over[over > 0].sum())


def repair(
    swaps: Swaps,
    rng: np.random.Generator,
    deadline: float,
    *,
    tries: int = 20_000,
    locked: int = -1,
) -> bool:
    """Exchange values until no fact is broken; whether that was reached.

    Parameters
    ----------
    locked : int
        A group of people whose values stay.
    """
    heat = 1.0
    for _ in range(tries):
        if swaps.fits or not swaps.open_leaves or time.monotonic() > deadline:
            break
        heat *= 0.999
        inside = _broken_leaf(swaps, rng)
        worse = -0.05 * heat * float(np.log(1.0 - rng.random()))
        _random_exchange(swaps, inside, rng, worse=worse, locked=locked)
    return swaps.fits


def reach(
    swaps: Swaps, group: int, label: int, rng: np.random.Generator, deadline: float, *, more: bool
) -> bool:
    """One more (or less) of a value for a group of people, by an exchange and what it takes after.

    The table stays as it was if that does not succeed in a few hundred exchanges.
    """
    inside = np.flatnonzero(swaps.leaf == swaps.leaf[group])
    inside = inside[inside != group]
    before = swaps.snapshot()
    tried = 0
    for other in rng.permutation(inside).tolist():
        theirs, mine = swaps.table[other], swaps.table[group]
        if more:
            pairs = [(int(y), label) for y in np.flatnonzero(mine) if y != label and theirs[label]]
        else:
            pairs = [(label, int(y)) for y in np.flatnonzero(theirs) if y != label and mine[label]]
        if not pairs:
            continue
        give, get = pairs[int(rng.integers(len(pairs)))]
        swaps.exchange(group, other, give, get, worse=np.inf)
        if repair(swaps, rng, deadline, tries=_TRIES, locked=group):
            return True
        swaps.restore(before)
        tried += 1
        if tried == _PARTNERS or time.monotonic() > deadline:
            break
    return False


def wander(swaps: Swaps, rng: np.random.Generator, deadline: float, rounds: int) -> None:
    """Visit tables that fit, to see what counts occur."""
    for _ in range(rounds):
        for inside in swaps.open_leaves.values():
            if time.monotonic() > deadline:
                return
            for _ in range(2 * len(inside)):
                _random_exchange(swaps, inside, rng)


def _open_leaves(table: IntArray, leaf: IntArray) -> dict[int, IntArray]:
    order = np.argsort(leaf, kind="stable")
    numbers, start = np.unique(leaf[order], return_index=True)
    return {
        one: inside
        for one, inside in zip(numbers.tolist(), np.split(order, start[1:]), strict=True)
        if len(inside) > 1 and np.count_nonzero(table[inside].sum(axis=0)) > 1
    }


def _broken_leaf(swaps: Swaps, rng: np.random.Generator) -> IntArray:
    """The groups of people of an open leaf under a node where a fact is broken."""
    by_leaf = swaps.open_leaves
    broken = sorted(swaps.broken)
    question = swaps.questions[broken[int(rng.integers(len(broken)))]]
    leaves = [one for one in np.unique(swaps.leaf[question.members]).tolist() if one in by_leaf]
    chosen = leaves if leaves else list(by_leaf)
    return by_leaf[chosen[int(rng.integers(len(chosen)))]]


def _random_exchange(
    swaps: Swaps, inside: IntArray, rng: np.random.Generator, *, worse: float = 0.0,
    locked: int = -1,
) -> None:  # fmt: skip
    first, second = int(rng.integers(len(inside))), int(rng.integers(len(inside) - 1))
    one, other = int(inside[first]), int(inside[second + (second >= first)])
    mine, theirs = np.flatnonzero(swaps.table[one]), np.flatnonzero(swaps.table[other])
    x, y = int(mine[rng.integers(len(mine))]), int(theirs[rng.integers(len(theirs))])
    if x != y and locked not in (one, other):
        swaps.exchange(one, other, x, y, worse=worse)
