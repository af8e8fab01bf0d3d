"""From the leaves a row stands in to the profiles it can have."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from glassleak.reconstruction.replayed._problem import IntArray, Problem

BoxArray = npt.NDArray[np.uint64]


def boxes_of(problem: Problem, leaf: IntArray) -> BoxArray:
    """The profiles each row can have without leaving its leaves: a box per row.

    Parameters
    ----------
    leaf : (rows, parts) int array
        The leaf of each row in each tree, counted over all trees; only those that drew it matter.
    """
    everything = problem.layout.everything()
    of_leaf = _leaf_boxes(problem, everything[0])
    box = np.repeat(everything, problem.n_rows, axis=0)
    drawn = problem.drawn.T > 0
    for i in np.flatnonzero(drawn.any(axis=1)).tolist():
        box[i] &= np.bitwise_and.reduce(of_leaf[leaf[i, drawn[i]]], axis=0)
    return box


def _leaf_boxes(problem: Problem, everything: BoxArray) -> BoxArray:
    """For every leaf of every tree, the profiles that reach it.

    Leaves that are reached in several ways (nobody is in them) get any one of these.
    """
    tests = problem.tests
    out = np.empty((len(problem.leaves.tree), len(everything)), dtype=np.uint64)
    for root in tests.root.tolist():
        stack = [(root, everything)]
        while stack:
            node, box = stack.pop()
            if tests.leaf[node] >= 0:
                out[tests.leaf[node]] = box
                continue
            low, high = box.copy(), box.copy()
            for k in np.flatnonzero(tests.all_bits[node]).tolist():
                word, goes = tests.word[node, k], tests.low_bits[node, k]
                low[word] &= goes | ~tests.all_bits[node, k]
                high[word] &= ~goes
            stack += [(int(tests.low[node]), low), (int(tests.high[node]), high)]
    return out
