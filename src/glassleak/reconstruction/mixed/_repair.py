"""Repair a table whose leaf counts are nearly right, by freeing many rows at once.

A search that moves one attribute of one row at a time ends where rows would have to change
together: what is wrong are small differences in many rows, and a few rows that are jumbled.  Here
the rows of a neighbourhood are taken out, and what they leave behind is filled again with whole
profiles (see `_pursuit`), their old ones being preferred a little.  The result is polished row by
row and kept if it is not worse.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from glassleak.reconstruction.mixed._climb import climb
from glassleak.reconstruction.mixed._grove import Grove
from glassleak.reconstruction.mixed._placement import LongArray, Placement
from glassleak.reconstruction.mixed._pool import Slots
from glassleak.reconstruction.mixed._pursuit import pursue

IntArray = npt.NDArray[np.int32]
Accept = Callable[[IntArray, IntArray], bool]
# Preference for old profiles, where one leaf that misses one row is worth 1: drawn anew for every
# round, as the best differs between tables (from 0.5 on hardly anything moves).
_LOYALTY = (0.03, 0.1, 0.2)
_SMALLEST = 6
# Polishing: temperatures of the walks of each row, and sweeps of each walk.
_POLISH, _SWEEPS = (0.0, 0.5, 1.0), 6


@dataclass(frozen=True)
class Repaired:
    """A table that fits at least as well.

    Attributes
    ----------
    levels : (rows, attributes) int array
    energy : int
        Sum over leaves and classes of how far the count is off, and of how far the number of
        distinct rows is.
    rounds, improved : int
        Neighbourhoods tried, and those after which the energy was lower.
    """

    levels: IntArray
    energy: int
    rounds: int
    improved: int


def repair(
    grove: Grove,
    target: LongArray,
    levels: IntArray,
    labels: IntArray,
    weights: npt.NDArray[np.integer] | None = None,
    *,
    deadline: float,
    seed: int,
    distinct: npt.NDArray[np.integer] | None = None,
    neighbourhood: int = 100,
    max_rounds: int = 1000,
    accept: Accept | None = None,
) -> Repaired:
    """Lower the energy of a table until it is 0 or the time is up.

    Parameters
    ----------
    target : (leaves, classes) int array
        The published counts.
    levels : (rows, attributes) int array
    labels : (rows,) int array
    weights : (rows, trees) int array, optional
        How often each tree counts each row (0: it does not); once if not given.
    deadline : float
        On the clock of `time.monotonic`.
    distinct : (leaves,) int array, optional
        How many rows of positive weight each leaf has.
    neighbourhood : int
        Most rows that are freed at once.
    max_rounds : int
        With this limit and a far deadline the answer depends on the seed alone.
    accept : callable, optional
        Asked with the old table and a new one that fits as well or better, whether to go on with
        the new one; without it, always.  So a caller can prefer tables for other reasons.
    """
    placement = Placement(grove, target, labels, weights, distinct)
    rng = np.random.default_rng(seed)
    table = np.array(levels, dtype=np.int32, order="C")
    energy = placement.energy(table)
    rounds = improved = 0
    size = neighbourhood
    while energy and rounds < max_rounds and time.monotonic() < deadline:
        rounds += 1
        rows = _choose(placement, table, size, rng)
        fresh = _again(placement, table, rows, deadline, rng)
        fresh = _polish(placement, fresh, rows, deadline, rng)
        now = placement.energy(fresh)
        better = now < energy
        size = min(neighbourhood, 2 * size) if better else max(_SMALLEST, 2 * len(rows) // 3)
        if size <= _SMALLEST:
            size = neighbourhood
        if now <= energy and (accept is None or accept(table, fresh)):
            table, energy = fresh, now
            improved += better
    return Repaired(table, energy, rounds, improved)


def _choose(
    placement: Placement, table: IntArray, size: int, rng: np.random.Generator
) -> LongArray:
    """Rows that may be to blame, and rows that stand in many of the same leaves.

    Rows in a leaf with too many share the blame.  Where leaves count classes only, a neighbourhood
    has rows of one class, because nothing connects it to the others.
    """
    leaf = placement.leaves_of(table)
    missing = placement.missing(leaf)
    label = placement.labels[:, None]
    seen = placement.weights > 0
    held = np.zeros(missing.shape)
    np.add.at(held, (leaf, label), seen)
    blame = (np.maximum(-missing[leaf, label], 0) + np.maximum(-missing[leaf, -1], 0)[:, :]) * seen
    score = (blame / np.maximum(held[leaf, label], 1)).sum(axis=1)
    allowed = np.ones(len(table), dtype=bool)
    if placement.distinct is None and score.sum() > 0:
        by_class = np.bincount(placement.labels, score)
        allowed = placement.labels == rng.choice(len(by_class), p=by_class / by_class.sum())
    rows = np.flatnonzero(allowed)
    if len(rows) <= size:
        return rows
    # Gumbel's trick: the largest of these are a draw by score without replacement.
    drawn = np.log(score[rows] + 1e-9) + rng.gumbel(size=len(rows))
    first = rows[np.argsort(-drawn, kind="stable")[: max(1, size // 3)]]
    kin = np.zeros(len(rows))
    for i in first.tolist():
        kin = np.maximum(kin, (leaf[rows] == leaf[i]).mean(axis=1))
    # Those in `first` are their own kin entirely.
    order = np.argsort(-kin - 0.05 * rng.random(len(rows)), kind="stable")
    return np.sort(rows[order[:size]])


def _again(
    placement: Placement,
    table: IntArray,
    rows: LongArray,
    deadline: float,
    rng: np.random.Generator,
) -> IntArray:
    """The table with `rows` placed again; as it is if that could not be finished."""
    label = placement.labels[rows]
    if placement.plain:
        classes, slot = np.unique(label, return_inverse=True)
        slots = Slots(
            np.bincount(slot), classes, np.ones((len(classes), len(placement.grove.roots)))
        )
    else:
        slot = np.arange(len(rows))
        slots = Slots(np.ones(len(rows), np.int64), label, placement.weights[rows].astype(float))
    others = np.setdiff1d(np.arange(len(table)), rows)
    missing = placement.missing(placement.leaves_of(table), others)
    profiles, owner = pursue(
        placement, slots, missing, table[rows], slot, loyalty=float(rng.choice(_LOYALTY)),
        deadline=deadline, seed=int(rng.integers(2**31)),
    )  # fmt: skip
    out = table.copy()
    if len(profiles) < len(rows):
        return out
    for k in range(len(slots.size)):
        own, fresh = rows[slot == k], profiles[owner == k]
        # Rows that are alike keep as much of themselves as possible.
        apart = (table[own][:, None, :] != fresh[None]).sum(axis=2)
        one, other = linear_sum_assignment(apart)
        out[own[one]] = fresh[other]
    return _unmoved(placement, table, out, rows)


def _unmoved(placement: Placement, table: IntArray, fresh: IntArray, rows: LongArray) -> IntArray:
    """`fresh` with the old level wherever it makes no difference to any leaf."""
    out = fresh.copy()
    leaf = placement.leaves_of(out[rows])
    ignored = placement.weights[rows] == 0
    for b in range(table.shape[1]):
        tried = out[rows]
        tried[:, b] = table[rows, b]
        same = ((placement.leaves_of(tried) == leaf) | ignored).all(axis=1)
        out[rows[same], b] = table[rows[same], b]
        leaf[same] = placement.leaves_of(out[rows[same]])
    return out


def _polish(
    placement: Placement,
    table: IntArray,
    rows: LongArray,
    deadline: float,
    rng: np.random.Generator,
) -> IntArray:
    """Give every row in a leaf with too many the best place for it alone, in random order."""
    out = table.copy()
    random = rng.integers(1, 2**63, 1).astype(np.uint64)
    leaf = placement.leaves_of(out)
    missing = placement.missing(leaf)
    last = missing.shape[1] - 1
    for i in rng.permutation(rows).tolist():
        if time.monotonic() >= deadline:
            break
        c, weight = int(placement.labels[i]), placement.weights[i]
        crowded = (missing[leaf[i], c] < 0) | (missing[leaf[i], last] < 0)
        if not (crowded & (weight > 0)).any():
            continue
        _move(placement, missing, leaf[i], i, 1)
        # What a row is worth in a leaf, per count; exact where it counts once.
        value = np.clip(2.0 * missing - 1.0, -1.0, 1.0)
        if placement.distinct is None:
            value[:, last] = 0.0
        starts = np.repeat(out[[i]], len(_POLISH), axis=0)
        for heat, start in zip(_POLISH, starts, strict=True):
            found, _ = climb(
                placement.grove, start[None], np.array([c]), weight[None].astype(float), value,
                heat=heat, sweeps=_SWEEPS, random=random,
            )  # fmt: skip
            place = placement.leaves_of(found)[0]
            if _cost(placement, missing, place, i) < _cost(placement, missing, leaf[i], i):
                out[i], leaf[i] = found[0], place
        _move(placement, missing, leaf[i], i, -1)
    return out


def _move(placement: Placement, missing: LongArray, leaf: LongArray, i: int, sign: int) -> None:
    """Take a row out of its leaves (1) or put it there (-1)."""
    missing[leaf, placement.labels[i]] += sign * placement.weights[i]
    if placement.distinct is not None:
        missing[leaf, -1] += sign * (placement.weights[i] > 0)


def _cost(placement: Placement, missing: LongArray, leaf: LongArray, i: int) -> int:
    """What the row adds to the energy in these leaves."""
    own = missing[leaf, placement.labels[i]]
    total = (np.abs(own - placement.weights[i]) - np.abs(own)).sum()
    if placement.distinct is not None:
        rows = missing[leaf, -1]
        total += (np.abs(rows - (placement.weights[i] > 0)) - np.abs(rows)).sum()
    return int(total)
