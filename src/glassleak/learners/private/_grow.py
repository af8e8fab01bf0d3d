"""Choose rules one after the other and count what they capture, paying for every look.

Privacy, step by step (neighbours: one person added or removed; every step is tested on its own):

1. The candidates are fixed beforehand (`_candidates`): free.
2. A candidate splits the people no earlier rule captured into two groups.  Its cost is the sum of
   the groups' impurities, either the people outside the largest class or ``n * Gini / 2``.  One
   more person raises one group's impurity by something in [0, 1] and leaves the other alone, for
   every candidate at once: the costs are monotone with sensitivity 1 (`impurity`).
3. So permute-and-flip with slope ``epsilon`` is ``epsilon``-differentially private (`_selection`),
   and the rules chosen so far may steer the next choice: adaptive composition adds up.
4. The finished rules send every person to exactly one (rule, class) count, which changes by 1.
   Discrete Laplace noise of scale ``1 / epsilon`` on all of them together costs ``epsilon`` once.
5. Predictions, shares and texts are computed from the noisy counts alone: free.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from glassleak.learners.private._accountant import Accountant
from glassleak.learners.private._candidates import Candidates
from glassleak.learners.private._exact import Randomness
from glassleak.learners.private._tools import HONEST, Tools

Criterion: TypeAlias = Literal["errors", "gini"]
IntArray: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Grown:
    """A private rule list.

    Attributes
    ----------
    rules : list of list of int
        Conditions of each rule before the default one.
    counts : (rules, classes) int array
        Noisy counts, the default rule's last; they may be negative.
    scale : float
        Of the noise.
    """

    rules: list[list[int]]
    counts: IntArray
    scale: float


def grow(
    holds: npt.NDArray[np.bool_],
    codes: IntArray,
    n_classes: int,
    candidates: Candidates,
    *,
    length: int,
    criterion: Criterion,
    counts_share: Fraction,
    accountant: Accountant,
    source: Randomness,
    tools: Tools = HONEST,
) -> Grown:
    """Spend the accountant's whole budget on a list of `length` rules and their counts.

    Parameters
    ----------
    holds : (rows, literals) bool array
    codes : int array
        Class of each row.
    candidates : Candidates
    counts_share : Fraction
        Share of the budget for the counts; the rules get the rest (`parts`).
    """
    budget = accountant.left
    for_counts = budget * counts_share if length else budget
    for_rules = parts(budget - for_counts, length)
    candidates = tools.offer(candidates, holds)
    tables = [holds[codes == c].astype(np.float64) for c in range(n_classes)]
    alive = [np.ones(len(table), dtype=bool) for table in tables]
    rules: list[list[int]] = []
    for step, part in enumerate(for_rules):
        epsilon = accountant.spend(part, f"rule {step + 1}", tools.choice_name)
        captured = captured_counts(
            [table[left] for table, left in zip(tables, alive, strict=True)], candidates
        )
        totals = np.array([int(left.sum()) for left in alive], dtype=np.int64)
        costs = costs_of(captured, totals[:, None] - captured, criterion)
        chosen = candidates.members(tools.choose(costs, epsilon, source))
        rules.append(chosen)
        for table, left in zip(tables, alive, strict=True):
            left &= ~table[:, chosen].all(axis=1)
    epsilon = accountant.spend(for_counts, "counts of all rules", tools.noise_name)
    exact = _captured_by(tables, rules)
    noise = tools.noise((len(exact), n_classes), epsilon, source)
    return Grown(rules, exact + noise, tools.scale(epsilon))


def parts(budget: Fraction, length: int) -> list[Fraction]:
    """What each of `length` rules may cost: the second half of the first, the third a third of it.

    A bad choice wastes at most what its rule could have gained, and later rules gain less: most of
    what a list gets right it gets right with its first rules.  Fixed in advance, hence free.
    """
    weights = [Fraction(1, k) for k in range(1, length + 1)]
    return [budget * weight / sum(weights) for weight in weights]


def captured_counts(tables: list[npt.NDArray[np.float64]], candidates: Candidates) -> IntArray:
    """(classes, candidates): people each candidate captures.

    Products of zeros and ones in float64: exact up to 2**53 people.
    """
    if candidates.first is candidates.second:
        return np.stack(
            [np.rint(table.sum(axis=0)).astype(np.int64)[candidates.first] for table in tables]
        )
    return np.stack(
        [
            np.rint((table.T @ table)[candidates.first, candidates.second]).astype(np.int64)
            for table in tables
        ]
    )


def costs_of(
    inside: IntArray, outside: IntArray, criterion: Criterion
) -> list[int] | list[Fraction]:
    """Impurity of the two groups every candidate makes; lower is better."""
    if criterion == "errors":
        wrong = [group.sum(axis=0) - group.max(axis=0) for group in (inside, outside)]
        return [int(cost) for cost in wrong[0] + wrong[1]]
    return [
        gini_cost(a) + gini_cost(b)
        for a, b in zip(inside.T.tolist(), outside.T.tolist(), strict=True)
    ]


def gini_cost(group: list[int]) -> Fraction:
    """``n * Gini / 2``, exactly.

    One more person of class ``c`` changes it by ``(1 + (S - n (2 n_c + 1)) / (n (n + 1))) / 2``
    with ``S`` the sum of squared counts: 0 if everybody is in ``c``, below 1 if nobody is.
    """
    n = sum(group)
    return Fraction(n * n - sum(c * c for c in group), 2 * n) if n else Fraction(0)


def _captured_by(tables: list[npt.NDArray[np.float64]], rules: list[list[int]]) -> IntArray:
    counts = np.zeros((len(rules) + 1, len(tables)), dtype=np.int64)
    for c, table in enumerate(tables):
        free = np.ones(len(table), dtype=bool)
        for i, members in enumerate(rules):
            hit = free & table[:, members].all(axis=1)
            counts[i, c] = int(hit.sum())
            free &= ~hit
        counts[-1, c] = int(free.sum())
    return counts
