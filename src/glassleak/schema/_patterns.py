"""Combinations of zeros and ones that occur, and whether they can be intervals on a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Pattern: TypeAlias = tuple[int, ...]

_FIRST_LOOK = 2_000
# Orders tried before giving up: patterns of real intervals need a few dozen.
_MAX_STEPS = 20_000


def distinct_patterns(block: npt.NDArray[np.uint8], limit: int) -> list[Pattern] | None:
    """Distinct rows of a table of zeros and ones, or ``None`` if there are more than `limit`."""
    for rows in (block[:_FIRST_LOOK], block):
        packed = np.ascontiguousarray(np.packbits(rows, axis=1))
        keys = np.unique(packed.view(f"V{packed.shape[1]}").ravel())
        if len(keys) > limit:
            return None
    bits = keys.view(np.uint8).reshape(len(keys), -1)
    rows = np.unpackbits(bits, axis=1, count=block.shape[1])
    return [tuple(row) for row in rows.tolist()]


def consecutive_order(patterns: Sequence[Pattern]) -> list[int] | None:
    """An order of the patterns in which every column's ones are next to each other.

    Such an order exists for columns that say in which interval a number lies: sort by the number.
    Patterns are placed one by one; a column that has begun and is still to come must be in the
    next one, which leaves few choices.

    Returns
    -------
    list of int or None
        ``None`` if there is no such order, or none was found in a bounded number of steps.
    """
    n_columns = len(patterns[0]) if patterns else 0
    masks = [sum(1 << c for c in range(n_columns) if pattern[c]) for pattern in patterns]
    everything = (1 << len(patterns)) - 1
    holders = [sum(1 << i for i, m in enumerate(masks) if m >> c & 1) for c in range(n_columns)]
    # What matters of an order's beginning is only which patterns are in it.
    tried: set[int] = set()
    stack: list[tuple[int, list[int]]] = [(0, [])]
    while stack:
        placed, order = stack.pop()
        if placed == everything:
            return order
        if placed in tried:
            continue
        tried.add(placed)
        if len(tried) > _MAX_STEPS:
            return None
        must = sum(
            1 << c
            for c, holder in enumerate(holders)
            if holder & placed and holder & ~placed & everything
        )
        if not must:
            # No column spans what is placed and what is not: the rest is a problem of its own,
            # and another order of the beginning would not help it.
            stack.clear()
        stack.extend(
            (placed | 1 << i, [*order, i])
            for i in reversed(range(len(patterns)))
            if not placed >> i & 1 and must & ~masks[i] == 0
        )
    return None
