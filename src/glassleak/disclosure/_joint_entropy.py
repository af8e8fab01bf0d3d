"""The maximum-entropy point of the joint cell system, by scaling and Newton steps on the dual.

``maximise -Σ h log h  subject to  A h = b`` has the dual ``minimise Σ exp(Aᵀλ - 1) - bᵀλ``, smooth
and convex.  Scaling one equation after the other (iterative proportional fitting) is coordinate
descent on it: robust, and slow near the end, where Newton steps take over.  What the dual point
promises is an upper bound on the entropy of *every* solution, which is the certificate.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.optimize import linprog
from scipy.sparse.linalg import splu

from glassleak.disclosure._joint import JointProblem
from glassleak.errors import InconsistentModelError
from glassleak.reconstruction._components import Component, components
from glassleak.reconstruction._propagate import Bounds, propagate

FloatArray = npt.NDArray[np.float64]
_SWEEPS = 50
_STEPS = 100
# Largest error of an equation, in people, at which a solution counts as one.
CLOSE = 1e-7


@dataclass(frozen=True)
class JointEstimate:
    """Expected people per cell and class.

    Attributes
    ----------
    expected : (cells, classes) float array
    gap : float
        At most so far below the maximum entropy, in nats summed over people.
    violation : float
        Largest error of an equation, in people.
    finished : bool
    """

    expected: FloatArray
    gap: float
    violation: float
    finished: bool


def maximum_entropy(problem: JointProblem, deadline: float) -> JointEstimate:
    """Solve the joint system.

    What arithmetic alone determines is settled first, and the rest comes apart into components.

    Raises
    ------
    InconsistentModelError
        The counts of different trees contradict each other.
    """
    system = problem.system
    bounds = settled(problem)
    h = bounds.lower.astype(np.float64)
    gap = violation = 0.0
    finished = True
    for piece in components(system, bounds):
        # Lower bounds of open unknowns are facts about integers; the estimate starts from zero.
        one = _Dual(piece, _needed(system.names[piece.equations]))
        one.solve(deadline)
        missed = _missed(piece, one.h)
        if missed > CLOSE >= one.violation:
            one = _Dual(piece, np.arange(len(piece.target)))
            one.solve(deadline)
            missed = _missed(piece, one.h)
        h[piece.unknowns] = one.h
        gap, violation = gap + one.gap, max(violation, missed)
        finished &= missed <= CLOSE
    return JointEstimate(problem.table(h), max(0.0, gap), violation, finished)


def settled(problem: JointProblem) -> Bounds:
    """What arithmetic determines: unknowns with one value in every *real* solution, too.

    Propagation of bounds on single unknowns never uses that counts are whole numbers.
    """
    system = problem.system
    bounds = propagate(system.matrix, system.target, system.lower, system.upper)
    if bounds.conflict is not None:
        raise contradiction()
    return bounds


def contradiction() -> InconsistentModelError:
    """The error for trees that cannot be of the same people."""
    return InconsistentModelError(
        "no table of the people given has these counts in every tree: the trees do not describe "
        "the same people"
    )


def _missed(piece: Component, h: FloatArray) -> float:
    """Largest error of an equation."""
    return float(np.abs(piece.matrix @ h - piece.target).max(initial=0.0))


def _needed(names: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Equations without one class of every leaf: it follows from the others and the cell sizes."""
    of_cells = names[:, 0] < 0
    _, last = np.unique(names[::-1, :2], axis=0, return_index=True)
    follows = np.zeros(len(names), dtype=bool)
    follows[len(names) - 1 - last] = True
    _, inverse, count = np.unique(names[:, :2], axis=0, return_inverse=True, return_counts=True)
    # A single equation of a leaf is kept: the others may have been settled before.
    return np.flatnonzero(of_cells | ~follows | (count[inverse.reshape(-1)] == 1))


