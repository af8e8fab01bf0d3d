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
    return Table(
        table.value.copy(), table.label, Facts(*[part.copy() for part in table.facts]),
        table.choice.copy(), table.cost.copy(), table.found.copy(),
    )  # fmt: skip


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

    Half of the proposals exchange the values of two rows, where both may hold the other's: the
    values of a column are known better than whose they are.

    Parameters
    ----------
    weight : (options,) float array
        How welcome each option is by itself, in the unit of the penalties.
    cells, chance : (moves,) and (moves, 4) arrays
        Which cells, and random numbers.
    """
    space = workspace(grove, table.facts)
    most = 1
    for i in range(len(reach.first) - 1):
        most = max(most, reach.first[i + 1] - reach.first[i])
    log = _Log(
        np.empty((2 * most * options.columns.shape[1], 2), np.int64),
        np.empty(2 * most * options.columns.shape[1], np.bool_),
        np.empty(2 * most * options.columns.shape[1], np.float64),
        np.empty(2 * most * options.columns.shape[1], np.bool_),
        np.zeros(len(grove.state), np.bool_),
        np.empty(len(grove.state), np.float64),
    )
    taken = 0
    for move in range(len(cells)):
        cell = cells[move]
        first, count = options.first[cell], options.first[cell + 1] - options.first[cell]
        old = table.choice[cell]
        new = first + int(chance[move, 0] * (count - 1))
        if new >= old:
            new += 1
        partner, gives = -1, -1
        if chance[move, 2] < 0.5:
            partner, gives = _partner(options, table.choice, cell, old, new, chance[move, 3])
        log.tree[:] = False
        size = _change(grove, settings, reach, options, table, n_classes, cell, new, log, 0)
        change = weight[old] - weight[new]
        if partner >= 0:
            change += weight[table.choice[partner]] - weight[gives]
            kept = table.choice[partner]
            size = _change(
                grove, settings, reach, options, table, n_classes, partner, gives, log, size
            )
        for t in range(len(grove.state)):
            if log.tree[t]:
                log.cost[t] = table.cost[t]
                table.cost[t] = _grow(grove, settings, table, t, space, penalty)
                change += table.cost[t] - log.cost[t]
        if change <= 0.0 or chance[move, 1] < np.exp(-change / temperature):
            taken += 1
            continue
        for t in range(len(grove.state)):
            if log.tree[t]:
                table.cost[t] = log.cost[t]
        # Backwards: a node both rows reach was written down twice.
        for k in range(size - 1, -1, -1):
            node, column = log.place[k, 0], log.place[k, 1]
            table.facts.constant[node, column] = log.constant[k]
            table.facts.best[node, column] = log.best[k]
            if grove.column[node] == column:
                table.facts.there[node] = log.there[k]
        _put(table, options, cell, old)
        if partner >= 0:
            _put(table, options, partner, kept)
    return taken


class _Log(NamedTuple):
    """What a change has overwritten: facts one by one, and the costs of trees."""

    place: Any
    constant: Any
    best: Any
    there: Any
    tree: Any
    cost: Any


@compiled
def _partner(options: Any, choice: Any, cell: int, old: int, new: int, chance: float) -> Any:
    """A cell of the same attribute that holds what `cell` is to hold, and may hold what it has."""
    attribute = options.attribute[cell]
    start = int(chance * len(choice))
    for step in range(len(choice)):
        k = (start + step) % len(choice)
        if options.attribute[k] != attribute or k == cell:
            continue
        if not _same(options.value, choice[k], new):
            continue
        for option in range(options.first[k], options.first[k + 1]):
            if _same(options.value, option, old):
                return k, option
    return -1, -1


@compiled
def _same(value: Any, one: int, other: int) -> Any:
    return bool(np.all(value[one] == value[other]))


@compiled
def _change(
    grove: Any, settings: Any, reach: Any, options: Any, table: Any, n_classes: int,
    cell: int, new: int, log: Any, size: int,
) -> Any:  # fmt: skip
    """Put another option into a cell and work out what that changes; returns the log's size."""
    old = table.choice[cell]
    _put(table, options, cell, new)
    row, own = options.row[cell], options.columns[options.attribute[cell]]
    for k in range(reach.first[row], reach.first[row + 1]):
        node = reach.node[k]
        for w in range(len(own)):
            column = own[w]
            if column < 0 or options.value[new, w] == options.value[old, w]:
                continue
            constant, best = table.facts.constant[node, column], table.facts.best[node, column]
            there = table.facts.there[node]
            look_at(grove, settings, table.facts, table.value, table.label, n_classes,
                    node, column)  # fmt: skip
            if (
                constant != table.facts.constant[node, column]
                or best != table.facts.best[node, column]
                or there != table.facts.there[node]
            ):
                log.place[size, 0], log.place[size, 1] = node, column
                log.constant[size], log.best[size], log.there[size] = constant, best, there
                log.tree[reach.tree[k]] = True
                size += 1
    return size


@compiled
def _put(table: Any, options: Any, cell: int, option: int) -> None:
    row, own = options.row[cell], options.columns[options.attribute[cell]]
    for w in range(len(own)):
        if own[w] >= 0:
            table.value[own[w], row] = options.value[option, w]
    table.choice[cell] = option
