"""The whole-number problem over a few chosen columns, by CP-SAT."""

from __future__ import annotations

from typing import Literal

import numpy as np

from glassleak.reconstruction.residual._control import Control
from glassleak.reconstruction.residual._problem import IntArray, Problem

Outcome = Literal["impossible", "unknown"]


def restricted(
    problem: Problem, columns: IntArray, *, effort: float, seed: int, control: Control
) -> IntArray | Outcome:
    """A solution that is 0 outside `columns`, or a proof that none is.

    Parameters
    ----------
    effort : float
        CP-SAT's deterministic time: reproducible, unlike seconds, and about as long.
    """
    # Imported here: OR-Tools takes a while to load, and most models never need it.
    from ortools.sat.python import cp_model

    block = problem.by_column[:, columns].tocsr()
    empty = np.diff(block.indptr) == 0
    if (problem.target[empty] != 0).any():
        return "impossible"
    model = cp_model.CpModel()
    x = [model.new_int_var(0, high, "") for high in problem.upper[columns].tolist()]
    for row in np.flatnonzero(~empty).tolist():
        entries = block.indices[block.indptr[row] : block.indptr[row + 1]].tolist()
        total = cp_model.LinearExpr.sum([x[j] for j in entries])
        model.add(total == int(problem.target[row]))
    solver = cp_model.CpSolver()
    # One thread, no time limit but the deadline: the answer depends on the seed alone.
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = seed
    solver.parameters.max_deterministic_time = effort
    solver.parameters.max_time_in_seconds = control.left()
    if not control.enter(solver):
        return "unknown"
    try:
        status = solver.solve(model)
    finally:
        control.leave(solver)
    if status == cp_model.INFEASIBLE:
        return "impossible"
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return "unknown"
    z = np.zeros(problem.n_unknowns, dtype=np.int64)
    z[columns] = [solver.value(v) for v in x]
    return z
