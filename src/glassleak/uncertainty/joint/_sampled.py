"""An unbiased estimate: the exact count's frontiers, thinned at random when they get too many.

Each step decides one unknown, as in `_frontier`.  When there are more frontiers than can be kept,
some are chosen at random, and the weight of each chosen one is divided by its chance to be chosen,
so that the expected total stays what it was: the final total estimates the number of tables without
bias, whatever the chances.  They only decide how much it scatters.  A frontier's chance follows its
weight times what the best product (`_product`) expects of its future: how likely the undecided
unknowns are to bring exactly what is missing, in the normal approximation.  Resampling is that of
P. Fearnhead and P. Clifford, "On-line inference for hidden Markov models via particle filters",
JRSS B 2003.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from glassleak.reconstruction.residual._independent import independent_rows
from glassleak.uncertainty.joint._frontier import (
    MAX_NONZEROS,
    Frontier,
    TooManyStatesError,
    decision_order,
)
from glassleak.uncertainty.joint._piece import FloatArray, IntArray, Kind, Piece, log_ways_table
from glassleak.uncertainty.joint._product import Tilt

# Equations whose joint distribution is looked at; the cost grows with the square.
_MAX_JOINT = 800
# Rounds with four times as many frontiers each, until half of the repetitions come through.
_ROUNDS, _ALIVE = 3, 0.5
_REFRESH = 16
# Counts are whole numbers: spreads below this are those of the rounding.
_LEAST_VARIANCE = 0.05


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
    kinds: tuple[Kind, ...],
    tilt: Tilt,
    *,
    keep: int,
    repetitions: int,
    deadline: float,
    seed: int,
) -> dict[Kind, Estimate]:
    """Estimate the number of tables; empty if sampling does not come through.

    Parameters
    ----------
    tilt : Tilt
        The best product for the first of `kinds`, which the chances follow.
    """
    if piece.matrix.nnz > MAX_NONZEROS or time.monotonic() > deadline:
        return {}
    sampler = _Sampler(piece, kinds, tilt)
    # Where most repetitions lose all their frontiers, more must be kept.  Every round is judged by
    # its own draws only, so that none is chosen for its result.
    for growth in range(_ROUNDS):
        totals = sampler.draws(keep * 4**growth, repetitions, [seed, growth], deadline)
        if len(totals) < 2:
            return {}
        if np.isfinite(totals[:, 0]).mean() >= _ALIVE:
            summaries = zip(kinds, totals.T, strict=True)
            return {kind: _summary(logs) for kind, logs in summaries}
    return {}


def _summary(logs: FloatArray) -> Estimate:
    top = float(logs.max())
    shares = np.exp(logs - top)
    mean = float(shares.mean())
    scatter = float(shares.std(ddof=1)) / math.sqrt(len(shares)) / mean
    return Estimate((top + math.log(mean)) / math.log(2), scatter / math.log(2), len(logs))


class _Sampler:
    """What all repetitions share."""

    def __init__(self, piece: Piece, kinds: tuple[Kind, ...], tilt: Tilt) -> None:
        self.piece, self.kinds, self.tilt = piece, kinds, tilt
        self.order = decision_order(piece.matrix)
        self.rows = independent_rows(sp.csc_array(piece.matrix))
        self.columns = sp.csc_array(piece.matrix)

    def draws(self, keep: int, repetitions: int, seed: list[int], deadline: float) -> FloatArray:
        """Independent totals, one line each; fewer than asked for if time runs out."""
        found = []
        for r in range(repetitions):
            total = self.draw(keep, np.random.default_rng([*seed, r]), deadline)
            if total is None:
                break
            found.append(total)
        return np.array(found).reshape(len(found), len(self.kinds))

    def draw(self, keep: int, rng: np.random.Generator, deadline: float) -> FloatArray | None:
        """Logs of unbiased totals (``-inf`` if no frontier came through); ``None`` when late."""
        piece = self.piece
        front = Frontier(piece, self.order)
        weight: FloatArray = np.zeros((1, len(self.kinds)))
        future = _Future(self)
        for step, j in enumerate(self.order.tolist()):
            if step % 16 == 0 and time.monotonic() > deadline:
                return None
            try:
                chosen, h = front.expand(j, limit=1000 * keep)
            except TooManyStatesError:
                return None
            if not len(h):
                return np.full(len(self.kinds), -math.inf)
            future.decide(j)
            weight = weight[chosen] + self._ways(j)[h - piece.given[j]]
            merged = front.merge()
            if merged is not None:
                weight = np.logaddexp.reduceat(weight[merged[0]], merged[1], axis=0)
            if len(weight) > 2 * keep:
                which, log_chance = thin(weight[:, 0] + future.promise(front), keep, rng)
                front.keep(which)
                weight = weight[which] - log_chance[:, None]
        return np.asarray(weight[0])

    def _ways(self, j: int) -> FloatArray:
        most = int(self.piece.upper[j] - self.piece.given[j])
        profiles = self.piece.profiles[j]
        return np.column_stack([log_ways_table(profiles, most, kind) for kind in self.kinds])


class _Future:
    """What the product expects of the unknowns that are still to be decided."""

    def __init__(self, shared: _Sampler) -> None:
        piece, tilt = shared.piece, shared.tilt
        self.tilt, self.columns = tilt, shared.columns
        self.rows = shared.rows[:_MAX_JOINT]
        self.place = np.full(len(piece.target), -1, dtype=np.int64)
        self.place[self.rows] = np.arange(len(self.rows))
        own = sp.csr_array(piece.matrix[self.rows].astype(np.float64))
        self.mean = own @ tilt.mean
        scaled = sp.csr_array(own.multiply(tilt.variance[None, :]))
        self.covariance = np.asarray((scaled @ own.T).toarray())
        self.target = piece.target[self.rows]
        self._inverse: FloatArray | None = None
        self._asked = 0

    def decide(self, j: int) -> None:
        """Take unknown `j` out of the future."""
        start, stop = self.columns.indptr[j], self.columns.indptr[j + 1]
        at = self.place[self.columns.indices[start:stop]]
        at = at[at >= 0]
        self.mean[at] -= self.tilt.mean[j]
        self.covariance[np.ix_(at, at)] -= self.tilt.variance[j]

    def promise(self, front: Frontier) -> FloatArray:
        """Log of how many completions each frontier can be expected to have, up to a constant."""
        if self._inverse is None or self._asked % _REFRESH == 0:
            regular = self.covariance.copy()
            regular[np.diag_indices_from(regular)] += _LEAST_VARIANCE
            self._inverse = np.linalg.inv(regular)
        self._asked += 1
        place, left = front.place[self.rows], front.left[self.rows]
        missing = np.where(left > 0, self.target, 0)[None, :].repeat(len(front.missing), axis=0)
        begun = np.flatnonzero(place >= 0)
        missing[:, begun] = front.missing[:, place[begun]]
        away = missing - self.mean
        normal = -0.5 * np.einsum("ij,ij->i", away @ self._inverse, away)
        return np.asarray(normal - missing @ self.tilt.y[self.rows])


def thin(score: FloatArray, keep: int, rng: np.random.Generator) -> tuple[IntArray, FloatArray]:
    """Choose about `keep` of the scores, each with a chance in proportion, none twice.

    Returns
    -------
    which, log_chance
        The chosen ones, and the logarithm of the chance each had.
    """
    size = np.exp(np.maximum(score - score.max(), -700.0))
    order = np.argsort(-size, kind="stable")
    tail = np.cumsum(size[order][::-1])[::-1]
    # The largest are kept for certain; the others share the remaining places.
    places = keep - np.arange(len(size))
    sure = int(np.argmax((size[order] * places < tail) | (places <= 1)))
    chance = np.ones(len(size))
    uncertain = order[sure:]
    chance[uncertain] = np.minimum(1.0, size[uncertain] * (max(1, keep - sure) / tail[sure]))
    steps = np.floor(np.cumsum(chance[uncertain]) + rng.random())
    taken = uncertain[np.diff(steps, prepend=0.0) > 0]
    which = np.sort(np.concatenate([order[:sure], taken]))
    return which.astype(np.int64), np.log(chance)[which]
