"""Choose among possibilities with CP-SAT: complete a table, find a second one, prove rows.

One yes/no variable per possibility of the rows that are free; one equation per leaf, class and
distinct count that they can touch.  All other rows keep what they have.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from glassleak.reconstruction.replayed._decode import gaps
from glassleak.reconstruction.replayed._possible import Rows
from glassleak.reconstruction.replayed._problem import IntArray, Problem

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

Status = Literal["found", "impossible", "unknown"]


@dataclass(frozen=True)
class Answer:
    """Outcome of one question.

    Attributes
    ----------
    status : "found", "impossible" or "unknown"
        "impossible" is a proof; "unknown" means the time ran out.
    pick : (rows,) int array or None
        A possibility per row that shows it.
    """

    status: Status
    pick: IntArray | None = None


class Choices:
    """The equations of the free rows, everything else as in `pick`.

    Parameters
    ----------
    free : (rows,) bool array
    pick : (rows,) int array
        Current possibility of every row.
    """

    def __init__(
        self, problem: Problem, rows: Rows, free: npt.NDArray[np.bool_], pick: IntArray
    ) -> None:
        # Imported here: OR-Tools takes a while to load, and most models never need it.
        from ortools.sat.python import cp_model

        self.pick, self.free_rows = pick, np.flatnonzero(free)
        chosen = np.concatenate(
            [np.arange(rows.first[i], rows.first[i + 1]) for i in self.free_rows]
        )
        self.chosen = chosen
        self.owner = np.repeat(self.free_rows, np.diff(rows.first)[self.free_rows])
        matrix, goal = _equations(problem, rows, chosen, self.owner, self.free_rows, pick)
        self.matrix, self.goal = matrix, goal
        self.model = cp_model.CpModel()
        self.variables = [self.model.new_bool_var("") for _ in chosen]
        position = 0
        for i in self.free_rows.tolist():
            size = int(rows.first[i + 1] - rows.first[i])
            self.model.add_exactly_one(self.variables[position : position + size])
            position += size

    def solve(self, deadline: float, workers: int = 2) -> Answer:
        """Any choice that fills every leaf exactly."""
        model = self.model.clone()
        self._exact(model)
        return self._ask(model, deadline, workers)

    def another(
        self, undecided: npt.NDArray[np.bool_], deadline: float, workers: int = 2
    ) -> Answer:
        """A choice that fills every leaf and in which some `undecided` row changes."""
        model = self.model.clone()
        self._exact(model)
        variables = self._own(model)
        held = np.isin(self.chosen, self.pick[self.free_rows])
        changes = [~variables[j] for j in np.flatnonzero(held & undecided[self.owner]).tolist()]
        model.add_bool_or(changes)
        return self._ask(model, deadline, workers)

    def _exact(self, model: cp_model.CpModel) -> None:
        from ortools.sat.python import cp_model

        variables = self._own(model)
        for entries, times, goal in self._lines():
            total = cp_model.LinearExpr.weighted_sum([variables[j] for j in entries], times)
            model.add(total == goal)

    def _own(self, model: cp_model.CpModel) -> list[Any]:
        return [model.get_bool_var_from_proto_index(v.index) for v in self.variables]

    def _lines(self) -> list[tuple[list[int], list[int], int]]:
        m = self.matrix
        return [
            (
                m.indices[m.indptr[e] : m.indptr[e + 1]].tolist(),
                m.data[m.indptr[e] : m.indptr[e + 1]].tolist(),
                int(self.goal[e]),
            )
            for e in range(m.shape[0])
        ]

    def _ask(self, model: cp_model.CpModel, deadline: float, workers: int) -> Answer:
        from ortools.sat.python import cp_model

        left = deadline - time.monotonic()
        if left <= 0:
            return Answer("unknown")
        solver = cp_model.CpSolver()
        solver.parameters.max_time_in_seconds = left
        solver.parameters.num_workers = workers
        status = solver.solve(model)
        if status == cp_model.INFEASIBLE:
            # Presolve has declared feasible models infeasible (OR-Tools 9.15, its issue 5274), and
            # "impossible" is a proof here: it has to hold without.
            solver.parameters.cp_model_presolve = False
            solver.parameters.max_time_in_seconds = max(0.01, deadline - time.monotonic())
            status = solver.solve(model)
        if status == cp_model.INFEASIBLE:
            return Answer("impossible")
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return Answer("unknown")
        taken = np.array([solver.boolean_value(v) for v in self.variables])
        pick = self.pick.copy()
        pick[self.owner[taken]] = self.chosen[taken]
        return Answer("found", pick)


def _equations(
    problem: Problem, rows: Rows, chosen: IntArray, owner: IntArray, free: IntArray, pick: IntArray
) -> tuple[sp.csr_array, IntArray]:
    """Leaf equations over the chosen possibilities, identical lines once."""
    leaves, n_classes = problem.leaves, problem.n_classes
    n_trees = np.diff(rows.first_tree)
    width = n_trees[owner]
    start = rows.entry[owner] + (chosen - rows.first[owner]) * width
    at = np.repeat(start - np.concatenate([[0], np.cumsum(width)[:-1]]), width)
    leaf = rows.leaf[at + np.arange(int(width.sum()))].astype(np.int64)
    column = np.repeat(np.arange(len(chosen)), width)
    times = problem.drawn[leaves.tree[leaf], owner[column]].astype(np.int64)
    n_leaves = len(leaves.tree)
    by_class = leaf * n_classes + rows.label[chosen][column]
    line = np.concatenate([by_class, n_leaves * n_classes + leaf])
    value = np.concatenate([times, np.ones_like(times)])
    matrix = sp.csr_array(
        (value, (line, np.concatenate([column, column]))),
        shape=(n_leaves * (n_classes + 1), len(chosen)),
    )
    draws, distinct = gaps(problem, rows, pick)
    missing = np.concatenate([draws.reshape(-1), distinct])
    held = np.isin(chosen, pick[free]).astype(np.int64)
    goal = missing + matrix @ held
    stated = np.concatenate([leaves.draws.reshape(-1), leaves.distinct]) >= 0
    # A leaf that all free possibilities fill alike, and exactly, says nothing.
    used = np.flatnonzero(stated & ((np.diff(matrix.indptr) > 0) | (goal != 0)))
    matrix, goal = sp.csr_array(matrix[used]), goal[used]
    seen: dict[tuple[bytes, bytes, int], int] = {}
    for e in range(len(goal)):
        part = slice(matrix.indptr[e], matrix.indptr[e + 1])
        seen.setdefault(
            (matrix.indices[part].tobytes(), matrix.data[part].tobytes(), int(goal[e])), e
        )
    first = np.array(sorted(seen.values()), dtype=np.int64)
    return sp.csr_array(matrix[first]), goal[first]
