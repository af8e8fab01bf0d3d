"""The table with the smallest expected error, and how sure each of its rows is.

Any sampled table could be the true one, in proportion to how often it is sampled.  The error of an
answer is its distance to the truth after rows were paired, so rows of every sample are paired with
those of the present answer, every value is replaced by the one its partners agree on best, and so
on until nothing changes.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


def level_costs(values: list[FloatArray]) -> list[FloatArray]:
    """Per attribute, how far apart two levels are: columns that differ, or share of the range."""
    out = []
    for own in values:
        if own.shape[1] == 1 and len(own) > 2:
            spread = float(np.nanmax(own) - np.nanmin(own)) or 1.0
            gap = np.abs(own[:, 0][:, None] - own[:, 0][None, :]) / spread
            out.append(np.where(np.isnan(gap), 1.0, gap))
            np.fill_diagonal(out[-1], 0.0)
        else:
            differs = (own[:, None, :] != own[None, :, :]) & ~(
                np.isnan(own)[:, None, :] & np.isnan(own)[None, :, :]
            )
            out.append(differs.sum(axis=2).astype(np.float64))
    return out


def central_rows(
    samples: list[IntArray], group: IntArray, costs: list[FloatArray], start: int, rounds: int = 4
) -> IntArray:
    """Levels of every row of the central table.

    Parameters
    ----------
    samples : list of (rows, attributes) int arrays
    group : (rows,) int array
        Only rows of the same group are paired.
    costs : list of (levels, levels) arrays
    start : int
        The sample to begin with.
    """
    centre = samples[start].copy()
    for g in np.unique(group):
        rows = np.flatnonzero(group == g)
        own = [sample[rows] for sample in samples]
        present = own[start].copy()
        for _ in range(rounds):
            votes = [np.zeros((len(rows), len(cost))) for cost in costs]
            for sample in own:
                partner = pair(present, sample, costs)
                for a, vote in enumerate(votes):
                    vote[np.arange(len(rows)), sample[partner, a]] += 1.0
            better = np.column_stack(
                [np.argmin(vote @ cost, axis=1) for vote, cost in zip(votes, costs, strict=True)]
            ).astype(np.int64)
            if np.array_equal(better, present):
                break
            present = better
        centre[rows] = present
    return centre


def pair(one: IntArray, other: IntArray, costs: list[FloatArray]) -> IntArray:
    """For each row of `one`, its partner in `other`, at minimum total cost.

    Equal rows are paired first: distances satisfy the triangle inequality, so that costs nothing.
    """
    waiting: dict[bytes, list[int]] = {}
    for j, row in enumerate(other):
        waiting.setdefault(row.tobytes(), []).append(j)
    partner = np.full(len(one), -1, dtype=np.int64)
    for i, row in enumerate(one):
        same = waiting.get(row.tobytes())
        if same:
            partner[i] = same.pop()
    left = np.flatnonzero(partner < 0)
    if len(left):
        free = np.array([j for own in waiting.values() for j in own], dtype=np.int64)
        cost = np.zeros((len(left), len(free)))
        for a, between in enumerate(costs):
            cost += between[one[left, a][:, None], other[free, a][None, :]]
        mine, theirs = linear_sum_assignment(cost)
        partner[left[mine]] = free[theirs]
    return partner


def expected_error(table: IntArray, samples: list[IntArray], costs: list[FloatArray]) -> float:
    """Mean cost per row between `table` and the samples."""
    total = 0.0
    for sample in samples:
        partner = pair(table, sample, costs)
        total += sum(
            float(cost[table[:, a], sample[partner, a]].sum()) for a, cost in enumerate(costs)
        )
    return total / (len(samples) * max(len(table), 1))


def support(table: IntArray, samples: list[IntArray]) -> FloatArray:
    """Per row of `table` (any hashable lines), the share of samples that hold it.

    The k-th of equal rows counts where a sample holds at least k of them.
    """
    held = [Counter(row.tobytes() for row in sample) for sample in samples]
    seen: Counter[bytes] = Counter()
    out = np.empty(len(table))
    for i, row in enumerate(table):
        key = row.tobytes()
        seen[key] += 1
        out[i] = sum(own[key] >= seen[key] for own in held) / len(held)
    return out
