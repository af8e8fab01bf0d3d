"""How plausible a profile is, judged by the tables that fit.

Where many tables fit, the counts say nothing more about which is the true one; what people are
usually like still does.  The sampled tables show how attributes hang together: a *dependence tree*
(Chow and Liu 1968, every attribute depending on one other) is the simplest model of that which is
not blind to it.  Tables are then drawn again in proportion to the product of their rows'
probabilities: an empirical Bayes estimate.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from glassleak.knowledge import Cells, System

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

# Rows added in the proportions of the attribute's own margin: few rows say little.
_PRIOR_ROWS = 1.0
# Attributes with more levels than this are taken for independent: their tables would be empty.
_MOST_LEVELS = 32
_MOST_WORK = 3 * 10**8


def plausibility(cells: Cells, system: System, tables: list[npt.NDArray[np.int32]]) -> FloatArray:
    """A weight per unknown: profiles it stands for, times the probability of one of them.

    Cost: O(attributes squared x sampled rows).

    Parameters
    ----------
    tables : list of (rows, blocks) int arrays
        Sampled tables, by class of levels per block.
    """
    told_apart: FloatArray = cells.n_told_apart[system.cell].astype(np.float64)
    rows = np.vstack(tables)
    if not len(tables[0]) or rows.shape[1] ** 2 * len(rows) > _MOST_WORK:
        return told_apart
    sizes = [len(block) for block in cells.space.blocks]
    profiles = cells.profiles[system.cell]
    weight = _log_probability(rows, profiles, sizes, len(tables[0]))
    likely: FloatArray = told_apart * np.exp(weight - weight.max(initial=-np.inf))
    return likely


def _log_probability(
    rows: npt.NDArray[np.int32],
    profiles: npt.NDArray[np.int32],
    sizes: list[int],
    n_people: int,
) -> FloatArray:
    """Of every profile, under the dependence tree fitted to `rows`."""
    # Samples repeat the same people: what they say together is worth one table.
    each = n_people / len(rows)
    margins = [each * np.bincount(rows[:, b], minlength=k) for b, k in enumerate(sizes)]
    total: FloatArray = np.zeros(len(profiles))
    for b, parent in enumerate(_parents(rows, sizes, n_people)):
        margin = margins[b] + 0.5
        margin /= margin.sum()
        if parent is None:
            total += np.log(margin)[profiles[:, b]]
            continue
        given = each * _joint(rows[:, parent], rows[:, b], sizes[parent], sizes[b])
        given += _PRIOR_ROWS * sizes[b] * margin
        given /= given.sum(axis=1, keepdims=True)
        total += np.log(given)[profiles[:, parent], profiles[:, b]]
    return total


def _parents(rows: npt.NDArray[np.int32], sizes: list[int], n_people: int) -> list[int | None]:
    """The attribute each one depends on: a spanning forest of largest mutual information.

    Pairs whose information is what chance gives (half of log(people) per free parameter) are not
    joined.
    """
    n = len(sizes)
    gain = np.full((n, n), -np.inf)
    usable = [b for b in range(n) if 1 < sizes[b] <= _MOST_LEVELS]
    for i, a in enumerate(usable):
        for b in usable[:i]:
            price = (sizes[a] - 1) * (sizes[b] - 1) * np.log(n_people) / (2 * n_people)
            gain[a, b] = gain[b, a] = _information(rows[:, a], rows[:, b], sizes[a], sizes[b])
            gain[a, b] -= price
            gain[b, a] -= price
    parents: list[int | None] = [None] * n
    # Prim's algorithm; what cannot be joined with a gain starts a tree of its own.
    best, source = np.full(n, -np.inf), np.full(n, -1)
    left = np.ones(n, dtype=bool)
    for _ in range(n):
        b = int(np.flatnonzero(left)[np.argmax(best[left])])
        left[b] = False
        parents[b] = int(source[b]) if best[b] > 0 else None
        better = left & (gain[b] > best)
        best[better], source[better] = gain[b][better], b
    return parents


def _joint(one: npt.NDArray[np.int32], other: npt.NDArray[np.int32], n: int, m: int) -> FloatArray:
    pairs = np.bincount(one.astype(np.int64) * m + other, minlength=n * m)
    return pairs.reshape(n, m).astype(np.float64)


def _information(one: npt.NDArray[np.int32], other: npt.NDArray[np.int32], n: int, m: int) -> float:
    """Mutual information in nats."""
    share = _joint(one, other, n, m) / len(one)
    independent = share.sum(axis=1, keepdims=True) * share.sum(axis=0, keepdims=True)
    seen = share > 0
    return float((share[seen] * np.log(share[seen] / independent[seen])).sum())
