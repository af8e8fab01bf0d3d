"""Find profiles that stand in leaves of high value.

Given the other attributes, the value of a profile as a function of one attribute is piecewise
constant over its levels, so one walk through the affected trees gives the value of *every* level;
see `_sweep`, which does the same for the energy of a whole table.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak._compiled import compiled
from glassleak.reconstruction.mixed._grove import (
    BLOCK,
    COUNTS,
    CUT,
    HIGH,
    LOW,
    MISSING,
    Grove,
)
from glassleak.reconstruction.mixed._sweep import _is_low, _uniform

FloatArray = npt.NDArray[np.float64]


def climb(
    grove: Grove,
    start: npt.NDArray[np.int32],
    label: npt.NDArray[np.int64],
    weight: FloatArray,
    value: FloatArray,
    *,
    heat: float,
    sweeps: int,
    random: npt.NDArray[np.uint64],
) -> tuple[npt.NDArray[np.int32], FloatArray]:
    """From every line of `start`, walk to a profile of high value.

    Parameters
    ----------
    start : (starts, attributes) int array
    label : (starts,) int array
    weight : (starts, trees) float array
        How often each tree counts the row that looks for a place.
    value : (leaves, classes + 1) float array
        What one count more of a class is worth in each leaf; last: one row more.
    heat : float
        Temperature at the beginning; it falls to 0.
    random : (1,) uint64 array
        State of the random numbers, moved on.

    Returns
    -------
    profiles, values
        The best profile on every walk, and what it is worth.
    """
    best = np.array(start, dtype=np.int32, order="C")
    worth = np.zeros(len(best))
    _climb(
        best, worth, np.ascontiguousarray(label), np.ascontiguousarray(weight), value, heat,
        sweeps, random, grove.roots, grove.node, grove.goes_low, grove.first, grove.sizes,
        grove.numbers, grove.ordered, grove.depth,
    )  # fmt: skip
    return best, worth


@compiled
def _find(v: int, row: Any, node: Any, goes_low: Any, numbers: Any) -> int:
    """The leaf below node `v`."""
    while node[v, BLOCK] >= 0:
        low = _is_low(node, goes_low, numbers, v, row[node[v, BLOCK]])
        v = node[v, LOW] if low else node[v, HIGH]
    return int(node[v, LOW])


@compiled
def _levels_worth(
    row: Any, b: int, leaf: Any, label: int, weight: Any, value: Any, out: Any, member: Any,
    at_node: Any, at_from: Any, at_to: Any, at_missing: Any, node: Any, goes_low: Any, first: Any,
    sizes: Any, numbers: Any, ordered: Any,
) -> None:  # fmt: skip
    """Fill `out` with what each level of attribute `b` is worth, up to a constant."""
    k = sizes[b]
    in_order = ordered[b]
    n = numbers[b] if in_order else k
    for j in range(k + 1):
        out[j] = 0.0
    without = 0.0
    last = value.shape[1] - 1
    for t in range(len(leaf)):
        start = first[leaf[t], b]
        if start < 0 or weight[t] == 0.0:
            continue
        if not in_order:
            for j in range(k):
                member[j] = j
        top = 0
        at_node[0], at_from[0], at_to[0], at_missing[0] = start, 0, n, in_order and n < k
        while top >= 0:
            v, begin, end, missing = at_node[top], at_from[top], at_to[top], at_missing[top]
            top -= 1
            while node[v, BLOCK] >= 0:
                c = node[v, BLOCK]
                if c != b:
                    low = _is_low(node, goes_low, numbers, v, row[c])
                    v = node[v, LOW] if low else node[v, HIGH]
                    continue
                low_missing = high_missing = False
                if in_order:
                    middle = min(max(node[v, CUT], begin), end)
                    low_missing = missing and node[v, MISSING] == 1
                    high_missing = missing and not low_missing
                else:
                    line = node[v, COUNTS]
                    middle = begin
                    for j in range(begin, end):
                        if goes_low[line + member[j]]:
                            member[j], member[middle] = member[middle], member[j]
                            middle += 1
                to_low = middle > begin or low_missing
                if to_low and (end > middle or high_missing):
                    top += 1
                    at_node[top], at_from[top], at_to[top] = node[v, HIGH], middle, end
                    at_missing[top] = high_missing
                if to_low:
                    v, end, missing = node[v, LOW], middle, low_missing
                else:
                    v, begin, missing = node[v, HIGH], middle, high_missing
            reached = node[v, LOW]
            worth = weight[t] * value[reached, label] + value[reached, last]
            if not in_order:
                for j in range(begin, end):
                    out[member[j]] += worth
                continue
            out[begin] += worth  # differences between neighbouring levels, summed up below
            out[end] -= worth
            if missing:
                without += worth
    if in_order:
        total = 0.0
        for j in range(n):
            total += out[j]
            out[j] = total
        if n < k:
            out[k - 1] = without


@compiled
def _chosen(out: Any, share: Any, k: int, heat: float, random: Any) -> int:
    """A level, drawn with probability rising with its worth; without heat, one of the best.

    `share` is scratch.
    """
    most = out[0]
    for j in range(1, k):
        most = max(most, out[j])
    total = 0.0
    for j in range(k):
        if j and out[j] == out[j - 1]:  # levels come in runs, and the exponential is dear
            share[j] = share[j - 1]
        else:
            gap = (most - out[j]) / max(heat, 1e-6)
            share[j] = math.exp(-gap) if gap < 40.0 else 0.0
        total += share[j]
    mark = _uniform(random) * total
    last = 0
    for j in range(k):
        if share[j] > 0.0:
            last = j
            mark -= share[j]
            if mark < 0.0:
                break
    return last


@compiled
def _climb(
    best: Any, worth: Any, label: Any, weight: Any, value: Any, heat: float, sweeps: int,
    random: Any, roots: Any, node: Any, goes_low: Any, first: Any, sizes: Any, numbers: Any,
    ordered: Any, depth: int,
) -> None:  # fmt: skip
    """Walk from every line of `best`, and leave the best profile of the walk there."""
    n_axes, n_trees = len(sizes), len(roots)
    widest = 0
    for k in sizes:
        widest = max(widest, k)
    out, share = np.zeros(widest + 1), np.zeros(widest + 1)
    member = np.zeros(widest, np.int32)
    at_node, at_from = np.zeros(depth + 2, np.int32), np.zeros(depth + 2, np.int32)
    at_to, at_missing = np.zeros(depth + 2, np.int32), np.zeros(depth + 2, np.bool_)
    leaf = np.zeros(n_trees, np.int32)
    last = value.shape[1] - 1
    for i in range(len(best)):
        row = best[i].copy()
        now = 0.0
        for t in range(n_trees):
            leaf[t] = _find(roots[t], row, node, goes_low, numbers)
            if weight[i, t] > 0.0:
                now += weight[i, t] * value[leaf[t], label[i]] + value[leaf[t], last]
        worth[i] = now
        for step in range(sweeps * n_axes):
            b = int(_uniform(random) * n_axes)
            if sizes[b] < 2:
                continue
            _levels_worth(
                row, b, leaf, label[i], weight[i], value, out, member, at_node, at_from, at_to,
                at_missing, node, goes_low, first, sizes, numbers, ordered,
            )  # fmt: skip
            # The last sweep is without heat.
            cooled = heat * max(0.0, 1.0 - step / max(1.0, (sweeps - 1.0) * n_axes))
            own, chosen = row[b], _chosen(out, share, sizes[b], cooled, random)
            if chosen == own:
                continue
            now += out[chosen] - out[own]
            row[b] = chosen
            for t in range(n_trees):
                # The first test of the attribute is the same for the old value and the new.
                if first[leaf[t], b] >= 0:
                    leaf[t] = _find(first[leaf[t], b], row, node, goes_low, numbers)
            if now > worth[i] + 1e-9:
                worth[i] = now
                best[i] = row
