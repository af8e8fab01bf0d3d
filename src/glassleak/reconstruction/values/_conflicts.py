"""Does a table of placed rows agree with the thresholds at all?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glassleak.models import Forest, Tree
from glassleak.reconstruction.values._chains import unknown_cells
from glassleak.reconstruction.values._lattice import lattice_of
from glassleak.reconstruction.values._narrow import use_midpoints, use_sides
from glassleak.reconstruction.values._nodes import splits_of
from glassleak.schema import Schema


@dataclass(frozen=True)
class Conflicts:
    """Thresholds that contradict each other.

    Attributes
    ----------
    count : int
    suspicion : (rows,) float array
        How much each row is involved: one part in n for every such split that n rows reach.
    """

    count: int
    suspicion: npt.NDArray[np.float64]


def conflicts(
    model: Tree | Forest,
    schema: Schema,
    table: npt.NDArray[np.float64],
    draws: npt.NDArray[np.int32] | None,
) -> Conflicts:
    """Splits that contradict others if the rows lie where `table` puts them.

    As `recover_values`, without the values; thresholds must be half way between values.
    """
    trees = model.trees if isinstance(model, Forest) else (model,)
    splits = splits_of(trees, table, draws)
    suspicion, count = np.zeros(len(table)), 0
    for attribute in schema:
        lattice = lattice_of(attribute)
        if lattice is None:
            continue
        at = model.columns.index(attribute.columns[0])
        own = splits.on(at)
        known = ~np.isnan(table[:, at])
        cells = unknown_cells(
            np.where(known, lattice.low, np.nan), np.where(known, lattice.high, np.nan)
        )
        skipped = np.zeros(len(own.start), dtype=bool)
        use_sides(own, lattice, cells, skipped, known)
        use_midpoints(own, lattice, cells, skipped, known, False)
        count += int(skipped.sum())
        for s in np.flatnonzero(skipped).tolist():
            rows = own.row[own.start[s] : own.stop[s]]
            suspicion[rows] += 1.0 / len(rows)
    return Conflicts(count, suspicion)
