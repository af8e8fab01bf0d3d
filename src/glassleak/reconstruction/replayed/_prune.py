"""Rule out possibilities by arithmetic alone: what is left to one row is proved.

For every leaf all ways to fill it exactly are followed (dynamic programming over what it has
counted so far).  A place that occurs in none of them is ruled out, and a row without which the leaf
cannot be filled has to be there.  Repeated until nothing changes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak._compiled import compiled
from glassleak.reconstruction.replayed._places import Places
from glassleak.reconstruction.replayed._possible import Rows
from glassleak.reconstruction.replayed._problem import Leaves, Problem
from glassleak.reconstruction.replayed._states import rows_in, states_of

# States of a leaf, and states times rows, beyond which only sums are compared.
MAX_STATES = 20_000
MAX_TABLE = 20_000_000
_WORK = 100_000_000


@dataclass(frozen=True)
class Pruned:
    """What arithmetic leaves possible.

    Attributes
    ----------
    alive : (possibilities,) bool array
    conflict : int
        A leaf that cannot be filled exactly; -1 if there is none.
    finished : bool
        Whether nothing more can be ruled out this way; otherwise time ran out.
    """

    alive: npt.NDArray[np.bool_]
    conflict: int
    finished: bool


def prune(
    problem: Problem, rows: Rows, places: Places, deadline: float, tell: Callable[[float], None]
) -> Pruned:
    """Rule out possibilities until nothing changes, a leaf is in conflict, or time is up."""
    n_leaves = len(problem.leaves.tree)
    alive = np.ones(len(rows.label), dtype=bool)
    support = np.bincount(places.of, minlength=len(places.row))
    choices = np.diff(places.first)
    waiting = np.ones(n_leaves, dtype=bool)
    # Small leaves are cheap and say most.
    queue = np.argsort(problem.leaves.total, kind="stable")
    while len(queue):
        tell(1 - len(queue) / n_leaves)
        conflict = _prune(
            rows, places, problem.leaves, queue, waiting, alive, support, choices, _WORK
        )
        if conflict >= 0:
            return Pruned(alive, int(conflict), True)
        if time.monotonic() > deadline:
            return Pruned(alive, -1, False)
        late = np.flatnonzero(waiting)
        queue = late[np.argsort(problem.leaves.total[late], kind="stable")]
    return Pruned(alive, -1, True)


@compiled
def _prune(
    rows: Rows, places: Places, leaves: Leaves, queue: Any, waiting: Any, alive: Any, support: Any,
    choices: Any, work: int,
) -> Any:  # fmt: skip
    """One pass over `queue`; leaves to look at again are left in `waiting`."""
    done = 0
    for x in range(len(queue)):
        v = queue[x]
        start, stop = places.first_in_leaf[v], places.first_in_leaf[v + 1]
        begins = rows_in(places.in_leaf, places.row, start, stop)
        n_states, weight, digit = states_of(leaves, v, MAX_STATES)
        waiting[v] = False
        if n_states == 0:
            continue
        table = n_states * len(begins)
        if n_states > 0 and table <= MAX_TABLE:
            fits = _exactly(places, leaves, v, begins, support, choices, n_states, weight, digit)
            done += table
        else:
            fits = _by_sums(places, leaves, v, begins, support, choices)
            done += stop - start
        if not fits[-1]:
            return v
        for u in range(len(begins) - 1):
            stays_out = fits[stop - start + u]
            for y in range(begins[u], begins[u + 1]):
                q = places.in_leaf[y]
                if support[q] > 0 and not fits[y - start]:
                    _rule_out(rows, places, q, waiting, alive, support, choices)
            if not stays_out:
                q = places.in_leaf[begins[u]]
                for other in range(places.first[places.slot[q]], places.first[places.slot[q] + 1]):
                    if places.leaf[other] != v and support[other] > 0:
                        _rule_out(rows, places, other, waiting, alive, support, choices)
            if choices[places.slot[places.in_leaf[begins[u]]]] == 0:
                return v
        if done > work:
            return -1
    return -1


@compiled
def _rule_out(
    rows: Rows, places: Places, q: int, waiting: Any, alive: Any, support: Any,
    choices: Any,
) -> None:  # fmt: skip
    """Remove every possibility that has place `q`, and note the leaves this concerns."""
    i = places.row[q]
    k = places.slot[q] - rows.first_tree[i]
    n_trees = rows.first_tree[i + 1] - rows.first_tree[i]
    for j in range(rows.first[i + 1] - rows.first[i]):
        here = rows.entry[i] + j * n_trees
        if not alive[rows.first[i] + j] or places.of[here + k] != q:
            continue
        alive[rows.first[i] + j] = False
        for other in range(n_trees):
            r = places.of[here + other]
            support[r] -= 1
            if support[r] == 0:
                slot = places.slot[r]
                choices[slot] -= 1
                for s in range(places.first[slot], places.first[slot + 1]):
                    waiting[places.leaf[s]] = True


@compiled
def _exactly(
    places: Places, leaves: Leaves, v: int, begins: Any, support: Any, choices: Any, n_states: int,
    weight: Any, digit: Any,
) -> Any:  # fmt: skip
    """For every place in the leaf, and then for every row: can it be in, can it stay out?

    The last entry says whether the leaf can be filled at all.  Sets of states are bits, 64 to the
    word: adding a row is a shift.
    """
    n_rows = len(begins) - 1
    start, stop = begins[0], begins[n_rows]
    n_classes = len(digit)
    fits = np.zeros(stop - start + n_rows + 1, np.bool_)
    room, number = _rooms(places, leaves, v, start, stop, n_states, weight, digit)
    n_words = room.shape[1]
    before = np.zeros((n_rows + 1, n_words), np.uint64)
    before[0, 0] = np.uint64(1)
    free = np.empty(n_rows, np.bool_)
    for u in range(n_rows):
        own = 0
        for y in range(begins[u], begins[u + 1]):
            own += support[places.in_leaf[y]] > 0
        free[u] = own < choices[places.slot[places.in_leaf[begins[u]]]]
        if free[u]:
            _raise_bits(before[u], before[u], 0, before[u + 1])
        for y in range(begins[u], begins[u + 1]):
            q = places.in_leaf[y]
            if support[q] > 0:
                c, times = places.label[q], places.times[q]
                _raise_bits(
                    before[u],
                    room[number[c, times]],
                    times * weight[c] + weight[n_classes],
                    before[u + 1],
                )
    full = n_states - 1
    # States from which the rows still to come can fill the leaf.
    ahead = np.zeros(n_words, np.uint64)
    ahead[full // 64] = np.uint64(1) << np.uint64(full % 64)
    fits[-1] = _meet(before[n_rows], ahead)
    earlier = np.empty(n_words, np.uint64)
    came = np.empty(n_words, np.uint64)
    for u in range(n_rows - 1, -1, -1):
        for w in range(n_words):
            earlier[w] = ahead[w] if free[u] else np.uint64(0)
        fits[stop - start + u] = _meet(before[u], earlier)
        for y in range(begins[u], begins[u + 1]):
            q = places.in_leaf[y]
            if support[q] > 0:
                c, times = places.label[q], places.times[q]
                step = times * weight[c] + weight[n_classes]
                _lower_bits(ahead, room[number[c, times]], step, came)
                fits[y - start] = _meet(before[u], came)
                for w in range(n_words):
                    earlier[w] |= came[w]
        for w in range(n_words):
            ahead[w] = earlier[w]
    return fits


@compiled
def _rooms(
    places: Places, leaves: Leaves, v: int, start: int, stop: int, n_states: int, weight: Any,
    digit: Any,
) -> Any:  # fmt: skip
    """For every class and multiplicity in the leaf: the states that have room for such a row."""
    n_classes = len(digit)
    most = 0
    for y in range(start, stop):
        most = max(most, places.times[places.in_leaf[y]])
    number = np.full((n_classes, most + 1), -1, np.int64)
    n_kinds = 0
    for y in range(start, stop):
        q = places.in_leaf[y]
        if number[places.label[q], places.times[q]] < 0:
            number[places.label[q], places.times[q]] = n_kinds
            n_kinds += 1
    room = np.zeros((n_kinds, (n_states + 63) // 64), np.uint64)
    for c in range(n_classes):
        for times in range(most + 1):
            kind = number[c, times]
            if kind < 0:
                continue
            highest = leaves.draws[v, c] - times if weight[c] > 0 else 0
            # Beyond this the digit of distinct rows would overflow.
            end = n_states - weight[n_classes]
            for s in range(end):
                if digit[c, s] <= highest:
                    room[kind, s // 64] |= np.uint64(1) << np.uint64(s % 64)
    return room, number


@compiled
def _raise_bits(bits: Any, mask: Any, step: int, out: Any) -> None:
    """``out |= (bits & mask) << step``."""
    words, shift = step // 64, np.uint64(step % 64)
    for w in range(len(bits) - 1, words - 1, -1):
        value = (bits[w - words] & mask[w - words]) << shift
        if shift > 0 and w > words:
            value |= (bits[w - words - 1] & mask[w - words - 1]) >> (np.uint64(64) - shift)
        out[w] |= value


@compiled
def _lower_bits(bits: Any, mask: Any, step: int, out: Any) -> None:
    """``out = (bits >> step) & mask``."""
    words, shift = step // 64, np.uint64(step % 64)
    for w in range(len(bits)):
        value = np.uint64(0)
        if w + words < len(bits):
            value = bits[w + words] >> shift
            if shift > 0 and w + words + 1 < len(bits):
                value |= bits[w + words + 1] << (np.uint64(64) - shift)
        out[w] = value & mask[w]


@compiled
def _meet(one: Any, other: Any) -> bool:
    common = np.uint64(0)
    for w in range(len(one)):
        common |= one[w] & other[w]
    return bool(common != 0)


@compiled
def _by_sums(
    places: Places, leaves: Leaves, v: int, begins: Any, support: Any, choices: Any
) -> Any:
    """As `_exactly`, but only by comparing smallest and largest sums with the counts."""
    n_rows = len(begins) - 1
    start, stop = begins[0], begins[n_rows]
    n_classes = leaves.draws.shape[1]
    # Draws of every class, and last the distinct rows: what must be in, and what may be.
    least = np.zeros(n_classes + 1, np.int64)
    most = np.zeros(n_classes + 1, np.int64)
    kinds = np.zeros(n_rows, np.int64)
    free = np.zeros(n_rows, np.bool_)
    for u in range(n_rows):
        own = 0
        for y in range(begins[u], begins[u + 1]):
            q = places.in_leaf[y]
            if support[q] > 0:
                own += 1
                most[places.label[q]] += places.times[q]
        kinds[u] = own
        free[u] = own < choices[places.slot[places.in_leaf[begins[u]]]]
        most[n_classes] += own > 0
        least[n_classes] += not free[u]
        if own == 1 and not free[u]:
            for y in range(begins[u], begins[u + 1]):
                q = places.in_leaf[y]
                if support[q] > 0:
                    least[places.label[q]] += places.times[q]
    goal = np.empty(n_classes + 1, np.int64)
    goal[:n_classes] = leaves.draws[v]
    goal[n_classes] = leaves.distinct[v]
    fits = np.ones(stop - start + n_rows + 1, np.bool_)
    for c in range(n_classes + 1):
        if goal[c] >= 0 and not least[c] <= goal[c] <= most[c]:
            fits[-1] = False
    for u in range(n_rows):
        if kinds[u] == 0:
            continue
        fits[stop - start + u] = free[u]
        for y in range(begins[u], begins[u + 1]):
            q = places.in_leaf[y]
            c, times = places.label[q], places.times[q]
            if support[q] == 0:
                fits[y - start] = False
                continue
            if goal[c] >= 0:
                certain = kinds[u] == 1 and not free[u]
                others = least[c] - times if certain else least[c]
                if others + times > goal[c]:
                    fits[y - start] = False
                if most[c] - times < goal[c] and kinds[u] == 1:
                    fits[stop - start + u] = False
        d = goal[n_classes]
        if d >= 0 and free[u] and least[n_classes] + 1 > d:
            for y in range(begins[u], begins[u + 1]):
                fits[y - start] = False
        if d >= 0 and most[n_classes] - 1 < d:
            fits[stop - start + u] = False
    return fits
