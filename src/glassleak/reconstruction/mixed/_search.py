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
from glassleak.reconstruction.mixed._mend import Figures, mend
from glassleak.reconstruction.mixed._rows import Rows
from glassleak.reconstruction.mixed._terms import Terms

IntArray = npt.NDArray[np.int32]
BoolArray = npt.NDArray[np.bool_]
_SWEEPS, _SWEEPS_AGAIN, _SLOWLY = 4000, 800, 400
_SAMPLES = 60
# Two attempts run side by side; the first two start from nothing.
_ATTEMPTS, _AT_ONCE = 60, 2
# Of the whole time for the attempts that start from nothing; of an attempt's time for cooling,
# until when it is repaired, and the rest is for looking around in what was found.
_FIRST_SHARE, _COOLING_SHARE, _MENDING_SHARE = 0.6, 0.65, 0.85
# Share of the agreed rows that are freed after as many pairs of attempts in vain; then again.
_FREED = (0.0, 0.25, 0.5, 1.0)
# Attempts that leave more than this share of a random table's misfit have not found the table; how
# much of the time they get where giving up is an option.
_FORMED, _TRIAL_SHARE = 0.25, 0.5
# Rows times trees of tables that are looked at once even if the time is up.
_QUICK = 100_000
# More rows than this are not compared between attempts, which takes the square of their number.
_COMPARED = 4000


@dataclass(frozen=True)
class Cooling:
    """Temperatures, in units of one misplaced row.

    Above the first, rows move freely, below the second they have settled; in between the time is
    spent evenly on the logarithm.  At the last one they move only at hardly any cost.  `half_way`
    is what a threshold costs that is not half way between the rows next to it.
    """

    hot: float = 4.5
    cold: float = 0.6
    still: float = 0.3
    half_way: float = 2.0


@dataclass(frozen=True)
class Task:
    """What is searched for.

    Attributes
    ----------
    grove : Grove
    axes : sequence of Axis
    terms : Terms
    allowed : (rows, classes) bool array
        Classes each row can have.
    times : (rows, trees) int array, optional
        How often each tree counts each row: then rows have an identity.
    fixed : (rows,) bool array, optional
        Rows that are known but for what `barred` leaves open, with their `levels` (of the others,
        anything).
    levels : (rows, attributes) int array, optional
    barred : (rows, levels of all attributes) bool array, optional
        Levels that rows must not take.
    figures : Figures, optional
        What must be met, if everything is stated: then nearly right tables are repaired.
    cooling : Cooling
    """

    grove: Grove
    axes: Sequence[Axis]
    terms: Terms
    allowed: BoolArray
    times: IntArray | None = None
    fixed: BoolArray | None = None
    levels: IntArray | None = None
    barred: BoolArray | None = None
    figures: Figures | None = None
    cooling: Cooling = Cooling()

    def start(
        self, seed: int, rng: np.random.Generator, found: Placed | None, kept: BoolArray
    ) -> Rows:
        """Random rows, but for those that are known or kept from what was found."""
        n_rows = len(self.allowed)
        drawn = [rng.integers(0, k, n_rows, dtype=np.int32) for k in self.grove.sizes]
        levels = np.column_stack(drawn)
        labels = np.where(self.allowed, rng.random(self.allowed.shape), -1.0).argmax(axis=1)
        labels = labels.astype(np.int32)
        if found is not None:
            levels[kept], labels[kept] = found.levels[kept], found.labels[kept]
        if self.fixed is not None and self.levels is not None:
            levels[self.fixed] = self.levels[self.fixed]
        is_open = bool((self.allowed.sum(axis=1) > 1).any())
        return Rows(
            self.grove, self.terms, levels, labels, seed, self.times,
            self.allowed if is_open else None, self.barred,
        )  # fmt: skip


