r"""How likely a leaf's figures are, given how many rows of each class lie in it.

With h_c rows of class c in the leaf, n_c draws of them and d distinct rows in all, the number of
ways is

.. math:: \sum_{d_1 + d_2 + \dots = d} \prod_c \binom{h_c}{d_c}\, \frac{d_c!\,S(n_c, d_c)}{n_c!}

(S: Stirling numbers of the second kind), because d_c chosen rows must all appear among n_c draws.
The probability of a tree is the product over its leaves, times a constant; where a leaf holds one
class only, it is the hypergeometric :math:`\binom{h_c}{d}`.  Histograms with fewer rows in a leaf
than were seen there are impossible.  The search meets them on its way, so every missing row costs
a fixed `penalty` instead of infinity.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glassleak._compiled import compiled
from glassleak.reconstruction.bagged._evidence import Evidence

MIXED, COUNTS_ONLY, EMPTY = -1, -2, -3
# Values kept per mixed leaf, and in all.
_LEAST_SLOTS, _MOST_SLOTS, _MOST_KEPT = 256, 4096, 1 << 20
_FAR = -1e300


class Leaves(NamedTuple):
    """The leaves as the compiled code reads them.

    Attributes
    ----------
    draws : (leaves, classes) int32 array
    distinct : int32 array
    kind : int32 array
        The only class drawn in the leaf, or `MIXED`, or `COUNTS_ONLY` (no distinct rows
        published), or `EMPTY`.
    log, log_factorial : float arrays
        ``log[0]`` stands for minus the penalty.
    ways, ways_start : arrays
        ``ways[ways_start[n] + d]`` is the logarithm of d! S(n, d) / n!.
    slot : int32 array
        Where a mixed leaf's values are kept (-1: not mixed).
    penalty : float
    """

    draws: npt.NDArray[np.int32]
    distinct: npt.NDArray[np.int32]
    kind: npt.NDArray[np.int32]
    log: npt.NDArray[np.float64]
    log_factorial: npt.NDArray[np.float64]
    ways: npt.NDArray[np.float64]
    ways_start: npt.NDArray[np.int64]
    slot: npt.NDArray[np.int32]
    penalty: float


class Memory(NamedTuple):
    """Values of mixed leaves computed before, one table per chain."""

    key: npt.NDArray[np.int64]
    value: npt.NDArray[np.float64]


def leaves_of(evidence: Evidence, penalty: float) -> Leaves:
    """Tables for `evidence`; `penalty` per row a leaf lacks."""
    draws, distinct = evidence.draws, evidence.distinct
    present = np.count_nonzero(draws, axis=1)
    kind = np.where(present == 1, np.argmax(draws > 0, axis=1), MIXED)
    kind = np.where(distinct < 0, COUNTS_ONLY, kind)
    kind = np.where(present == 0, EMPTY, kind)
    mixed = kind == MIXED
    slot = np.where(mixed, np.cumsum(mixed) - 1, -1)
    # One row more than there are: the search adds before it removes.
    top = max(evidence.n_rows, int(draws.max(initial=0))) + 2
    log = np.log(np.maximum(np.arange(top), 1e-300))
    log[0] = -penalty
    log_factorial = np.concatenate([[0.0], np.cumsum(log[1:])])
    ways, start = _ways(np.unique(draws[mixed]))
    return Leaves(
        draws.astype(np.int32),
        distinct.astype(np.int32),
        kind.astype(np.int32),
        log,
        log_factorial,
        ways,
        start,
        slot.astype(np.int32),
        float(penalty),
    )


def memory_for(leaves: Leaves) -> Memory:
    """An empty memory."""
    n = int(leaves.slot.max(initial=-1)) + 1
    slots = _LEAST_SLOTS
    while slots < _MOST_SLOTS and 2 * slots * n <= _MOST_KEPT:
        slots *= 2
    return Memory(np.full((n, slots), -1, dtype=np.int64), np.zeros((n, slots)))


def _ways(needed: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """log(d! S(n, d) / n!) for the needed n, one after the other."""
    needed = needed[needed > 0]
    top = int(needed.max(initial=0))
    start = np.full(top + 1, -1, dtype=np.int64)
    start[needed] = np.concatenate([[0], np.cumsum(needed + 1)])[:-1].astype(np.int64)
    out = np.full(int((needed + 1).sum()), -np.inf)
    _fill_ways(out, start, top)
    return out, start


@compiled
def _fill_ways(out: Any, start: Any, top: int) -> None:
    """Row by row: w(n, d) = d (w(n-1, d-1) + w(n-1, d)) / n, in logarithms."""
    row = np.full(top + 1, -np.inf)
    row[0] = 0.0
    for n in range(1, top + 1):
        for d in range(n, 0, -1):
            a, b = row[d - 1], row[d]
            high = max(a, b)
            if high > -np.inf:
                total = high + math.log(math.exp(a - high) + math.exp(b - high))
                row[d] = total + math.log(d) - math.log(n)
        row[0] = -np.inf
        if start[n] >= 0:
            for d in range(n + 1):
                out[start[n] + d] = row[d]


@compiled
def choose(lv: Leaves, h: int, d: int) -> Any:
    """Logarithm of C(h, d) for d <= h."""
    return lv.log_factorial[h] - lv.log_factorial[h - d] - lv.log_factorial[d]


@compiled
def _repaired(lv: Leaves, g: int, held: Any, rows: Any) -> int:
    """Copy the leaf's rows to `rows`, add the fewest that explain its figures; how many."""
    room = 0
    lack = 0
    for c in range(lv.draws.shape[1]):
        n = lv.draws[g, c]
        rows[c] = held[g, c]
        if n > 0 and rows[c] == 0:
            rows[c] = 1
            lack += 1
        room += min(rows[c], n)
    for c in range(lv.draws.shape[1]):
        while room < lv.distinct[g] and rows[c] < lv.draws[g, c]:
            rows[c] += 1
            room += 1
            lack += 1
    return lack


