"""Regression trees as classification trees: where many rows share few targets, targets are classes.

Exact wherever every leaf tells its rows: then each leaf publishes how many rows of each target it
holds, which is all that a classification tree publishes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from glassleak.models import Exact, Forest, Tree
from glassleak.reconstruction.regression._facts import Facts, IntArray
from glassleak.reconstruction.regression._values import Shares


def as_classes(
    model: Tree | Forest, facts: Facts, shares: Shares, chosen: IntArray | None = None
) -> Tree | Forest:
    """The same trees with targets for classes.

    Parameters
    ----------
    chosen : int array, optional
        Only the rows with these targets; without bagging other rows say nothing about them.
    """
    wanted = np.arange(len(shares.values)) if chosen is None else chosen
    number = np.full(len(shares.values), -1, dtype=np.int64)
    number[wanted] = np.arange(len(wanted))
    counts = np.zeros((facts.n_leaves, len(wanted)), dtype=np.int64)
    own = number[shares.value] >= 0
    np.add.at(counts, (shares.leaf[own], number[shares.value[own]]), shares.drawn[own])
    classes = tuple(float(v) for v in shares.values[wanted])
    trees = model.trees if isinstance(model, Forest) else (model,)
    out = tuple(
        _tree(tree, counts[facts.first[t] : facts.first[t + 1]], classes, chosen is None)
        for t, tree in enumerate(trees)
    )
    if isinstance(model, Tree):
        return replace(out[0], provenance=model.provenance)
    return replace(model, trees=out, n_rows=model.n_rows if chosen is None else out[0].n_rows)


def _tree(
    tree: Tree, at_leaves: npt.NDArray[np.int64], classes: tuple[float, ...], everybody: bool
) -> Tree:
    counts = np.zeros((tree.n_nodes, len(classes)), dtype=np.int64)
    counts[tree.leaves] = at_leaves
    parent = np.zeros(tree.n_nodes, dtype=np.int64)
    internal = np.flatnonzero(tree.feature >= 0)
    parent[tree.left[internal]] = internal
    parent[tree.right[internal]] = internal
    # Children come after their parents in scikit-learn's numbering, but not in any tree's.
    from glassleak.models import node_depths

    depth = node_depths(tree.left, tree.right)
    for level in range(int(depth.max()), 0, -1):
        nodes = np.flatnonzero(depth == level)
        np.add.at(counts, parent[nodes], counts[nodes])
    return replace(
        tree, classes=classes, counts=Exact(counts), rows=None, targets=None, spread=None,
        distinct_rows=tree.distinct_rows if everybody else None,
        n_rows=tree.n_rows if everybody else int(counts[0].sum()),
    )  # fmt: skip