@dataclass(frozen=True)
class Placed:
    """Rows as the search left them.

    Attributes
    ----------
    levels : (rows, attributes) int array
    labels : int array
    leaf : (rows, trees) int array
    misfit : float
        What the leaves cost; 0: every figure is reproduced.
    not_half_way : int
        Thresholds that are not half way between the rows next to them.
    energy : float
        Both together.
    agreement : float array
        Per row: share of the sampled tables in which it has all the same levels.
    in_place : float array
        Likewise, all the same leaves.
    several : bool
        Whether different tables with every figure right were seen.
    sweeps, samples : int
    formed : bool
        Whether some attempt from nothing came close to the figures at all.
    """

    levels: IntArray
    labels: IntArray
    leaf: IntArray
    misfit: float
    not_half_way: int
    energy: float
    agreement: npt.NDArray[np.float64]
    in_place: npt.NDArray[np.float64]
    several: bool
    sweeps: int
    samples: int
    formed: bool = True


def search(
    task: Task,
    *,
    deadline: float,
    seed: int,
    tell: Progress,
    may_give_up: bool = False,
    latest: float | None = None,
) -> Placed:
    """Place the rows so that the leaves cost as little as possible.

    Parameters
    ----------
    may_give_up : bool
        Stop half way if no table begins to form: the caller has another use for the time.
    latest : float, optional
        Go on until then while some figure is not met.

    Raises
    ------
    BudgetExhaustedError
        Not even one look at every row was possible.
    """
    started = time.monotonic()
    n_rows = len(task.allowed)
    found: list[Placed] = []
    known = np.zeros(n_rows, dtype=bool) if task.fixed is None else task.fixed
    kept = known.copy()
    sweeps, attempt, stale, best = 0, 0, 0, np.inf
    enough = threading.Event()
    hopeless: list[int] = []

    def tried(number: int, until: float, told: Progress) -> tuple[Placed, int]:
        rng = np.random.default_rng([seed, number])
        rows = task.start(seed + 7919 * number, rng, found[0] if found else None, kept)
        at_random = rows.energy
        now = time.monotonic()
        if number < _AT_ONCE:
            # What the attempts from nothing agree on makes the others cheap; but attempts that
            # are cooled slowly are better than many that are not.
            first = _FIRST_SHARE * (until - started)
            if first / _seconds_per_sweep(rows, task.cooling) >= _SLOWLY:
                until = min(until, started + first)
            if may_give_up:
                until = min(until, started + _TRIAL_SHARE * (deadline - started))
        cooled = now + _COOLING_SHARE * (until - now)
        done = _cool(rows, task.cooling, kept, cooled, number, enough, told)
        if task.figures is not None and not (number % _AT_ONCE and enough.is_set()):
            mended = now + _MENDING_SHARE * (until - now)
            mend(rows, task.figures, task.cooling.half_way, known, mended, seed + number, told)
        placed = _look_around(rows, task, until, told)
        if placed.energy == 0 and number % _AT_ONCE == 0:
            enough.set()
        if number < _AT_ONCE and placed.misfit > _FORMED * at_random:
            hopeless.append(number)
        return placed, done

    quick = n_rows * len(task.grove.roots) <= _QUICK
    while attempt < _ATTEMPTS and (time.monotonic() < deadline or (quick and not found)):
        jobs = [partial(tried, attempt + k, deadline) for k in range(_AT_ONCE)]
        attempt += _AT_ONCE
        for placed, done in side_by_side(jobs, tell):
            found.append(placed)
            sweeps += done
        found.sort(key=lambda placed: placed.energy)
        del found[2:]
        if found[0].energy == 0 or (may_give_up and len(hopeless) == _AT_ONCE):
            break
        stale = 0 if found[0].energy < best else stale + 1
        best = found[0].energy
        kept = _agreed(task, *found)
        # Rows may agree on what is wrong: when nothing gets better, more of them are freed.
        freed = _FREED[stale % len(_FREED)]
        kept &= np.random.default_rng([seed, attempt, 1]).random(n_rows) >= freed
        kept |= known
        if latest is not None and found[0].misfit > 0:
            deadline = latest
    if not found:
        raise BudgetExhaustedError("the budget ended before the search for rows began")
    return replace(found[0], sweeps=sweeps, formed=len(hopeless) < _AT_ONCE)


