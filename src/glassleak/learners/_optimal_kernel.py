"""Depth-first branch and bound over the points no rule has captured yet (compiled).

What earlier rules did matters only through the points they left.  ``f(R, k)`` is the smallest
number of errors on the points R with at most k more rules; it is remembered as an interval
``[low, high]`` for every R met, which subsumes CORELS' permutation bound: all orders, and all sets
of rules, that leave the same R share one entry.  The other bounds of Angelino et al. (2018) used:

* hierarchical objective: errors of the rules placed so far never go away;
* equivalent points: of the rows of one point all but the largest class are wrong in any list;
* one-step lookahead: a rule's own errors plus the floor of the points it leaves, known for every
  next rule from one scan of R, so that most children are never opened;
* support: a rule that captures too few of R, or all of it, is not placed; the last rule is chosen
  by its exact value.

Frames and memory live in arrays the caller owns, so that the search can stop after some work, let
the caller look at the clock, and go on where it was.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from glassleak._compiled import compiled

DONE, PAUSED, FULL = 0, 1, 2
INFINITE = 2**31 - 2
_RULES = 2**20  # more than there are candidates
# Places in Frames.control.
DEPTH, ENTERING, ENTRIES, NODES = 0, 1, 2, 3


class Problem(NamedTuple):
    """captures (points, rules) uint8; counts (points, classes), floor (points) int32; key bits."""

    captures: Any
    counts: Any
    floor: Any
    keys: Any


class Memory(NamedTuple):
    """One entry per set of points; ``index`` is a hash table of entry numbers (-1 is free)."""

    index: Any
    keys: Any
    low: Any
    high: Any
    choice: Any


class Frames(NamedTuple):
    """The path from the first set of points to the one being looked at, one line per depth.

    ``queue`` holds the rules to try as ``bound * 2**20 + rule``, so that sorting it sorts both.
    """

    control: Any
    rows: Any
    n_rows: Any
    queue: Any
    errors: Any
    n_rules: Any
    at: Any
    best: Any
    best_rule: Any
    limit: Any
    entry: Any


@compiled
def key_of(problem: Any, rows: Any, n_rows: int, key: Any) -> None:
    """Write what identifies a set of points: the union of its points' key bits."""
    key[:] = 0
    for i in range(n_rows):
        for w in range(key.shape[0]):
            key[w] |= problem.keys[rows[i], w]


@compiled
def slot_of(memory: Any, key: Any) -> Any:
    """Where in the index the key is, or would be."""
    mask = np.uint64(memory.index.shape[0] - 1)
    mixed = np.uint64(0x9E3779B97F4A7C15)
    for w in range(key.shape[0]):
        mixed ^= key[w]
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(31)
    slot = mixed & mask
    while True:
        entry = memory.index[slot]
        if entry < 0:
            return np.int64(slot)
        same = True
        for w in range(key.shape[0]):
            if memory.keys[entry, w] != key[w]:
                same = False
                break
        if same:
            return np.int64(slot)
        slot = (slot + np.uint64(1)) & mask


@compiled
def reindex(memory: Any, n_entries: int) -> None:
    """Fill an empty index with the entries there are."""
    for entry in range(n_entries):
        memory.index[slot_of(memory, memory.keys[entry])] = entry


@compiled
def scan(problem: Any, rows: Any, n_rows: int, inside: Any, totals: Any) -> None:
    """Rows per class, and unavoidable errors, of `rows` and of what every rule captures of it.

    The last line of `inside` and the last entry of `totals` hold the unavoidable errors.
    """
    n_classes = problem.counts.shape[1]
    n_rules = problem.captures.shape[1]
    inside[:] = 0
    totals[:] = 0
    for i in range(n_rows):
        point = rows[i]
        captured = problem.captures[point]
        for c in range(n_classes + 1):
            weight = problem.counts[point, c] if c < n_classes else problem.floor[point]
            totals[c] += weight
            if weight:
                line = inside[c]
                for r in range(n_rules):
                    line[r] += weight * captured[r]


@compiled
def without(problem: Any, rows: Any, n_rows: int, rule: int, out: Any) -> int:
    """Write the points of `rows` that `rule` does not capture; return how many."""
    kept = 0
    for i in range(n_rows):
        if not problem.captures[rows[i], rule]:
            out[kept] = rows[i]
            kept += 1
    return kept


@compiled
def settle(memory: Any, entry: int, k: int, low: int, high: int, rule: int) -> None:
    """Note ``low <= f(entry, k) <= high``; fewer rules do no better, more rules no worse."""
    for j in range(k + 1):
        if low > memory.low[entry, j]:
            memory.low[entry, j] = low
    for j in range(k, memory.high.shape[1]):
        if high < memory.high[entry, j]:
            memory.high[entry, j] = high
            memory.choice[entry, j] = rule


@compiled
def _back(memory: Any, frames: Any, depth: int, k: int) -> None:
    """Tell the frame at `depth` what its current child (with k rules) is worth."""
    rule = frames.queue[depth, frames.at[depth]] % _RULES
    value = frames.errors[depth, rule] + memory.high[frames.entry[depth + 1], k]
    if value < frames.best[depth]:
        frames.best[depth] = value
        frames.best_rule[depth] = rule


