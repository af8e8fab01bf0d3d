"""Summarise what splits say about columns, for schema inference without data."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy import sparse

from glassleak.models._check import node_depths
from glassleak.schema import SplitEvidence

if TYPE_CHECKING:
    from glassleak.models._tree import Tree

# Evidence about exclusions saturates long before this; thresholds are read from every tree.
MAX_NODES = 200_000
# One byte per node and column, twice: wide tables get fewer nodes.
_MAX_CELLS = 50_000_000


def evidence_from_trees(columns: tuple[str, ...], trees: Iterable[Tree]) -> SplitEvidence:
    """See `SplitEvidence`."""
    trees = tuple(trees)
    size = len(columns)
    budget = min(MAX_NODES, _MAX_CELLS // max(size, 1))
    high_rows = np.zeros(size, dtype=np.int64)
    n_nodes = n_rows = smallest_leaf = 0
    found: list[npt.NDArray[np.uint8]] = []
    low_at_leaves: list[npt.NDArray[np.uint8]] = []
    for tree in trees:
        people = tree.people
        internal = np.flatnonzero(tree.feature >= 0)
        if people is not None:
            np.maximum.at(high_rows, tree.feature[internal], people[tree.right[internal]])
            n_rows = max(n_rows, int(people[0]))
            leaf_sizes = people[(tree.feature < 0) & (people > 0)]
            if leaf_sizes.size and (not smallest_leaf or leaf_sizes.min() < smallest_leaf):
                smallest_leaf = int(leaf_sizes.min())
        if n_nodes + tree.n_nodes > budget:
            continue
        n_nodes += tree.n_nodes
        high, low = _path_sets(tree, size)
        found.append(_records(high[internal], low[internal], tree.feature[internal]))
        reached = np.ones(tree.n_nodes, dtype=bool) if people is None else people > 0
        low_at_leaves.append(np.packbits(low[(tree.feature < 0) & reached], axis=1))
    high_bits, low_bits, feature = _distinct(found, size)
    where = {column: i for i, column in enumerate(columns)}
    return SplitEvidence(
        columns=columns,
        thresholds=thresholds_of(columns, trees),
        comparisons=frozenset(tree.comparison for tree in trees),
        together=_together(high_bits, feature, size),
        below=_column_sums(high_bits, size),
        splits=np.bincount(feature, minlength=size),
        again=np.bincount(feature[_bit(high_bits | low_bits, feature)], minlength=size),
        high_rows=high_rows,
        somebody_without=_AllLow(low_at_leaves, where).anybody,
        splits_without=_AllLow([low_bits], where).count,
        smallest_leaf=smallest_leaf,
        n_rows=n_rows,
        n_nodes=n_nodes,
    )


def _records(
    high: npt.NDArray[np.bool_], low: npt.NDArray[np.bool_], feature: npt.NDArray[np.int32]
) -> npt.NDArray[np.uint8]:
    """One line of bytes per split: high columns, low columns, the column split on."""
    number = np.ascontiguousarray(feature, dtype=np.int32).view(np.uint8).reshape(-1, 4)
    return np.hstack([np.packbits(high, axis=1), np.packbits(low, axis=1), number])


def _distinct(
    found: Sequence[npt.NDArray[np.uint8]], size: int
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8], npt.NDArray[np.int32]]:
    """The parts of `_records` without repetitions."""
    width = (size + 7) // 8
    records = np.vstack([np.empty((0, 2 * width + 4), dtype=np.uint8), *found])
    keys = np.unique(records.view(f"V{records.shape[1]}").ravel())
    records = keys.view(np.uint8).reshape(len(keys), 2 * width + 4)
    feature = np.ascontiguousarray(records[:, 2 * width :]).view(np.int32).ravel()
    return records[:, :width], records[:, width : 2 * width], feature


def _together(
    high_bits: npt.NDArray[np.uint8], feature: npt.NDArray[np.int32], size: int
) -> sparse.csr_array:
    n_splits = len(feature)
    ones = np.ones(n_splits, dtype=np.int64)
    split_on = sparse.csr_array((ones, (np.arange(n_splits), feature)), shape=(n_splits, size))
    high = sparse.csr_array(np.unpackbits(high_bits, axis=1, count=size), dtype=np.int64)
    return sparse.csr_array(high.T @ split_on)


def _bit(bits: npt.NDArray[np.uint8], column: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    """For each line, the bit of a column of its own."""
    byte = bits[np.arange(len(bits)), column // 8]
    found: npt.NDArray[np.bool_] = (byte >> (7 - column % 8).astype(np.uint8)) & 1 == 1
    return found


def _column_sums(bits: npt.NDArray[np.uint8], size: int) -> npt.NDArray[np.int64]:
    sums: npt.NDArray[np.int64] = np.unpackbits(bits, axis=1, count=size).sum(0, dtype=np.int64)
    return sums


def thresholds_of(
    columns: tuple[str, ...], trees: Iterable[Tree]
) -> dict[str, npt.NDArray[np.float64]]:
    """Sorted distinct thresholds of every column that is split on."""
    found: dict[int, list[npt.NDArray[np.float64]]] = {}
    for tree in trees:
        internal = np.flatnonzero(tree.feature >= 0)
        order = internal[np.argsort(tree.feature[internal], kind="stable")]
        feature, start = np.unique(tree.feature[order], return_index=True)
        for c, part in zip(feature.tolist(), np.split(order, start[1:]), strict=False):
            found.setdefault(c, []).append(np.unique(tree.threshold[part]))
    return {columns[c]: np.unique(np.concatenate(found[c])) for c in sorted(found)}


@dataclass(frozen=True)
class _AllLow:
    """Nodes at which given columns are all low; one bit per node and column."""

    packed: Sequence[npt.NDArray[np.uint8]]
    where: Mapping[str, int]

    def anybody(self, group: Sequence[str]) -> bool:
        return any(bool(low.any()) for low in self._each(group))

    def count(self, group: Sequence[str]) -> int:
        return sum(int(np.count_nonzero(low)) for low in self._each(group))

    def _each(self, group: Sequence[str]) -> Iterable[npt.NDArray[np.bool_]]:
        index = np.array([self.where[c] for c in group], dtype=np.intp)
        for bits in self.packed:
            flags = (bits[:, index // 8] >> (7 - index % 8).astype(np.uint8)) & 1
            yield flags.sum(axis=1) == len(index)


def _path_sets(tree: Tree, n_columns: int) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """For every node, the columns that are high (low) somewhere on the path to it."""
    high = np.zeros((tree.n_nodes, n_columns), dtype=bool)
    low = np.zeros((tree.n_nodes, n_columns), dtype=bool)
    depth = node_depths(tree.left, tree.right)
    order = np.argsort(depth, kind="stable")
    levels = np.searchsorted(depth[order], np.arange(int(depth.max()) + 2))
    for start, stop in itertools.pairwise(levels.tolist()):
        nodes = order[start:stop]
        nodes = nodes[tree.feature[nodes] >= 0]
        left, right = tree.left[nodes], tree.right[nodes]
        for child in (left, right):
            high[child], low[child] = high[nodes], low[nodes]
        low[left, tree.feature[nodes]] = True
        high[right, tree.feature[nodes]] = True
    return high, low
