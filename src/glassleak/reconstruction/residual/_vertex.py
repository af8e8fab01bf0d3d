"""Vertices of the linear relaxation, and exact proofs that it is empty.

A vertex of ``A z == b, 0 <= z <= u`` for a random cost has at most as many fractional values as
there are independent equations, often none at all; and the columns with the smallest reduced costs
are the ones a cheap whole-number solution is made of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.optimize import linprog

from glassleak.reconstruction.residual._control import Control
from glassleak.reconstruction.residual._independent import independent_rows
from glassleak.reconstruction.residual._problem import IntArray, Problem

FloatArray = npt.NDArray[np.float64]
# Up to this many columns one call is faster than generating them.
_DIRECT_COLUMNS = 20_000
_FIRST_COLUMNS, _MORE_COLUMNS, _GROWTH = 1_000, 500, 1.5
_TINY = 1e-6
_PENALTIES = (100.0, 10_000.0)
# Dual values are mostly fractions with small denominators; the last is for the rest.
_DENOMINATORS = (1, 2, 3, 4, 6, 12, 60, 2520, 1 << 30)


@dataclass(frozen=True)
class Vertex:
    """An optimum of the relaxation.

    Attributes
    ----------
    z : float array
    reduced_cost : float array
        What one unit of each column costs beyond its worth.
    """

    z: FloatArray
    reduced_cost: FloatArray


class Relaxation:
    """The linear relaxation of a problem, over independent equations."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.rows = independent_rows(problem.by_column)
        self.columns = sp.csc_array(problem.by_row[self.rows], dtype=np.float64)
        self.pricing = sp.csr_array(self.columns.T)
        self.target = problem.target[self.rows].astype(np.float64)
        self.upper = problem.upper.astype(np.float64)

    def vertex(
        self, cost: FloatArray, control: Control, seed: int
    ) -> Vertex | Literal["empty"] | None:
        """A vertex that minimises `cost` (between 0 and 1).

        Returns
        -------
        Vertex, or ``"empty"`` if there is a proof that none exists, or ``None`` if the time ran out
        or the arithmetic was not good enough for either.
        """
        for penalty in _PENALTIES:
            found = self._optimum(cost, penalty, control, seed)
            if found is None:
                return None
            z, duals, missing = found
            if missing < _TINY:
                return Vertex(z, cost - self._worth(duals))
        found = self._optimum(np.zeros(len(cost)), 1.0, control, seed)
        if found is None:
            return None
        z, duals, missing = found
        if missing < _TINY:
            return Vertex(z, -self._worth(duals))
        return "empty" if self._proves_empty(duals) else None

    def _optimum(
        self, cost: FloatArray, penalty: float, control: Control, seed: int
    ) -> tuple[FloatArray, FloatArray, float] | None:
        """Minimise cost + penalty * what the equations miss, generating columns if many."""
        n_rows, n_columns = self.columns.shape
        slack = sp.identity(n_rows, format="csc")
        pool = np.arange(n_columns)
        if n_columns > _DIRECT_COLUMNS:
            first = max(_FIRST_COLUMNS, 4 * n_rows)
            pool = np.random.default_rng(seed).choice(n_columns, first, replace=False)
        more = _MORE_COLUMNS
        while not control.over():
            answer = _minimum(
                np.concatenate([cost[pool], np.full(2 * n_rows, penalty)]),
                sp.hstack([self.columns[:, pool], slack, -slack], format="csc"),
                self.target,
                np.concatenate([self.upper[pool], np.full(2 * n_rows, np.inf)]),
                control.left(),
            )
            if answer.status != 0 or answer.x is None:
                return None
            duals: FloatArray = np.asarray(answer.eqlin.marginals, dtype=np.float64)
            reduced = cost - self._worth(duals)
            reduced[pool] = 0.0
            cheap = np.flatnonzero(reduced < -_TINY)
            if not cheap.size:
                z = np.zeros(n_columns)
                z[pool] = answer.x[: len(pool)]
                return z, duals, float(answer.x[len(pool) :].sum())
            if cheap.size > more:
                cheap = cheap[np.argpartition(reduced[cheap], more)[:more]]
            pool, more = np.union1d(pool, cheap), int(more * _GROWTH)
        return None

    def _worth(self, duals: FloatArray) -> FloatArray:
        return np.asarray(self.pricing @ duals, dtype=np.float64)

    def _proves_empty(self, duals: FloatArray) -> bool:
        """Check a certificate in whole numbers.

        If the combination ``w`` of the equations asks for more than ``max(w @ A @ z)`` over the
        bounds, no ``z`` exists, fractional or whole.
        """
        problem = self.problem
        for denominator in _DENOMINATORS:
            weights = np.zeros(problem.n_equations, dtype=np.int64)
            weights[self.rows] = np.rint(duals * denominator).astype(np.int64)
            gain = problem.by_column.T @ weights
            # Python integers: nothing can overflow.
            most = sum(
                int(g) * int(u)
                for g, u in zip(gain[gain > 0], problem.upper[gain > 0], strict=True)
            )
            asked = sum(
                int(w) * int(t)
                for w, t in zip(weights.tolist(), problem.target.tolist(), strict=True)
            )
            if asked > most:
                return True
        return False


def _minimum(
    cost: FloatArray, matrix: Any, target: FloatArray, upper: FloatArray, seconds: float
) -> Any:
    bounds: Any = np.column_stack([np.zeros(len(upper)), upper])
    # Presolve costs more than it saves here.
    options: Any = {"presolve": False, "time_limit": seconds}
    return linprog(
        cost, A_eq=matrix, b_eq=target, bounds=bounds, method="highs-ds", options=options
    )


def whole(z: FloatArray) -> IntArray | None:
    """`z` as whole numbers, if every value is one up to rounding errors."""
    rounded = np.rint(z)
    return rounded.astype(np.int64) if np.abs(z - rounded).max(initial=0.0) < _TINY else None
