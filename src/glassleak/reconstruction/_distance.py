"""How far apart rows are when they are given as classes of levels, and how to pair them.

The same distance as `reconstruction_error` (differing columns; numbers by how far they are off as a
share of their range), but on profiles, so that thousands of tables can be compared.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from glassleak.knowledge import Block, Space
from glassleak.schema import Numeric, Ordinal

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
Profiles = npt.NDArray[np.int32]


class Distances:
    """Distances between profiles of one space."""

    def __init__(self, space: Space) -> None:
        self.between = [_between(block) for block in space.blocks]
        rng = np.random.default_rng(7)
        self._marks = rng.integers(1, 2**63, size=len(space.blocks), dtype=np.uint64) | np.uint64(1)

    def match(self, table: Profiles, other: Profiles) -> tuple[IntArray, float]:
        """For each row of `table` its partner in `other`, at the smallest total distance.

        Equal rows are paired first, which is part of a cheapest pairing (see `match_rows`).
        """
        from scipy.optimize import linear_sum_assignment

        pair = np.full(len(table), -1, dtype=np.int64)
        own, theirs = self._ids(table), self._ids(other)
        by_own, by_theirs = np.argsort(own, kind="stable"), np.argsort(theirs, kind="stable")
        own, theirs = own[by_own], theirs[by_theirs]
        # The i-th of several equal rows is paired with the i-th of the others.
        rank = np.arange(len(own)) - np.searchsorted(own, own)
        at = np.searchsorted(theirs, own) + rank
        equal = (at < np.searchsorted(theirs, own, side="right")).nonzero()[0]
        pair[by_own[equal]] = by_theirs[at[equal]]
        left = np.flatnonzero(pair < 0)
        if not left.size:
            return pair, 0.0
        free = np.setdiff1d(np.arange(len(other)), pair, assume_unique=False)
        apart = np.zeros((len(left), len(free)), dtype=np.float32)
        for b, between in enumerate(self.between):
            apart += between[table[left, b]][:, other[free, b]]
        rows, columns = linear_sum_assignment(apart)
        pair[left[rows]] = free[columns]
        return pair, float(apart[rows, columns].sum())

    def to_partners(self, partners: Profiles) -> list[FloatArray]:
        """Per block (rows, levels): mean distance of each level to what the row's partners have."""
        found = []
        n_samples, n_rows, _ = partners.shape
        for b, between in enumerate(self.between):
            flat = np.arange(n_rows) * len(between) + partners[:, :, b]
            seen = np.bincount(flat.reshape(-1), minlength=n_rows * len(between))
            found.append(seen.reshape(n_rows, -1) @ between.astype(np.float64) / n_samples)
        return found

    def _ids(self, table: Profiles) -> npt.NDArray[np.uint64]:
        """Equal rows have equal ids; that different rows do is as good as impossible."""
        mixed = (table.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)) * self._marks
        mixed ^= mixed >> np.uint64(29)
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(32)
        ids: npt.NDArray[np.uint64] = mixed.sum(axis=1, dtype=np.uint64)
        return ids


def _between(block: Block) -> npt.NDArray[np.float32]:
    """(levels, levels) distances of one attribute."""
    values, attribute = block.values, block.attribute
    if isinstance(attribute, Ordinal | Numeric) and attribute.low != attribute.high:
        gap = np.abs(values[:, 0, None] - values[None, :, 0]) / (attribute.high - attribute.low)
        missing = np.isnan(values[:, 0])
        gap = np.where(missing[:, None] | missing[None, :], 1.0, np.minimum(gap, 1.0))
        gap[np.ix_(missing, missing)] = 0.0
        return gap.astype(np.float32)
    one, other = values[:, None, :], values[None, :, :]
    differs = (one != other) & ~(np.isnan(one) & np.isnan(other))
    apart: npt.NDArray[np.float32] = differs.sum(axis=2).astype(np.float32)
    return apart
