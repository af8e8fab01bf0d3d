"""Profiles at hand, and the least-squares fit of how often each occurs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak._compiled import compiled
from glassleak.reconstruction.mixed._placement import LongArray, Placement

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]
# Rounds over all unknowns, the change at which they end, and what is no more than nothing.
_STEPS, _EXACT, _NOTHING = 300, 1e-4, 1e-5


@dataclass(frozen=True)
class Slots:
    """Rows that look for a place.

    Attributes
    ----------
    size : (slots,) int array
        Rows that count alike share a slot.
    label : (slots,) int array
    weight : (slots, trees) float array
        How often each tree counts a row of the slot.
    """

    size: LongArray
    label: LongArray
    weight: FloatArray


class Pool:
    """Profiles, each for the rows of one slot, and how often each occurs.

    Parameters
    ----------
    placement : Placement
    slots : Slots
    pull : float
        What it costs (squared) that the profiles of a slot do not add up to its rows.

    Attributes
    ----------
    profile : (profiles, attributes) int array
    slot : (profiles,) int array
    leaf : (profiles, trees) int array
    often : (profiles,) float array
    bonus : (profiles,) float array
        Preference, where one leaf that misses one row is worth 1.
    """

    def __init__(self, placement: Placement, slots: Slots, pull: float) -> None:
        n_axes, n_trees = len(placement.grove.sizes), len(placement.grove.roots)
        self.placement, self.slots, self.pull = placement, slots, pull
        # Distinct rows count only where they are published.
        self.by_row = float(placement.distinct is not None)
        self.profile = np.zeros((0, n_axes), dtype=np.int32)
        self.slot: LongArray = np.zeros(0, dtype=np.int64)
        self.leaf: LongArray = np.zeros((0, n_trees), dtype=np.int64)
        self.often = np.zeros(0)
        self.bonus = np.zeros(0)
        # The products of what two profiles count, summed over all leaves.
        self.meet = np.zeros((0, 0))

    def add(
        self, profile: IntArray, slot: LongArray, often: FloatArray, bonus: float = 0.0
    ) -> None:
        """More profiles; those that stand in the same leaves as another are merged with it."""
        old = len(self.leaf)
        keys = np.column_stack([slot, self.placement.leaves_of(profile)])
        keys = np.concatenate([np.column_stack([self.slot, self.leaf]), keys])
        _, first, kind = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        kept = np.concatenate([np.arange(old), np.sort(first[first >= old])])
        place = np.zeros(len(keys), dtype=np.int64)
        place[kept] = np.arange(len(kept))
        total = np.zeros(len(kept))
        np.add.at(total, place[first[kind.reshape(-1)]], np.concatenate([self.often, often]))
        self.often = total
        self.profile = np.concatenate([self.profile, profile])[kept]
        self.slot, self.leaf = keys[kept, 0], np.ascontiguousarray(keys[kept, 1:])
        self.bonus = np.concatenate([self.bonus, np.full(len(kept) - old, bonus)])
        meet = np.zeros((len(kept), len(kept)))
        meet[:old, :old] = self.meet
        _meetings(
            meet, old, self.leaf, self.slot, self.slots.label, self.slots.weight,
            self.by_row, self.pull,
        )  # fmt: skip
        self.meet = meet

    def keep(self, some: npt.NDArray[np.bool_]) -> None:
        """Drop all other profiles."""
        self.profile, self.leaf = self.profile[some], self.leaf[some]
        self.slot, self.often, self.bonus = self.slot[some], self.often[some], self.bonus[some]
        self.meet = np.ascontiguousarray(self.meet[np.ix_(some, some)])

    def fit(self, missing: FloatArray, short: FloatArray) -> FloatArray:
        """Fit how often each profile occurs to what is missing, and drop those that do not.

        Parameters
        ----------
        missing : (leaves, classes + 1) float array
        short : (slots,) float array
            Rows that each slot still has to place.

        Returns
        -------
        (leaves, classes + 1) float array
            What is missing still.
        """
        weight, label = self.slots.weight[self.slot], self.slots.label[self.slot]
        worth = weight * missing[self.leaf, label[:, None]]
        worth += self.by_row * (weight > 0) * missing[self.leaf, -1]
        aim = worth.sum(axis=1) + self.pull * short[self.slot] + self.bonus
        _descend(self.meet, self.meet @ self.often - aim, self.often, _STEPS, _EXACT)
        self.keep((self.often > _NOTHING) | (self.bonus > 0))
        return self.without(missing, self.often)

    def without(self, missing: FloatArray, often: FloatArray) -> FloatArray:
        """What is missing when profiles occur so `often`."""
        out = missing.copy()
        weight, label = self.slots.weight[self.slot], self.slots.label[self.slot]
        np.subtract.at(out, (self.leaf, label[:, None]), weight * often[:, None])
        if self.by_row:
            np.subtract.at(out[:, -1], self.leaf, (weight > 0) * often[:, None])
        return out

    def take(self, often: LongArray, short: FloatArray) -> None:
        """These are placed for good; profiles of slots that are full are dropped."""
        np.subtract.at(short, self.slot, often)
        self.often = np.maximum(self.often - often, 0.0)
        self.keep((self.often > _NOTHING) & (short[self.slot] > 0.5))


@compiled
def _meetings(
    meet: Any, old: int, leaf: Any, slot: Any, label: Any, weight: Any, by_row: float, pull: float
) -> None:
    """Fill in the lines of the profiles from number `old` on."""
    for i in range(old, len(leaf)):
        for j in range(i + 1):
            one, other = slot[i], slot[j]
            total = pull if one == other else 0.0
            alike = label[one] == label[other]
            for t in range(leaf.shape[1]):
                if leaf[i, t] == leaf[j, t]:
                    product = weight[one, t] * weight[other, t]
                    if product > 0.0:
                        total += by_row
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
