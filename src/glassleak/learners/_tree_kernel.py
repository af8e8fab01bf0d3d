"""Depth-first branch and bound for optimal trees over sets of distinct rows (compiled).

``f(R, d)``, the smallest cost of a tree of depth d on the points R, is remembered as an interval
for every R met: all paths of splits that select the same points share one entry.  A split is opened
only if what is known of its two sides leaves room for a better tree; trees of depth two and less
are solved at once.  As in `_optimal_kernel`, everything lives in arrays the caller owns, so that
the search can pause.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from glassleak._compiled import compiled
from glassleak.learners._optimal_kernel import (
    DEPTH,
    DONE,
    ENTERING,
    ENTRIES,
    FULL,
    NODES,
    PAUSED,
    key_of,
    scan,
    settle,
    slot_of,
    sort,
)

_LITERALS = 2**20  # more than there are
# What a frame waits for.
_NOTHING, _LOW, _HIGH = 0, 1, 2


class TreeFrames(NamedTuple):
    """The path from the root to the set of points being looked at, one line per depth.

    ``queue`` holds the splits to try as ``errors * 2**20 + literal``: errors with two leaves, which
    says little about deeper trees but finds good ones early.
    """

    control: Any
    rows: Any
    n_rows: Any
    queue: Any
    n_splits: Any
    at: Any
    waiting: Any
    floor: Any
    side: Any
    best: Any
    best_split: Any
    limit: Any
    entry: Any


@compiled
def one_split(problem: Any, rows: Any, n_rows: int, least: int, price: float) -> Any:
    """The smallest cost with at most one split, and its literal (-1 for none)."""
    n_literals = problem.captures.shape[1]
    n_classes = problem.counts.shape[1]
    inside = np.zeros((n_classes + 1, n_literals), dtype=np.int32)
    totals = np.zeros(n_classes + 1, dtype=np.int64)
    scan(problem, rows, n_rows, inside, totals)
    people = 0
    largest = 0
    for c in range(n_classes):
        people += totals[c]
        largest = max(largest, totals[c])
    best = float(people - largest)
    chosen = -1
    for j in range(n_literals):
        captured = 0
        most = 0
        most_left = 0
        for c in range(n_classes):
            captured += inside[c, j]
            most = max(most, inside[c, j])
            most_left = max(most_left, totals[c] - inside[c, j])
        if captured >= least and people - captured >= least:
            value = people - most - most_left + price
            if value < best:
                best, chosen = value, j
    return best, chosen


@compiled
def divide(problem: Any, rows: Any, n_rows: int, literal: int, holds: bool, out: Any) -> Any:
    """Write the points for which a literal holds (or does not); how many points and rows."""
    kept = 0
    people = 0
    for i in range(n_rows):
        if (problem.captures[rows[i], literal] != 0) == holds:
            out[kept] = rows[i]
            kept += 1
            for c in range(problem.counts.shape[1]):
                people += problem.counts[rows[i], c]
    return kept, people


@compiled
def _people(problem: Any, rows: Any, n_rows: int) -> int:
    people = 0
    for i in range(n_rows):
        for c in range(problem.counts.shape[1]):
            people += problem.counts[rows[i], c]
    return people


@compiled
def two_levels(problem: Any, rows: Any, n_rows: int, least: int, price: float) -> Any:
    """The smallest cost of a tree of depth two, and the literal at its top (-1 for none)."""
    best, chosen = one_split(problem, rows, n_rows, least, price)
    low = np.zeros(n_rows, dtype=np.int32)
    high = np.zeros(n_rows, dtype=np.int32)
    for j in range(problem.captures.shape[1]):
        n_low, people_low = divide(problem, rows, n_rows, j, False, low)
        n_high, people_high = divide(problem, rows, n_rows, j, True, high)
        if people_low < least or people_high < least:
            continue
        value = price + one_split(problem, low, n_low, least, price)[0]
        if value < best:
            value += one_split(problem, high, n_high, least, price)[0]
            if value < best:
                best, chosen = value, j
    return best, chosen


@compiled
def _open(problem: Any, memory: Any, frames: Any, depth: int, k: int, least: int) -> None:
    """Scan the points of the frame and line up the splits."""
    n_classes = problem.counts.shape[1]
    n_literals = problem.captures.shape[1]
    inside = np.zeros((n_classes + 1, n_literals), dtype=np.int32)
    totals = np.zeros(n_classes + 1, dtype=np.int64)
    scan(problem, frames.rows[depth], frames.n_rows[depth], inside, totals)
    people = 0
    largest = 0
    for c in range(n_classes):
        people += totals[c]
        largest = max(largest, totals[c])
    entry = frames.entry[depth]
    floor = float(totals[n_classes])
    settle(memory, entry, memory.low.shape[1] - 1, floor, np.inf, -1)
    settle(memory, entry, 0, floor, float(people - largest), -1)
    found = 0
    for j in range(n_literals):
        captured = 0
        most = 0
        most_left = 0
        for c in range(n_classes):
            captured += inside[c, j]
            most = max(most, inside[c, j])
            most_left = max(most_left, totals[c] - inside[c, j])
        if captured >= least and people - captured >= least:
            frames.queue[depth, found] = (people - most - most_left) * _LITERALS + j
            found += 1
    sort(frames.queue[depth], found)
    frames.n_splits[depth] = found
    frames.at[depth] = 0
    frames.waiting[depth] = _NOTHING
    frames.floor[depth] = floor
    frames.best[depth] = memory.high[entry, k]
    frames.best_split[depth] = memory.choice[entry, k]


@compiled
def _known_low(problem: Any, memory: Any, rows: Any, n_rows: int, k: int, key: Any) -> Any:
    """A lower bound on ``f(rows, k)`` without looking further."""
    low = 0.0
    for i in range(n_rows):
        low += problem.floor[rows[i]]
    key_of(problem, rows, n_rows, key)
    entry = memory.index[slot_of(memory, key)]
    if entry >= 0:
        low = max(low, memory.low[entry, k])
    return low


@compiled
def advance(
    problem: Any, memory: Any, frames: Any, height: int, least: int, price: float, work: int
) -> int:
    """Go on with the search from `frames` for about `work` units; DONE, PAUSED or FULL."""
    control = frames.control
    n_literals = problem.captures.shape[1]
    key = np.zeros(problem.keys.shape[1], dtype=np.uint64)
    spare = np.zeros(problem.counts.shape[0], dtype=np.int32)
    while True:
        depth = control[DEPTH]
        k = height - depth
        n_rows = frames.n_rows[depth]
        rows = frames.rows[depth]
        finished = False
        if control[ENTERING]:
            if work <= 0:
                return PAUSED
            key_of(problem, rows, n_rows, key)
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
            work -= n_rows
            known = memory.low[entry, k]
            if known == memory.high[entry, k] or known >= frames.limit[depth]:
                finished = True
            else:
                # A tree of depth d has at least d + 1 leaves, so few rows make shallow trees.
                useful = min(k, _people(problem, rows, n_rows) // least - 1)
                if useful <= 2:
                    if useful == 2:
                        value, split = two_levels(problem, rows, n_rows, least, price)
                        work -= n_rows * n_literals * n_literals
                    else:
                        cost = price if useful == 1 else np.inf
                        value, split = one_split(problem, rows, n_rows, least, cost)
                    settle(memory, entry, k, value, np.inf, -1)
                    settle(memory, entry, max(useful, 0), value, value, split)
                    finished = True
                else:
                    _open(problem, memory, frames, depth, k, least)
                    work -= n_rows * n_literals
        if not finished:
            aim = min(frames.best[depth], frames.limit[depth])
            at = frames.at[depth]
            literal = frames.queue[depth, at] % _LITERALS if at < frames.n_splits[depth] else -1
            child = frames.entry[depth + 1]
            if frames.waiting[depth] == _LOW:
                low = memory.low[child, k - 1]
                frames.waiting[depth] = _NOTHING
                if low == memory.high[child, k - 1]:
                    frames.side[depth] = low
                    frames.n_rows[depth + 1] = divide(
                        problem, rows, n_rows, literal, True, frames.rows[depth + 1]
                    )[0]
                    frames.limit[depth + 1] = aim - price - low
                    frames.waiting[depth] = _HIGH
                    control[DEPTH] = depth + 1
                    control[ENTERING] = 1
                else:
                    frames.at[depth] += 1
                continue
            if frames.waiting[depth] == _HIGH:
                if memory.low[child, k - 1] == memory.high[child, k - 1]:
                    value = price + frames.side[depth] + memory.high[child, k - 1]
                    if value < frames.best[depth]:
                        frames.best[depth] = value
                        frames.best_split[depth] = literal
                frames.waiting[depth] = _NOTHING
                frames.at[depth] += 1
                continue
            if literal >= 0 and frames.floor[depth] + price < aim:
                n_high, _ = divide(problem, rows, n_rows, literal, True, spare)
                high = _known_low(problem, memory, spare, n_high, k - 1, key)
                n_low, _ = divide(problem, rows, n_rows, literal, False, frames.rows[depth + 1])
                low = _known_low(problem, memory, frames.rows[depth + 1], n_low, k - 1, key)
                work -= 4 * n_rows
                if price + low + high < aim:
                    frames.n_rows[depth + 1] = n_low
                    frames.limit[depth + 1] = aim - price - high
                    frames.waiting[depth] = _LOW
                    control[DEPTH] = depth + 1
                    control[ENTERING] = 1
                else:
                    frames.at[depth] += 1
                continue
            settle(
                memory, frames.entry[depth], k, aim, frames.best[depth], frames.best_split[depth]
            )
        if depth == 0:
            return DONE
        control[DEPTH] = depth - 1
