"""Questions about *all* consistent histograms of a component, answered with proof by CP-SAT."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from glassleak.reconstruction._components import Component

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Answer:
    """Outcome of one question.

    Attributes
    ----------
    status : "found", "impossible" or "unknown"
        "impossible" is a proof; "unknown" means the time ran out.
    x : int array or None
        A histogram that shows it.
    bound : int or None
        For extremes: the proved bound, whether attained or not.
    """

    status: Literal["found", "impossible", "unknown"]
    x: IntArray | None = None
    bound: int | None = None


class Prover:
    """Asks CP-SAT about one component."""

    def __init__(self, component: Component, workers: int = 2) -> None:
        # Imported here: OR-Tools takes a while to load, and most models never need it.
        from ortools.sat.python import cp_model

        self.component, self.workers = component, workers
        self.model = cp_model.CpModel()
        self.x = [
            self.model.new_int_var(int(low), int(high), "")
            for low, high in zip(component.lower, component.upper, strict=True)
        ]
        matrix = component.matrix
        for row, total in enumerate(component.target.tolist()):
            entries = matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]
            self.model.add(cp_model.LinearExpr.sum([self.x[j] for j in entries]) == total)

    def another(self, known: IntArray, deadline: float) -> Answer:
        """A consistent histogram other than `known`, or the proof that there is none.

        All equations fix totals, so another histogram is larger somewhere.
        """
        model = self.model.clone()
        larger = []
        for j, value in enumerate(known.tolist()):
            if value < int(self.component.upper[j]):
                mark = model.new_bool_var("")
                variable = model.get_int_var_from_proto_index(self.x[j].index)
                model.add(variable >= value + 1).only_enforce_if(mark)
                larger.append(mark)
        if not larger:
            return Answer("impossible")
        model.add_bool_or(larger)
        return self._solve(model, deadline)

    def without(self, unknown: int, deadline: float) -> Answer:
        """A consistent histogram in which `unknown` is 0, or the proof that there is none."""
        model = self.model.clone()
        variable = model.get_int_var_from_proto_index(self.x[unknown].index)
        model.add(variable == 0)
        return self._solve(model, deadline)

    def extreme(self, unknown: int, *, largest: bool, hint: IntArray, deadline: float) -> Answer:
        """The largest (smallest) value of `unknown`; `bound` is proved even if time runs out."""
        model = self.model.clone()
        for j, value in enumerate(hint.tolist()):
            model.add_hint(model.get_int_var_from_proto_index(self.x[j].index), value)
        variable = model.get_int_var_from_proto_index(self.x[unknown].index)
        (model.maximize if largest else model.minimize)(variable)
        return self._solve(model, deadline, objective=True)

    def _solve(
        self, model: cp_model.CpModel, deadline: float, *, objective: bool = False
    ) -> Answer:
        from ortools.sat.python import cp_model

        left = deadline - time.monotonic()
        if left <= 0:
            return Answer("unknown")
        solver = cp_model.CpSolver()
        solver.parameters.max_time_in_seconds = left
        solver.parameters.num_workers = self.workers
        # "Impossible" is a proof here, and presolve has declared feasible models infeasible
        # (OR-Tools 9.15, its issue 5274).  Without it these questions take no longer.
        solver.parameters.cp_model_presolve = False
        status = solver.solve(model)
        if status == cp_model.INFEASIBLE:
            return Answer("impossible")
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return Answer("unknown")
        x = np.array([solver.value(v) for v in self.x], dtype=np.int64)
        if not objective:
            return Answer("found", x)
        bound = round(solver.best_objective_bound)
        return Answer("found" if status == cp_model.OPTIMAL else "unknown", x, bound)
