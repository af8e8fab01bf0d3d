"""Regression trees as classification trees: where many rows share few targets, targets are classes.

Exact wherever every leaf tells its rows: then each leaf publishes how many rows of each target it
holds, which is all that a classification tree publishes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from glassleak.models import Exact, Forest, Tree, node_depths
from glassleak.reconstruction.regression._facts import Facts
from glassleak.reconstruction.regression._values import Shares


def as_classes(model: Forest, facts: Facts, shares: Shares) -> Forest:
    """The same trees with targets for classes."""
    counts = np.zeros((facts.n_leaves, len(shares.values)), dtype=np.int64)
    np.add.at(counts, (shares.leaf, shares.value), shares.drawn)
    classes = tuple(shares.values.tolist())
    trees = tuple(
        _tree(tree, counts[facts.first[t] : facts.first[t + 1]], classes)
        for t, tree in enumerate(model.trees)
    )
    return replace(model, trees=trees)


def _tree(tree: Tree, at_leaves: npt.NDArray[np.int64], classes: tuple[float, ...]) -> Tree:
    counts = np.zeros((tree.n_nodes, len(classes)), dtype=np.int64)
    counts[tree.leaves] = at_leaves
    parent = np.zeros(tree.n_nodes, dtype=np.int64)
    internal = np.flatnonzero(tree.feature >= 0)
    parent[tree.left[internal]] = internal
    parent[tree.right[internal]] = internal
    depth = node_depths(tree.left, tree.right)
    for level in range(int(depth.max()), 0, -1):
        nodes = np.flatnonzero(depth == level)
        np.add.at(counts, parent[nodes], counts[nodes])
    return replace(
        tree, classes=classes, counts=Exact(counts), rows=None, targets=None, spread=None,
    )  # fmt: skip
