"""Move rows between levels, one attribute at a time, as if the misfit were an energy.

The energy of a table is the sum over all published figures of the square root of what they are
off by: a leaf that is right weighs more than two that are nearly right, which measured far better
than the plain sum.  Given everything else, the energy of every level of one attribute of one row
follows from one pass through the trees that drew the row, so a level is drawn from its exact
distribution at the current temperature.  The cost does not depend on the number of profiles.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from glassleak._compiled import compiled
from glassleak.reconstruction.replayed._levels import (
    BLOCK,
    CUT,
    ENTRY,
    HIGH,
    LOW,
    ORDERED,
    Levels,
)

_ROOTS = np.sqrt(np.arange(4096.0))


class Table(NamedTuple):
    """A table under way, and by how much it misses each published figure.

    Attributes
    ----------
    level : (rows, attributes) int array
    label : (rows,) int array
    allowed : (rows, classes) bool array
        Classes a row can have.
    leaf : int array
        The leaf of each row in each tree that drew it, in the order of `Levels.tree`.
    tested : uint64 array
        The attributes tested on the way there, one bit each.
    draws : (leaves, classes) int array
        Counted minus published.
    distinct : (leaves,) int array
        Likewise.
    says_draws, says_distinct : (leaves,) bool arrays
        Which figures are published.
    """

    level: Any
    label: Any
    allowed: Any
    leaf: Any
    tested: Any
    draws: Any
    distinct: Any
    says_draws: Any
    says_distinct: Any


@compiled
def off(figure: int) -> Any:
    return _ROOTS[min(abs(figure), 4095)]


@compiled
def energy_of(table: Table) -> Any:
    """The sum over all published figures; 0 is an exact table."""
    total = 0.0
    for v in range(len(table.distinct)):
        if table.says_distinct[v]:
            total += off(table.distinct[v])
        if table.says_draws[v]:
            for c in range(table.draws.shape[1]):
                total += off(table.draws[v, c])
    return total


@compiled
def _cost(table: Table, v: int, c: int, times: int) -> Any:
    """What it costs to put a row of class `c` into leaf `v`."""
    cost = 0.0
    if table.says_draws[v]:
        cost += off(table.draws[v, c] + times) - off(table.draws[v, c])
    if table.says_distinct[v]:
        cost += off(table.distinct[v] + 1) - off(table.distinct[v])
    return cost


@compiled
def _step(nodes: Any, goes_low: Any, at: int, level: int) -> Any:
    """The next node for a row with this level of the attribute tested."""
    if level < nodes[at, ORDERED]:
        low = level < nodes[at, CUT]
    else:
        low = goes_low[nodes[at, ENTRY] + level]
    return nodes[at, LOW] if low else nodes[at, HIGH]


@compiled
def _leaf_of(nodes: Any, goes_low: Any, at: int, level: Any) -> Any:
    """The leaf that a row with these levels reaches from a root, and the attributes tested.

    The latter as bits; beyond 64 attributes some share one.
    """
    tested = np.uint64(0)
    while nodes[at, BLOCK] >= 0:
        tested |= np.uint64(1) << np.uint64(nodes[at, BLOCK] % 64)
        at = _step(nodes, goes_low, at, level[nodes[at, BLOCK]])
    return nodes[at, LOW], tested


@compiled
def put(levels: Levels, table: Table, i: int) -> None:
    """Count row `i` where its levels lead."""
    for x in range(levels.first[i], levels.first[i + 1]):
        root = levels.root[levels.tree[x]]
        v, tested = _leaf_of(levels.node, levels.goes_low, root, table.level[i])
        table.leaf[x], table.tested[x] = v, tested
        table.draws[v, table.label[i]] += levels.times[x]
        table.distinct[v] += 1


@compiled
def _follow(
    nodes: Any, goes_low: Any, root: int, own: Any, b: int, ordered: int, n_levels: int,
    table: Table, c: int, times: int, cost: Any, ranges: Any,
) -> None:  # fmt: skip
    """Add to `cost`, for every level of attribute `b`, what its leaf in one tree costs.

    Ordered levels as differences between neighbours, the others as they are.  `own` are the row's
    levels.  Arrays are passed one by one: passing whole tuples in the innermost loop is slow.
    """
    top = 0
    if ordered > 0:
        ranges[0, 0], ranges[0, 1], ranges[0, 2] = root, 0, ordered
        top = 1
    while top > 0:
        top -= 1
        node, start, stop = ranges[top, 0], ranges[top, 1], ranges[top, 2]
        while nodes[node, BLOCK] >= 0:
            at = nodes[node, BLOCK]
            if at != b:
                node = _step(nodes, goes_low, node, own[at])
                continue
            cut = nodes[node, CUT]
            if start < cut < stop:
                ranges[top, 0], ranges[top, 1], ranges[top, 2] = nodes[node, HIGH], cut, stop
                top += 1
                stop = cut
            node = nodes[node, LOW] if start < cut else nodes[node, HIGH]
        here = _cost(table, nodes[node, LOW], c, times)
        cost[start] += here
        cost[stop] -= here
    for level in range(ordered, n_levels):
        node = root
        while nodes[node, BLOCK] >= 0:
            at = nodes[node, BLOCK]
            node = _step(nodes, goes_low, node, level if at == b else own[at])
        cost[level + 1] += _cost(table, nodes[node, LOW], c, times)


@compiled
def stir(
    levels: Levels, table: Table, temperature: float, rows: Any, blocks: Any, luck: Any,
    ranges: Any,
) -> None:  # fmt: skip
    """Draw a new level (and class, where it is open) for each of the given rows and attributes."""
    n_classes = table.draws.shape[1]
    nodes, goes_low = levels.node, levels.goes_low
    most = 1
    for b in range(len(levels.n_levels)):
        most = max(most, levels.n_levels[b])
    cost = np.zeros((n_classes, most + 2))
    touched = np.zeros(levels.root.shape[0], np.bool_)
    one = np.uint64(1)
    for k in range(len(rows)):
        i, b = rows[k], blocks[k]
        n_levels, ordered = levels.n_levels[b], levels.n_ordered[b]
        start, bit = levels.first[i], np.uint64(b % 64)
        n_open = 0
        for c in range(n_classes):
            n_open += table.allowed[i, c]
        if n_levels < 2 and n_open < 2:
            continue
        for c in range(n_classes):
            for u in range(n_levels + 2):
                cost[c, u] = 0.0
        for x in range(levels.first[i], levels.first[i + 1]):
            # Trees that do not look at the attribute on the row's way do not care, unless the
            # class may change.
            touched[x - start] = n_open > 1 or (table.tested[x] >> bit) & one != 0
            if not touched[x - start]:
                continue
            v = table.leaf[x]
            table.draws[v, table.label[i]] -= levels.times[x]
            table.distinct[v] -= 1
            for c in range(n_classes):
                if table.allowed[i, c]:
                    _follow(
                        nodes, goes_low, levels.root[levels.tree[x]], table.level[i], b, ordered,
                        n_levels, table, c, levels.times[x], cost[c], ranges,
                    )  # fmt: skip
        c, level = _draw(
            cost, table.allowed[i], ordered, n_levels, temperature, luck[k], table.label[i],
            table.level[i, b],
        )  # fmt: skip
        moved = level != table.level[i, b]
        table.label[i], table.level[i, b] = c, level
        for x in range(levels.first[i], levels.first[i + 1]):
            if not touched[x - start]:
                continue
            if moved:
                root = levels.root[levels.tree[x]]
                v, tested = _leaf_of(nodes, goes_low, root, table.level[i])
                table.leaf[x], table.tested[x] = v, tested
            v = table.leaf[x]
            table.draws[v, c] += levels.times[x]
            table.distinct[v] += 1


@compiled
def _draw(
    cost: Any, allowed: Any, ordered: int, n_levels: int, temperature: float, luck: float,
    label: int, level: int,
) -> Any:  # fmt: skip
    """A class and a level, the cheaper the likelier.

    Position u of `cost` holds differences for ordered levels; level u of the others is at u + 1.
    """
    best = np.inf
    for c in range(len(allowed)):
        if not allowed[c]:
            continue
        running = 0.0
        for u in range(n_levels):
            if u < ordered:
                running += cost[c, u]
                cost[c, u] = running
            else:
                cost[c, u] = cost[c, u + 1]
            best = min(best, cost[c, u])
    total = 0.0
    for c in range(len(allowed)):
        if allowed[c]:
            for u in range(n_levels):
                cost[c, u] = np.exp((best - cost[c, u]) / temperature)
                total += cost[c, u]
    luck *= total
    for c in range(len(allowed)):
        if allowed[c]:
            for u in range(n_levels):
                luck -= cost[c, u]
                if luck <= 0.0:
                    return c, u
    return label, level
