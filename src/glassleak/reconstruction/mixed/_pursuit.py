"""Fill what leaves miss with whole profiles: least squares, then rounding one by one.

Choosing how often each possible profile occurs so that every leaf gets its count is a convex
problem as long as "how often" may be a fraction.  Its unknowns are too many to list, but only a
few are needed: in turn, fit the profiles at hand to what is missing (non-negative least squares),
and look for profiles that stand where most is still missing (`climb`).  Leaves are so many that
few tables come near them, and fractions approach whole numbers.  Profiles that nearly occur once
are then taken as a fact, one batch after the other, and the rest is fitted again.

Where rows have weights of their own, each has its own profiles, of which it needs one.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak._compiled import compiled
from glassleak.reconstruction.mixed._climb import climb
from glassleak.reconstruction.mixed._placement import LongArray, Placement

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]
_FITS, _STEPS, _EXACT = 100, 300, 1e-4
_LEAST = 1e-5
# Profiles looked for at once, sweeps of each walk, temperatures in units of the typical misfit.
_STARTS, _SWEEPS, _HEATS = 150, 6, (0.0, 0.5, 2.0, 5.0)
# What counts as one already; how little may be missing (in rows per tree) before rounding starts.
_NEARLY, _FILLED = 0.95, 0.005
# Fits between two batches that are rounded.
_BETWEEN = 2


@dataclass(frozen=True)
class Slots:
    """Rows that look for a place.

    Attributes
    ----------
    size : (slots,) int array
        Rows that are alike share a slot.
    label : (slots,) int array
    weight : (slots, trees) float array
    """

    size: LongArray
    label: LongArray
    weight: FloatArray


class _Pool:
    """Profiles at hand, how often each occurs, and in how many trees two of them meet."""

    def __init__(self, placement: Placement, slots: Slots, pull: float) -> None:
        n_axes, n_trees = len(placement.grove.sizes), len(placement.grove.roots)
        self.placement, self.slots, self.pull = placement, slots, pull
        self.counts_rows = float(placement.distinct is not None)
        self.profile = np.zeros((0, n_axes), dtype=np.int32)
        self.slot = np.zeros(0, dtype=np.int64)
        self.leaf = np.zeros((0, n_trees), dtype=np.int64)
        self.often = np.zeros(0)
        self.meet = np.zeros((0, 0))
        self.bonus = np.zeros(0)

    def add(self, profile: IntArray, slot: LongArray, often: FloatArray, bonus: float = 0.0) -> None:
        leaf = self.placement.leaves_of(profile)
        both = np.concatenate([self.leaf, leaf])
        owner = np.concatenate([self.slot, slot])
        _, first = np.unique(np.column_stack([owner, both]), axis=0, return_index=True)
        old = len(self.leaf)
        new = np.sort(first[first >= old])
        # The same leaves again: as often as both together.
        total = np.concatenate([self.often, often])
        own, rest = np.concatenate([np.arange(old), new]), np.setdiff1d(np.arange(old, len(both)), new)
        for k in rest[total[rest] > 0].tolist():
            same = np.flatnonzero((both[own] == both[k]).all(axis=1) & (owner[own] == owner[k]))
            total[own[same[0]]] += total[k]
        self.profile = np.concatenate([self.profile, profile])[own]
        self.leaf, self.slot, self.often = both[own], owner[own], total[own]
        meet = np.zeros((len(own), len(own)))
        meet[:old, :old] = self.meet
        _meetings(
            meet, old, self.leaf, self.slot, self.slots.label, self.slots.weight,
            self.counts_rows, self.pull,
        )  # fmt: skip
        self.meet = meet
        self.bonus = np.concatenate([self.bonus, np.full(len(own) - old, bonus)])

    def keep(self, some: npt.NDArray[np.bool_]) -> None:
        self.profile, self.leaf = self.profile[some], self.leaf[some]
        self.slot, self.often = self.slot[some], self.often[some]
        self.bonus = self.bonus[some]
        self.meet = np.ascontiguousarray(self.meet[np.ix_(some, some)])

    def fit(self, missing: FloatArray, short: FloatArray) -> FloatArray:
        """Fit to what is missing; returns what is still missing.

        Parameters
        ----------
        short : (slots,) float array
            Rows that each slot still has to place.
        """
        aim = self._worth(missing) + self.pull * short[self.slot] + self.bonus
        _descend(self.meet, self.meet @ self.often - aim, self.often, _STEPS, _EXACT)
        self.keep((self.often > _LEAST) | (self.bonus > 0))
        return self.rest(missing)

    def _worth(self, missing: FloatArray) -> FloatArray:
        weight = self.slots.weight[self.slot]
        by_class = missing[self.leaf, self.slots.label[self.slot][:, None]]
        alike = missing[self.leaf, -1] * (weight > 0) * self.counts_rows
        total: FloatArray = (weight * by_class + alike).sum(axis=1)
        return total

    def rest(self, missing: FloatArray) -> FloatArray:
        """What is missing with the profiles taken as often as they are now."""
        out = missing.copy()
        label = self.slots.label[self.slot]
        weight = self.slots.weight[self.slot]
        np.subtract.at(out, (self.leaf, label[:, None]), weight * self.often[:, None])
        if self.counts_rows:
            np.subtract.at(out[:, -1], self.leaf, (weight > 0) * self.often[:, None])
        return out


def pursue(
    placement: Placement,
    slots: Slots,
    missing: LongArray,
    start: IntArray,
    start_slot: LongArray,
    *,
    loyalty: float,
    deadline: float,
    seed: int,
) -> tuple[IntArray, LongArray]:
    """Profiles for all rows of `slots` that fill what is missing.

    Parameters
    ----------
    missing : int array
        As `Placement.missing`, of the table without these rows.
    start, start_slot : int arrays
        Where the rows stand now.

    Returns
    -------
    profiles, slots
        As many as `slots` has rows, unless the time was up; they need not fill everything.
    """
    rng = np.random.default_rng(seed)
    random = rng.integers(1, 2**63, 1).astype(np.uint64)
    pull = 0.0 if placement.plain else float(len(placement.grove.roots))
    pool = _Pool(placement, slots, pull)
    pool.add(start, start_slot, np.ones(len(start)), loyalty)
    wanted = missing.astype(np.float64)
    short = slots.size.astype(np.float64)
    trees = len(placement.grove.roots)
    taken: list[IntArray] = []
    owners: list[LongArray] = []
    rounding, fits, before = False, 0, np.inf
    while short.sum() > 0.5 and time.monotonic() < deadline and len(pool.often):
        rest = pool.fit(wanted, short)
        fits += 1
        left = float(np.abs(rest).sum()) / 2
        enough = left <= _FILLED * trees * 1.0
        if fits % 10 == 0 and not rounding:
            rounding, before = left > 0.9 * before, left
        rounding |= enough or fits >= _FITS
        if rounding and (enough or fits % _BETWEEN == 0):
            q = _round(pool, short)
            for k in np.flatnonzero(q).tolist():
                taken.append(np.repeat(pool.profile[[k]], q[k], axis=0))
                owners.append(np.repeat(pool.slot[[k]], q[k]))
            part = pool.often
            pool.often = q.astype(np.float64)
            wanted = pool.rest(wanted)
            np.subtract.at(short, pool.slot, q)
            pool.often = np.maximum(part - q, 0.0)
            pool.keep((pool.often > _LEAST) & (short[pool.slot] > 0.5))
            continue
        some = rng.permutation(len(pool.often))[:_STARTS]
        scale = float(np.sqrt((rest**2).mean())) + 1e-12
        slot = pool.slot[some]
        found, _ = climb(
            placement.grove, pool.profile[some], slots.label[slot], slots.weight[slot],
            rest / scale, heat=float(rng.choice(_HEATS)), sweeps=_SWEEPS, random=random,
        )  # fmt: skip
        pool.add(found, slot, np.zeros(len(found)))
    if not taken:
        return start[:0], start_slot[:0]
    return np.concatenate(taken), np.concatenate(owners)


def _round(pool: _Pool, short: FloatArray) -> LongArray:
    """How often to take each profile for good: what nearly is a whole number, or the largest."""
    q = np.floor(pool.often + 1.0 - _NEARLY).astype(np.int64)
    if not q.any():
        q[int(np.argmax(pool.often))] = 1
    room = np.rint(short).astype(np.int64)
    for k in np.argsort(-pool.often, kind="stable").tolist():
        q[k] = min(q[k], room[pool.slot[k]])
        room[pool.slot[k]] -= q[k]
    return q


@compiled
def _meetings(
    meet: Any, old: int, leaf: Any, slot: Any, label: Any, weight: Any, rows: float, pull: float
) -> None:
    """Fill in the lines of new profiles: products of what two profiles count, over all leaves."""
    for i in range(old, len(leaf)):
        for j in range(i + 1):
            one, other = slot[i], slot[j]
            total = pull if one == other else 0.0
            alike = label[one] == label[other]
            for t in range(leaf.shape[1]):
                if leaf[i, t] == leaf[j, t]:
                    product = weight[one, t] * weight[other, t]
                    if product > 0.0:
                        total += rows
                        if alike:
                            total += product
            meet[i, j] = total
            meet[j, i] = total


@compiled
def _descend(meet: Any, slope: Any, often: Any, steps: int, exact: float) -> None:
    """Non-negative least squares, one unknown at a time."""
    n = len(often)
    for _ in range(steps):
        largest = 0.0
        for j in range(n):
            if meet[j, j] <= 0.0:
                continue
            change = max(0.0, often[j] - slope[j] / meet[j, j]) - often[j]
            if change != 0.0:
                often[j] += change
                for i in range(n):
                    slope[i] += change * meet[j, i]
                largest = max(largest, abs(change))
        if largest < exact:
            break
