"""The inner loop: draw one attribute of one row again, given everything else.

The energy of a table is the sum over leaves and classes of how far its count is off, plus a
penalty for every node whose threshold is not half way between the two row values next to it.
Given the other attributes of a row, the energy as a function of one attribute is piecewise
constant over its levels, so one walk through the affected trees gives the energy of *every* level
(heat bath).  Only trees that test the attribute on the row's way matter, and in them only what is
below the first such test.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from glassleak._compiled import compiled
from glassleak.reconstruction.mixed._grove import (
    ABOVE,
    BELOW,
    BLOCK,
    COUNTS,
    CUT,
    HIGH,
    LOW,
    MISSING,
)


@compiled
def _uniform(state: Any) -> float:
    """A number in [0, 1): xorshift64*."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return float((x * np.uint64(2685821657736338717)) >> np.uint64(11)) / 9007199254740992.0


@compiled
def _off(below: int, above: int, twice: float, start: int, low: Any, high: Any) -> float:
    """1 if no numbers of these two levels add up to twice the threshold, else 0."""
    if twice != twice:
        return 0.0
    if below < 0 or above < 0:
        return 1.0
    slack = 1e-6 * (1.0 + abs(twice))
    if low[start + below] + low[start + above] > twice + slack:
        return 1.0
    if high[start + below] + high[start + above] < twice - slack:
        return 1.0
    return 0.0


@compiled
def _next_below(counts: Any, start: int, level: int) -> int:
    for j in range(level - 1, -1, -1):
        if counts[start + j] > 0:
            return j
    return -1


@compiled
def _next_above(counts: Any, start: int, level: int, stop: int) -> int:
    for j in range(level + 1, stop):
        if counts[start + j] > 0:
            return j
    return -1


@compiled
def _is_low(node: Any, goes_low: Any, numbers: Any, v: int, level: int) -> bool:
    if level < node[v, CUT]:  # never where levels have no order
        return True
    kind = node[v, MISSING]
    if kind == 0:
        return False
    if kind == 1:  # "missing" comes after all numbers, but goes low here
        return bool(level >= numbers[node[v, BLOCK]])
    return bool(goes_low[node[v, COUNTS] + level])


@compiled
def _drawn(
    energy: Any, weight: Any, n: int, least: float, heat: float, own: int, asked: bool,
    usual: Any, random: Any,
) -> int:  # fmt: skip
    """A level drawn with probability falling with its energy and rising with how usual it is.

    Where the level was `asked` for, the row itself is among those that make it usual, and must not
    hold itself in place.  `weight` is scratch.
    """
    total = 0.0
    for j in range(n):
        gap = (energy[j] - least) / heat
        common = usual[j]
        if asked and j == own:
            common = max(common - 1.0, 0.1)
        weight[j] = math.exp(-gap) * common if gap < 40.0 else 0.0
        total += weight[j]
    mark = _uniform(random) * total
    for j in range(n):
        mark -= weight[j]
        if mark < 0.0:
            return j
    return own


@compiled
def enter(v: int, row: Any, node: Any, twice: Any, goes_low: Any, numbers: Any, counts: Any) -> int:
    """Put a row into the tree below node `v`; returns its leaf."""
    while node[v, BLOCK] >= 0:
        b = node[v, BLOCK]
        level = row[b]
        if twice[v] == twice[v] and level < numbers[b]:
            counts[node[v, COUNTS] + level] += 1
            if level < node[v, CUT]:
                if level > node[v, BELOW]:
                    node[v, BELOW] = level
            elif level < node[v, ABOVE] or node[v, ABOVE] < 0:
                node[v, ABOVE] = level
        v = node[v, LOW] if _is_low(node, goes_low, numbers, v, level) else node[v, HIGH]
    return int(node[v, LOW])


@compiled
def _leave(
    v: int, row: Any, node: Any, twice: Any, goes_low: Any, numbers: Any, counts: Any
) -> None:
    """Take a row out of the tree below node `v`."""
    while node[v, BLOCK] >= 0:
        b = node[v, BLOCK]
        level = row[b]
        if twice[v] == twice[v] and level < numbers[b]:
            at = node[v, COUNTS]
            counts[at + level] -= 1
            if counts[at + level] == 0:
                if level == node[v, BELOW]:
                    node[v, BELOW] = _next_below(counts, at, level)
                elif level == node[v, ABOVE]:
                    node[v, ABOVE] = _next_above(counts, at, level, numbers[b])
        v = node[v, LOW] if _is_low(node, goes_low, numbers, v, level) else node[v, HIGH]


