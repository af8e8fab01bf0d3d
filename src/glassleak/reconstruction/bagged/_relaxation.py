r"""The concave relaxation: shares of people per profile and class that explain all trees at once.

If rows are drawn from shares q, the distinct rows of a tree are a sample of q, and

.. math:: \sum_t \sum_{v, c} d_{tvc} \log q_{tvc}, \qquad q_{tvc} = \sum_{p \in v} q_{pc}

is concave in q.  Expectation maximisation multiplies every share by its directional derivative,
the mean over trees of (observed share of its leaf) / (present share of its leaf); at the maximum
no derivative exceeds 1, so they also say which profiles can play a part.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak._compiled import compiled
from glassleak.reconstruction.bagged._evidence import Evidence

FloatArray = npt.NDArray[np.float64]
_MIN_SHARE = 1e-9


@dataclass(frozen=True)
class Relaxation:
    """Shares and what they leave open.

    Attributes
    ----------
    profile, label : int arrays
        The (profile, class) pairs with a share.
    share : float array
        Adds up to 1.
    derivative : (profiles, classes) float32 array
        Gain of moving weight onto a pair; at most about 1 at the maximum.
    iterations : int
    gap : float
        Largest derivative minus 1: per row, an upper bound of what is left to gain.
    """

    profile: npt.NDArray[np.int64]
    label: npt.NDArray[np.int64]
    share: FloatArray
    derivative: npt.NDArray[np.float32]
    iterations: int
    gap: float


def relax(
    leaf: npt.NDArray[np.int32],
    evidence: Evidence,
    *,
    iterations: int = 200,
    deadline: float = float("inf"),
) -> Relaxation:
    """Run expectation maximisation from equal shares.

    Parameters
    ----------
    leaf : (profiles, trees) int32 array
    """
    target = _observed_shares(evidence)
    n_classes = target.shape[1]
    n_profiles = len(leaf)
    profile = np.repeat(np.arange(n_profiles, dtype=np.int64), n_classes)
    label = np.tile(np.arange(n_classes, dtype=np.int64), n_profiles)
    share = np.full(len(profile), 1.0 / len(profile))
    done = 0
    while done < iterations and time.monotonic() < deadline:
        some = min(20, iterations - done)
        _expectation_maximisation(leaf, profile, label, share, target, some)
        done += some
        keep = share > _MIN_SHARE * share.max()
        if keep.mean() < 0.8:
            profile, label, share = profile[keep], label[keep], share[keep]
    share /= share.sum()
    derivative = np.zeros((n_profiles, n_classes), dtype=np.float32)
    _derivatives(leaf, profile, label, share, target, derivative)
    return Relaxation(profile, label, share, derivative, done, float(derivative.max()) - 1.0)


def _observed_shares(evidence: Evidence) -> FloatArray:
    """Share of each leaf and class among its tree's distinct rows (draws where not published)."""
    draws = evidence.draws.astype(np.float64)
    totals = np.maximum(draws.sum(axis=1, keepdims=True), 1.0)
    published = evidence.distinct[:, None] >= 0
    # The class split of the distinct rows is not published: as the draws, in proportion.
    rows = np.where(published, draws / totals * evidence.distinct[:, None], draws)
    owner = np.repeat(np.arange(len(evidence.first_leaf) - 1), np.diff(evidence.first_leaf))
    per_tree = np.bincount(owner, weights=rows.sum(axis=1))
    out: FloatArray = rows / np.maximum(per_tree, 1.0)[owner][:, None]
    return out


@compiled
def _ratios(
    leaf: Any, profile: Any, label: Any, share: Any, target: Any, held: Any, ratio: Any
) -> None:
    n_trees = leaf.shape[1]
    held[:] = 0.0
    for i in range(len(share)):
        p, c, s = profile[i], label[i], share[i]
        for t in range(n_trees):
            held[leaf[p, t], c] += s
    for g in range(held.shape[0]):
        for c in range(held.shape[1]):
            ratio[g, c] = target[g, c] / held[g, c] if held[g, c] > 0.0 else 0.0


@compiled
def _expectation_maximisation(
    leaf: Any, profile: Any, label: Any, share: Any, target: Any, steps: int
) -> None:
    n_trees = leaf.shape[1]
    held = np.zeros(target.shape)
    ratio = np.zeros(target.shape)
    for _ in range(steps):
        _ratios(leaf, profile, label, share, target, held, ratio)
        total = 0.0
        for i in range(len(share)):
            p, c = profile[i], label[i]
            gain = 0.0
            for t in range(n_trees):
                gain += ratio[leaf[p, t], c]
            share[i] *= gain / n_trees
            total += share[i]
        share /= total


@compiled
def _derivatives(
    leaf: Any, profile: Any, label: Any, share: Any, target: Any, derivative: Any
) -> None:
    n_trees = leaf.shape[1]
    held = np.zeros(target.shape)
    ratio = np.zeros(target.shape)
    _ratios(leaf, profile, label, share, target, held, ratio)
    for p in range(leaf.shape[0]):
        for c in range(target.shape[1]):
            gain = 0.0
            for t in range(n_trees):
                gain += ratio[leaf[p, t], c]
            derivative[p, c] = gain / n_trees
