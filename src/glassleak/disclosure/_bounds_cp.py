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
# Sums of scaled purities stay below this, far inside 64 bits whatever they are combined with.
_LARGEST = 2.0**50
# Up to this many whole numbers in the range of a count all its lines are added at once.
_FEW = 12


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

        self.members, self.questions = members, questions
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
            if not self._add_broken(table) and status == cp_model.OPTIMAL:
                return Extreme(bound, table)

    def _add_broken(self, table: IntArray) -> bool:
        """Add what `table` breaks; whether there was anything."""
        broken = False
        for number, question in enumerate(self.questions):
            where = np.array([self.position[q] for q in question.members.tolist()])
            histogram = np.zeros((len(question.size), table.shape[1]), dtype=np.int64)
            np.add.at(histogram, question.code, table[where])
            for candidate in np.flatnonzero(question.values(histogram) > question.ceiling).tolist():
                broken = True
                fact = self.facts.get((number, candidate))
                if fact is None:
                    fact = _Fact(self, question, candidate, where)
                    self.facts[number, candidate] = fact
                fact.tighten(table)
        return broken


class _Fact:
    """One candidate's inequality inside a model."""

    def __init__(
        self, subtree: Subtree, question: Question, candidate: int, where: IntArray
    ) -> None:
        self.subtree, self.measure = subtree, question.measure
        n = int(question.size.sum())
        self.scale = _LARGEST / (n * max(1.0, math.log(n)))
        limit = float(question.limit[candidate]) + TIE * n / 2
        spent = 0
        self.terms: list[_Term] = []
        for group in question.groups(candidate):
            inside = where[group].tolist()
            people = int(question.size[np.unique(question.code[group])].sum())
            for x in range(subtree.low.shape[1]):
                low = int(subtree.low[inside, x].sum())
                high = min(int(subtree.high[inside, x].sum()), people)
                free = [subtree.k[i, x] for i in inside if (i, x) in subtree.k]
                fixed = int(subtree.settled[inside, x].sum())
                if low == high or not free:
                    spent += int(_scaled(np.array([low]), people, self.measure, self.scale)[0])
                    continue
                self.terms.append(_Term(self, inside, x, free, fixed, people, low, high))
        room = math.ceil(limit * self.scale) + 1 - spent
        if self.terms:
            subtree.model.add(subtree.sum([term.t for term in self.terms]) <= room)

    def tighten(self, table: IntArray) -> None:
        """Make the lines exact at the counts of `table`."""
        for term in self.terms:
            term.touch(int(table[term.inside, term.label].sum()))


class _Term:
    """``t >= f(k)`` for one branch and class, by lines."""

    def __init__(
        self, fact: _Fact, inside: list[int], label: int, free: list[Any], fixed: int,
        people: int, low: int, high: int,
    ) -> None:  # fmt: skip
        self.inside, self.label = inside, label
        self.model, self.k = fact.subtree.model, fact.subtree.sum(free) + fixed
        self.low = low
        self.values = _scaled(np.arange(low, high + 1), people, fact.measure, fact.scale)
        self.t = self.model.new_int_var(int(self.values.min()), int(self.values.max()), "")
        self.lines: set[int] = set()
        if high - low <= _FEW:
            for at in range(high - low):
                self._line(at)

    def touch(self, count: int) -> None:
        """Be exact at `count`."""
        at = count - self.low
        for start in (at - 1, at):
            if 0 <= start < len(self.values) - 1:
                self._line(start)

    def _line(self, at: int) -> None:
        if at in self.lines:
            return
        self.lines.add(at)
        slope = int(self.values[at + 1] - self.values[at])
        steps = np.arange(len(self.values))
        # Rounding makes the values slightly non-convex: shift the line below all of them.
        start = int((self.values - slope * steps).min())
        self.model.add(self.t >= slope * (self.k - self.low) + start)


def _scaled(counts: IntArray, people: int, measure: Measure, scale: float) -> IntArray:
    """``f(k)`` in whole units, rounded down."""
    exact = purity(counts[:, None], np.full(len(counts), people), measure)[:, 0]
    return np.floor(exact * scale).astype(np.int64) - 1
