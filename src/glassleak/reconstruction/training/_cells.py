"""Which cells of a table of placed rows are open, and what they may hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from glassleak._compiled import compiled
from glassleak.reconstruction.training._grove import Grove
from glassleak.reconstruction.training._options import Options, options_of
from glassleak.reconstruction.values._lattice import at_least, at_most, lattice_of
from glassleak.schema import Numeric, Ordinal, Schema

FloatArray = npt.NDArray[np.float64]
# An attribute with at most so many levels is listed in full.
_LISTED = 64


def open_cells(
    grove: Grove,
    schema: Schema,
    columns: tuple[str, ...],
    values: FloatArray,
    low: pd.DataFrame | None = None,
    high: pd.DataFrame | None = None,
    numbers: bool = True,
) -> Options:
    """All values every cell may hold without moving its row into another leaf.

    Of numbers with many levels, those that matter: the values of other rows, and one between each
    two of them.

    Parameters
    ----------
    columns : tuple of str
        The model's.
    low, high : DataFrame, optional
        Narrower intervals for columns that hold numbers (see `Values`).
    numbers : bool
        Whether numbers with many levels are open, too.
    """
    floor, ceiling = bounds_of(grove, values.shape)
    groups, cells = [], []
    for g, attribute in enumerate(schema):
        own = [columns.index(name) for name in attribute.columns]
        groups.append(own)
        if isinstance(attribute, Ordinal | Numeric):
            if attribute.size is None or attribute.size > _LISTED:
                if numbers:
                    cells += _numbers(attribute, g, own[0], values, floor, ceiling, low, high)
                continue
            lattice = lattice_of(attribute)
            assert lattice is not None
            levels = lattice.listed[:, None]
        else:
            levels = attribute.level_values()
            levels = levels[~np.isnan(levels).any(axis=1)]
        name = attribute.columns[0]
        for i in range(len(values)):
            fits = ((levels > floor[i, own]) & (levels <= ceiling[i, own])).all(axis=1)
            if low is not None and high is not None and name in low:
                fits &= (levels[:, 0] >= low[name].iloc[i]) & (levels[:, 0] <= high[name].iloc[i])
            listed = levels[fits]
            # Whatever the table holds may stay.
            cells.append((i, g, np.vstack([listed, values[i, own]])))
    return options_of(groups, cells)


def bounds_of(grove: Grove, shape: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
    """Between which thresholds every cell lies: above the first, not above the second."""
    floor, ceiling = np.full(shape, -np.inf), np.full(shape, np.inf)
    _narrow(grove, floor, ceiling)
    return floor, ceiling


@compiled
def _narrow(grove: Any, floor: Any, ceiling: Any) -> None:
    for node in range(len(grove.column)):
        column, threshold = grove.column[node], grove.threshold[node]
        if column < 0:
            continue
        left, right = grove.left[node], grove.right[node]
        for k in range(grove.start[left], grove.stop[left]):
            ceiling[grove.row[k], column] = min(ceiling[grove.row[k], column], threshold)
        for k in range(grove.start[right], grove.stop[right]):
            floor[grove.row[k], column] = max(floor[grove.row[k], column], threshold)


def _numbers(
    attribute: Ordinal | Numeric,
    g: int,
    column: int,
    values: FloatArray,
    floor: FloatArray,
    ceiling: FloatArray,
    low: pd.DataFrame | None,
    high: pd.DataFrame | None,
) -> list[tuple[int, int, FloatArray]]:
    lattice = lattice_of(attribute)
    assert lattice is not None
    held = np.unique(values[:, column].astype(np.float32).astype(np.float64))
    between = np.array([at_most(lattice, x) for x in (held[:-1] + held[1:]) / 2])
    candidates = np.unique(np.concatenate([held, between]))
    name = attribute.columns[0]
    cells = []
    for i in range(len(values)):
        least, most = floor[i, column], at_most(lattice, ceiling[i, column])
        least = at_least(lattice, np.nextafter(least, np.inf))
        if low is not None and high is not None and name in low:
            least, most = max(least, low[name].iloc[i]), min(most, high[name].iloc[i])
        inside = candidates[(candidates >= least) & (candidates <= most)]
        cells.append((i, g, np.append(inside, values[i, column])[:, None]))
    return cells
