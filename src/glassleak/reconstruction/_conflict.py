"""Why no table fits: a minimal set of published counts that contradict each other."""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, milp

from glassleak.errors import InconsistentModelError
from glassleak.knowledge import Published, System
from glassleak.knowledge._system import where
from glassleak.reconstruction._components import Component

IntArray = npt.NDArray[np.int64]
_LISTED = 8


def explain_conflict(
    facts: Published, system: System, piece: Component | None, deadline: float
) -> InconsistentModelError:
    """The error to raise: it names the leaves at fault.

    Among the equations of `piece` (or of the whole system) a subset is found that no histogram
    satisfies and every proper subset of which some histogram does (QuickXplain).  Leaves that
    publish a zero have already ruled cells out and are part of the background.
    """
    if piece is None:
        matrix, target = sp.csr_array(system.matrix), system.target
        equations = np.arange(len(system.target))
        lower, upper = system.lower, np.full(system.n_unknowns, int(system.target.max(initial=0)))
    else:
        matrix, target, equations = piece.matrix, piece.target, piece.equations
        lower, upper = piece.lower, piece.upper
    oracle = _Oracle(matrix, target, lower, upper, deadline)
    core = _quick_explain(oracle, list(range(len(target))))
    leaves = [_named(facts, system.names[equations[i]], int(target[i])) for i in core]
    shown = "; ".join(leaves[:_LISTED])
    more = f"; and {len(leaves) - _LISTED} more" if len(leaves) > _LISTED else ""
    kind = "minimal" if oracle.decided else "not yet minimal"
    error = InconsistentModelError(
        f"no table has these counts: {shown}{more} ({kind} conflicting set, given the leaves "
        "that publish no rows)"
    )
    error.add_note("the model was altered, its counts are not exact, or the schema is too narrow")
    return error


def _named(facts: Published, name: npt.NDArray[np.int64], count: int) -> str:
    of = f" of class {facts.classes[int(name[2])]!r}" if name[2] >= 0 else ""
    return f"{where(facts, name)} ({count} rows{of})"


class _Oracle:
    """Is there a histogram that satisfies these equations?"""

    def __init__(
        self, matrix: sp.csr_array, target: IntArray, lower: IntArray, upper: IntArray,
        deadline: float,
    ) -> None:  # fmt: skip
        self.matrix, self.target, self.bounds = matrix, target, Bounds(lower, upper)
        self.deadline, self.decided = deadline, True
        # Contradictions of counts nearly always show in the relaxation, which is far cheaper.
        self.integral = self._feasible(np.arange(len(target)), integral=False)

    def feasible(self, rows: list[int]) -> bool:
        return self._feasible(np.array(rows, dtype=np.int64), integral=self.integral)

    def _feasible(self, rows: IntArray, *, integral: bool) -> bool:
        if not len(rows):
            return True
        left = self.deadline - time.monotonic()
        if left <= 0:
            self.decided = False
            return True
        picked = sp.csr_array(self.matrix[rows])
        size = picked.shape[1]
        result = milp(
            np.zeros(size),
            constraints=LinearConstraint(picked, self.target[rows], self.target[rows]),
            bounds=self.bounds,
            integrality=np.full(size, int(integral)),
            options={"time_limit": left},
        )
        if result.status not in (0, 2):
            self.decided = False
        return bool(result.status != 2)


def _quick_explain(oracle: _Oracle, rows: list[int]) -> list[int]:
    """A minimal infeasible subset (Junker 2004), in O(k log(n / k)) questions."""

    def search(background: list[int], changed: bool, candidates: list[int]) -> list[int]:
        if changed and not oracle.feasible(background):
            return []
        if len(candidates) == 1:
            return candidates
        half = len(candidates) // 2
        one, other = candidates[:half], candidates[half:]
        second = search(background + one, bool(one), other)
        first = search(background + second, bool(second), one)
        return first + second

    return sorted(search([], False, rows))
