"""Independent pieces of what propagation left open; classes, at least, come apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from glassleak.knowledge import System
from glassleak.reconstruction._propagate import Bounds

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Component:
    """Unknowns that share equations with each other and with nothing else.

    Attributes
    ----------
    unknowns, equations : int arrays
        Their indices in the whole system.
    matrix, target, lower, upper
        The piece itself, with the settled unknowns taken out.
    """

    unknowns: IntArray
    equations: IntArray
    matrix: sp.csr_array
    target: IntArray
    lower: IntArray
    upper: IntArray


def components(system: System, bounds: Bounds) -> list[Component]:
    """The pieces that remain open, largest first."""
    free = np.flatnonzero(~bounds.fixed)
    if not free.size:
        return []
    settled = np.where(bounds.fixed, bounds.lower, 0)
    target = system.target - system.matrix @ settled
    by_unknown = sp.csc_array(system.matrix[:, free])
    rows = _distinct_rows(by_unknown)
    open_matrix = sp.csr_array(sp.csr_array(by_unknown)[rows])
    by_unknown = sp.csc_array(open_matrix)
    coo = sp.coo_array(open_matrix)
    size = len(rows) + len(free)
    graph = sp.coo_array(
        (np.ones(coo.nnz, np.int8), (coo.row, len(rows) + coo.col)), shape=(size, size)
    )
    n_pieces, piece = connected_components(graph, directed=False)
    found = []
    for k in range(n_pieces):
        equations = np.flatnonzero(piece[: len(rows)] == k)
        unknowns = np.flatnonzero(piece[len(rows) :] == k)
        if not unknowns.size:
            continue
        where = free[unknowns]
        found.append(
            Component(
                where,
                rows[equations],
                sp.csr_array(by_unknown[:, unknowns].tocsr()[equations]),
                target[rows[equations]],
                bounds.lower[where],
                bounds.upper[where],
            )
        )
    return sorted(found, key=lambda c: -len(c.unknowns))


def _distinct_rows(matrix: sp.csc_array) -> IntArray:
    """One row of each set of rows over the same unknowns; empty rows are left out.

    Rows over the same unknowns have the same target, or propagation would have found the conflict.
    Rows are told apart by random 64-bit sums: a collision would drop an equation, and the final
    replay against every published count would show it.
    """
    marks = np.random.default_rng(7).integers(1, 2**63, size=matrix.shape[1], dtype=np.uint64)
    sums = np.zeros(matrix.shape[0], dtype=np.uint64)
    np.add.at(sums, matrix.indices, np.repeat(marks, np.diff(matrix.indptr)))
    _, first = np.unique(sums, return_index=True)
    return np.sort(first[sums[first] != 0]).astype(np.int64)
