"""Grow a tree level by level, paying once for every level.

The nodes of one level hold different people, so choosing their splits is one expense: a person's
joining changes the choice in their own node only (parallel composition).  The steps of the proof
are otherwise those of `_grow`: public candidates, monotone costs of sensitivity 1,
permute-and-flip, and one round of discrete Laplace noise on the leaves.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from glassleak.learners._literals import Literals
from glassleak.learners.private._accountant import Accountant
from glassleak.learners.private._candidates import Candidates
from glassleak.learners.private._exact import Randomness
from glassleak.learners.private._grow import Criterion, IntArray, captured_counts, costs_of
from glassleak.learners.private._tools import HONEST, Tools


@dataclass(frozen=True)
class GrownTree:
    """A complete binary tree, breadth first: the children of node ``i`` are 2i + 1 and 2i + 2.

    Attributes
    ----------
    literal : list of int
        Of every inner node: people for whom it holds go right.
    counts : (nodes, classes) int array
        Noisy at the leaves; sums of their leaves at inner nodes.
    scale : float
        Of the noise at the leaves.
    """

    literal: list[int]
    counts: IntArray
    scale: float


def grow_tree(
    holds: npt.NDArray[np.bool_],
    codes: IntArray,
    n_classes: int,
    literals: Literals,
    *,
    depth: int,
    criterion: Criterion,
    counts_share: Fraction,
    accountant: Accountant,
    source: Randomness,
    tools: Tools = HONEST,
) -> GrownTree:
    """Spend the accountant's whole budget on a tree of exactly `depth` levels of splits."""
    budget = accountant.left
    for_counts = budget * counts_share if depth else budget
    # "Above" and "not above" make the same split.
    above = np.flatnonzero(literals.above)
    candidates = tools.offer(Candidates(literals, above, above), holds)
    tables = [holds[codes == c].astype(np.float64) for c in range(n_classes)]
    place = [np.zeros(len(table), dtype=np.int64) for table in tables]
    chosen: list[int] = []
    for level in range(depth):
        epsilon = accountant.spend(
            (budget - for_counts) / depth, f"splits at depth {level}", tools.choice_name
        )
        first = 2**level - 1
        for node in range(first, 2 * first + 1):
            here = [table[at == node] for table, at in zip(tables, place, strict=True)]
            captured = captured_counts(here, candidates)
            totals = np.array([len(table) for table in here], dtype=np.int64)
            costs = costs_of(captured, totals[:, None] - captured, criterion)
            chosen.append(int(candidates.first[tools.choose(costs, epsilon, source)]))
        for table, at in zip(tables, place, strict=True):
            literal = np.array(chosen, dtype=np.int64)[at]
            at[:] = 2 * at + 1 + table[np.arange(len(table)), literal].astype(np.int64)
    epsilon = accountant.spend(for_counts, "counts of all leaves", tools.noise_name)
    n_nodes = 2 ** (depth + 1) - 1
    counts = np.zeros((n_nodes, n_classes), dtype=np.int64)
    for c, at in enumerate(place):
        counts[:, c] = np.bincount(at, minlength=n_nodes)
    counts[2**depth - 1 :] += tools.noise((2**depth, n_classes), epsilon, source)
    for node in range(2**depth - 2, -1, -1):
        counts[node] = counts[2 * node + 1] + counts[2 * node + 2]
    return GrownTree(chosen, counts, tools.scale(epsilon))
