"""Repair of counts and settling of thresholds, by turns.

Cooling ends where several rows would have to change together.  `repair` changes them, but looks at
counts only; a few cold sweeps then move rows back to where thresholds want them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glassleak.reconstruction._survey import Progress
from glassleak.reconstruction.mixed._repair import repair
from glassleak.reconstruction.mixed._rows import Rows

# Tables with more wrong than this share of the rows' places are beyond repair (measured).
_BEYOND = 0.03
_SWEEPS, _WARM, _COLD = 40, 0.45, 0.1


@dataclass(frozen=True)
class Figures:
    """What the leaves must hold.

    Attributes
    ----------
    target : (leaves, classes) int array
    distinct : (leaves,) int array, optional
        Rows, each counted once.
    """

    target: npt.NDArray[np.int64]
    distinct: npt.NDArray[np.int64] | None = None


def mend(
    rows: Rows,
    figures: Figures,
    half_way: float,
    known: npt.NDArray[np.bool_],
    deadline: float,
    seed: int,
    tell: Progress,
) -> None:
    """Lower the energy of `rows`, thresholds included, until counts are right or the time is up."""
    best = rows.energy + half_way * rows.not_half_way
    kept, labels = rows.levels.copy(), rows.labels.copy()
    n_drawn = int((rows.times > 0).sum())
    weights = None if (rows.times == 1).all() else rows.times
    turn = 0
    while rows.energy > 0 and time.monotonic() < deadline:
        if rows.energy > _BEYOND * n_drawn:
            return
        tell("repairing", 0.8)
        turn += 1
        got = repair(
            rows.grove, figures.target, rows.levels, rows.labels, weights, deadline=deadline,
            seed=seed + turn, distinct=figures.distinct, max_rounds=1,
        )  # fmt: skip
        fresh = got.levels
        fresh[known] = kept[known]
        rows.place(fresh, labels)
        for heat in np.linspace(_WARM, _COLD, _SWEEPS).tolist():
            rows.sweep(heat, half_way)
            if time.monotonic() > deadline:
                break
        now = rows.energy + half_way * rows.not_half_way
        if now <= best and (rows.labels == labels).all():
            best, kept = now, rows.levels.copy()
        elif turn % 3 == 0:
            rows.place(kept, labels)
    rows.place(kept, labels)
