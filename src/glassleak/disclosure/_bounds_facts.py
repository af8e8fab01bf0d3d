"""Split-optimality as inequalities over integer tables: "no other candidate was better".

At a node with ``n`` people the chosen split has a known impurity, because the class counts of its
branches are published.  A candidate that sends the people to groups ``g`` has the impurity

- Gini: ``1 - Σ k_gx² / (n n_g)``
- entropy: ``(Σ n_g ln n_g - Σ k_gx ln k_gx) / n``

so Inequality (3) of the paper reads ``Σ_gx f_g(k_gx) <= limit`` with the convex
``f_g(k) = k² / n_g`` or ``f_g(k) = k ln k``, and everything else a constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

IntArray: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
Measure: TypeAlias = Literal["gini", "entropy"]

# Learners compare floating-point numbers: differences below this, per person, may go either way.
TIE = 1e-10


def purity(counts: IntArray, people: IntArray, measure: Measure) -> FloatArray:
    """``f_g(k)`` of every count; `people` are those of its group (the last axis is the classes)."""
    k = counts.astype(np.float64)
    pure: FloatArray
    if measure == "gini":
        pure = k * k / np.maximum(people, 1)[..., None]
    else:
        pure = k * np.log(np.maximum(k, 1.0))
    return pure


@dataclass(frozen=True, eq=False)
class Question:
    """One column at one internal node, as a candidate for the split there.

    Attributes
    ----------
    node : int
    members : int array
        The groups of people (positions) under the node; consecutive numbers.
    code : int array
        Rank of the column's value for every member, 0, 1, …; all ranks occur.
    size : int array
        Persons of every rank.
    cuts : bool
        Whether each threshold between neighbouring ranks is a candidate, or one branch per rank.
    limit : float array
        Right-hand side per candidate; infinite for one that was not a candidate.
    measure : "gini" or "entropy"
    """

    node: int
    members: IntArray
    code: IntArray
    size: IntArray
    cuts: bool
    limit: FloatArray
    measure: Measure

    @cached_property
    def ceiling(self) -> FloatArray:
        """The limits with what floating-point comparisons may hide."""
        return self.limit + TIE * float(self.size.sum())

    def histogram(self, table: IntArray) -> IntArray:
        """Persons by rank and class, of a table over all groups of people."""
        counts = np.zeros((len(self.size), table.shape[1]), dtype=np.int64)
        np.add.at(counts, self.code, table[self.members])
        return counts

    def values(self, histogram: IntArray) -> FloatArray:
        """``Σ f`` of every candidate."""
        if not self.cuts:
            return np.array([purity(histogram, self.size, self.measure).sum()])
        low = np.cumsum(histogram, axis=0)
        below = np.cumsum(self.size)
        low, below, whole, everybody = low[:-1], below[:-1], low[-1], below[-1]
        value: FloatArray = purity(low, below, self.measure).sum(axis=1)
        value += purity(whole - low, everybody - below, self.measure).sum(axis=1)
        return value

    def violated(self, table: IntArray) -> IntArray:
        """Candidates that would have been better than the chosen split."""
        return np.flatnonzero(self.values(self.histogram(table)) > self.ceiling)

    def groups(self, candidate: int) -> list[IntArray]:
        """Positions in `members` of every branch of a candidate."""
        if self.cuts:
            low = self.code <= candidate
            return [np.flatnonzero(low), np.flatnonzero(~low)]
        return [np.flatnonzero(self.code == g) for g in range(len(self.size))]


@dataclass(frozen=True, eq=False)
class Nodes:
    """Where split facts apply.

    Attributes
    ----------
    paths : sequence of int tuples
        For every leaf the internal nodes above it, the nearest first.
    members : dict of int to int array
        For every internal node the groups of people under it.
    questions : dict of int to list of Question
        For every internal node what could have been asked there instead.
    """

    paths: Sequence[tuple[int, ...]]
    members: dict[int, IntArray]
    questions: dict[int, list[Question]]

    def below(self, node: int, leaf: IntArray) -> list[int]:
        """`node` and the internal nodes under it."""
        found = {
            other
            for one in np.unique(leaf[self.members[node]]).tolist()
            for other in _upto(self.paths[one], node)
        }
        return sorted(found)


def _upto(path: tuple[int, ...], node: int) -> tuple[int, ...]:
    return path[: path.index(node) + 1]
