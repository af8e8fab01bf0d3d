"""Change one cell at a time, and grow the trees again that drew its row."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glassleak._compiled import compiled
from glassleak.reconstruction.training._gate import Settings
from glassleak.reconstruction.training._grove import Grove
from glassleak.reconstruction.training._options import Options
from glassleak.reconstruction.training._replay import (
    MOVED,
    NOTHING,
    Facts,
    facts_of,
    look_at,
    replay_tree,
    workspace,
)


class Table(NamedTuple):
    """A table under way.

    Attributes
    ----------
    value : (columns, rows) float32 array
    label : (rows,) int array
    facts : Facts
    choice : (cells,) int array
        The option every open cell holds.
    cost : (trees,) float array
        Sum of the penalties of each tree's nodes.
    found : (nodes,) int8 array
        Of the last growth; not kept up when a change is undone.
    """

    value: Any
    label: Any
    facts: Any
    choice: Any
    cost: Any
    found: Any


class Reach(NamedTuple):
    """Nodes every row reaches where a split was looked for: ``node[first[i] : first[i + 1]]``."""

    node: Any
    tree: Any
    first: Any


def reach_of(grove: Grove, n_rows: int) -> Reach:
    """Nodes by row, tree after tree."""
    nodes = np.flatnonzero(grove.searched)
    sizes = grove.stop[nodes] - grove.start[nodes]
    listed = np.repeat(nodes, sizes)
    offset = np.arange(len(listed)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    row = grove.row[grove.start[listed] + offset]
    order = np.argsort(row, kind="stable")
    tree = np.searchsorted(grove.first, listed, side="right") - 1
    first = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n_rows))])
    return Reach(listed[order], tree[order], first)


def table_of(
    grove: Grove,
    settings: Settings,
    values: npt.NDArray[np.float32],
    labels: npt.NDArray[np.int64],
    n_classes: int,
    options: Options,
    penalty: npt.NDArray[np.float64],
) -> Table:
    """The table to start from; open cells hold one of their options."""
    facts = facts_of(grove, settings, values, labels, n_classes)
    choice = np.zeros(len(options), dtype=np.int64)
    for k in range(len(options)):
        own = options.columns[options.attribute[k]]
        own = own[own >= 0]
        listed = options.value[options.first[k] : options.first[k + 1], : len(own)]
        same = np.flatnonzero((listed == values[options.row[k], own]).all(axis=1))
        if not len(same):
            raise ValueError(f"row {options.row[k]}: the table holds none of the cell's options")
        choice[k] = options.first[k] + same[0]
    table = Table(
        np.ascontiguousarray(values.T), labels, facts, choice, np.zeros(len(grove.state)),
        np.zeros(len(grove.column), dtype=np.int8),
    )  # fmt: skip
    _grow_all(grove, settings, table, penalty)
    return table


def copied(table: Table) -> Table:
    """A table that can be changed without changing this one."""
    parts = [part.copy() for part in table[:2]]
    return Table(*parts, Facts(*[part.copy() for part in table.facts]),
                 *[part.copy() for part in table[3:]])  # fmt: skip


@compiled
def _grow_all(grove: Any, settings: Any, table: Any, penalty: Any) -> None:
    space = workspace(grove, table.facts)
    for t in range(len(grove.state)):
        table.cost[t] = _grow(grove, settings, table, t, space, penalty)


@compiled
def _grow(grove: Any, settings: Any, table: Any, t: int, space: Any, penalty: Any) -> Any:
    nowhere = np.empty((0, 0), np.int32)
    replay_tree(grove, settings, table.facts, t, space, table.found, nowhere)
    cost = 0.0
    for node in range(grove.first[t], grove.first[t + 1]):
        found = table.found[node]
        cost += penalty[found]
        if found not in (NOTHING, MOVED) and not table.facts.there[node]:
            cost += penalty[MOVED]
    return cost


@compiled
def walk(
    grove: Any, settings: Any, reach: Any, options: Any, table: Any, n_classes: int,
    penalty: Any, weight: Any, temperature: float, cells: Any, chance: Any,
) -> Any:  # fmt: skip
    """Propose another option for each of `cells` in turn; returns how many were taken.

    Parameters
    ----------
    weight : (options,) float array
        How welcome each option is by itself, in the unit of the penalties.
    cells, chance : (moves,) and (moves, 2) arrays
        Which cells, and random numbers.
    """
    space = workspace(grove, table.facts)
    most = 1
    for i in range(len(reach.first) - 1):
        most = max(most, reach.first[i + 1] - reach.first[i])
    width = options.columns.shape[1]
    was_constant = np.empty(most * width, np.bool_)
    was_best = np.empty(most * width)
    was_there = np.empty(most * width, np.bool_)
    touched = np.empty(len(grove.state), np.int64)
    was_cost = np.empty(len(grove.state))
    taken = 0
    for move in range(len(cells)):
        cell = cells[move]
        first, count = options.first[cell], options.first[cell + 1] - options.first[cell]
        old = table.choice[cell]
        new = first + int(chance[move, 0] * (count - 1))
        if new >= old:
            new += 1
        row, own = options.row[cell], options.columns[options.attribute[cell]]
        _put(table, options, own, row, new)
        start, stop = reach.first[row], reach.first[row + 1]
        n_touched = at = 0
        for k in range(start, stop):
            node, t = reach.node[k], reach.tree[k]
            for w in range(width):
                column = own[w]
                if column < 0 or options.value[new, w] == options.value[old, w]:
                    continue
                was_constant[at] = table.facts.constant[node, column]
                was_best[at] = table.facts.best[node, column]
                was_there[at] = table.facts.there[node]
                look_at(grove, settings, table.facts, table.value, table.label, n_classes,
                        node, column)  # fmt: skip
                changed = (
                    was_constant[at] != table.facts.constant[node, column]
                    or was_best[at] != table.facts.best[node, column]
                    or was_there[at] != table.facts.there[node]
                )
                at += 1
                if changed and (n_touched == 0 or touched[n_touched - 1] != t):
                    touched[n_touched] = t
                    n_touched += 1
        change = weight[old] - weight[new]
        for k in range(n_touched):
            t = touched[k]
            was_cost[k] = table.cost[t]
            table.cost[t] = _grow(grove, settings, table, t, space, penalty)
            change += table.cost[t] - was_cost[k]
        if change <= 0.0 or chance[move, 1] < np.exp(-change / temperature):
            table.choice[cell] = new
            taken += 1
            continue
        _put(table, options, own, row, old)
        for k in range(n_touched):
            table.cost[touched[k]] = was_cost[k]
        at = 0
        for k in range(start, stop):
            node = reach.node[k]
            for w in range(width):
                column = own[w]
                if column < 0 or options.value[new, w] == options.value[old, w]:
                    continue
                table.facts.constant[node, column] = was_constant[at]
                table.facts.best[node, column] = was_best[at]
                if grove.column[node] == column:
                    table.facts.there[node] = was_there[at]
                at += 1
    return taken


@compiled
def _put(table: Any, options: Any, own: Any, row: int, option: int) -> None:
    for w in range(len(own)):
        if own[w] >= 0:
            table.value[own[w], row] = options.value[option, w]
