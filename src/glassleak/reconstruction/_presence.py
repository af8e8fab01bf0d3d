"""Who must have been there: what the labels of a forest without counts still prove.

Every tree of a forest without bagging saw every person.  A person is therefore in a leaf of each
tree, and where leaves give no share to a class, nobody of that class is in them.  Profiles that
fall into such a leaf in *any* tree are excluded.  And in every leaf is somebody of each class it
gives a share to: if only one profile with that class is not excluded in it, somebody with exactly
that profile was in the training data.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from glassleak.errors import UnsupportedModelError
from glassleak.knowledge import Cells, enumerate_cells, profile_space, published
from glassleak.models import Exact, Forest, Model, Tree, node_depths
from glassleak.schema import Schema


@dataclass(frozen=True)
class Presence:
    """What follows from the labels alone.

    Attributes
    ----------
    possible : int or None
        Profiles that can have occurred at all; ``None`` where values are continuous.
    certain : int
        Combinations of one profile and a class that must have occurred.
    certain_in_part : int
        The same for sets of profiles the model does not tell apart.
    cells : int
        Sets of profiles that are told apart and not excluded.
    table : (certain, columns) float array
        The profiles that must have occurred.
    labels : (certain,) int array
        Their classes, by number.
    seconds : float
    """

    possible: int | None
    certain: int
    certain_in_part: int
    cells: int
    table: npt.NDArray[np.float64]
    labels: npt.NDArray[np.int64]
    seconds: float


def presence(model: Model, schema: Schema, deadline: float = float("inf")) -> Presence:
    """Profiles that must have been in the training data, from shares of leaves without counts.

    Parameters
    ----------
    model : Forest
        Without bagging, with `Tree.shares`.  That a share of 0 means nobody is taken as given: it
        does not if shares were rounded or reduced to the most frequent class.
    schema : Schema
    deadline : float
        As of ``time.monotonic()``.

    Raises
    ------
    UnsupportedModelError
        The model has no shares, or its trees did not see the same people.
    ModelTooLargeError, BudgetExhaustedError
        Too many profiles remain possible, or the time was spent.
    InconsistentModelError
        No profile of a class fits all trees: then shares were not left as they were.
    """
    started = time.monotonic()
    if not isinstance(model, Forest) or model.bagging.kind != "none":
        raise UnsupportedModelError("only for forests in which every tree saw every row")
    facts = published([_somebody(tree) for tree in model.trees])
    facts = replace(facts, class_totals=np.ones_like(facts.class_totals))
    space = profile_space(
        schema, facts.columns, facts.thresholds, facts.precision, facts.comparison
    )
    cells = enumerate_cells(facts, space, deadline=deadline)
    found = np.zeros(cells.allowed.shape, dtype=bool)
    for p, part in enumerate(facts.parts):
        found |= _only_candidates(cells, p, part.counts > 0)
    exact = cells.n_profiles
    single = np.array([n == 1 for n in exact]) if exact is not None else np.zeros(len(cells), bool)
    where, label = np.nonzero(found & single[:, None])
    return Presence(
        None if exact is None else sum(exact),
        len(where),
        int(found[~single].sum()),
        len(cells),
        space.values(cells.profiles[where]),
        label.astype(np.int64),
        time.monotonic() - started,
    )


def _only_candidates(
    cells: Cells, part: int, occupied: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """(cells, classes): whether the cell alone can hold somebody whom a group must hold."""
    group = cells.groups[:, part]
    out = np.zeros(cells.allowed.shape, dtype=bool)
    for c in range(cells.allowed.shape[1]):
        able = np.flatnonzero(cells.allowed[:, c])
        number = np.bincount(group[able], minlength=len(occupied))
        alone = (number == 1) & occupied[:, c]
        out[able[alone[group[able]]], c] = True
    return out


def _somebody(tree: Tree) -> Tree:
    """One person of each class a leaf gives a share to."""
    if tree.shares is None:
        raise UnsupportedModelError("its leaves do not say how likely each class is")
    counts = (tree.shares > 0).astype(np.int64)
    depth = node_depths(tree.left, tree.right)
    inner = np.flatnonzero(tree.feature >= 0)
    for level in range(int(depth.max()) - 1, -1, -1):
        at = inner[depth[inner] == level]
        counts[at] = counts[tree.left[at]] + counts[tree.right[at]]
    return replace(
        tree, counts=Exact(counts), rows=None, distinct_rows=None, n_rows=None, shares=None
    )