class _Dual:
    """One component: ``h = exp(Aᵀλ - 1)`` on its support."""

    def __init__(self, piece: Component, needed: npt.NDArray[np.int64]) -> None:
        self.matrix = sp.csr_array(piece.matrix[needed].astype(np.float64))
        self.target = piece.target[needed].astype(np.float64)
        self.support = np.ones(self.matrix.shape[1], dtype=bool)
        self.multipliers = np.zeros(len(self.target))
        self.h = np.exp(self.matrix.T @ self.multipliers - 1.0)

    @property
    def violation(self) -> float:
        return float(np.abs(self.matrix @ self.h - self.target).max(initial=0.0))

    @property
    def gap(self) -> float:
        """Dual value minus entropy."""
        return float(abs(self.multipliers @ (self.matrix @ self.h - self.target)))

    def solve(self, deadline: float) -> None:
        enough = 0.01 * CLOSE
        for attempt in range(2):
            self._scale(enough, deadline)
            if self.violation > enough:
                self._newton(enough, deadline)
            if self.violation <= enough or attempt or time.monotonic() > deadline:
                return
            # Scaling crawls when some unknowns are zero in every solution: find those and go on.
            if not self._shrink():
                return

    def _scale(self, enough: float, deadline: float) -> None:
        """Satisfy the equations one colour after the other: those of one share no unknown."""
        colours = _colours(self.matrix)
        for sweep in range(_SWEEPS):
            for rows, columns, owner in colours:
                have = np.bincount(owner, weights=self.h[columns], minlength=len(rows))
                want = self.target[rows]
                with np.errstate(divide="ignore", invalid="ignore"):
                    factor = np.where(have > 0, want / have, 1.0)
                self.multipliers[rows] += np.log(np.maximum(factor, 1e-300))
                self.h[columns] *= factor[owner]
            if sweep % 5 == 4 and (self.violation <= enough or time.monotonic() > deadline):
                return

    def _newton(self, enough: float, deadline: float) -> None:
        for _ in range(_STEPS):
            if self.violation <= enough or time.monotonic() > deadline:
                return
            residual = self.target - self.matrix @ self.h
            step = self._step(residual)
            size, before = 1.0, self._value(self.multipliers)
            slope = float(residual @ step)
            while size > 1e-10:
                tried = self.multipliers + size * step
                if self._value(tried) <= before - 1e-4 * size * slope:
                    break
                size /= 2
            else:
                return
            self.multipliers = self.multipliers + size * step
            self._refresh()

    def _step(self, residual: FloatArray) -> FloatArray:
        """Solve ``A diag(h) Aᵀ step = residual``; a little is added, as equations may depend."""
        curvature = sp.csc_array(self.matrix.multiply(self.h[None, :]) @ self.matrix.T)
        ridge = 1e-13 * float(curvature.diagonal().max())
        # Not a full matrix: its threads would fight with whatever else the machine does.
        solver = splu(
            sp.csc_array(curvature + ridge * sp.eye_array(len(residual))),
            permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True},
        )  # fmt: skip
        step: FloatArray = solver.solve(residual)
        return step

    def _value(self, multipliers: FloatArray) -> float:
        exponent = (self.matrix.T @ multipliers - 1.0)[self.support]
        if exponent.size and exponent.max() > 700:
            return np.inf
        return float(np.exp(exponent).sum() - self.target @ multipliers)

    def _refresh(self) -> None:
        exponent = self.matrix.T @ self.multipliers - 1.0
        self.h = np.where(self.support, np.exp(np.minimum(exponent, 700)), 0.0)

    def _shrink(self) -> bool:
        """Leave out unknowns that are zero in every solution; whether there were any.

        One linear program finds a solution of largest support: ``max Σ t`` with
        ``A h = s b, 0 <= t <= 1, t <= h, s >= 1``.
        """
        n_rows, n = self.matrix.shape
        eye = sp.eye_array(n)
        scaled = sp.csr_array(-self.target[:, None])
        equal = sp.csr_array(sp.hstack([self.matrix, sp.csr_array((n_rows, n)), scaled]))
        below = sp.csr_array(sp.hstack([-eye, eye, sp.csr_array((n, 1))]))
        found = linprog(  # type: ignore[call-overload]
            np.concatenate([np.zeros(n), -np.ones(n), [0.0]]),
            A_ub=below,
            b_ub=np.zeros(n),
            A_eq=equal,
            b_eq=np.zeros(n_rows),
            bounds=[(0, None)] * n + [(0, 1)] * n + [(1, None)],
            method="highs",
        )
        if found.status == 2:
            raise contradiction()
        if found.status != 0:
            return False
        support = found.x[n : 2 * n] > 0.5
        if support.all():
            return False
        self.support = support
        self.multipliers[:] = 0.0
        self._refresh()
        return True


def _colours(
    matrix: sp.csr_array,
) -> list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """Equations in sets without common unknowns: (equations, their unknowns, whose each is)."""
    n_rows, n = matrix.shape
    free: list[npt.NDArray[np.bool_]] = []
    members: list[list[int]] = []
    for row in range(n_rows):
        own = matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]
        for taken, rows in zip(free, members, strict=True):
            if not taken[own].any():
                taken[own] = True
                rows.append(row)
                break
        else:
            taken = np.zeros(n, dtype=bool)
            taken[own] = True
            free.append(taken)
            members.append([row])
    out = []
    for rows in members:
        columns = [matrix.indices[matrix.indptr[r] : matrix.indptr[r + 1]] for r in rows]
        owner = np.repeat(np.arange(len(rows)), [len(c) for c in columns])
        out.append((np.array(rows), np.concatenate(columns).astype(np.int64), owner))
    return out
