"""Bounds where leaves publish labels or error rates, and the class totals are known beside them.

The totals couple the leaves.  The unknowns are people per leaf and class; a QI's own bounds follow
from its leaf's, because within a leaf nothing else is known.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.disclosure._problem import Problem
from glassleak.errors import InconsistentModelError

IntArray = npt.NDArray[np.int64]


def with_margin(
    problem: Problem, lower: IntArray, upper: IntArray, deadline: float
) -> tuple[IntArray, IntArray, npt.NDArray[np.bool_]]:
    """Tighten closed-form bounds of QIs by the class totals.

    Returns
    -------
    lower, upper, exact

    Raises
    ------
    InconsistentModelError
        No table has these labels, rates and totals.
    """
    leaves = _Leaves(problem)
    leaves.propagate()
    decided = leaves.decide(deadline)
    leaf, people = problem.leaf, problem.number[:, None]
    others = problem.leaf_size[leaf][:, None] - people
    low = np.maximum(0, leaves.low[leaf] - others)
    high = np.minimum(people, leaves.high[leaf])
    exact = np.asarray(decided[leaf])
    # Within a leaf, labels alone can say more about a QI than ranges of single classes do.
    tighter = (low < lower) | (high > upper)
    low, high = np.maximum(low, lower), np.minimum(high, upper)
    return low, high, (exact & ~tighter) | (low == high)


class _Leaves:
    """Ranges of people per leaf and class."""

    def __init__(self, problem: Problem) -> None:
        assert problem.margin is not None
        self.size, self.margin = problem.leaf_size, problem.margin
        self.label, self.counts = problem.leaf_label, problem.leaf_counts
        known = self.counts >= 0
        here = np.arange(len(self.size))
        m = problem.n_classes
        self.low = np.where(known, self.counts, 0)
        self.high = np.where(known, self.counts, (self.size // 2)[:, None])
        top = known[here, self.label]
        self.high[here, self.label] = np.where(top, self.counts[here, self.label], self.size)
        self.low[here, self.label] = np.where(
            top, self.counts[here, self.label], -(-self.size // m)
        )

    def propagate(self) -> None:
        """Row and column sums against each other until nothing changes."""
        rows = np.arange(len(self.size))
        for _ in range(1000):
            low, high = self.low.copy(), self.high.copy()
            for axis, total in ((1, self.size[:, None]), (0, self.margin[None, :])):
                least, most = (
                    self.low.sum(axis=axis, keepdims=True), self.high.sum(axis=axis, keepdims=True)
                )  # fmt: skip
                if ((least > total) | (most < total)).any():
                    raise _impossible()
                self.high = np.minimum(self.high, total - least + self.low)
                self.low = np.maximum(self.low, total - most + self.high)
            top = self.high[rows, self.label]
            self.high = np.minimum(self.high, top[:, None])
            self.low[rows, self.label] = self.low.max(axis=1)
            if (self.low > self.high).any():
                raise _impossible()
            if (low == self.low).all() and (high == self.high).all():
                return

    def decide(self, deadline: float) -> npt.NDArray[np.bool_]:
        """Exact ends of every range, as far as time allows."""
        decided: npt.NDArray[np.bool_] = self.low == self.high
        least = np.full_like(self.low, np.iinfo(np.int64).max)
        most = np.full_like(self.low, -1)
        open_ = np.argwhere(~decided).tolist()
        if not open_:
            return decided

        def settled() -> npt.NDArray[np.bool_]:
            met: npt.NDArray[np.bool_] = (least == self.low) & (most == self.high)
            return met | decided

        model, k = self._model()
        for one, x in open_:
            for largest in (True, False):
                bound, seen = (self.high, most) if largest else (self.low, least)
                if bound[one, x] == seen[one, x]:
                    continue
                table = self._extreme(model, k, one, x, largest=largest, deadline=deadline)
                if table is None:
                    return settled()
                np.minimum(least, table, out=least)
                np.maximum(most, table, out=most)
                bound[one, x] = table[one, x]
        return settled()

    def _model(self) -> tuple[Any, list[list[Any]]]:
        from ortools.sat.python import cp_model

        model = cp_model.CpModel()
        k = [
            [model.new_int_var(low, high, "") for low, high in zip(lows, highs, strict=True)]
            for lows, highs in zip(self.low.tolist(), self.high.tolist(), strict=True)
        ]
        for one, (size, label) in enumerate(
            zip(self.size.tolist(), self.label.tolist(), strict=True)
        ):
            model.add(cp_model.LinearExpr.sum(k[one]) == size)
            for x in range(len(self.margin)):
                if x != label and self.high[one, x] > self.low[one, label]:
                    model.add(k[one][x] <= k[one][label])
        for x, total in enumerate(self.margin.tolist()):
            model.add(cp_model.LinearExpr.sum([row[x] for row in k]) == total)
        return model, k

    def _extreme(
        self, model: Any, k: list[list[Any]], one: int, x: int, *, largest: bool, deadline: float
    ) -> IntArray | None:
        """A table that attains the extreme; ``None`` if the time is over."""
        from ortools.sat.python import cp_model

        left = deadline - time.monotonic()
        if left <= 0:
            return None
        (model.maximize if largest else model.minimize)(k[one][x])
        solver = cp_model.CpSolver()
        solver.parameters.max_time_in_seconds = left
        solver.parameters.num_workers = 1
        # See `_bounds_cp`: presolve is not trusted with proofs.
        solver.parameters.cp_model_presolve = False
        status = solver.solve(model)
        if status == cp_model.INFEASIBLE:
            raise _impossible()
        if status != cp_model.OPTIMAL:
            return None
        return np.array([[solver.value(v) for v in row] for row in k], dtype=np.int64)


def _impossible() -> InconsistentModelError:
    return InconsistentModelError("no table of these people has these labels and class totals")
