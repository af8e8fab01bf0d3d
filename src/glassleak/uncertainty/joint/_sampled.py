"""An unbiased estimate: the exact count's frontiers, thinned at random when they get too many.

Each step decides one unknown, as in `_frontier`.  When there are more frontiers than can be kept,
some are chosen at random, and the weight of each chosen one is divided by its chance to be chosen,
so that the expected total stays what it was: the final total estimates the number of tables without
bias, whatever the chances.  They only decide how much it scatters.  A frontier's chance follows its
weight times what the best product (`_product`) expects of its future.  Resampling is that of
P. Fearnhead and P. Clifford, "On-line inference for hidden Markov models via particle filters",
JRSS B 2003.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from glassleak.uncertainty.joint._frontier import Frontier, TooManyStatesError, decision_order
from glassleak.uncertainty.joint._piece import FloatArray, IntArray, Kind, Piece, log_ways_table
from glassleak.uncertainty.joint._product import Tilt


@dataclass(frozen=True)
class Estimate:
    """log2 of an estimated number of tables.

    Attributes
    ----------
    bits : float
    error : float
        Standard error of `bits`, from the scatter of independent repetitions.
    repetitions : int
    """

    bits: float
    error: float
    repetitions: int


def estimate(
    piece: Piece,
    kind: Kind,
    tilt: Tilt,
    *,
    keep: int,
    repetitions: int,
    deadline: float,
    seed: int,
) -> Estimate | None:
    """Estimate the number of tables; ``None`` if no repetition came through."""
    order = decision_order(piece.matrix)
    totals = []
    for r in range(repetitions):
        rng = np.random.default_rng([seed, r])
        total = _one(piece, kind, tilt, order, keep, rng, deadline)
        if total is None:
            break
        totals.append(total)
    found = np.array(totals)
    if len(found) < 2 or not np.isfinite(found).any():
        return None
    top = found.max()
    shares = np.exp(found - top)
    mean = float(shares.mean())
    scatter = float(shares.std(ddof=1)) / math.sqrt(len(shares)) / mean
    bits = (float(top) + math.log(mean)) / math.log(2)
    return Estimate(bits, scatter / math.log(2), len(found))


def _one(
    piece: Piece,
    kind: Kind,
    tilt: Tilt,
    order: IntArray,
    keep: int,
    rng: np.random.Generator,
    deadline: float,
) -> float | None:
    """Log of one unbiased total (``-inf`` if no frontier came through); ``None`` when late."""
    front = Frontier(piece, order)
    weight: FloatArray = np.zeros(1)
    future = _Future(piece, tilt)
    for step, j in enumerate(order.tolist()):
        if step % 16 == 0 and time.monotonic() > deadline:
            return None
        try:
            chosen, h = front.expand(j, limit=200 * keep)
        except TooManyStatesError:
            return None
        if not len(h):
            return -math.inf
        future.decide(j)
        most = int(piece.upper[j] - piece.given[j])
        weight = weight[chosen] + log_ways_table(piece.profiles[j], most, kind)[h - piece.given[j]]
        merged = front.merge()
        if merged is not None:
            ordered, starts = merged
            weight = np.logaddexp.reduceat(weight[ordered], starts)
        if len(weight) > keep:
            which, log_chance = thin(weight + future.promise(front), keep, rng)
            front.keep(which)
            weight = weight[which] - log_chance
    return float(weight[0]) if len(weight) else -math.inf


class _Future:
    """What the product expects of the unknowns that are still to be decided."""

    def __init__(self, piece: Piece, tilt: Tilt) -> None:
        self.tilt = tilt
        self.matrix = piece.matrix
        self.mean = piece.matrix @ tilt.mean
        self.variance = piece.matrix @ tilt.variance
        self._columns = piece.matrix.tocsc()

    def decide(self, j: int) -> None:
        own = self._columns.indices[self._columns.indptr[j] : self._columns.indptr[j + 1]]
        self.mean[own] -= self.tilt.mean[j]
        self.variance[own] -= self.tilt.variance[j]

    def promise(self, front: Frontier) -> FloatArray:
        """Log of how many completions each frontier can be expected to have, up to a constant."""
        e = np.flatnonzero(front.place >= 0)
        missing = front.missing[:, front.place[e]]
        away = missing - self.mean[e]
        spread = np.maximum(self.variance[e], 0.05)
        normal = -(away**2) / (2 * spread)
        # Equations of different trees say much the same, so together they count for less.
        share = 1.0 / math.sqrt(max(1.0, len(e)))
        return np.asarray(-(missing @ self.tilt.y[e]) + share * normal.sum(axis=1))


def thin(score: FloatArray, keep: int, rng: np.random.Generator) -> tuple[IntArray, FloatArray]:
    """Choose about `keep` of the scores, each with a chance in proportion, none twice.

    Returns
    -------
    which, log_chance
        The chosen ones, and the logarithm of the chance each had.
    """
    size = np.exp(score - score.max())
    order = np.argsort(-size, kind="stable")
    tail = np.cumsum(size[order][::-1])[::-1]
    # The largest are kept for certain; the others share the remaining places.
    places = keep - np.arange(len(size))
    sure = int(np.argmax((size[order] * places < tail) | (places <= 1)))
    level = tail[sure] / max(1, keep - sure)
    chance = np.minimum(1.0, size / level) if level > 0 else np.ones(len(size))
    uncertain = order[sure:]
    steps = np.floor(np.cumsum(chance[uncertain]) + rng.random())
    taken = uncertain[np.diff(steps, prepend=0.0) > 0] if len(steps) else uncertain
    which = np.sort(np.concatenate([order[:sure], taken]))
    return which.astype(np.int64), np.log(np.where(chance > 0, chance, 1.0))[which]
