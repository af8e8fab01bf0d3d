"""One target for each row, such that draws add up: search by falling temperature.

The columns of a matrix (rows' draws) are shared out among targets so that those of each target add
up to given sums.  One row at a time is taken out and put back where it fits best, given all others;
one product with what is missing gives the fit of every target at once.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak._compiled import compiled

FloatArray = npt.NDArray[np.float64]
_SWEEPS = (300, 1200)
# In units of a row's own squared length: a row in the wrong place costs about two.
_HOT, _COLD = 0.25, 0.03


def search_choice(
    columns: FloatArray, wanted: FloatArray, deadline: float, seed: int
) -> npt.NDArray[np.int64] | None:
    """For each column of `columns` one column of `wanted`, whose sum it belongs to.

    Returns ``None`` if no choice with exactly these sums was found before the deadline.
    """
    rng = np.random.default_rng(seed)
    rows = np.ascontiguousarray(columns.T)
    scale = float((rows**2).sum(axis=1).mean())
    for sweeps in _SWEEPS:
        choice = rng.integers(0, wanted.shape[1], len(rows))
        lacking = np.ascontiguousarray(wanted.T)
        np.subtract.at(lacking, choice, rows)
        for heat in np.geomspace(_HOT, _COLD, sweeps) * scale:
            noise = rng.gumbel(size=(len(rows), wanted.shape[1])) * heat
            _sweep(rows, lacking, choice, noise, rng.permutation(len(rows)))
            if not lacking.any():
                return choice
            if time.monotonic() > deadline:
                return None
        still = np.zeros((len(rows), wanted.shape[1]))
        for _ in range(10):
            _sweep(rows, lacking, choice, still, rng.permutation(len(rows)))
        if not lacking.any():
            return choice
    return None


@compiled
def _sweep(rows: Any, lacking: Any, choice: Any, noise: Any, order: Any) -> None:
    """Take every row out once and put it where it is lacked most."""
    for i in order:
        own = rows[i]
        lacking[choice[i]] += own
        best, fit = 0, -np.inf
        for g in range(len(lacking)):
            here = 2.0 * np.dot(own, lacking[g]) + noise[i, g]
            if here > fit:
                best, fit = g, here
        choice[i] = best
        lacking[best] -= own
