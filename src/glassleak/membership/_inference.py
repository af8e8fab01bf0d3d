"""Membership inference: guess who was in the training set from what the model says about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv

FloatArray: TypeAlias = npt.NDArray[np.float64]

LOW_RATES = (0.001, 0.01, 0.1)


@dataclass(frozen=True)
class Roc:
    """How many members are found, for every share of others wrongly taken for members.

    Attributes
    ----------
    false_positives, true_positives : float arrays
        Rates, from (0, 0) to (1, 1).
    area : float
        0.5 is guessing.
    """

    false_positives: FloatArray
    true_positives: FloatArray
    area: float

    def found_at(self, rate: float) -> float:
        """Largest share of members found while at most `rate` of the others are accused."""
        allowed = self.false_positives <= rate
        return float(self.true_positives[allowed].max())


@dataclass(frozen=True)
class Attack:
    """One way to guess membership.

    Attributes
    ----------
    name : str
        ``"confidence"``: members are those whose own class the model is sure of (black box).
        ``"label only"``: members are those the model gets right.
    roc : Roc
    found : dict of rate to (share, low, high)
        Members found at low rates of wrong accusations, with a 95 % interval (Clopper and
        Pearson) that takes the threshold as given.
    advantage : float
        Largest difference between the two rates; 0 is guessing.
    """

    name: str
    roc: Roc
    found: dict[float, tuple[float, float, float]]
    advantage: float


def attack(name: str, members: FloatArray, others: FloatArray) -> Attack:
    """Judge a score that should be higher for members."""
    roc = roc_of(members, others)
    found = {}
    for rate in LOW_RATES:
        share = roc.found_at(rate)
        hits = round(share * len(members))
        found[rate] = (share, *_interval(hits, len(members)))
    advantage = float(np.max(roc.true_positives - roc.false_positives))
    return Attack(name, roc, found, advantage)


def roc_of(members: FloatArray, others: FloatArray) -> Roc:
    """The curve over all thresholds; people with equal scores are accused together."""
    cuts = np.unique(np.concatenate([members, others]))[::-1]
    above = [
        1 - np.searchsorted(np.sort(scores), cuts, side="left") / len(scores)
        for scores in (members, others)
    ]
    true, false = (np.concatenate([[0.0], rates]) for rates in above)
    return Roc(false, true, float(np.trapezoid(true, false)))


def _interval(hits: int, trials: int, risk: float = 0.05) -> tuple[float, float]:
    low = float(betaincinv(hits, trials - hits + 1, risk / 2)) if hits else 0.0
    high = float(betaincinv(hits + 1, trials - hits, 1 - risk / 2)) if hits < trials else 1.0
    return low, high
