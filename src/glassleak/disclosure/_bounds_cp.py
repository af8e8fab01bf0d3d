"""Extremes of one count over all integer tables of a subtree, with proof, by CP-SAT.

Split facts are convex: ``t >= f(k)`` is a set of lines, the chords of ``f`` between neighbouring
whole numbers, and exact at whole numbers.  So the model is linear.  Facts enter only when a
solution breaks them, and lines where they are needed.  Coefficients are whole numbers; every line
is shifted down until it is nowhere above ``f`` on the range of ``k``, and the limit is rounded up:
whatever is excluded is excluded with certainty.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from glassleak.disclosure._bounds_facts import TIE, Measure, Question, purity

IntArray: TypeAlias = npt.NDArray[np.int64]
# Sums of purities in whole units stay below this: products with a limit stay exact in floats.
_LARGEST = 2.0**31
# Up to this many whole numbers in the range of a count all its lines are added at once.
_FEW = 13


class NoTableError(Exception):
    """No table at all satisfies the facts: they are not true of the model."""


@dataclass(frozen=True)
class Extreme:
    """Outcome of one question.

    Attributes
    ----------
    bound : int
        Proved, attained or not.
    table : int array or None
        Counts of the subtree's members that attain it and break no fact of the subtree.
    """

    bound: int
    table: IntArray | None


class Subtree:
    """All integer tables of the people under one node, as far as facts at and below it tell.

    Parameters
    ----------
    members : int array
        Groups of people under the node.
    leaf, people, counts
        As in `bounds_from_counts`.
    lower, upper : (groups, classes) int arrays
        Proved bounds.
    questions : list of Question
        Of the node and the nodes under it.
    """

    def __init__(
        self,
        members: IntArray,
        leaf: IntArray,
        people: IntArray,
        counts: IntArray,
        lower: IntArray,
        upper: IntArray,
        questions: list[Question],
    ) -> None:
        # Imported here: OR-Tools takes a while to load, and many trees never need it.
        from ortools.sat.python import cp_model

        self.members, self.questions, self.people = members, questions, people[members]
        self.position = {int(q): i for i, q in enumerate(members)}
        self.low, self.high = lower[members], upper[members]
        self.model = cp_model.CpModel()
        self.sum = cp_model.LinearExpr.sum
        self.weighted = cp_model.LinearExpr.weighted_sum
        self.k: dict[tuple[int, int], Any] = {}
        for i, x in np.argwhere(self.low < self.high).tolist():
            low, high = int(self.low[i, x]), int(self.high[i, x])
            self.k[i, x] = self.model.new_int_var(low, high, "")
        self.settled = np.where(self.low == self.high, self.low, 0)
        own_leaf = leaf[members]
        for i in range(len(members)):
            self._total([(i, x) for x in range(counts.shape[1])], int(people[members[i]]))
        for one in np.unique(own_leaf).tolist():
            inside = np.flatnonzero(own_leaf == one).tolist()
            for x in range(counts.shape[1]):
                self._total([(i, x) for i in inside], int(counts[one, x]))
        self.facts: dict[tuple[int, int], _Fact] = {}

    def _total(self, entries: list[tuple[int, int]], total: int) -> None:
        free = [self.k[e] for e in entries if e in self.k]
        rest = total - sum(int(self.settled[e]) for e in entries if e not in self.k)
        if free:
            self.model.add(self.sum(free) == rest)
        elif rest:
            raise NoTableError

    def extreme(
        self, group: int, label: int, *, largest: bool, known: int, deadline: float
    ) -> Extreme:
        """The largest (smallest) count of a class among a group of people.

        Parameters
        ----------
        known : int
            A value some table is known to attain: no search once the bound has come down to it.
        deadline : float
            Of `time.monotonic`.
        """
        from ortools.sat.python import cp_model

        at = (self.position[group], label)
        if at not in self.k:
            return Extreme(int(self.low[at]), None)
        (self.model.maximize if largest else self.model.minimize)(self.k[at])
        bound = int(self.high[at] if largest else self.low[at])
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                return Extreme(bound, None)
            solver = cp_model.CpSolver()
            solver.parameters.max_time_in_seconds = left
            # One worker is reproducible, and most of these problems take milliseconds.
            solver.parameters.num_workers = 1
            # OR-Tools 9.15 presolves some feasible problems of this kind to "infeasible"
            # (google/or-tools issue 5274), and what is claimed here must be true.
            solver.parameters.cp_model_presolve = False
            status = solver.solve(self.model)
            if status == cp_model.INFEASIBLE:
                raise NoTableError
            if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
                return Extreme(bound, None)
            reached = solver.best_objective_bound
            tighter = math.floor(reached + 1e-6) if largest else math.ceil(reached - 1e-6)
            bound = min(bound, tighter) if largest else max(bound, tighter)
            if bound == known:
                return Extreme(bound, None)
            table = self.settled.copy()
            for entry, variable in self.k.items():
                table[entry] = solver.value(variable)
            broken, tightened = self._add_broken(table)
            if not broken and status == cp_model.OPTIMAL:
                return Extreme(bound, table)
            if broken and not tightened:
                # Broken by less than the rounding: it cannot be excluded, nor is it a witness.
                return Extreme(bound, None)

    def _add_broken(self, table: IntArray) -> tuple[bool, bool]:
        """Add what `table` breaks; whether there was anything, and whether anything was added."""
        broken = tightened = False
        for number, question in enumerate(self.questions):
            where = np.array([self.position[q] for q in question.members.tolist()])
            histogram = np.zeros((len(question.size), table.shape[1]), dtype=np.int64)
            np.add.at(histogram, question.code, table[where])
            for candidate in np.flatnonzero(question.values(histogram) > question.ceiling).tolist():
                broken = True
                fact = self.facts.get((number, candidate))
                if fact is None:
                    tightened = True
                    fact = _Fact(self, question, candidate, where)
                    self.facts[number, candidate] = fact
                tightened |= fact.tighten(table)
        return broken, tightened


class _Fact:
    """One candidate's inequality inside a model: ``Σ weight_g t_gx <= room``."""

    def __init__(
        self, subtree: Subtree, question: Question, candidate: int, where: IntArray
    ) -> None:
        self.subtree = subtree
        branches = [where[group].tolist() for group in question.groups(candidate)]
        sizes = [int(subtree.people[inside].sum()) for inside in branches]
        n = sum(sizes)
        limit = float(question.limit[candidate]) + TIE * n / 2
        if question.measure == "gini":
            # t is the square itself; only the weights 1 / n_g have to be rounded (down).
            common = min(math.lcm(*sizes), int(_LARGEST / n))
            weights, grain, whole = [common // size for size in sizes], 1.0, float(common)
        else:
            grain = whole = _LARGEST / (n * max(1.0, math.log(n)))
            weights = [1] * len(sizes)
        spent = 0
        self.terms: list[_Term] = []
        factors: list[int] = []
        for inside, size, weight in zip(branches, sizes, weights, strict=True):
            for x in range(subtree.low.shape[1]):
                term = _Term(subtree, inside, x, size, question.measure, grain)
                if term.t is None:
                    spent += weight * int(term.values[0])
                else:
                    self.terms.append(term)
                    factors.append(weight)
        if self.terms:
            # The product is below 2**32, so that its own error is far below what is added.
            room = math.floor(limit * whole + 1e-6) - spent
            variables = [term.t for term in self.terms]
            subtree.model.add(subtree.weighted(variables, factors) <= room)

    def tighten(self, table: IntArray) -> bool:
        """Make the lines exact at the counts of `table`; whether they were not."""
        changed = [term.touch(int(table[term.inside, term.label].sum())) for term in self.terms]
        return any(changed)


class _Term:
    """``t >= f(k)`` for one branch and class, by lines; without a variable where ``k`` is known."""

    def __init__(
        self, subtree: Subtree, inside: list[int], label: int, people: int, measure: Measure,
        grain: float,
    ) -> None:  # fmt: skip
        self.inside, self.label, self.model = inside, label, subtree.model
        self.low = int(subtree.low[inside, label].sum())
        high = min(int(subtree.high[inside, label].sum()), people)
        counts = np.arange(self.low, max(high, self.low) + 1)
        if measure == "gini":
            self.values = counts * counts
        else:
            spread = purity(counts[:, None], np.ones_like(counts), measure)[:, 0]
            self.values = np.floor(spread * grain).astype(np.int64) - 1
            self.values[counts <= 1] = 0
        free = [subtree.k[i, label] for i in inside if (i, label) in subtree.k]
        self.t = None
        if len(counts) == 1 or not free:
            return
        self.k = subtree.sum(free) + int(subtree.settled[inside, label].sum())
        self.t = self.model.new_int_var(int(self.values.min()), int(self.values.max()), "")
        self.lines: set[int] = set()
        if len(counts) <= _FEW:
            for at in range(len(counts) - 1):
                self._line(at)

    def touch(self, count: int) -> bool:
        """Be exact at `count`; whether that took another line."""
        at = count - self.low
        before = len(self.lines)
        for start in (at - 1, at):
            if 0 <= start < len(self.values) - 1:
                self._line(start)
        return len(self.lines) > before

    def _line(self, at: int) -> None:
        if at in self.lines:
            return
        self.lines.add(at)
        slope = int(self.values[at + 1] - self.values[at])
        steps = np.arange(len(self.values))
        # Rounding makes the values slightly non-convex: shift the line below all of them.
        start = int((self.values - slope * steps).min())
        self.model.add(self.t >= slope * (self.k - self.low) + start)
