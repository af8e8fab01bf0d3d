"""A table of placed rows in, the same table with its open cells settled out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from glassleak.errors import UnsupportedModelError
from glassleak.models import Forest
from glassleak.reconstruction.training._cells import open_cells
from glassleak.reconstruction.training._gate import choices_can_be_repeated, settings_of
from glassleak.reconstruction.training._grove import grove_of
from glassleak.reconstruction.training._refine import Refined, refine
from glassleak.schema import Numeric, Ordinal, Schema

# Facts kept per node and column; beyond this they do not fit into memory comfortably.
_MAX_FACTS = 50_000_000


def settle_open_cells(
    forest: Forest,
    schema: Schema,
    values: npt.NDArray[np.float64],
    labels: npt.NDArray[np.int64],
    draws: npt.NDArray[np.int32],
    *,
    deadline: float,
    low: pd.DataFrame | None = None,
    high: pd.DataFrame | None = None,
    keep_numbers: bool = True,
    seed: int = 0,
    tell: Callable[[float], None] | None = None,
) -> Refined:
    """Settle what the leaves leave open by the columns each split looked at.

    Parameters
    ----------
    values : (rows, columns) float array
        In the model's columns, every row in its leaves.
    labels : (rows,) int array
        Numbers of classes.
    draws : (trees, rows) int array
        How often each tree drew each row.
    deadline : float
        A ``time.monotonic()`` value.
    low, high : DataFrame, optional
        Intervals for numbers, as `recover_values` tells them.
    keep_numbers : bool
        Numbers are moved during the search, because their order decides which split is best; they
        are given back as they were unless this is false.  Scores tell of the table searched.

    Raises
    ------
    UnsupportedModelError
        The columns cannot be drawn again; a value is missing; or the forest is too large.
    """
    possible, reason = choices_can_be_repeated(forest)
    if not possible:
        raise UnsupportedModelError(reason, "training")
    if np.isnan(values).any():
        raise UnsupportedModelError("missing values are split in a way that is not repeated")
    nodes = sum(tree.n_nodes for tree in forest.trees)
    if nodes * values.shape[1] > _MAX_FACTS:
        raise UnsupportedModelError(
            f"{nodes:,} nodes times {values.shape[1]:,} columns", "training"
        )
    seeds = forest.bagging.seeds
    assert seeds is not None
    settings = settings_of(forest)
    grove = grove_of(forest, seeds, settings, values, draws)
    options = open_cells(grove, schema, forest.columns, values, low, high)
    refined = refine(
        forest, seeds, settings, values, labels, draws, options, deadline=deadline, seed=seed,
        tell=tell,
    )  # fmt: skip
    if not keep_numbers:
        return refined
    out = refined.values.copy()
    for attribute in schema:
        if isinstance(attribute, Ordinal | Numeric):
            at = forest.columns.index(attribute.columns[0])
            out[:, at] = values[:, at]
    return replace(refined, values=out)
