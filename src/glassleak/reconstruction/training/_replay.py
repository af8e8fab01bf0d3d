"""Grow the published trees again: which columns were drawn at every split, and does that fit?

scikit-learn draws columns for a split by shuffling a list that it keeps over the whole tree, with
a small generator (xorshift) seeded from the tree's seed.  The data take part in one way only:
columns found constant among a node's rows are put aside and not drawn below it.  So with a table at
hand the columns looked at can be told for every node, and the published split must be on one of
them, and the best of all.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glassleak._compiled import compiled
from glassleak.reconstruction.training._best import best_split, better
from glassleak.reconstruction.training._gate import Settings
from glassleak.reconstruction.training._grove import Grove

# What is found at a node.
NOTHING, FITS, BEATEN, UNSEEN, UNSPLIT, MOVED = range(6)


class Facts(NamedTuple):
    """What a table says about every node and column.

    Attributes
    ----------
    constant : (nodes, columns) bool array
        Whether the column is constant among the node's rows.
    best : (nodes, columns) float array
        See `best_split`; defined where a split was looked for.
    there : (nodes,) bool array
        Whether the published threshold is half way between two values.
    """

    constant: Any
    best: Any
    there: Any


class Replay(NamedTuple):
    """The trees grown again.

    Attributes
    ----------
    found : (nodes,) int8 array
        ``FITS``; ``BEATEN``: a column was looked at that has a better split; ``UNSEEN``: the
        column of the split was not looked at; ``UNSPLIT``: a leaf that could have been split;
        ``MOVED``: the best split is on the right column, but its threshold is another one;
        ``NOTHING``: no split was looked for.
    seen : (nodes, columns per split) int32 array
        The columns looked at that are not constant, in order; -1 behind the last.
    """

    found: npt.NDArray[np.int8]
    seen: npt.NDArray[np.int32]

    @property
    def in_step(self) -> float:
        """Share of the nodes whose split is on a column that was looked at."""
        searched = self.found != NOTHING
        return float((self.found[searched] != UNSEEN).mean()) if searched.any() else 1.0

    @property
    def fits(self) -> float:
        """Share of the nodes at which the published split follows from the table."""
        searched = self.found != NOTHING
        return float((self.found[searched] == FITS).mean()) if searched.any() else 1.0


def facts_of(
    grove: Grove,
    settings: Settings,
    values: npt.NDArray[np.float32],
    labels: npt.NDArray[np.int64],
    n_classes: int,
) -> Facts:
    """The best split of every node on every column.  Cost: O(rows reaching nodes x columns)."""
    shape = (len(grove.column), values.shape[1])
    facts = Facts(
        np.zeros(shape, dtype=bool), np.full(shape, -np.inf), np.ones(shape[0], dtype=bool)
    )
    _fill_facts(grove, settings, facts, np.asfortranarray(values).T, labels, n_classes)
    return facts


@compiled
def _fill_facts(
    grove: Any, settings: Any, facts: Any, by_column: Any, labels: Any, n_classes: int
) -> None:
    for node in range(len(grove.column)):
        if grove.searched[node]:
            for column in range(len(by_column)):
                look_at(grove, settings, facts, by_column, labels, n_classes, node, column)


@compiled
def look_at(
    grove: Any, settings: Any, facts: Any, by_column: Any, labels: Any, n_classes: int,
    node: int, column: int,
) -> None:  # fmt: skip
    """Work out what the table says about one node and column."""
    start, stop = grove.start[node], grove.stop[node]
    if stop - start < 2:
        facts.constant[node, column], facts.best[node, column] = True, -np.inf
        return
    low = grove.low[node] if grove.column[node] == column else 0
    constant, best, there = best_split(
        grove.row[start:stop], grove.times[start:stop], by_column[column], labels, n_classes,
        settings.entropy, settings.min_samples_leaf, low, grove.worth[node], grove.threshold[node],
    )  # fmt: skip
    facts.constant[node, column], facts.best[node, column] = constant, best
    if low > 0:
        facts.there[node] = there


def replay(grove: Grove, settings: Settings, facts: Facts) -> Replay:
    """Grow every tree again with the columns its seed draws."""
    found = np.zeros(len(grove.column), dtype=np.int8)
    seen = np.full((len(grove.column), settings.max_features), -1, dtype=np.int32)
    _replay_all(grove, settings, facts, found, seen)
    return Replay(found, seen)


@compiled
def _replay_all(grove: Any, settings: Any, facts: Any, found: Any, seen: Any) -> None:
    space = workspace(grove, facts)
    for t in range(len(grove.state)):
        replay_tree(grove, settings, facts, t, space, found, seen)


@compiled
def workspace(grove: Any, facts: Any) -> Any:
    """Memory for `replay_tree`: the list of columns, those put aside, those seen, open nodes."""
    n_columns = facts.constant.shape[1]
    largest = 1
    for t in range(len(grove.state)):
        largest = max(largest, grove.first[t + 1] - grove.first[t])
    return (
        np.empty(n_columns, np.int64),
        np.empty(n_columns, np.int64),
        np.empty(n_columns, np.int64),
        np.empty((largest + 1, 2), np.int64),
    )


@compiled
def replay_tree(
    grove: Any, settings: Any, facts: Any, t: int, space: Any, found: Any, seen: Any
) -> None:
    """Grow tree `t` again: depth first, left first, every split as published.

    Line by line what scikit-learn's splitter does to its list of columns, with `facts` in the
    place of the data.
    """
    columns, aside, visited, stack = space
    n_columns = len(columns)
    for k in range(n_columns):
        columns[k] = k
    state = grove.state[t]
    stack[0, 0], stack[0, 1] = grove.first[t], 0
    top = 1
    while top > 0:
        top -= 1
        node, n_known = stack[top, 0], stack[top, 1]
        n_total = n_known
        if grove.searched[node]:
            n_seen = n_visited = n_new = n_drawn = 0
            end = n_columns
            while end > n_total and (
                n_visited < settings.max_features or n_visited <= n_new + n_drawn
            ):
                n_visited += 1
                if state == 0:
                    state = np.uint32(1)
                state ^= np.uint32(state << np.uint32(13))
                state ^= np.uint32(state >> np.uint32(17))
                state ^= np.uint32(state << np.uint32(5))
                chance = np.int64(state) & np.int64(0x7FFFFFFF)
                j = n_drawn + chance % (end - n_new - n_drawn)
                if j < n_known:
                    columns[n_drawn], columns[j] = columns[j], columns[n_drawn]
                    n_drawn += 1
                    continue
                j += n_new
                column = columns[j]
                if facts.constant[node, column]:
                    columns[j], columns[n_total] = columns[n_total], columns[j]
                    n_new += 1
                    n_total += 1
                    continue
                end -= 1
                columns[end], columns[j] = columns[j], columns[end]
                visited[n_seen] = column
                n_seen += 1
            columns[:n_known] = aside[:n_known]
            aside[n_known:n_total] = columns[n_known:n_total]
            found[node] = _judge(grove, facts, node, visited, n_seen)
            if len(seen):
                seen[node, :n_seen] = visited[:n_seen]
                seen[node, n_seen:] = -1
        if grove.left[node] >= 0:
            stack[top, 0], stack[top, 1] = grove.right[node], n_total
            stack[top + 1, 0], stack[top + 1, 1] = grove.left[node], n_total
            top += 2


@compiled
def _judge(grove: Any, facts: Any, node: int, visited: Any, n_seen: int) -> Any:
    """Whether the published split, or none, is what the columns looked at lead to."""
    own = grove.column[node]
    if own < 0:
        for k in range(n_seen):
            if facts.best[node, visited[k]] > -np.inf:
                return UNSPLIT
        return FITS
    at = -1
    for k in range(n_seen):
        if visited[k] == own:
            at = k
    if at < 0:
        return UNSEEN
    if facts.best[node, own] == np.inf:
        return BEATEN
    for k in range(n_seen):
        if k != at and better(facts.best[node, visited[k]], grove.worth[node], k < at):
            return BEATEN
    return FITS if facts.there[node] else MOVED
