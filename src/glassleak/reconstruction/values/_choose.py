"""One value for rows that determine each other, by what the column makes likely."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from glassleak.reconstruction.values._lattice import Lattice, at_least, at_most
from glassleak.reconstruction.values._prior import Prior

FloatArray = npt.NDArray[np.float64]
# Candidates looked at one by one; of more, round ones and some of the others.
_LISTED = 4000
_SOME = 400
# Rows of a chain whose round values become candidates.
_MEMBERS = 24
# From this probability on a value is worth more than the middle of all of them.
_LIKELY = 0.5


def choose(
    prior: Prior, lattice: Lattice, sign: FloatArray, offset: FloatArray, low: float, high: float
) -> float | None:
    """The most probable value r between `low` and `high` for rows that are ``sign * r + offset``.

    ``None`` if none stands out, as without steps.
    """
    if not prior.step:
        return None
    low, high = _cut_off(prior, sign, offset, low, high)
    r, weight = _candidates(prior, lattice, sign, offset, low, high)
    one, other = sign * low + offset, sign * high + offset
    share = prior.share(np.minimum(one, other), np.maximum(one, other))
    by_kind = np.zeros((len(prior.zero), len(r)))
    for s, o, average in zip(sign.tolist(), offset.tolist(), share.tolist(), strict=True):
        by_kind += prior.log(s * r + o, average)
    score = np.logaddexp.reduce(by_kind, axis=0)
    chance = weight * np.exp(score - score.max())
    single = np.where(weight == 1.0, chance / chance.sum(), 0.0)
    best = int(np.argmax(single))
    return float(r[best]) if single[best] >= _LIKELY else None


def _cut_off(
    prior: Prior, sign: FloatArray, offset: FloatArray, low: float, high: float
) -> tuple[float, float]:
    """Without what lies far beyond all thresholds, for any of the rows, as far as possible."""
    first, last = prior.ends[0], prior.ends[-1]
    one, other = sign * (first - offset), sign * (last - offset)
    start, stop = float(np.minimum(one, other).max()), float(np.maximum(one, other).min())
    if max(low, start) < min(high, stop):
        return max(low, start), min(high, stop)
    return low, high


def _candidates(
    prior: Prior, lattice: Lattice, sign: FloatArray, offset: FloatArray, low: float, high: float
) -> tuple[FloatArray, FloatArray]:
    """Values for r, ascending, and how many values each stands for."""
    least, most = at_least(lattice, low), at_most(lattice, high)
    if not least <= most:
        return np.array([low]), np.ones(1)
    count = int(np.rint((most - least) / prior.step)) + 1
    if count <= _LISTED:
        return least + prior.step * np.arange(count), np.ones(count)
    some = least + prior.step * np.rint(np.linspace(0, count - 1, _SOME))
    single = [prior.ends[prior.seen > 0]]
    for grid in prior.grid[1:]:
        if (most - least) / grid <= _SOME:
            single.append(grid * np.arange(np.floor(least / grid), np.ceil(most / grid) + 1))
            break
    values = np.unique(np.concatenate(single))
    own = [s * (values - o) for s, o in zip(sign[:_MEMBERS], offset[:_MEMBERS], strict=True)]
    special = np.unique(np.concatenate(own))
    special = special[(special >= least) & (special <= most)]
    r = np.concatenate([special, some])
    weight = np.concatenate([np.ones(len(special)), np.full(len(some), count / _SOME)])
    order = np.argsort(r, kind="stable")
    return r[order], weight[order]
