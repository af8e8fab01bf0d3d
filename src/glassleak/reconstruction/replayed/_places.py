"""Places: the leaf and class a row may have in one tree; several possibilities share each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from glassleak._compiled import compiled
from glassleak.reconstruction.replayed._possible import Rows
from glassleak.reconstruction.replayed._problem import Problem


class Places(NamedTuple):
    """All places of all rows; those of one row in one tree (a *slot*) stand together.

    Attributes
    ----------
    of : int array
        For every entry of ``Rows.leaf``, its place.
    row, leaf, label, slot : (places,) int arrays
    times : (places,) int array
        How often the tree drew the row.
    first : (slots + 1,) int array
        Where each slot's places begin.
    slot_row, slot_tree : (slots,) int arrays
        The row of each slot, and which of the row's trees it is (0, 1, ...).
    in_leaf, first_in_leaf : int arrays
        The places inside leaf v, rows ascending:
        ``in_leaf[first_in_leaf[v] : first_in_leaf[v + 1]]``.
    in_tree, first_in_tree : int arrays
        The slots of every tree.
    """

    of: Any
    row: Any
    leaf: Any
    label: Any
    slot: Any
    times: Any
    first: Any
    slot_row: Any
    slot_tree: Any
    in_leaf: Any
    first_in_leaf: Any
    in_tree: Any
    first_in_tree: Any


def places_of(problem: Problem, rows: Rows) -> Places:
    """Group the possibilities of every row by place, tree by tree."""
    n_leaves, n_trees = len(problem.leaves.tree), len(problem.facts.parts)
    of, row, leaf, label, slot = _group(rows, n_leaves, problem.n_classes)
    n_slots = len(rows.tree)
    slot_row = np.repeat(np.arange(problem.n_rows), np.diff(rows.first_tree))
    return Places(
        of,
        row,
        leaf,
        label,
        slot,
        problem.drawn[problem.leaves.tree[leaf], row].astype(np.int64),
        np.searchsorted(slot, np.arange(n_slots + 1)),
        slot_row,
        np.arange(n_slots) - rows.first_tree[slot_row],
        np.argsort(leaf, kind="stable"),
        np.concatenate([[0], np.cumsum(np.bincount(leaf, minlength=n_leaves))]),
        np.argsort(rows.tree, kind="stable"),
        np.concatenate([[0], np.cumsum(np.bincount(rows.tree, minlength=n_trees))]),
    )


@compiled
def _group(rows: Rows, n_leaves: int, n_classes: int) -> Any:
    size = len(rows.leaf)
    of = np.empty(size, np.int32)
    row = np.empty(size, np.int32)
    leaf = np.empty(size, np.int32)
    label = np.empty(size, np.int32)
    slot = np.empty(size, np.int32)
    # The place a (leaf, class) had last, and for which slot that was.
    last = np.zeros(n_leaves * n_classes, np.int32)
    when = np.full(n_leaves * n_classes, -1, np.int64)
    found = 0
    for i in range(len(rows.first) - 1):
        k_trees = rows.first_tree[i + 1] - rows.first_tree[i]
        for k in range(k_trees):
            this = rows.first_tree[i] + k
            for j in range(rows.first[i + 1] - rows.first[i]):
                entry = rows.entry[i] + j * k_trees + k
                c = rows.label[rows.first[i] + j]
                key = rows.leaf[entry] * n_classes + c
                if when[key] != this:
                    when[key], last[key] = this, found
                    row[found], leaf[found], label[found] = i, rows.leaf[entry], c
                    slot[found] = this
                    found += 1
                of[entry] = last[key]
    return of, row[:found].copy(), leaf[:found].copy(), label[:found].copy(), slot[:found].copy()
