"""Search for rows that give every leaf its count: slow cooling, then the middle of what fits."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from glassleak.errors import BudgetExhaustedError
from glassleak.reconstruction._survey import Progress
from glassleak.reconstruction.mixed._axes import Axis
from glassleak.reconstruction.mixed._grove import Grove
from glassleak.reconstruction.mixed._rows import Rows

IntArray = npt.NDArray[np.int32]
# In units of one misplaced row.  Above the first temperature rows move freely, below the second
# they have settled; in between the time is spent evenly on the logarithm.  At the last one they
# move only at hardly any cost.
_HOT, _COLD, _STILL = 2.5, 0.6, 0.3
_SWEEPS = 3000
_HALF_WAY = 2.0
_SAMPLES = 60
_ATTEMPTS = 5
# Of the time: the rest is for looking around in what was found and for values.
_COOLING_SHARE = 0.8


@dataclass(frozen=True)
class Placed:
    """Rows as the search left them.

    Attributes
    ----------
    levels : (rows, attributes) int array
    labels : int array
    miscounted : int
        Sum over leaves and classes of how far the count is off; 0: every count is reproduced.
    not_half_way : int
        Thresholds that are not half way between the rows next to them.
    agreement : float array
        Per row: share of the sampled tables in which it has all the same levels.
    several : bool
        Whether different tables with every count right were seen.
    sweeps, samples : int
    """

    levels: IntArray
    labels: IntArray
    miscounted: int
    not_half_way: int
    agreement: npt.NDArray[np.float64]
    several: bool
    sweeps: int
    samples: int

    @property
    def energy(self) -> float:
        return self.miscounted + _HALF_WAY * self.not_half_way


def search(
    grove: Grove,
    axes: Sequence[Axis],
    class_totals: npt.NDArray[np.int64],
    *,
    deadline: float,
    seed: int,
    tell: Progress,
) -> Placed:
    """Place as many rows of each class as were published.

    Raises
    ------
    BudgetExhaustedError
        Not even one look at every row was possible.
    """
    started = time.monotonic()
    labels = np.repeat(np.arange(len(class_totals)), class_totals).astype(np.int32)
    best: Placed | None = None
    sweeps = 0
    for attempt in range(_ATTEMPTS):
        rng = np.random.default_rng([seed, attempt])
        start = np.column_stack([rng.integers(0, k, len(labels)) for k in grove.sizes])
        rows = Rows(grove, start.astype(np.int32), labels, seed + 7919 * attempt)
        now = time.monotonic()
        if now > deadline:
            raise BudgetExhaustedError("the budget ended before the search for rows began")
        sweeps += cool(rows, now + _COOLING_SHARE * (deadline - now), tell)
        placed = _look_around(rows, axes, deadline, tell)
        if best is None or placed.energy < best.energy:
            best = placed
        took = time.monotonic() - now
        # Another start from scratch is worth it only if it can be cooled as slowly.
        if best.energy == 0 or time.monotonic() + took > started + 0.9 * (deadline - started):
            break
    assert best is not None
    return replace(best, sweeps=sweeps)


def cool(rows: Rows, until: float, tell: Progress, n_sweeps: int = _SWEEPS) -> int:
    """Lower the temperature until every count is right, the plan is done or the time is up."""
    started = time.monotonic()
    allowed = max(until - started, 1e-9)
    for step in range(n_sweeps):
        now = time.monotonic()
        done = max(step / n_sweeps, (now - started) / allowed)
        if done >= 1:
            break
        rows.sweep(_HOT * (_COLD / _HOT) ** done, _HALF_WAY)
        if step % 10 == 0:
            tell("placing rows", 0.05 + 0.8 * done)
            if rows.miscounted == 0 and rows.not_half_way == 0:
                break
    return step + 1


def _look_around(rows: Rows, axes: Sequence[Axis], deadline: float, tell: Progress) -> Placed:
    """Sample what fits equally well, and move every row to the middle of its samples."""
    tell("looking around", 0.85)
    seen: list[IntArray] = []
    right: list[bool] = []
    started = time.monotonic()
    for step in range(_SAMPLES):
        rows.sweep(_STILL, _HALF_WAY)
        seen.append(rows.levels.copy())
        right.append(rows.miscounted == 0)
        tell("looking around", 0.85 + 0.1 * step / _SAMPLES)
        now = time.monotonic()
        if now + 4 * (now - started) / (step + 1) > deadline:  # three more sweeps follow
            break
    # What cooling left over settles during the first half.
    samples = np.stack(seen[len(seen) // 2 :])
    fitting = samples[right[len(seen) // 2 :]]
    wanted = _middle(samples, axes)
    for _ in range(3):
        if rows.sweep(_STILL, _HALF_WAY, wanted) == 0:
            break
    same = (samples == rows.levels).all(axis=2)
    return Placed(
        rows.levels, rows.labels, rows.miscounted, rows.not_half_way,
        same.sum(axis=0) / (len(samples) + 1), len(np.unique(fitting, axis=0)) > 1, 0,
        len(samples),
    )  # fmt: skip


def _middle(samples: IntArray, axes: Sequence[Axis]) -> IntArray:
    """Per row and attribute the median where distance matters, otherwise the most frequent."""
    wanted = np.empty(samples.shape[1:], dtype=np.int32)
    for b, axis in enumerate(axes):
        own = samples[:, :, b]
        if axis.by_size:
            wanted[:, b] = np.sort(own, axis=0)[len(own) // 2]
        else:
            times = (own[:, :, None] == np.arange(len(axis))).sum(axis=0)
            wanted[:, b] = times.argmax(axis=1)
    return wanted
