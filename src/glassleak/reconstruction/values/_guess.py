"""A value for every cell, from its interval."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.reconstruction.values._lattice import Lattice, at_least, at_most


def guess(
    splits: Any,
    lattice: Lattice,
    midpoints: bool,
    low: npt.NDArray[np.float64],
    high: npt.NDArray[np.float64],
    skipped: npt.NDArray[np.bool_],
    known: npt.NDArray[np.bool_],
    given: npt.NDArray[np.float64] | None,
) -> npt.NDArray[np.float64]:
    """One value per row: the middle of its interval.

    Parameters
    ----------
    given : float array, optional
        Values to keep where the interval allows them: of categories the middle means nothing.
    """
    out = low.copy()
    for i in np.flatnonzero(known & (low != high)).tolist():
        if given is not None and low[i] <= given[i] <= high[i]:
            out[i] = given[i]
            continue
        middle = (low[i] + high[i]) / 2
        below, above = at_most(lattice, middle), at_least(lattice, middle)
        out[i] = below if below >= low[i] else above
    return out
