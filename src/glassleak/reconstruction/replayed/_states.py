"""What a leaf has counted so far, as one number: a digit per class, and one for distinct rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from glassleak._compiled import compiled
from glassleak.reconstruction.replayed._problem import Leaves

TOO_MANY = -1


@compiled
def states_of(leaves: Leaves, v: int, limit: int) -> Any:
    """Number of states of leaf `v`, the weight of each digit, and the digit of each class.

    States run from 0 (nothing counted) to the full leaf, which is the last one.  Where a count is
    not stated its weight is 0.  The number is `TOO_MANY` beyond `limit`, and 0 if nothing is
    stated.
    """
    n_classes = leaves.draws.shape[1]
    weight = np.zeros(n_classes + 1, np.int64)
    size, stated = 1, False
    for c in range(n_classes):
        if leaves.draws[v, c] >= 0:
            stated = True
            weight[c] = size
            size *= leaves.draws[v, c] + 1
            if size > limit:
                return TOO_MANY, weight, np.zeros((0, 0), np.int32)
    if leaves.distinct[v] >= 0:
        stated = True
        weight[n_classes] = size
        size *= leaves.distinct[v] + 1
    if size > limit:
        return TOO_MANY, weight, np.zeros((0, 0), np.int32)
    if not stated:
        return 0, weight, np.zeros((0, 0), np.int32)
    digit = np.zeros((n_classes, size), np.int32)
    for c in range(n_classes):
        if weight[c] > 0:
            base = leaves.draws[v, c] + 1
            for s in range(size):
                digit[c, s] = s // weight[c] % base
    return size, weight, digit


@compiled
def rows_in(in_leaf: Any, row: Any, start: int, stop: int) -> Any:
    """Where the places of each row begin among ``in_leaf[start:stop]`` (rows ascending)."""
    begins = np.empty(stop - start + 1, np.int64)
    n_rows, previous = 0, -1
    for x in range(start, stop):
        if row[in_leaf[x]] != previous:
            previous = row[in_leaf[x]]
            begins[n_rows] = x
            n_rows += 1
    begins[n_rows] = stop
    return begins[: n_rows + 1]
