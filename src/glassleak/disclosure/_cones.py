"""A cone program put together piece by piece for Clarabel, with a bound of its own."""

from __future__ import annotations

import math
from typing import Any

import clarabel
import numpy as np
import numpy.typing as npt
from scipy import sparse

from glassleak.disclosure._measures import Floats

_ZERO, _LINEAR, _SECOND, _EXPONENTIAL = "zero", "linear", "second order", "exponential"


class Cones:
    """Maximise ``gain · x`` where every variable of the solution lies in [0, 1].

    Variables come in groups (`add_variables`); the first group is there from the start, without
    gain.  Rows are ``b - A x in K`` in Clarabel's convention.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self._gain = [np.zeros(n)]
        self._rows: dict[str, list[tuple[sparse.coo_array, Floats]]] = {
            kind: [] for kind in (_ZERO, _LINEAR, _SECOND, _EXPONENTIAL)
        }
        self._sizes: list[int] = []
        self._system: tuple[sparse.csc_array, Floats, Floats] | None = None

    def add_variables(self, gain: Floats) -> npt.NDArray[np.int64]:
        """Further variables with their gain; returns their positions."""
        first = self.n
        self.n += len(gain)
        self._gain.append(np.asarray(gain, dtype=float))
        return np.arange(first, self.n)

    def zero(self, matrix: Any, right: Floats) -> None:
        """``matrix x = right``."""
        self._rows[_ZERO].append((sparse.coo_array(matrix), right))

    def at_least(self, variables: npt.NDArray[np.int64], weights: Floats, least: float) -> None:
        """``weights · x[variables] >= least``."""
        zeros = np.zeros(len(variables), dtype=np.int64)
        matrix = sparse.coo_array((-weights, (zeros, variables)), shape=(1, self.n))
        self._rows[_LINEAR].append((matrix, np.array([-least])))

    def second_order(self, matrix: Any, target: Floats, radius: float) -> None:
        """``|matrix x - target| <= radius``."""
        first = sparse.coo_array((1, matrix.shape[1]))
        rows = sparse.vstack([first, -matrix])
        self._rows[_SECOND].append((sparse.coo_array(rows), np.concatenate([[radius], -target])))
        self._sizes.append(1 + matrix.shape[0])

    def exponential(self, variables: npt.NDArray[np.int64], matrix: Any, offset: Floats) -> None:
        """``x[variables] <= -y log y`` for ``y = matrix x + offset``, entry by entry."""
        n = len(variables)
        inner = sparse.coo_array(matrix)
        rows = np.concatenate([3 * np.arange(n), 3 * inner.row + 1])
        columns = np.concatenate([variables, inner.col])
        values = np.concatenate([-np.ones(n), -inner.data])
        right = np.zeros(3 * n)
        right[1::3], right[2::3] = offset, 1.0
        whole = sparse.coo_array((values, (rows, columns)), shape=(3 * n, self.n))
        self._rows[_EXPONENTIAL].append((whole, right))

    def solve(self, seconds: float) -> tuple[Floats, Floats, Any]:
        """Solution, dual variables and the solver's own word on them."""
        blocks = [b for kind in self._rows.values() for b in kind]
        system = sparse.csc_array(sparse.vstack([_widened(rows, self.n) for rows, _ in blocks]))
        right = np.concatenate([r for _, r in blocks])
        cost = -np.concatenate(self._gain)
        self._system = (system, right, cost)
        height = {k: sum(len(r) for _, r in rows) for k, rows in self._rows.items()}
        cones: list[Any] = [clarabel.ZeroConeT(height[_ZERO])]
        if height[_LINEAR]:
            cones.append(clarabel.NonnegativeConeT(height[_LINEAR]))
        cones += [clarabel.SecondOrderConeT(size) for size in self._sizes]
        cones += [clarabel.ExponentialConeT() for _ in range(height[_EXPONENTIAL] // 3)]
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.max_iter = 200
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
        settings.max_threads = 1
        if math.isfinite(seconds):
            settings.time_limit = max(seconds, 0.01)
        nothing = sparse.csc_matrix((self.n, self.n))
        solver = clarabel.DefaultSolver(
            nothing, cost, sparse.csc_matrix(system), right, cones, settings
        )
        found = solver.solve()
        return np.asarray(found.x), np.asarray(found.z), found.status

    def bound(self, dual: Floats) -> float:
        """An upper bound on the gain of *any* solution, from any dual variables.

        They are first moved into the dual cones where a rounding error put them outside.  For every
        x in the cones, ``-gain·x = (r - Aᵀz)·x = r·x - z·(b - s) >= r·x - b·z`` with the residual
        ``r = Aᵀz - gain``; and the optimal x has entries in [0, 1].
        """
        assert self._system is not None
        system, right, cost = self._system
        z = dual.copy()
        if not np.isfinite(z).all():
            return math.inf
        at = sum(len(r) for _, r in self._rows[_ZERO])
        linear = sum(len(r) for _, r in self._rows[_LINEAR])
        z[at : at + linear] = np.maximum(z[at : at + linear], 0.0)
        at += linear
        for size in self._sizes:
            z[at] = max(z[at], float(np.linalg.norm(z[at + 1 : at + size])) * (1 + 1e-15))
            at += size
        u, v = np.minimum(z[at::3], -1e-300), z[at + 1 :: 3]
        z[at::3] = u
        with np.errstate(over="ignore", invalid="ignore"):
            least = np.exp(np.log(-u) + v / u - 1.0)
        z[at + 2 :: 3] = np.maximum(z[at + 2 :: 3], least)
        residual = system.T @ z + cost
        value = float(right @ z) + float(np.maximum(-residual, 0.0).sum())
        return value if math.isfinite(value) else math.inf


def _widened(matrix: sparse.coo_array, width: int) -> sparse.coo_array:
    """`matrix` with columns for the variables that came after it."""
    return sparse.coo_array((matrix.data, (matrix.row, matrix.col)), shape=(matrix.shape[0], width))
