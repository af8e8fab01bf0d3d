"""Exact smallest and largest counts over *all* integer tables that fit a published tree.

The estimate says what is likely; these bounds say what is certain.  Leaves give them in closed
form; split facts tighten them further.  Each open question is first put to the smallest subtree
with facts around the leaf: what is impossible there is impossible.  A possible answer is completed
with a table known to fit elsewhere and checked against every fact; if it fails, the next larger
subtree is asked, up to the root.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from glassleak.disclosure._bounds_cp import NoTableError, Subtree
from glassleak.disclosure._bounds_facts import Nodes
from glassleak.disclosure._bounds_leaf import bounds_from_counts
from glassleak.disclosure._bounds_swaps import Swaps, first_table, reach, repair, wander
from glassleak.errors import InconsistentModelError

IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
Progress: TypeAlias = Callable[[str, float], None]


@dataclass(frozen=True, eq=False)
class CountBounds:
    """Proved bounds on how many people of every group have every value.

    Attributes
    ----------
    people : (groups,) int array
    lower, upper : (groups, classes) int arrays
        No table that fits is outside.
    exact : (groups, classes) bool array
        Both ends are attained by tables that fit everything that was used.
    seconds : float
    notes : tuple of str
        What was used, and what was left out.
    """

    people: IntArray
    lower: IntArray
    upper: IntArray
    exact: BoolArray
    seconds: float
    notes: tuple[str, ...] = ()

    @property
    def certain(self) -> BoolArray:
        """Groups of people of whom every count is known."""
        settled: BoolArray = (self.lower == self.upper).all(axis=1)
        return settled

    @property
    def value(self) -> IntArray:
        """The class that everybody of a group certainly has; -1 where there is none."""
        whole = self.lower == self.people[:, None]
        return np.where(whole.any(axis=1), np.argmax(whole, axis=1), -1)

    @property
    def complete(self) -> bool:
        """Whether all ranges are exact."""
        return bool(self.exact.all())


def bounds_with_split_facts(
    people: IntArray,
    leaf: IntArray,
    counts: IntArray,
    nodes: Nodes,
    *,
    deadline: float,
    seed: int = 0,
    progress: Progress | None = None,
) -> CountBounds:
    """Bounds from leaf counts and split facts.

    Parameters
    ----------
    people, leaf, counts
        As in `bounds_from_counts`.
    nodes : Nodes
    deadline : float
        Of `time.monotonic`; ranges not decided by then keep valid bounds and ``exact=False``.

    Raises
    ------
    InconsistentModelError
        No table satisfies the split facts, so they are not true of this model.
    """
    started = time.monotonic()
    tell = progress or (lambda _step, _share: None)
    lower, upper = bounds_from_counts(people, leaf, counts)
    open_ = lower < upper
    notes: list[str] = []
    if not open_.any() or not any(nodes.questions.values()):
        return CountBounds(
            people, lower, upper, np.ones_like(open_), time.monotonic() - started, tuple(notes)
        )
    rng = np.random.default_rng(seed)
    tell("looking for tables", 0.0)
    swaps = Swaps(first_table(people, leaf, counts), leaf, nodes)
    left = deadline - time.monotonic()
    repair(swaps, rng, time.monotonic() + 0.2 * left)
    search = _Search(people, leaf, counts, nodes, lower, upper, swaps, rng, deadline)
    if not swaps.fits:
        search.find_table()
    if swaps.fits:
        wander(swaps, rng, time.monotonic() + 0.2 * (deadline - time.monotonic()), rounds=20)
    search.decide(tell)
    exact = search.exact()
    if not exact.all():
        notes.append(f"{int((~exact).any(axis=1).sum())} groups were not decided within the budget")
    return CountBounds(people, lower, upper, exact, time.monotonic() - started, tuple(notes))


class _Search:
    """Ask, subtree by subtree, what witnesses have not settled."""

    def __init__(
        self, people: IntArray, leaf: IntArray, counts: IntArray, nodes: Nodes,
        lower: IntArray, upper: IntArray, swaps: Swaps, rng: np.random.Generator, deadline: float,
    ) -> None:  # fmt: skip
        self.people, self.leaf, self.counts, self.nodes = people, leaf, counts, nodes
        self.lower, self.upper, self.swaps, self.deadline = lower, upper, swaps, deadline
        self.rng = rng
        self.subtrees: dict[int, Subtree] = {}

    def exact(self) -> BoolArray:
        """Which ranges have both ends attained."""
        met: BoolArray = (self.swaps.least == self.lower) & (self.swaps.most == self.upper)
        # Some table fits, the true one if no other was found: what is settled is attained by it.
        settled: BoolArray = self.lower == self.upper
        return met | settled

    def find_table(self) -> None:
        """A first table that fits, from the root's whole problem."""
        root = min(path[-1] for path in self.nodes.paths if path)
        group, label = np.argwhere(self.lower < self.upper)[0].tolist()
        found = self._ask(root, group, label, largest=True, known=-1)
        if found is not None:
            table = self.swaps.table.copy()
            table[self.nodes.members[root]] = found
            self.swaps.start(table)

    def decide(self, tell: Progress) -> None:
        """Every range that is open, small subtrees first."""
        tasks = np.argwhere(self.lower < self.upper)
        near = {one: (path[0] if path else -1) for one, path in enumerate(self.nodes.paths)}
        sizes = [
            len(self.nodes.members[near[int(self.leaf[q])]]) if near[int(self.leaf[q])] >= 0 else 0
            for q in tasks[:, 0].tolist()
        ]
        for done, i in enumerate(np.argsort(sizes, kind="stable").tolist()):
            if time.monotonic() > self.deadline:
                return
            if done % 50 == 0:
                tell("deciding what is certain", done / len(tasks))
            group, label = tasks[i].tolist()
            for largest in (True, False):
                self._decide(group, label, largest=largest)

    def _decide(self, group: int, label: int, *, largest: bool) -> None:
        bound = self.upper if largest else self.lower
        if self.swaps.fits:
            self._reach(group, label, largest=largest)
        for node in self.nodes.paths[int(self.leaf[group])]:
            seen = int((self.swaps.most if largest else self.swaps.least)[group, label])
            if int(bound[group, label]) == seen or time.monotonic() > self.deadline:
                return
            rows = self._ask(node, group, label, largest=largest, known=seen)
            if rows is not None and self.swaps.replace(self.nodes.members[node], rows):
                return

    def _reach(self, group: int, label: int, *, largest: bool) -> None:
        """Move the attained end towards the bound by exchanges, as far as that goes."""
        bound = self.upper if largest else self.lower
        attained = self.swaps.most if largest else self.swaps.least
        while attained[group, label] != bound[group, label]:
            # Exchanges start from the table at hand, which may be further away than the best met.
            missing = abs(int(attained[group, label]) - int(self.swaps.table[group, label])) + 1
            met = int(attained[group, label])
            for _ in range(missing):
                if not reach(self.swaps, group, label, self.rng, self.deadline, more=largest):
                    return
            if int(attained[group, label]) == met:
                return

    def _ask(
        self, node: int, group: int, label: int, *, largest: bool, known: int
    ) -> IntArray | None:
        """Tighten the bound by what `node` and everything below it say; rows that attain it."""
        subtree = self.subtrees.get(node)
        try:
            if subtree is None:
                members = self.nodes.members[node]
                below = self.nodes.below(node, self.leaf)
                questions = [q for n in below for q in self.nodes.questions.get(n, ())]
                if not questions:
                    return None
                subtree = Subtree(
                    members, self.leaf, self.people, self.counts, self.lower, self.upper, questions
                )
                self.subtrees[node] = subtree
            found = subtree.extreme(
                group, label, largest=largest, known=known, deadline=self.deadline
            )
        except NoTableError:
            raise InconsistentModelError(
                "no table of the people given would have led to these splits: the split facts do "
                "not hold for this model",
                f"node {node}",
            ) from None
        before = int(self.upper[group, label]), int(self.lower[group, label])
        if largest:
            self.upper[group, label] = min(before[0], found.bound)
        else:
            self.lower[group, label] = max(before[1], found.bound)
        if before != (int(self.upper[group, label]), int(self.lower[group, label])):
            self._propagate(group)
        return found.table

    def _propagate(self, group: int) -> None:
        """What a new bound of a group of people means for its other values, and for its leaf."""
        inside = np.flatnonzero(self.leaf == self.leaf[group])
        total = self.counts[self.leaf[group]]
        for _ in range(2):
            low, high = self.lower[inside], self.upper[inside]
            for axis, whole in ((1, self.people[inside][:, None]), (0, total[None, :])):
                most, least = high.sum(axis=axis, keepdims=True), low.sum(axis=axis, keepdims=True)
                high, low = (
                    np.minimum(high, whole - least + low),
                    np.maximum(low, whole - most + high),
                )
            self.lower[inside], self.upper[inside] = low, high