@compiled
def fill(
    x: Any, labels: Any, times: Any, leaf: Any, held: Any, seen: Any, counts: Any, node: Any,
    twice: Any, goes_low: Any, numbers: Any, roots: Any,
) -> None:  # fmt: skip
    """Put every row into its leaf of every tree that counts it."""
    for i in range(len(x)):
        for t in range(len(roots)):
            if times[i, t] == 0:
                continue
            v = enter(roots[t], x[i], node, twice, goes_low, numbers, counts)
            leaf[i, t] = v
            held[v, labels[i]] += times[i, t]
            if len(seen):
                seen[v] += 1


@compiled
def sweep(
    order: Any, heat: float, half_way: float, wanted: Any, x: Any, labels: Any, leaf: Any,
    held: Any, seen: Any, times: Any, kind: Any, term: Any, seen_kind: Any, seen_term: Any,
    counts: Any, node: Any, twice: Any, goes_low: Any, first: Any, sizes: Any, numbers: Any,
    ordered: Any, starts: Any, low: Any, high: Any, depth: int, usual: Any, barred: Any,
    random: Any,
) -> int:  # fmt: skip
    """Draw the (row, attribute) pairs of `order` again at temperature `heat`.

    Where `barred` has lines, levels marked in a row's line are not taken.

    Where `wanted` has lines, nothing is drawn: of the levels of least energy the one nearest to
    the wanted level is taken.

    Returns
    -------
    int
        How many changed.
    """
    n_trees, n_axes = leaf.shape[1], len(sizes)
    widest = 0
    for k in sizes:
        widest = max(widest, k)
    run = np.zeros(widest + 1)  # differences between neighbouring levels
    single = np.zeros(widest)  # what concerns one level
    member = np.zeros(widest, np.int32)  # levels of an attribute without order, regrouped
    at_node = np.zeros(depth + 2, np.int32)
    at_from, at_to = np.zeros(depth + 2, np.int32), np.zeros(depth + 2, np.int32)
    at_missing, at_own = np.zeros(depth + 2, np.bool_), np.zeros(depth + 2, np.bool_)
    at_cost = np.zeros(depth + 2)
    changed = 0
    distinct = len(seen) > 0
    for step in order:
        i, b = step // n_axes, step % n_axes
        k = sizes[b]
        if k < 2:
            continue
        row, label = x[i], labels[i]
        own = row[b]
        in_order = ordered[b]
        n = numbers[b] if in_order else k
        for j in range(k):
            run[j] = 0.0
            single[j] = 0.0
        run[k] = 0.0
        asked = False
        for t in range(n_trees):
            weight = times[i, t]
            if weight == 0:
                continue
            start = first[leaf[i, t], b]
            if start < 0:
                continue
            asked = True
            if not in_order:
                for j in range(k):
                    member[j] = j
            top = 0
            at_node[0], at_from[0], at_to[0], at_cost[0] = start, 0, n, 0.0
            at_missing[0], at_own[0] = in_order and n < k, True
            while top >= 0:
                v, begin, end, cost = at_node[top], at_from[top], at_to[top], at_cost[top]
                missing, is_own = at_missing[top], at_own[top]
                top -= 1
                while node[v, BLOCK] >= 0:
                    c = node[v, BLOCK]
                    cut = node[v, CUT]
                    double = twice[v]
                    checks = half_way > 0.0 and double == double
                    if checks:
                        below, above = node[v, BELOW], node[v, ABOVE]
                        if is_own and row[c] < numbers[c]:
                            at = node[v, COUNTS]
                            if counts[at + row[c]] == 1:  # the row itself is taken away first
                                if row[c] == below:
                                    below = _next_below(counts, at, below)
                                elif row[c] == above:
                                    above = _next_above(counts, at, above, numbers[c])
                    if c != b:
                        level = row[c]
                        goes = _is_low(node, goes_low, numbers, v, level)
                        if checks and level < numbers[c]:
                            if level < cut:
                                if level > below:
                                    cost += half_way * (
                                        _off(level, above, double, starts[c], low, high)
                                        - _off(below, above, double, starts[c], low, high)
                                    )
                            elif level < above or above < 0:
                                cost += half_way * (
                                    _off(below, level, double, starts[c], low, high)
                                    - _off(below, above, double, starts[c], low, high)
                                )
                        v = node[v, LOW] if goes else node[v, HIGH]
                        continue
                    own_low = _is_low(node, goes_low, numbers, v, own)
                    if not in_order:
                        line = node[v, COUNTS]
                        middle = begin
                        for j in range(begin, end):
                            if goes_low[line + member[j]]:
                                member[j], member[middle] = member[middle], member[j]
                                middle += 1
                        low_missing = high_missing = False
                    else:
                        middle = min(max(cut, begin), end)
                        low_missing = missing and node[v, MISSING] == 1
                        high_missing = missing and not low_missing
                        if checks:
                            now = _off(below, above, double, starts[c], low, high)
                            for j in range(max(begin, below + 1), middle):
                                single[j] += half_way * (
                                    _off(j, above, double, starts[c], low, high) - now
                                )
                            for j in range(middle, min(end, above) if above >= 0 else end):
                                single[j] += half_way * (
                                    _off(below, j, double, starts[c], low, high) - now
                                )
                    to_low = middle > begin or low_missing
                    to_high = end > middle or high_missing
                    if to_low and to_high:
                        top += 1
                        at_node[top], at_from[top], at_to[top] = node[v, HIGH], middle, end
                        at_cost[top], at_missing[top] = cost, high_missing
                        at_own[top] = is_own and not own_low
                    if to_low:
                        v, end, missing = node[v, LOW], middle, low_missing
                        is_own = is_own and own_low
                    else:
                        v, begin, missing = node[v, HIGH], middle, high_missing
                        is_own = is_own and not own_low
                reached = node[v, LOW]
                now_held = held[reached, label] - (weight if is_own else 0)
                which = kind[reached, label]
                cost += term[which, now_held + weight] - term[which, now_held]
                if distinct:
                    now_seen = seen[reached] - (1 if is_own else 0)
                    which = seen_kind[reached]
                    cost += seen_term[which, now_seen + 1] - seen_term[which, now_seen]
                if in_order:
                    run[begin] += cost
                    run[end] -= cost
                    if missing:
                        single[k - 1] += cost
                else:
                    for j in range(begin, end):
                        single[member[j]] += cost
        if in_order:
            total = 0.0
            for j in range(n):
                total += run[j]
                single[j] += total
        if len(barred):
            for j in range(k):
                if barred[i, starts[b] + j] and j != own:
                    single[j] = 1e30
        least = single[0]
        for j in range(1, k):
            least = min(least, single[j])
        chosen = own
        if len(wanted):
            away = k if single[own] > least + 1e-9 else abs(own - wanted[i, b])
            for j in range(k):
                if single[j] <= least + 1e-9 and abs(j - wanted[i, b]) < away:
                    chosen, away = j, abs(j - wanted[i, b])
        else:
            chosen = _drawn(
                single, run, k, least, heat, own, asked, usual[label, starts[b] : starts[b] + k],
                random,
            )  # fmt: skip
        if chosen == own:
            continue
        changed += 1
        # The first test of the attribute on the way is the same for the old value and the new.
        for t in range(n_trees):
            weight = times[i, t]
            if weight == 0:
                continue
            start = first[leaf[i, t], b]
            if start >= 0:
                _leave(start, row, node, twice, goes_low, numbers, counts)
                row[b] = chosen
                reached = enter(start, row, node, twice, goes_low, numbers, counts)
                row[b] = own
                held[leaf[i, t], label] -= weight
                held[reached, label] += weight
                if distinct:
                    seen[leaf[i, t]] -= 1
                    seen[reached] += 1
                leaf[i, t] = reached
        row[b] = chosen
    return changed


@compiled
def nodes_off(node: Any, twice: Any, starts: Any, low: Any, high: Any) -> int:
    """Nodes whose threshold is not half way between the rows next to it."""
    total = 0
    for v in range(len(node)):
        if node[v, BLOCK] >= 0:
            total += int(
                _off(node[v, BELOW], node[v, ABOVE], twice[v], starts[node[v, BLOCK]], low, high)
            )
    return total
