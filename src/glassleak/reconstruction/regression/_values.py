"""Which targets the training rows have, and which leaf holds which of them.

A leaf of one row, or of rows with equal targets, publishes the target itself.  A leaf of two rows
publishes mean and variance, and these are two equations for two targets.  A target then serves as
the name of its row: leaves of different trees that publish the same number hold the same rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glassleak.reconstruction.regression._facts import Facts, FloatArray, IntArray

# Targets that differ by less than this share of themselves are taken to be the same number: the
# mean of m equal numbers may differ from them in the last digits.
SAME = 64 * float(np.finfo(np.float64).eps)
# Several rows whose variance is 0 but for rounding are taken to have equal targets, if rounding
# could hide differences of no more than this share of the standard deviation of all targets.
_HIDDEN = 1e-4
# Targets computed less precisely than this share of their standard deviation tell nothing.
_BLURRED = 1e-6
NINE_DIGITS = 1e-9
# Draws of a leaf of two rows: how they are shared is tried out.
_MOST_DRAWS = 12
_MOST_DECIMALS = 6


@dataclass(frozen=True)
class Shares:
    """Which rows are in which leaf, as far as leaves publish it themselves.

    Attributes
    ----------
    values : (values,) float array
        The different targets, ascending.
    exact : (values,) bool array
        Whether the target is known to nine digits or more.  Those computed from means and variances
        of pairs may not be.
    leaf, value, distinct, drawn : (shares,) int arrays
        So many distinct rows (and draws) of a leaf have this target.
    sound : (shares,) bool array
        Follows from the leaf alone.  In leaves of two rows that were drawn more than twice it is
        tried out who was drawn how often, which is sound if all targets are known.
    told : (leaves,) bool array
        Leaves all of whose rows are told.
    decimals : int or None
        Targets computed from pairs were rounded to so many decimals, which all of them fit.
    """

    values: FloatArray
    exact: npt.NDArray[np.bool_]
    leaf: IntArray
    value: IntArray
    distinct: IntArray
    drawn: IntArray
    sound: npt.NDArray[np.bool_]
    told: npt.NDArray[np.bool_]
    decimals: int | None = None


def shares_of(facts: Facts) -> Shares:
    """Read off every target that leaves publish."""
    held = facts.distinct > 0
    alone = held & (facts.distinct == 1)
    # Rounding hides small differences: no leaf tells targets apart that are this close.
    reach = np.sqrt(np.maximum(facts.slack * facts.drawn, 0.0)) + SAME * np.abs(facts.mean)
    equal = held & (np.abs(facts.spread) <= facts.slack) & (reach <= _HIDDEN * facts.scale) & ~alone
    values = _clusters(facts, np.flatnonzero(alone | equal))
    near = np.searchsorted(values, facts.mean + reach, side="right") - np.searchsorted(
        values, facts.mean - reach, side="left"
    )
    pure = alone | (equal & (near <= 1))
    exact = np.ones(len(values), dtype=bool)
    pairs = _pairs(facts, np.flatnonzero(held & ~pure & (facts.distinct == 2)))
    values, exact, decimals = _with_pairs(values, exact, pairs)
    told = ~held | pure
    leaf, value = [np.flatnonzero(pure)], [_nearest(values, facts.mean[pure])]
    distinct, drawn = [facts.distinct[pure]], [facts.drawn[pure]]
    sound = [np.ones(int(pure.sum()), dtype=bool)]
    for pair in _told_pairs(values, pairs):
        told[pair.leaf] = True
        leaf.append(np.array([pair.leaf, pair.leaf]))
        value.append(_nearest(values, np.array([pair.one, pair.other])))
        distinct.append(np.array([1, 1]))
        sound.append(np.full(2, bool(facts.drawn[pair.leaf] == 2)))
        drawn.append(np.array([pair.draws, int(facts.drawn[pair.leaf]) - pair.draws]))
    parts = (np.concatenate(part).astype(np.int64) for part in (leaf, value, distinct, drawn))
    leaf_, value_, distinct_, drawn_ = parts
    return Shares(
        values, exact, leaf_, value_, distinct_, drawn_, np.concatenate(sound), told, decimals
    )


def _clusters(facts: Facts, leaves: IntArray) -> FloatArray:
    """The different targets among the means of `leaves`, each to the last digit if possible."""
    if not len(leaves):
        return np.empty(0)
    order = leaves[np.argsort(facts.mean[leaves], kind="stable")]
    means = facts.mean[order]
    new = np.concatenate([[True], np.diff(means) > SAME * np.abs(means[1:])])
    number = np.cumsum(new) - 1
    # Twice a number, halved, is the number; three times, divided by three, may not be.
    power = (facts.drawn[order] & (facts.drawn[order] - 1)) == 0
    clean = (facts.distinct[order] == 1) & power
    best: FloatArray = means[new].copy()
    best[number[clean][::-1]] = means[clean][::-1]
    return best


@dataclass(frozen=True)
class _Pair:
    """A solution for a leaf of two rows: their targets, how often the first was drawn, error."""

    leaf: int
    one: float
    other: float
    draws: int
    error: float


def _pairs(facts: Facts, leaves: IntArray) -> list[list[_Pair]]:
    """For every leaf of two rows, the targets that its mean and variance allow."""
    if not facts.variances:
        return []
    found = []
    for leaf in leaves.tolist():
        drawn, mean, variance = int(facts.drawn[leaf]), facts.mean[leaf], facts.spread[leaf]
        slack = facts.slack[leaf]
        if drawn > _MOST_DRAWS or not variance > 4 * slack:
            continue
        deviation = float(np.sqrt(variance))
        error = drawn * (slack / deviation + SAME * (abs(mean) + deviation))
        if error > _BLURRED * facts.scale:
            continue  # two rows' targets could be taken for one
        # With equal draws the second solution is the first, told the other way round.
        splits = [1] if drawn == 2 else range(1, drawn)
        found.append([
            _Pair(
                leaf, float(mean - deviation * np.sqrt((drawn - k) / k)),
                float(mean + deviation * np.sqrt(k / (drawn - k))), k, error,
            )
            for k in splits
        ])  # fmt: skip
    return found


def _with_pairs(
    values: FloatArray, exact: npt.NDArray[np.bool_], pairs: list[list[_Pair]]
) -> tuple[FloatArray, npt.NDArray[np.bool_], int | None]:
    """`values` and the targets that only pairs tell, rounded to decimals that fit all of them."""
    estimates = sorted(
        (target, pair.error)
        for options in pairs
        if len(options) == 1
        for pair in options
        for target in (pair.one, pair.other)
        if _known_near(values, target, pair.error) == 0
    )
    if not estimates:
        return values, exact, None
    groups: list[list[tuple[float, float]]] = []
    for estimate in estimates:
        if groups and estimate[0] - groups[-1][-1][0] <= estimate[1] + groups[-1][-1][1]:
            groups[-1].append(estimate)
        else:
            groups.append([estimate])
    best = [min(group, key=lambda item: item[1]) for group in groups]
    fresh = np.array([target for target, _ in best])
    error = np.array([error for _, error in best])
    decimals = _decimals(np.concatenate([values, fresh]), error.max(initial=0.0))
    sure = error <= NINE_DIGITS * np.abs(fresh)
    if decimals is not None:
        fresh = np.round(fresh, decimals)
        sure[:] = True
    both = np.concatenate([values, fresh])
    order = np.argsort(both, kind="stable")
    return both[order], np.concatenate([exact, sure])[order], decimals


def _decimals(values: FloatArray, error: float) -> int | None:
    """The fewest decimals that all values have, if that is far beyond what rounding could fake."""
    for decimals in range(_MOST_DECIMALS + 1):
        step = 10.0**-decimals
        if error > step / 1000:
            return None
        if (np.abs(values - np.round(values, decimals)) <= error + SAME * np.abs(values)).all():
            return decimals
    return None


def _told_pairs(values: FloatArray, pairs: list[list[_Pair]]) -> list[_Pair]:
    """The leaves of two rows with one solution among the known targets."""
    found = []
    for options in pairs:
        fitting = [
            pair
            for pair in options
            if _known_near(values, pair.one, pair.error) == 1
            and _known_near(values, pair.other, pair.error) == 1
        ]
        if len(fitting) == 1:
            found.append(fitting[0])
    return found


def _known_near(values: FloatArray, target: float, error: float) -> int:
    """How many known targets lie within `error`."""
    start = np.searchsorted(values, target - error, side="left")
    return int(np.searchsorted(values, target + error, side="right") - start)


def _nearest(values: FloatArray, targets: FloatArray) -> IntArray:
    at = np.searchsorted(values, targets).clip(1, max(len(values) - 1, 1))
    if len(values) == 1:
        return np.zeros(len(targets), dtype=np.int64)
    left = np.abs(targets - values[at - 1]) <= np.abs(values[at] - targets)
    return np.where(left, at - 1, at).astype(np.int64)
