"""Exchange two levels of an attribute in all open cells at once.

Whether a column is constant among some rows does not depend on which of two levels is which: where
a column is hardly ever split on, the table with both exchanged fits nearly as well, and no sequence
of single changes leads from one to the other without breaking nearly every node.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import numpy.typing as npt

from glassleak.reconstruction.training._options import Options
from glassleak.reconstruction.training._walk import Table

# Attributes with more levels in their open cells are left as they are.
_MOST_LEVELS = 6


def mirrored(
    table: Table,
    options: Options,
    weight: npt.NDArray[np.float64],
    rebuilt: Callable[[npt.NDArray[np.float32]], Table],
) -> Table:
    """`table`, or what is better with two levels of an attribute exchanged.

    Parameters
    ----------
    rebuilt : callable
        The table with these values, rows by columns.
    """
    best, cost = table, _cost(table, weight)
    for attribute in np.unique(options.attribute).tolist():
        cells = np.flatnonzero(options.attribute == attribute)
        own = options.columns[attribute]
        own = own[own >= 0]
        listed = [options.value[options.first[k] : options.first[k + 1]] for k in cells.tolist()]
        levels = np.unique(np.concatenate(listed), axis=0)
        if len(levels) > _MOST_LEVELS:
            continue
        for one, other in combinations(levels, 2):
            values = best.value.T.copy()
            for k, allowed in zip(cells.tolist(), listed, strict=True):
                if all((allowed == level).all(axis=1).any() for level in (one, other)):
                    held = options.value[best.choice[k]]
                    if (held == one).all() or (held == other).all():
                        level = other if (held == one).all() else one
                        values[options.row[k], own] = level[: len(own)]
            candidate = rebuilt(values)
            if (now := _cost(candidate, weight)) < cost:
                best, cost = candidate, now
    return best


def _cost(table: Table, weight: npt.NDArray[np.float64]) -> float:
    return float(table.cost.sum() - weight[table.choice].sum())
