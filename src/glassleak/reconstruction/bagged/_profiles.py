"""Every profile the forest can tell apart, and the leaf of every tree it falls into."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glassleak.errors import BudgetExhaustedError, ModelTooLargeError
from glassleak.knowledge import Space, profile_space
from glassleak.reconstruction.bagged._evidence import Evidence
from glassleak.schema import Schema

# Profiles times trees, four bytes each: 1.2 GB.
MAX_ENTRIES = 300_000_000
_CHUNK = 65_536


@dataclass(frozen=True)
class Profiles:
    """All combinations of levels, numbered in mixed radix (the first attribute moves slowest).

    Attributes
    ----------
    space : Space
    sizes, strides : int arrays
        Levels per attribute, and how far apart two neighbouring levels are in the numbering.
    leaf : (profiles, trees) int32 array
        Number of the leaf, over all trees.
    """

    space: Space
    sizes: npt.NDArray[np.int64]
    strides: npt.NDArray[np.int64]
    leaf: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.leaf)

    def codes(self, profiles: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        """(profiles, attributes) levels."""
        out: npt.NDArray[np.int32] = ((profiles[:, None] // self.strides) % self.sizes).astype(
            np.int32
        )
        return out

    def values(self, profiles: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Their table in the model's columns."""
        return self.space.values(self.codes(profiles))


def enumerate_profiles(
    evidence: Evidence,
    schema: Schema,
    extra_cuts: Mapping[str, npt.NDArray[np.float64]] | None = None,
    *,
    deadline: float = float("inf"),
) -> Profiles:
    """All profiles of `schema` that the forest tells apart.

    Nothing can be ruled out as it can without bagging: a leaf that shows nobody of a class may
    hold people who were not drawn.

    Parameters
    ----------
    extra_cuts : mapping of column to values, optional
        Values to be told apart beyond what the forest does.

    Raises
    ------
    ModelTooLargeError
        Too many profiles to list.
    BudgetExhaustedError
        The deadline passed first.
    """
    forest = evidence.forest
    head = forest.trees[0]
    cuts = dict(forest.split_evidence().thresholds)
    for column, more in (extra_cuts or {}).items():
        cuts[column] = np.unique(np.concatenate([cuts.get(column, np.empty(0)), more]))
    space = profile_space(schema, forest.columns, cuts, head.precision, head.comparison)
    n_trees = len(forest.trees)
    if space.size * n_trees > MAX_ENTRIES:
        raise ModelTooLargeError(
            f"{space.size:,} distinguishable profiles times {n_trees} trees; at most "
            f"{MAX_ENTRIES:,} are listed when rows were resampled"
        )
    sizes = np.array([len(block) for block in space.blocks], dtype=np.int64)
    strides = np.concatenate([np.cumprod(sizes[::-1])[::-1][1:], [1]]).astype(np.int64)
    leaf = np.empty((space.size, n_trees), dtype=np.int32)
    numbers = [_leaf_numbers(tree.leaves, tree.n_nodes) for tree in forest.trees]
    for start in range(0, space.size, _CHUNK):
        chunk = np.arange(start, min(space.size, start + _CHUNK))
        values = space.values(((chunk[:, None] // strides) % sizes).astype(np.int32))
        for t, tree in enumerate(forest.trees):
            leaf[chunk, t] = numbers[t][tree.apply(values)] + int(evidence.first_leaf[t])
            if time.monotonic() > deadline:
                raise BudgetExhaustedError(
                    f"{space.size:,} profiles could not be sent through the forest in time"
                )
    return Profiles(space, sizes, strides, leaf)


def _leaf_numbers(leaves: npt.NDArray[np.intp], n_nodes: int) -> npt.NDArray[np.int32]:
    number = np.full(n_nodes, -1, dtype=np.int32)
    number[leaves] = np.arange(len(leaves), dtype=np.int32)
    return number
