"""What each row can be: every box of profiles, with a class, that all its trees have room for.

A row drawn k times by a tree lies in a leaf that counts at least k draws of its class.  Cutting the
box of all profiles along one tree after the other and dropping what has no room leaves few boxes
for deep trees, whatever the number of profiles: the cost depends on what survives.  Trees that did
not draw a row say nothing about it, so every row has cells of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glassleak._compiled import compiled
from glassleak.errors import InconsistentModelError
from glassleak.models import node_depths
from glassleak.reconstruction.replayed._problem import IntArray, Leaves, Problem, Tests

# Boxes listed for one row and class, and steps taken to find them.
MAX_PER_ROW = 20_000
MAX_STEPS = 4_000_000
# Leaves kept for all boxes of all rows together: 4 bytes each.
MAX_ENTRIES = 100_000_000


class Rows(NamedTuple):
    """The possibilities of all rows, one row after the other.

    Attributes
    ----------
    first : (rows + 1,) int array
        Where each row's possibilities begin.
    label : (possibilities,) int array
        Their classes.
    leaf : int array
        Their leaves, one per tree that drew the row: of row i's j-th possibility
        ``leaf[entry[i] + j * k : entry[i] + (j + 1) * k]``, k trees having drawn it.
    entry : (rows + 1,) int array
    tree : int array
        The trees that drew each row: ``tree[first_tree[i] : first_tree[i + 1]]``.
    first_tree : (rows + 1,) int array
    """

    first: Any
    label: Any
    leaf: Any
    entry: Any
    tree: Any
    first_tree: Any


@dataclass(frozen=True)
class Possible:
    """Possibilities, and the box of profiles each stands for.

    Attributes
    ----------
    rows : Rows
    box : (possibilities, words) array
    """

    rows: Rows
    box: npt.NDArray[np.uint64]

    @property
    def owner(self) -> IntArray:
        """The row each possibility belongs to."""
        return np.repeat(np.arange(len(self.rows.first) - 1), np.diff(self.rows.first))

    def keep(self, alive: npt.NDArray[np.bool_]) -> Possible:
        """Only the possibilities marked in `alive`."""
        rows = self.rows
        n_trees = np.diff(rows.first_tree)
        owner = self.owner
        width = n_trees[owner]
        leaf = rows.leaf[np.repeat(alive, width)]
        count = np.bincount(owner[alive], minlength=len(n_trees))
        kept = rows._replace(
            first=np.concatenate([[0], np.cumsum(count)]),
            label=rows.label[alive],
            leaf=leaf,
            entry=np.concatenate([[0], np.cumsum(count * n_trees)]),
        )
        return Possible(kept, self.box[alive])


@dataclass(frozen=True)
class Overflow:
    """Why the possibilities could not all be listed: too many, or too little time."""

    reason: str
    late: bool = False


def list_possible(
    problem: Problem, deadline: float, share: float, tell: Callable[[float], None]
) -> Possible | Overflow:
    """All possibilities of all rows, or the first row that has too many.

    Parameters
    ----------
    share : float
        Of the time until `deadline` that may be spent here, counted from the first row on: before
        that, the inner loops may have to be compiled.

    Raises
    ------
    InconsistentModelError
        A row fits nowhere; the message names the row.
    """
    parts = problem.facts.parts
    n_words, n_parts = problem.layout.n_words, len(parts)
    start = problem.layout.everything()[0]
    most = min(MAX_PER_ROW, MAX_ENTRIES // n_parts)
    buffer = np.empty((most, n_parts), dtype=np.int32)
    boxes = np.empty((most, n_words), dtype=np.uint64)
    found: list[tuple[npt.NDArray[np.int32], npt.NDArray[np.uint64], int]] = []
    trees, count, entries, until = [], [], 0, np.inf
    # Every test on the way through all trees may leave its other side for later.
    depth = sum(int(node_depths(p.decisions.low, p.decisions.high).max()) for p in parts)
    stack = (
        np.empty((depth + 1, n_words), dtype=np.uint64),
        np.empty((depth + 1, 2), dtype=np.int64),
    )
    for i in range(problem.n_rows):
        if i % 64 == 0:
            tell(i / problem.n_rows)
        times = np.ascontiguousarray(problem.drawn[:, i])
        own = np.flatnonzero(times)
        trees.append(own)
        before = len(found)
        for c in range(problem.n_classes):
            k, order = list_row(problem, times, c, start, stack, buffer, boxes, MAX_STEPS)
            entries += max(k, 0) * len(own)
            if k < 0 or entries > MAX_ENTRIES:
                return Overflow(f"row {i} could be too many things to list them")
            if time.monotonic() > until:
                return Overflow(f"time ran out after listing what {i} rows could be", late=True)
            if k:
                leaf = buffer[:k, : len(own)][:, np.argsort(order)]
                found.append((leaf.reshape(-1), boxes[:k].copy(), c))
        if i == 0:
            until = time.monotonic() + share * max(0.0, deadline - time.monotonic())
        count.append(sum(len(b) for _, b, _ in found[before:]))
        if not count[-1]:
            raise InconsistentModelError(
                f"row {i} fits into no leaf of its class in every tree that drew it: the "
                "multiplicities are not those of this forest, its counts were altered, or the "
                "schema is too narrow"
            )
    sizes = np.array([len(own) for own in trees])
    rows = Rows(
        np.concatenate([[0], np.cumsum(count)]),
        np.concatenate([np.full(len(b), c) for _, b, c in found]),
        np.concatenate([leaf for leaf, _, _ in found]),
        np.concatenate([[0], np.cumsum(np.array(count) * sizes)]),
        np.concatenate(trees),
        np.concatenate([[0], np.cumsum(sizes)]),
    )
    return Possible(rows, np.concatenate([b for _, b, _ in found]))


def list_row(
    problem: Problem,
    times: npt.NDArray[np.int32],
    c: int,
    start: npt.NDArray[np.uint64],
    stack: tuple[npt.NDArray[np.uint64], IntArray],
    leaf: npt.NDArray[np.int32],
    boxes: npt.NDArray[np.uint64],
    max_steps: int,
) -> tuple[int, npt.NDArray[np.intp]]:
    """List what a row of class `c`, drawn `times` by each tree, can be.

    Fills `leaf` and `boxes`.  Returns how many there are, -1 if too many, and the trees in the
    order of `leaf`'s columns: those that leave the smallest share of their leaves come first.
    """
    own = np.flatnonzero(times)
    telling = _share_left(own, times, c, problem.leaves)
    order = own[np.argsort(telling, kind="stable")]
    found = _list_row(
        order, times, c, problem.tests, problem.leaves, start, stack, leaf, boxes, max_steps
    )
    return int(found), order


@compiled
def has_room(leaves: Leaves, v: int, c: int, times: int) -> bool:
    """Whether a row of class `c`, drawn `times` times, may be in leaf `v`."""
    drawn = leaves.draws[v, c]
    if 0 <= drawn < times:
        return False
    others = leaves.distinct[v] - 1
    if leaves.distinct[v] < 0:
        return True
    rest = leaves.total[v] - times
    return bool(0 <= others <= rest <= others * leaves.most[leaves.tree[v]])


@compiled
def _share_left(own: Any, times: Any, c: int, leaves: Leaves) -> Any:
    """Per tree that drew the row: the share of leaves with room for it."""
    share = np.empty(len(own))
    for k in range(len(own)):
        t = own[k]
        fits = 0
        for v in range(leaves.first[t], leaves.first[t + 1]):
            fits += has_room(leaves, v, c, times[t])
        share[k] = fits / (leaves.first[t + 1] - leaves.first[t])
    return share


@compiled
def _list_row(
    order: Any, times: Any, c: int, tests: Tests, leaves: Leaves, start: Any, stack: Any, out: Any,
    boxes: Any, max_steps: int,
) -> int:  # fmt: skip
    """Fill `out` (leaves) and `boxes`; the number found, or -1 if there are too many."""
    n_words, n_trees = len(start), len(order)
    box_at, at = stack
    if n_trees == 0:
        for w in range(n_words):
            boxes[0, w] = start[w]
        return 1
    path = np.empty(n_trees, np.int32)
    box = np.empty(n_words, np.uint64)
    for w in range(n_words):
        box_at[0, w] = start[w]
    at[0, 0], at[0, 1] = tests.root[order[0]], 0
    top, found, steps = 1, 0, 0
    while top > 0:
        top -= 1
        for w in range(n_words):
            box[w] = box_at[top, w]
        node, k = at[top, 0], at[top, 1]
        while True:
            steps += 1
            v = tests.leaf[node]
            if v >= 0:
                if not has_room(leaves, v, c, times[order[k]]):
                    break
                path[k] = v
                k += 1
                if k == n_trees:
                    if found == len(boxes):
                        return -1
                    for j in range(n_trees):
                        out[found, j] = path[j]
                    for w in range(n_words):
                        boxes[found, w] = box[w]
                    found += 1
                    break
                node = tests.root[order[k]]
                continue
            goes_low, goes_high = False, False
            for j in range(tests.word.shape[1]):
                held = box[tests.word[node, j]] & tests.all_bits[node, j]
                goes_low |= (held & tests.low_bits[node, j]) != 0
                goes_high |= (held & ~tests.low_bits[node, j]) != 0
            if goes_low and goes_high:
                for w in range(n_words):
                    box_at[top, w] = box[w]
                for j in range(tests.word.shape[1]):
                    low = tests.low_bits[node, j]
                    box_at[top, tests.word[node, j]] &= ~low
                    box[tests.word[node, j]] &= ~(tests.all_bits[node, j] & ~low)
                at[top, 0], at[top, 1] = tests.high[node], k
                top += 1
            node = tests.low[node] if goes_low else tests.high[node]
        if steps > max_steps:
            return -1
    return found