@compiled
def _log_add(a: float, b: float) -> Any:
    """log(e^a + e^b)."""
    high, low = (a, b) if a > b else (b, a)
    if low <= _FAR:
        return high
    return high + math.log1p(math.exp(low - high))


@compiled
def mixed_value(lv: Leaves, g: int, held: Any) -> Any:
    """The leaf's term when several classes were drawn: the split of d summed out."""
    d = lv.distinct[g]
    rows = np.empty(lv.draws.shape[1], np.int64)
    lack = _repaired(lv, g, held, rows)
    last = 0
    for c in range(lv.draws.shape[1]):
        if lv.draws[g, c] > 0:
            last = c
    current = np.full(d + 1, _FAR)
    first = True
    for c in range(last):
        n = lv.draws[g, c]
        if n == 0:
            continue
        at = lv.ways_start[n]
        if first:
            for b in range(1, min(n, d, rows[c]) + 1):
                current[b] = choose(lv, rows[c], b) + lv.ways[at + b]
            first = False
            continue
        following = np.full(d + 1, _FAR)
        for b in range(1, min(n, d, rows[c]) + 1):
            term = choose(lv, rows[c], b) + lv.ways[at + b]
            for a in range(d - b + 1):
                if current[a] > _FAR:
                    following[a + b] = _log_add(following[a + b], current[a] + term)
        current = following
    # Of the last class only the number that completes d is needed.
    n = lv.draws[g, last]
    at = lv.ways_start[n]
    top = min(n, d, rows[last])
    high = _FAR
    for b in range(1, top + 1):
        current[d - b] += choose(lv, rows[last], b) + lv.ways[at + b]
        high = max(high, current[d - b])
    total = 0.0
    for b in range(1, top + 1):
        if current[d - b] > high - 40.0:
            total += math.exp(current[d - b] - high)
    return high + math.log(total) - lv.penalty * lack


@compiled
def leaf_value(lv: Leaves, memory: Memory, g: int, held: Any) -> Any:
    """The leaf's term, up to a constant."""
    kind = lv.kind[g]
    if kind >= 0:
        d = lv.distinct[g]
        x = held[g, kind]
        if x >= d:
            return lv.log_factorial[x] - lv.log_factorial[x - d]
        return lv.log_factorial[d] - lv.penalty * (d - x)
    if kind == EMPTY:
        return 0.0
    if kind == COUNTS_ONLY:
        total = 0.0
        for c in range(lv.draws.shape[1]):
            total += lv.draws[g, c] * lv.log[held[g, c]]
        return total
    key = np.int64(0)
    for c in range(lv.draws.shape[1]):
        if lv.draws[g, c] > 0:
            key = key * 1048583 + held[g, c]
    s = lv.slot[g]
    where = ((key * np.int64(0x1E3779B97F4A7C15)) >> 40) & (memory.key.shape[1] - 1)
    if memory.key[s, where] != key:
        memory.value[s, where] = mixed_value(lv, g, held)
        memory.key[s, where] = key
    return memory.value[s, where]


@compiled
def step_value(lv: Leaves, memory: Memory, g: int, c: int, sign: int, held: Any) -> Any:
    """Change of the leaf's term when one row of class `c` comes (+1) or goes (-1)."""
    if lv.draws[g, c] == 0:
        return 0.0
    kind = lv.kind[g]
    if kind >= 0:
        d = lv.distinct[g]
        x = held[g, c]
        if sign > 0:
            return lv.log[x + 1] - lv.log[x + 1 - d] if x >= d else lv.penalty
        return lv.log[x - d] - lv.log[x] if x > d else -lv.penalty
    if kind == COUNTS_ONLY:
        return lv.draws[g, c] * (lv.log[held[g, c] + sign] - lv.log[held[g, c]])
    before = leaf_value(lv, memory, g, held)
    held[g, c] += sign
    after = leaf_value(lv, memory, g, held)
    held[g, c] -= sign
    return after - before
