"""Fill what leaves miss with whole profiles: least squares, then rounding one by one.

Choosing how often each possible profile occurs so that every leaf gets its count is a convex
problem as long as "how often" may be a fraction.  Its unknowns are too many to list, but only a
few are needed: in turn, fit the profiles at hand to what is missing (non-negative least squares),
and look for profiles that stand where most is still missing (`climb`).  Leaves are so many that
few tables come near them, and most fractions approach whole numbers.  Profiles that nearly occur
once are then taken as a fact, one batch after the other, and the rest is fitted again.

Where rows have weights of their own, each has its own profiles, of which it needs one.
"""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt

from glassleak.reconstruction.mixed._climb import climb
from glassleak.reconstruction.mixed._placement import LongArray, Placement
from glassleak.reconstruction.mixed._pool import Pool, Slots

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]
# Fits before rounding starts at the latest, and fits between two batches that are rounded.
_FITS, _BETWEEN = 100, 2
# Rounding starts when so many places per tree are missing, or when ten fits more leave this share
# of what was missing before.
_FILLED, _STALE = 0.005, 0.9
# ... or when this share of the time is over: what is not rounded in the end is lost.
_FITTING = 0.7
# What counts as one already.
_NEARLY = 0.95
# Where nothing does, this share of the rows still to place, those that occur most often.
_AT_ONCE = 0.05
# Profiles looked for at once, sweeps of each walk, temperatures in units of the typical misfit.
_STARTS, _SWEEPS, _HEATS = 60, 4, (0.0, 0.5, 2.0, 5.0)


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
    """Profiles for all rows of `slots` that fill what is missing, as far as was found.

    Parameters
    ----------
    missing : int array
        As `Placement.missing`, of the table without these rows.
    start, start_slot : int arrays
        Profiles to begin with, for instance where the rows stand now.
    loyalty : float
        Preference for these, where one leaf that misses one row is worth 1.

    Returns
    -------
    profiles, slots
        As many as `slots` has rows, fewer if the time was up.
    """
    rng = np.random.default_rng(seed)
    random = rng.integers(1, 2**63, 1).astype(np.uint64)
    n_trees = len(placement.grove.roots)
    # Where all rows of a class are alike, every tree's leaves add up to their number anyhow.
    pool = Pool(placement, slots, 0.0 if placement.plain else float(n_trees))
    pool.add(start, start_slot, np.ones(len(start)), loyalty)
    wanted, short = missing.astype(np.float64), slots.size.astype(np.float64)
    taken, owner = [start[:0]], [start_slot[:0]]
    now = time.monotonic()
    hurry = now + _FITTING * (deadline - now)
    rounding, fits, before = False, 0, np.inf
    while short.sum() > 0.5 and len(pool.often) and time.monotonic() < deadline:
        rest = pool.fit(wanted, short)
        fits += 1
        left = float(np.abs(rest).sum()) / 2
        filled = left <= _FILLED * n_trees
        if fits % 10 == 0:
            rounding |= left > _STALE * before
            before = left
        rounding |= filled or fits >= _FITS or time.monotonic() > hurry
        if rounding and (filled or fits % _BETWEEN == 0):
            often = _rounded(pool, short)
            taken.append(np.repeat(pool.profile, often, axis=0))
            owner.append(np.repeat(pool.slot, often))
            wanted = pool.without(wanted, often.astype(np.float64))
            pool.take(often, short)
            continue
        some = rng.permutation(len(pool.often))[:_STARTS]
        slot = pool.slot[some]
        typical = float(np.sqrt((rest**2).mean())) + 1e-12
        found, _ = climb(
            placement.grove, pool.profile[some], slots.label[slot], slots.weight[slot],
            rest / typical, heat=float(rng.choice(_HEATS)), sweeps=_SWEEPS, random=random,
        )  # fmt: skip
        pool.add(found, slot, np.zeros(len(found)))
    return np.concatenate(taken), np.concatenate(owner)


def _rounded(pool: Pool, short: FloatArray) -> LongArray:
    """How often to take each profile for good: what is nearly a whole number, or the largest."""
    often: LongArray = np.floor(pool.often + 1.0 - _NEARLY).astype(np.int64)
    if not often.any():
        some = max(1, int(_AT_ONCE * short.sum()))
        often[np.argsort(-pool.often, kind="stable")[:some]] = 1
    room = np.rint(short).astype(np.int64)
    for k in np.argsort(-pool.often, kind="stable").tolist():
        often[k] = min(often[k], room[pool.slot[k]])
        room[pool.slot[k]] -= often[k]
    return often
