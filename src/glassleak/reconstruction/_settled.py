"""Of a table made from cells: which places are certain, and which rows have one profile left."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from glassleak.knowledge import Cells
from glassleak.schema import Numeric, Ordinal

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


def certain_places(cells: Cells, cell: IntArray, certain: BoolArray) -> BoolArray:
    """(rows, columns): values that certainly lie between the thresholds where the table has them.

    A row of which only the cell is certain may or may not have a missing value, if both take the
    same way in every tree.

    Parameters
    ----------
    cell : int array
        The cell of each row.
    certain : bool array
        Rows whose cell is certain.
    """
    out = np.repeat(certain[:, None], cells.space.n_columns, axis=1)
    alone = None
    for b, block in enumerate(cells.space.blocks):
        if not getattr(block.attribute, "missing", False):
            continue
        absent = np.isnan(block.values[:, 0])
        kinds, which = np.unique(cell, return_inverse=True)
        possible = cells.levels(kinds, b)
        either = possible[:, absent].any(axis=1) & possible[:, ~absent].any(axis=1)
        alone = _one_box(cells, kinds) if alone is None else alone
        out[:, block.columns] &= (alone & ~either)[which.reshape(-1)][:, None]
    return out


def settled_rows(cells: Cells, cell: IntArray, exact: BoolArray) -> BoolArray:
    """Rows with one profile left: numbers in `exact`, everything else told apart by the model."""
    kinds, which = np.unique(cell, return_inverse=True)
    which = which.reshape(-1)
    fixed = _one_box(cells, kinds)
    numbers = np.ones(len(cell), dtype=bool)
    for b, block in enumerate(cells.space.blocks):
        at = block.columns
        if isinstance(block.attribute, Ordinal | Numeric):
            numbers &= exact[:, at[0]]
            continue
        assert block.sizes is not None  # only numbers can be continuous
        fixed &= cells.levels(kinds, b) @ np.array(block.sizes, dtype=np.float64) == 1
    out: BoolArray = numbers & fixed[which]
    if cells.n_profiles is not None:
        out |= np.array([n == 1 for n in cells.n_profiles], dtype=bool)[cell]
    return out


def _one_box(cells: Cells, kinds: IntArray) -> BoolArray:
    """Cells that consist of the one box that is kept of them."""
    told_apart = np.ones(len(kinds))
    for b in range(len(cells.space.blocks)):
        told_apart *= cells.levels(kinds, b).sum(axis=1)
    out: BoolArray = told_apart == cells.n_told_apart[kinds]
    return out
