"""The same share for all splits of an attribute together, by drawing tables at random."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glassleak.uncertainty._facts_questions import Questions
from glassleak.uncertainty._facts_share import Judge

CONFIDENCE = 0.99


@dataclass(frozen=True)
class Hits:
    """How many tables drawn at random agree with what the learner did.

    Attributes
    ----------
    hits, draws : int
    low, high : float
        Clopper-Pearson interval for the share, at 99 % confidence.
    """

    hits: int
    draws: int
    low: float
    high: float


def draw_tables(judge: Judge, questions: Questions, draws: int, seed: int) -> Hits:
    """Draw values of one attribute for all rows, uniformly, and check every split of it."""
    from scipy.stats import beta

    tree, counts = judge.tree, judge.counts
    rng = np.random.default_rng(seed)
    n_levels, n_classes = questions.allowed.shape[1], counts.shape[1]
    good = np.ones(draws, dtype=bool)
    inside: dict[int, np.ndarray] = {}
    for node in reversed(judge.order):
        if tree.feature[node] < 0:
            allowed = questions.allowed[node]
            chance = allowed / max(1, int(allowed.sum()))
            held = np.zeros((draws, n_classes, n_levels), dtype=np.int64)
            for c, n in enumerate(counts[node].tolist()):
                if n:
                    held[:, c] = rng.multinomial(n, chance, size=draws)
            inside[node] = held
        else:
            inside[node] = inside.pop(int(tree.left[node])) + inside.pop(int(tree.right[node]))
        if judge.says_something(node):
            for low in questions.low:
                good &= judge.possible(node, inside[node][:, :, low].sum(axis=2))
    hits = int(good.sum())
    tail = (1 - CONFIDENCE) / 2
    low_end = float(beta.ppf(tail, hits, draws - hits + 1)) if hits else 0.0
    high_end = float(beta.ppf(1 - tail, hits + 1, draws - hits)) if hits < draws else 1.0
    return Hits(hits, draws, low_end, high_end)
