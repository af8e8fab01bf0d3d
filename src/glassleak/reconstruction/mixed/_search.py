"""Search for rows that give every leaf its count: slow cooling, then the middle of what fits."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from glassleak.errors import BudgetExhaustedError
from glassleak.reconstruction._side_by_side import side_by_side
from glassleak.reconstruction._survey import Progress
from glassleak.reconstruction.mixed._agree import agreed
from glassleak.reconstruction.mixed._axes import Axis
from glassleak.reconstruction.mixed._grove import Grove
from glassleak.reconstruction.mixed._rows import Rows

IntArray = npt.NDArray[np.int32]
# In units of one misplaced row.  Above the first temperature rows move freely, below the second
# they have settled; in between the time is spent evenly on the logarithm.  At the last one they
# move only at hardly any cost.
_HOT, _COLD, _STILL = 2.5, 0.6, 0.3
# What a threshold costs that is not half way between the rows next to it.
_HALF_WAY = 2.0
_SWEEPS, _SWEEPS_AGAIN, _SLOWLY = 1500, 500, 400
_SAMPLES = 60
# Two attempts run side by side; the first two start from nothing.
_ATTEMPTS, _AT_ONCE = 60, 2
# Of the whole time for the attempts that start from nothing; of an attempt's time for cooling,
# the rest is for looking around in what was found.
_FIRST_SHARE, _COOLING_SHARE = 0.6, 0.85
# Share of the agreed rows that are freed after as many pairs of attempts in vain; then again.
_FREED = (0.0, 0.25, 0.5, 1.0)
# More rows than this are not compared between attempts, which takes the square of their number.
_COMPARED = 4000


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
    found: list[Placed] = []
    kept = np.zeros(len(labels), dtype=bool)
    sweeps, attempt, stale, best = 0, 0, 0, np.inf
    enough = threading.Event()

    def tried(number: int, until: float, told: Progress) -> tuple[Placed, int]:
        rng = np.random.default_rng([seed, number])
        start = np.column_stack([rng.integers(0, k, len(labels)) for k in grove.sizes])
        start[kept] = found[0].levels[kept] if found else 0
        rows = Rows(grove, start.astype(np.int32), labels, seed + 7919 * number)
        now = time.monotonic()
        if number < _AT_ONCE:
            # What the attempts from nothing agree on makes the others cheap; but attempts that
            # are cooled slowly are better than many that are not.
            first = _FIRST_SHARE * (until - started)
            if first / _seconds_per_sweep(rows) >= _SLOWLY:
                until = min(until, started + first)
        cooled = now + _COOLING_SHARE * (until - now)
        done = _cool(rows, kept, cooled, number, enough, told)
        placed = _look_around(rows, axes, until, told)
        if placed.energy == 0 and number % _AT_ONCE == 0:
            enough.set()
        return placed, done

    while attempt < _ATTEMPTS and time.monotonic() < deadline:
        jobs = [partial(tried, attempt + k, deadline) for k in range(_AT_ONCE)]
        attempt += _AT_ONCE
        for placed, done in side_by_side(jobs, tell):
            found.append(placed)
            sweeps += done
        found.sort(key=lambda placed: placed.energy)
        del found[2:]
        if found[0].energy == 0:
            break
        stale = 0 if found[0].energy < best else stale + 1
        best = found[0].energy
        if len(labels) <= _COMPARED:
            kept = agreed(axes, found[0].levels, found[1].levels, labels)
            # Rows may agree on what is wrong: when nothing gets better, more of them are freed.
            freed = _FREED[stale % len(_FREED)]
            kept &= np.random.default_rng([seed, attempt, 1]).random(len(labels)) >= freed
    if not found:
        raise BudgetExhaustedError("the budget ended before the search for rows began")
    return replace(found[0], sweeps=sweeps)


def _seconds_per_sweep(rows: Rows) -> float:
    """Of the second sweep: the first may have to be compiled."""
    for _ in range(2):
        started = time.monotonic()
        rows.sweep(_HOT, _HALF_WAY)
    return max(time.monotonic() - started, 1e-6)


def _cool(
    rows: Rows,
    kept: npt.NDArray[np.bool_],
    until: float,
    number: int,
    enough: threading.Event,
    tell: Progress,
) -> int:
    """Lower the temperature until every count is right, the plan is done or the time is up.

    Rows that are `kept` are only warmed a little, and looked at less often.  Once the first of
    two attempts is done the second is not needed; not the other way round, or the answer would
    depend on which one the machine favours.
    """
    started = time.monotonic()
    allowed = max(until - started, 1e-9)
    free, fixed = np.flatnonzero(~kept), np.flatnonzero(kept)
    n_sweeps = _SWEEPS if number < _AT_ONCE else _SWEEPS_AGAIN
    for step in range(n_sweeps):
        done = max(step / n_sweeps, (time.monotonic() - started) / allowed)
        if step and (done >= 1 or (number % _AT_ONCE and enough.is_set())):
            break
        heat = _HOT * (_COLD / _HOT) ** min(done, 1.0)
        rows.sweep(heat, _HALF_WAY, some=free)
        if len(fixed) and step % 4 == 0:
            rows.sweep(min(heat, _COLD), _HALF_WAY, some=fixed)
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
