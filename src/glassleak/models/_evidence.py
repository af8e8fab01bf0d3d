"""Summarise what splits say about columns, for schema inference without data."""

from __future__ import annotations

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
    together = sparse.csr_array((size, size), dtype=np.int64)
    below = np.zeros(size, dtype=np.int64)
    splits = np.zeros(size, dtype=np.int64)
    low_at_leaves: list[npt.NDArray[np.uint8]] = []
    low_at_splits: list[npt.NDArray[np.uint8]] = []
    n_nodes = 0
    budget = min(MAX_NODES, _MAX_CELLS // max(size, 1))
    for tree in trees:
        if n_nodes + tree.n_nodes > budget:
            continue
        n_nodes += tree.n_nodes
        high, low = _path_sets(tree, size)
        internal = np.flatnonzero(tree.feature >= 0)
        ones = np.ones(len(internal), dtype=np.int64)
        position = (np.arange(len(internal)), tree.feature[internal])
        one_hot = sparse.csr_array((ones, position), shape=(len(internal), size))
        together = together + sparse.csr_array(high[internal], dtype=np.int64).T @ one_hot
        below += high[internal].sum(axis=0)
        splits += np.bincount(tree.feature[internal], minlength=size)
        people = tree.people
        reached = np.ones(tree.n_nodes, dtype=bool) if people is None else people > 0
        low_at_leaves.append(np.packbits(low[(tree.feature < 0) & reached], axis=1))
        low_at_splits.append(np.packbits(low[internal], axis=1))
    where = {column: i for i, column in enumerate(columns)}
    return SplitEvidence(
        columns=columns,
        thresholds=thresholds_of(columns, trees),
        together=sparse.csr_array(together),
        below=below,
        splits=splits,
        somebody_without=_AllLow(low_at_leaves, where).anybody,
        splits_without=_AllLow(low_at_splits, where).count,
        n_nodes=n_nodes,
    )


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
            yield flags.all(axis=1)


def _path_sets(tree: Tree, n_columns: int) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """For every node, the columns that are high (low) somewhere on the path to it."""
    high = np.zeros((tree.n_nodes, n_columns), dtype=bool)
    low = np.zeros((tree.n_nodes, n_columns), dtype=bool)
    depth = node_depths(tree.left, tree.right)
    order = np.argsort(depth, kind="stable")
    levels = np.searchsorted(depth[order], np.arange(int(depth.max()) + 2))
    for start, stop in zip(levels[:-1], levels[1:], strict=True):
        nodes = order[start:stop]
        nodes = nodes[tree.feature[nodes] >= 0]
        left, right = tree.left[nodes], tree.right[nodes]
        for child in (left, right):
            high[child], low[child] = high[nodes], low[nodes]
        low[left, tree.feature[nodes]] = True
        high[right, tree.feature[nodes]] = True
    return high, low
