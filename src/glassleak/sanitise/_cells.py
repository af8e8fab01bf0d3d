"""Tables on which two versions of a model are compared.

A tree only asks on which side of its thresholds a value lies.  If every column is given one value
between each two neighbouring thresholds of the whole ensemble, all combinations of these values
together are *every* input there is: two models with these thresholds that agree on them agree
everywhere.  Where there are too many combinations a sample of them is drawn, with values right at
and right above thresholds, where disagreements would show first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.knowledge import Space, profile_space
from glassleak.schema import Schema

Float32 = npt.NDArray[np.float32]


def representatives(trees: Sequence[tuple[Any, Any]], n_columns: int) -> list[Float32]:
    """For every column one value from each interval between thresholds; NaN is one of them.

    Parameters
    ----------
    trees : sequence of (tree_, columns)
        Fitted trees, with the columns each saw (``None``: all of them).
    n_columns : int
        Of the table.
    """
    cuts: list[list[npt.NDArray[np.float64]]] = [[] for _ in range(n_columns)]
    for tree, columns in trees:
        inner = tree.children_left != -1
        feature = tree.feature[inner]
        threshold = tree.threshold[inner]
        for column in np.unique(feature).tolist():
            at = column if columns is None else int(columns[column])
            cuts[at].append(threshold[feature == column])
    return [_between(np.unique(np.concatenate(c)) if c else np.empty(0)) for c in cuts]


def _between(cuts: npt.NDArray[np.float64]) -> Float32:
    """Values are compared as float32: the largest one up to each cut, and one above the last."""
    with np.errstate(over="ignore"):
        cuts = cuts[np.isfinite(cuts)]
        if not cuts.size:
            return np.array([0.0, np.nan], dtype=np.float32)
        below = cuts.astype(np.float32)
        above = below.astype(np.float64) > cuts
        below[above] = np.nextafter(below[above], np.float32(-np.inf))
        top = np.nextafter(below[-1:], np.float32(np.inf))
    values = np.unique(np.concatenate([below, top]))
    values = values[np.isfinite(values)]
    return np.concatenate([values, np.array([np.nan], dtype=np.float32)])


def space_of(trees: Sequence[tuple[Any, Any]], columns: Sequence[str], schema: Schema) -> Space:
    """The profiles of `schema`, as far as the trees tell them apart."""
    cuts: dict[str, list[npt.NDArray[np.float64]]] = {}
    for tree, own in trees:
        inner = tree.children_left != -1
        feature = tree.feature[inner]
        for column in np.unique(feature).tolist():
            name = columns[column if own is None else int(own[column])]
            found = tree.threshold[inner][feature == column]
            cuts.setdefault(name, []).append(found[np.isfinite(found)])
    merged = {name: np.unique(np.concatenate(found)) for name, found in cuts.items()}
    return profile_space(schema, columns, merged)


def number_of_profiles(space: Space) -> int:
    """How many of them there are."""
    return math.prod(len(block.values) for block in space.blocks)


def all_profiles(space: Space) -> npt.NDArray[np.float64]:
    """Every one, as a table in the model's columns."""
    grid = np.meshgrid(*[np.arange(len(b.values)) for b in space.blocks], indexing="ij")
    return space.values(np.column_stack([axis.ravel() for axis in grid]).astype(np.int32))


def sample_profiles(space: Space, n: int, seed: int = 0) -> npt.NDArray[np.float64]:
    """`n` of them, drawn at random."""
    random = np.random.default_rng(seed)
    drawn = [random.integers(0, len(block.values), n) for block in space.blocks]
    return space.values(np.column_stack(drawn).astype(np.int32))


def number_of_cells(values: Sequence[Float32]) -> int:
    """How many combinations there are, missing values included."""
    return math.prod(len(v) for v in values)


def all_cells(values: Sequence[Float32]) -> Float32:
    """Every combination."""
    grid = np.meshgrid(*values, indexing="ij")
    return np.column_stack([axis.ravel() for axis in grid])


def sample_cells(
    values: Sequence[npt.NDArray[Any]], n: int, seed: int = 0, *, missing: bool = True
) -> npt.NDArray[Any]:
    """`n` combinations drawn at random, one row in eight with missing values."""
    random = np.random.default_rng(seed)
    columns = []
    for v in values:
        finite = v[~np.isnan(v)]
        columns.append(random.choice(finite, n))
    table = np.column_stack(columns)
    if missing:
        some = (random.random(table.shape) < 0.2) & (np.arange(n) % 8 == 0)[:, None]
        table[some] = np.nan
    return table