def _agreed(task: Task, one: Placed, other: Placed) -> BoolArray:
    """Rows both attempts have found."""
    if task.times is not None:
        same: BoolArray = ((one.leaf == other.leaf) | (task.times == 0)).all(axis=1)
        same &= one.labels == other.labels
        return same
    if len(one.labels) > _COMPARED:
        return np.zeros(len(one.labels), dtype=bool)
    return agreed(task.axes, one.levels, other.levels, one.labels)


def _seconds_per_sweep(rows: Rows, cooling: Cooling) -> float:
    """Of the second sweep: the first may have to be compiled."""
    for _ in range(2):
        started = time.monotonic()
        rows.sweep(cooling.hot, cooling.half_way)
    return max(time.monotonic() - started, 1e-6)


def _cool(
    rows: Rows,
    cooling: Cooling,
    kept: BoolArray,
    until: float,
    number: int,
    enough: threading.Event,
    tell: Progress,
) -> int:
    """Lower the temperature until every count is right, the plan is done or the time is up.

    Rows that are `kept` are only warmed a little, and looked at less often.  Once the first of two
    attempts is done the second is not needed; not the other way round, or the answer would depend
    on which one the machine favours.
    """
    started = time.monotonic()
    allowed = max(until - started, 1e-9)
    free, fixed = np.flatnonzero(~kept), np.flatnonzero(kept)
    n_sweeps = _SWEEPS if number < _AT_ONCE else _SWEEPS_AGAIN
    for step in range(n_sweeps):
        done = max(step / n_sweeps, (time.monotonic() - started) / allowed)
        if step and (done >= 1 or (number % _AT_ONCE and enough.is_set())):
            break
        heat = cooling.hot * (cooling.cold / cooling.hot) ** min(done, 1.0)
        rows.sweep(heat, cooling.half_way, some=free)
        if len(fixed) and step % 4 == 0:
            rows.sweep(min(heat, cooling.cold), cooling.half_way, some=fixed)
        if step % 10 == 0:
            tell("placing rows", 0.05 + 0.8 * done)
            if rows.energy == 0 and rows.not_half_way == 0:
                break
    return step + 1


def _look_around(rows: Rows, task: Task, deadline: float, tell: Progress) -> Placed:
    """Sample what fits equally well, and move every row to the middle of its samples."""
    tell("looking around", 0.85)
    cooling = task.cooling
    seen: list[IntArray] = []
    places: list[IntArray] = []
    right: list[bool] = []
    started = time.monotonic()
    before = rows.energy + cooling.half_way * rows.not_half_way
    levels, labels = rows.levels.copy(), rows.labels.copy()
    for step in range(_SAMPLES):
        rows.sweep(cooling.still, cooling.half_way)
        seen.append(rows.levels.copy())
        places.append(rows.leaf.copy())
        right.append(rows.energy == 0)
        tell("looking around", 0.85 + 0.1 * step / _SAMPLES)
        now = time.monotonic()
        if now + 4 * (now - started) / (step + 1) > deadline:  # three more sweeps follow
            break
    # What cooling left over settles during the first half.
    settled = len(seen) // 2
    samples = np.stack(seen[settled:])
    fitting = samples[right[settled:]]
    wanted = middle(samples, task.axes)
    for _ in range(3):
        if rows.sweep(cooling.still, cooling.half_way, wanted) == 0:
            break
    if rows.energy + cooling.half_way * rows.not_half_way > before and task.figures is not None:
        rows.place(levels, labels)
    same = (samples == rows.levels).all(axis=2).sum(axis=0)
    there = ((np.stack(places[settled:]) == rows.leaf) | (rows.times == 0)).all(axis=2).sum(axis=0)
    return Placed(
        rows.levels, rows.labels, rows.leaf, rows.energy, rows.not_half_way,
        rows.energy + cooling.half_way * rows.not_half_way, same / (len(samples) + 1),
        there / (len(samples) + 1), len(np.unique(fitting, axis=0)) > 1, 0, len(samples),
    )  # fmt: skip


def middle(samples: IntArray, axes: Sequence[Axis]) -> IntArray:
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
