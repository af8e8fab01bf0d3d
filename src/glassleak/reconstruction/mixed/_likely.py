"""Rows that make the published samples likely: bagged forests whose draws nobody knows.

Counts of unknown samples exclude hardly any table; they make some more likely than others.  The
rows are walked by the same steps as where counts must be met, at the temperature at which tables
appear in proportion to their probability, and every row is moved to the middle of where it was
seen.  The cost of a step does not depend on the number of profiles.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from glassleak.reconstruction._side_by_side import side_by_side
from glassleak.reconstruction._survey import Progress
from glassleak.reconstruction.mixed._axes import Axis
from glassleak.reconstruction.mixed._grove import Grove
from glassleak.reconstruction.mixed._rows import Rows
from glassleak.reconstruction.mixed._search import middle
from glassleak.reconstruction.mixed._terms import Terms

IntArray = npt.NDArray[np.int32]
# Cooling ends a little below 1, the temperature of the posterior: the classes' terms leave out
# what the rows of one leaf say about each other, and cooler chains had smaller errors (measured).
_HOT, _LAST = 6.0, 0.7
# A threshold is half way between two *drawn* rows.  Rows that were not drawn may lie in between,
# so thresholds that are off are unlikely and not impossible.
HALF_WAY = 1.5
_COOLING_SHARE = 0.7
_WALKS, _MOST_SAMPLES, _MOST_SWEEPS = 2, 200, 4000


@dataclass(frozen=True)
class Likely:
    """The middle of the sampled tables.

    Attributes
    ----------
    levels : (rows, attributes) int array
    labels : (rows,) int array
    leaf : (rows, trees) int array
        Where the rows of `levels` stand.
    support : (rows,) float array
        Share of the sampled tables in which the row has all these levels.
    energy : float
        Minus the logarithm of the samples' mean probability, up to a constant.
    samples, sweeps : int
    """

    levels: IntArray
    labels: IntArray
    leaf: IntArray
    support: npt.NDArray[np.float64]
    energy: float
    samples: int
    sweeps: int


def likely_rows(
    grove: Grove,
    axes: Sequence[Axis],
    terms: Terms,
    labels: IntArray,
    *,
    deadline: float,
    seed: int,
    tell: Progress,
) -> Likely:
    """Walk from random rows to likely ones, and return the middle of the better of two walks."""
    jobs = [
        partial(_walk, grove, axes, terms, labels, deadline, _WALKS * seed + k)
        for k in range(_WALKS)
    ]
    return min(side_by_side(jobs, tell), key=lambda one: one.energy)


def _walk(
    grove: Grove,
    axes: Sequence[Axis],
    terms: Terms,
    labels: IntArray,
    deadline: float,
    seed: int,
    tell: Progress,
) -> Likely:
    rng = np.random.default_rng(seed)
    start = np.column_stack([rng.integers(0, k, len(labels)) for k in grove.sizes])
    rows = Rows(grove, terms, start.astype(np.int32), labels, seed)
    rows.sweep(_HOT, HALF_WAY)
    began = time.monotonic()
    allowed = max(deadline - began, 1e-9)
    sweeps, cooled, done = 1, 0, 0.0
    while done < 1:
        done = (time.monotonic() - began) / (_COOLING_SHARE * allowed)
        done = max(done, cooled / _MOST_SWEEPS)
        rows.sweep(_HOT * (_LAST / _HOT) ** min(done, 1.0), HALF_WAY)
        cooled += 1
        tell("placing rows", 0.05 + 0.6 * min(done, 1.0))
    began, seen, energy = time.monotonic(), [], []
    for step in range(_MOST_SAMPLES):
        rows.sweep(_LAST, HALF_WAY)
        seen.append(rows.levels.copy())
        energy.append(rows.energy + HALF_WAY * rows.not_half_way)
        tell("looking around", 0.65 + 0.25 * step / _MOST_SAMPLES)
        now = time.monotonic()
        if now + (now - began) / (step + 1) > deadline:
            break
    samples = np.stack(seen)
    levels = middle(samples, axes)
    rows.place(levels, labels)
    # Only proof earns certainty: k of k samples count as k of k + 1.
    support = (samples == levels).all(axis=2).sum(axis=0) / (len(samples) + 1)
    return Likely(
        levels, labels, rows.leaf, support, float(np.mean(energy)), len(samples),
        sweeps + cooled + len(samples),
    )  # fmt: skip
