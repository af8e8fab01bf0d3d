"""Of the tables that reproduce every count, one that the thresholds do not contradict.

Counts leave several tables.  Where thresholds are half way between training values, a wrong table
makes some of them contradict each other; the rows involved are placed anew until fewer do.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from glassleak.reconstruction.replayed._problem import IntArray
from glassleak.reconstruction.replayed._search import Walk
from glassleak.reconstruction.values._conflicts import Conflicts

Check = Callable[[IntArray], Conflicts]
_FEWEST, _MOST = 2, 8
_SWEEPS, _QUENCH = 25, 3


def polish(walk: Walk, check: Check, forming: float, deadline: float) -> tuple[int, int]:
    """Move rows of the exact table in `walk.best` until nothing contradicts, or time is up.

    Returns
    -------
    tuple of int
        Contradictory thresholds before and after.
    """
    walk.table = walk.copy(walk.best)
    now = check(walk.table.level)
    before = now.count
    rows = walk.rows
    while now.count and time.monotonic() < deadline and len(rows) > 1:
        kept = walk.copy(walk.table)
        chance = now.suspicion[rows] + 1e-3
        size = min(int(walk.rng.integers(_FEWEST, _MOST + 1)), len(rows))
        some = walk.rng.choice(rows, size=size, replace=False, p=chance / chance.sum())
        for temperature in np.linspace(forming, 0.1 * forming, _SWEEPS).tolist():
            walk.sweep(temperature, some)
        for _ in range(_QUENCH):
            if walk.energy:
                walk.sweep(0.02)
        after = check(walk.table.level) if walk.energy == 0 else None
        if after is not None and after.count <= now.count:
            now = after
            walk.best = walk.copy(walk.table)
        else:
            walk.table = kept
    return before, now.count
