"""Replay a training table through the IR: does the true dataset satisfy what the model says?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import skops.io

import glassleak as gl
from glassleak.models import Exact


def saved(estimator: Any, folder: Path) -> Path:
    path = folder / "model.skops"
    skops.io.dump(estimator, path)
    return path


def trees_of(model: Any) -> tuple[gl.Tree, ...]:
    return model.trees if isinstance(model, gl.Forest) else (model,)


def drawn(model: Any, tree: int, n_rows: int) -> np.ndarray | None:
    """How often each row was drawn for a tree, or None when that is not known."""
    if isinstance(model, gl.Forest):
        if model.bagging.kind == "unknown":
            return None
        return model.bagging.multiplicities_of(tree, n_rows)
    return np.ones(n_rows, dtype=int)


def check_replay(model: Any, table: Any, target: Any) -> int:
    """Compare every leaf with the table; returns how many trees had exact counts."""
    table = np.asarray(table, dtype=np.float64)
    target = np.asarray(target).tolist()
    code = np.array([model.classes.index(label) for label in target])
    exact = 0
    for i, tree in enumerate(trees_of(model)):
        multiplicity = drawn(model, i, len(table))
        exact += isinstance(tree.counts, Exact)
        if multiplicity is None:
            continue
        leaf = tree.apply(table)
        people = np.zeros(tree.n_nodes, dtype=int)
        np.add.at(people, leaf, (multiplicity > 0).astype(int))
        leaves = tree.leaves
        assert tree.distinct_rows is not None
        assert people[leaves].tolist() == tree.distinct_rows[leaves].tolist(), f"tree {i}"
        if isinstance(tree.counts, Exact):
            counts = np.zeros(tree.counts.values.shape, dtype=int)
            np.add.at(counts, (leaf, code), multiplicity)
            assert counts[leaves].tolist() == tree.counts.values[leaves].tolist(), f"tree {i}"
    return exact