@compiled
def sort(values: Any, size: int) -> None:
    """Sort the first `size` values in place (a shell sort: numpy's takes long to compile)."""
    gap = size // 2
    while gap > 0:
        for i in range(gap, size):
            value = values[i]
            j = i
            while j >= gap and values[j - gap] > value:
                values[j] = values[j - gap]
                j -= gap
            values[j] = value
        gap //= 2


@compiled
def _open(
    problem: Any, memory: Any, frames: Any, depth: int, k: int, least: int, rest: int,
    inside: Any, totals: Any,
) -> None:  # fmt: skip
    """Scan the points of the frame and line up the rules worth trying, best bound first."""
    n_classes = problem.counts.shape[1]
    scan(problem, frames.rows[depth], frames.n_rows[depth], inside, totals)
    entry = frames.entry[depth]
    people = 0
    largest = 0
    for c in range(n_classes):
        people += totals[c]
        largest = max(largest, totals[c])
    floor = totals[n_classes]
    settle(memory, entry, memory.low.shape[1] - 1, floor, INFINITE, -1)
    settle(memory, entry, 0, floor, people - largest, -1)
    best, best_rule = memory.high[entry, k], memory.choice[entry, k]
    found = 0
    for r in range(problem.captures.shape[1]):
        captured = 0
        most = 0
        most_left = 0
        for c in range(n_classes):
            captured += inside[c, r]
            most = max(most, inside[c, r])
            most_left = max(most_left, totals[c] - inside[c, r])
        left = people - captured
        if captured < least or left < rest:
            continue
        errors = captured - most
        value = errors + left - most_left
        if value < best:
            best, best_rule = value, r
        bound = errors + floor - inside[n_classes, r]
        if k > 1 and bound < min(best, frames.limit[depth]):
            frames.queue[depth, found] = bound * _RULES + r
            frames.errors[depth, r] = errors
            found += 1
    sort(frames.queue[depth], found)
    frames.n_rules[depth] = found
    frames.at[depth] = 0
    frames.best[depth] = best
    frames.best_rule[depth] = best_rule


@compiled
def advance(
    problem: Any, memory: Any, frames: Any, length: int, least: int, rest: int, work: int
) -> int:
    """Go on with the search from `frames` for about `work` units; DONE, PAUSED or FULL."""
    control = frames.control
    n_classes = problem.counts.shape[1]
    n_rules = problem.captures.shape[1]
    inside = np.zeros((n_classes + 1, n_rules), dtype=np.int32)
    totals = np.zeros(n_classes + 1, dtype=np.int64)
    key = np.zeros(problem.keys.shape[1], dtype=np.uint64)
    while True:
        depth = control[DEPTH]
        k = length - depth
        if control[ENTERING]:
            if work <= 0:
                return PAUSED
            n_rows = frames.n_rows[depth]
            key_of(problem, frames.rows[depth], n_rows, key)
            slot = slot_of(memory, key)
            entry = memory.index[slot]
            if entry < 0:
                entry = control[ENTRIES]
                if entry == memory.keys.shape[0]:
                    return FULL
                control[ENTRIES] += 1
                memory.index[slot] = entry
                memory.keys[entry] = key
            frames.entry[depth] = entry
            control[ENTERING] = 0
            control[NODES] += 1
            work -= n_rows * problem.keys.shape[1]
            known = memory.low[entry, k]
            if known == memory.high[entry, k] or known >= frames.limit[depth]:
                if depth == 0:
                    return DONE
                control[DEPTH] = depth - 1
                _back(memory, frames, depth - 1, k)
                frames.at[depth - 1] += 1
                continue
            _open(problem, memory, frames, depth, k, least, rest, inside, totals)
            work -= n_rows * n_rules
        at = frames.at[depth]
        aim = min(frames.best[depth], frames.limit[depth])
        if at < frames.n_rules[depth] and frames.queue[depth, at] // _RULES < aim:
            rule = frames.queue[depth, at] % _RULES
            frames.n_rows[depth + 1] = without(
                problem, frames.rows[depth], frames.n_rows[depth], rule, frames.rows[depth + 1]
            )
            frames.limit[depth + 1] = aim - frames.errors[depth, rule]
            control[DEPTH] = depth + 1
            control[ENTERING] = 1
            continue
        # Every last rule has been tried, so that one is known exactly.
        low = frames.best[depth] if k == 1 else aim
        settle(memory, frames.entry[depth], k, low, frames.best[depth], frames.best_rule[depth])
        if depth == 0:
            return DONE
        control[DEPTH] = depth - 1
        _back(memory, frames, depth - 1, k)
        frames.at[depth - 1] += 1


@compiled
def unwind(memory: Any, frames: Any, length: int) -> None:
    """Give up a paused search: note what is known of every set on the path, deepest first."""
    deepest = frames.control[DEPTH] - 1  # the frame below it was about to be entered
    for depth in range(deepest, -1, -1):
        k = length - depth
        at = frames.at[depth]
        low = min(frames.best[depth], frames.limit[depth])
        for i in range(at, frames.n_rules[depth]):
            bound = frames.queue[depth, i] // _RULES
            if i == at and depth < deepest:
                below = memory.low[frames.entry[depth + 1], k - 1]
                bound = max(bound, frames.errors[depth, frames.queue[depth, i] % _RULES] + below)
            low = min(low, bound)
        settle(memory, frames.entry[depth], k, low, frames.best[depth], frames.best_rule[depth])
        if depth > 0:
            _back(memory, frames, depth - 1, k)
