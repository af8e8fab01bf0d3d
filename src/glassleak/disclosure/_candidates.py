"""Every split a learner could have chosen at a node, and how good each would have been.

A candidate is a column (multiway trees) or a column and a cut between two neighbouring values
(threshold trees).  All cuts of a column are judged at once by running sums over its sorted values,
so scanning costs one pass over people, columns and depth however many cuts there are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import xlogy

from glassleak.disclosure._gate import SplitFacts
from glassleak.disclosure._measures import Floats, impurity, split_information
from glassleak.disclosure._problem import Problem

# scikit-learn takes values that are closer than this for equal.
_APART = np.float32(1e-7)
# Masses (of QIs, columns and classes) that are sorted and summed in one go.
_AT_ONCE = 2_000_000


@dataclass(frozen=True)
class Candidate:
    """A split that was not chosen.

    Attributes
    ----------
    node : int
        Position in the problem's nodes.
    column : int
    cut : int
        The largest level position on the low side (see `Candidates.groups`); -1 for one branch per
        level.
    """

    node: int
    column: int
    cut: int = -1


@dataclass(frozen=True)
class Scan:
    """How all candidates of one node compare with the chosen split.

    Attributes
    ----------
    columns, cuts : int arrays
    slack : float array
        Impurity of the candidate minus the least it must have, in people; negative if violated.
    """

    columns: npt.NDArray[np.int64]
    cuts: npt.NDArray[np.int64]
    slack: Floats


class Candidates:
    """The candidates of every node of `problem` under `facts`."""

    def __init__(self, problem: Problem, facts: SplitFacts) -> None:
        self.problem, self.facts = problem, facts
        self._rank = _ranks(problem, facts)
        self._gaps = np.isnan(problem.values)
        self.columns_with_gaps = tuple(np.flatnonzero(self._gaps.any(axis=0)).tolist())

    def _columns(self, node: int) -> npt.NDArray[np.int64]:
        own = self.problem.nodes[node]
        if self.facts.kind == "levels":
            # The chosen column is compared with the others; those above were no longer there.
            skip = own.used | {own.column}
            return np.array([c for c in range(len(self._rank)) if c not in skip], dtype=np.int64)
        if not self.columns_with_gaps:
            return np.arange(len(self._rank))
        # Where values are missing the learner also chose a side for them: not compared.
        absent: npt.NDArray[np.bool_] = np.asarray(self._gaps[own.start : own.stop].any(axis=0))
        return np.flatnonzero(~absent)

    def required(self, node: int, masses: Floats) -> tuple[float, float]:
        """What candidates are measured against: ``E(W) >= a - b * split information of W``.

        `masses` are the expected people per QI (of the whole problem) and class.
        """
        own, measure = self.problem.nodes[node], self.facts.measure
        branches = np.array([masses[a:b].sum(axis=0) for a, b in own.branches])
        chosen = float(impurity(branches, measure).sum())
        if measure != "gain_ratio":
            return chosen, 0.0
        whole = float(impurity(branches.sum(axis=0), measure))
        information = float(split_information(branches.sum(axis=1)))
        return whole, (whole - chosen) / information

    def least(
        self,
        groups: npt.NDArray[np.int64],
        people: npt.NDArray[np.int64],
        required: tuple[float, float],
    ) -> float:
        """The impurity a candidate with these groups must have at least."""
        level, ratio = required
        if not ratio:
            return level
        sizes = np.bincount(groups, weights=people).astype(float)
        return level - ratio * float(split_information(sizes))

    def scan(self, node: int, masses: Floats, required: tuple[float, float] | None = None) -> Scan:
        """Judge every candidate of a node at the given expected masses.

        `required` is that of another estimate, where it is the same for all.
        """
        own = self.problem.nodes[node]
        required = self.required(node, masses) if required is None else required
        inside = masses[own.start : own.stop]
        people = self.problem.number[own.start : own.stop]
        usable = self._columns(node)
        width = max(1, _AT_ONCE // max(1, inside.size))
        judge = self._levels if self.facts.kind == "levels" else self._thresholds
        parts = [
            judge(self._rank[part, own.start : own.stop], part, inside, people, required)
            for part in (usable[i : i + width] for i in range(0, len(usable), width))
        ]
        if not parts:
            return Scan(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
        columns, cuts, slack = zip(*parts, strict=True)
        return Scan(np.concatenate(columns), np.concatenate(cuts), np.concatenate(slack))

    def _thresholds(
        self,
        rank: npt.NDArray[np.int32],
        columns: npt.NDArray[np.int64],
        masses: Floats,
        people: npt.NDArray[np.int64],
        required: tuple[float, float],
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Floats]:
        order = np.argsort(rank, axis=1, kind="stable")
        sorted_rank = np.take_along_axis(rank, order, axis=1)
        low = np.cumsum(people[order], axis=1)[:, :-1]
        everybody, smallest = int(people.sum()), self.facts.min_leaf
        fits = (sorted_rank[:, 1:] != sorted_rank[:, :-1]) & (low >= smallest)
        fits &= everybody - low >= smallest
        left = np.cumsum(masses[order], axis=1)[:, :-1][fits]
        right = np.maximum(masses.sum(axis=0) - left, 0.0)
        measure, (level, ratio) = self.facts.measure, required
        found = impurity(left, measure) + impurity(right, measure) - level
        if ratio:
            both = np.stack([low[fits], everybody - low[fits]], axis=-1)
            found = found + ratio * split_information(both.astype(float))
        at, position = np.nonzero(fits)
        return columns[at], sorted_rank[at, position].astype(np.int64), found

    def _levels(
        self,
        rank: npt.NDArray[np.int32],
        columns: npt.NDArray[np.int64],
        masses: Floats,
        people: npt.NDArray[np.int64],
        required: tuple[float, float],
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Floats]:
        order = np.argsort(rank, axis=1, kind="stable")
        sorted_rank = np.take_along_axis(rank, order, axis=1)
        fresh = np.ones(rank.shape, dtype=bool)
        fresh[:, 1:] = sorted_rank[:, 1:] != sorted_rank[:, :-1]
        starts = np.flatnonzero(fresh)
        groups = np.add.reduceat(masses[order].reshape(-1, masses.shape[1]), starts, axis=0)
        per_column = fresh.sum(axis=1)
        first = np.concatenate([[0], np.cumsum(per_column)[:-1]])
        measure, (level, ratio) = self.facts.measure, required
        found = np.add.reduceat(impurity(groups, measure), first) - level
        if ratio:
            sizes = np.add.reduceat(people[order].ravel(), starts).astype(float)
            logs = np.add.reduceat(xlogy(sizes, sizes), first)
            everybody = float(people.sum())
            found = found + ratio * (xlogy(everybody, everybody) - logs)
        several = per_column > 1  # a column that is constant here was no candidate
        cuts = np.full(int(several.sum()), -1, dtype=np.int64)
        return columns[several], cuts, found[several]

    def groups(self, candidate: Candidate) -> npt.NDArray[np.int64]:
        """The group (from 0, without gaps) every QI of the node would have gone to."""
        own = self.problem.nodes[candidate.node]
        rank = self._rank[candidate.column, own.start : own.stop]
        if candidate.cut >= 0:
            return (rank > candidate.cut).astype(np.int64)
        return np.unique(rank, return_inverse=True)[1].reshape(-1)

    def describe(self, candidate: Candidate) -> str:
        """In words, with the node's number in the model."""
        own = self.problem.nodes[candidate.node]
        name = self.problem.model.columns[candidate.column]
        if candidate.cut < 0:
            return f"node {own.number}: {name}"
        rank = self._rank[candidate.column, own.start : own.stop]
        values = self.problem.values[own.start : own.stop, candidate.column]
        low = rank <= candidate.cut
        middle = (float(values[low].max()) + float(values[~low].min())) / 2
        return f"node {own.number}: {name} <= {middle:g}"

    @property
    def number(self) -> int:
        """How many candidates there are in all nodes together."""
        flat = self.problem.number[:, None].astype(float)
        return sum(len(self.scan(i, flat).slack) for i in range(len(self.problem.nodes)))


def _ranks(problem: Problem, facts: SplitFacts) -> npt.NDArray[np.int32]:
    """For every column, the rank of each QI's value; equal where the learner saw no difference."""
    ranks = np.zeros((problem.values.shape[1], len(problem.number)), dtype=np.int32)
    for column in range(problem.values.shape[1]):
        values = problem.values[:, column]
        single = facts.kind == "thresholds" and problem.model.precision == "float32"
        if single:
            with np.errstate(over="ignore"):
                values = values.astype(np.float32)
        distinct, inverse = np.unique(values, return_inverse=True)
        if single and len(distinct) > 1:
            apart = distinct[1:] > distinct[:-1] + _APART
            # Which values are close depends on who else is in the node; merging them for all nodes
            # only leaves candidates out.
            step = np.concatenate([[0], np.cumsum(apart)])
            inverse = step[inverse.reshape(-1)]
        ranks[column] = inverse.reshape(-1)
    return ranks
