"""Upper bounds by weighing every table with a product (Barvinok's bound, sharpened).

For any real ``y``, one number per equation, let independent ``X_j`` take the value ``h`` with
probability ``w_j(h) exp(h s_j) / G_j``, where ``s_j`` adds up ``y`` over the equations of unknown
``j`` and ``G_j`` normalises.  Then, exactly,

    number of tables  =  prod_j G_j * exp(-y @ target) * P(every equation holds).

Leaving the probability out gives a bound for *every* ``y``: the best one minimises a convex
function (the dual of maximum entropy), and stopping early costs tightness, never validity.  The
probability that the equations of *one* tree hold can be computed, since they share no unknown: a
factor that makes the bound sharper, and with a single tree exact.

Reference: A. Barvinok, "Asymptotic estimates for the number of contingency tables, integer flows,
and volumes of transportation polytopes", IMRN 2009.
"""

from __future__ import annotations

import contextlib
import math
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, solve
from scipy.optimize import minimize

from glassleak.reconstruction.residual._independent import independent_rows
from glassleak.uncertainty.joint._piece import (
    FloatArray,
    IntArray,
    Kind,
    Piece,
    log_ways_table,
)

_MAX_TABLE = 4_000_000
_GRID = 2.0**-20
_EPS = float(np.finfo(float).eps)
# Where unknowns are driven to an end the best weights are infinite: this is as good.
_LARGEST_Y = 60.0
_LARGEST_STEP = 8.0
# Newton's steps cost the cube of the one and hold the other in memory.
_NEWTON_EQUATIONS, _NEWTON_NUMBERS = 1200, 20_000_000


class _LateError(Exception):
    """The deadline has passed."""


@dataclass(frozen=True)
class Tilt:
    """A bound, and the product distribution it comes from.

    Attributes
    ----------
    y : float array
        One number per equation, multiples of 2**-20 so that sums of them are exact.
    bits : float
        log2 of the bound, rounded upwards.
    mean, variance : float arrays
        Of every unknown under the product.
    best : bool
        Whether the bound is as good as it gets, and not only as good as time allowed.
    """

    y: FloatArray
    bits: float
    mean: FloatArray
    variance: FloatArray
    best: bool = True


class Product:
    """All products of one piece."""

    def __init__(self, piece: Piece, kind: Kind) -> None:
        self.piece, self.kind = piece, kind
        self.columns = sp.csr_array(piece.matrix.T.astype(np.float64))
        self.rows = sp.csr_array(piece.matrix.astype(np.float64))
        self.target = piece.target.astype(np.float64)
        self.log_profiles = np.array([math.log(n) for n in piece.profiles])
        self.low = piece.lower.astype(np.float64)
        self.span = (piece.upper - piece.lower).astype(np.float64)
        self.given = piece.given.astype(np.float64)
        several = np.array([n > 1 for n in piece.profiles])
        wide = np.flatnonzero(several & (piece.upper - piece.given > 1))
        listed = kind == "unordered" and int((self.span[wide] + 1).sum()) <= _MAX_TABLE
        # Too long to list: the ordered ways are at least as many, so the bound stays a bound.
        self.listed = wide if listed else np.empty(0, dtype=np.int64)
        widths = (self.span[self.listed] + 1).astype(np.int64)
        self._starts = np.cumsum(widths) - widths
        self._owner = np.repeat(np.arange(len(widths)), widths)
        own = self.listed[self._owner]
        self._value = self.low[own] + np.arange(len(own)) - self._starts[self._owner]
        tables: dict[int, FloatArray] = {}
        for j in self.listed.tolist():
            n, most = piece.profiles[j], int(piece.upper[j] - piece.given[j])
            if n not in tables or len(tables[n]) <= most:
                tables[n] = log_ways_table(n, most, "unordered")
        self._log_ways = np.concatenate([
            tables[piece.profiles[j]][
                int(piece.lower[j] - piece.given[j]) : int(piece.upper[j] - piece.given[j]) + 1
            ]
            for j in self.listed.tolist()
        ] or [np.empty(0)])  # fmt: skip
        self._at = {j: i for i, j in enumerate(self.listed.tolist())}

    def evaluate(self, y: FloatArray) -> tuple[float, FloatArray, FloatArray, FloatArray]:
        """Log of the bound at `y`, log G of every unknown, means and variances."""
        s = self.columns @ y
        x = s + self.log_profiles
        log_sum, mean, variance = truncated_geometric(x, self.span)
        log_g = s * self.given + (self.low - self.given) * x + log_sum
        mean = mean + self.low
        if self.listed.size:
            term = self._log_ways + self._value * s[self.listed][self._owner]
            top = np.maximum.reduceat(term, self._starts)
            share = np.exp(term - top[self._owner])
            total = np.add.reduceat(share, self._starts)
            share /= total[self._owner]
            own_mean = np.add.reduceat(share * self._value, self._starts)
            away = self._value - own_mean[self._owner]
            log_g[self.listed] = top + np.log(total)
            mean[self.listed] = own_mean
            variance[self.listed] = np.add.reduceat(share * away**2, self._starts)
        return math.fsum(log_g) - float(y @ self.target), log_g, mean, variance

    def best(self, *, start: FloatArray | None = None, deadline: float = float("inf")) -> Tilt:
        """A nearly best bound; equations that follow from others keep ``y = 0``."""
        found = np.zeros(len(self.target)) if start is None else start.copy()
        chosen = independent_rows(sp.csc_array(self.rows))
        small = len(chosen) * self.piece.n_unknowns <= _NEWTON_NUMBERS
        if small and len(chosen) <= _NEWTON_EQUATIONS:
            found, done = self._newton(found, chosen, deadline)
            if not done:
                found = self._many(found, deadline)
        else:
            found = self._many(found, deadline)
        y = np.rint(np.clip(found, -_LARGEST_Y, _LARGEST_Y) / _GRID) * _GRID
        plain = self.tilt(np.zeros(len(y)))
        tilt = self.tilt(y) if np.isfinite(y).all() else plain
        tilt = tilt if tilt.bits < plain.bits else plain
        return replace(tilt, best=time.monotonic() < deadline)

    def _many(self, best: FloatArray, deadline: float, steps: int = 400) -> FloatArray:
        """Minimise by a quasi-Newton method that never forms a matrix."""
        lowest = math.inf

        def value(y: FloatArray) -> tuple[float, FloatArray]:
            nonlocal best, lowest
            bound, _, mean, _ = self.evaluate(y)
            if bound < lowest:
                best, lowest = y.copy(), bound
            if time.monotonic() > deadline:
                raise _LateError
            return bound, np.asarray(self.rows @ mean - self.target)

        box = [(-_LARGEST_Y, _LARGEST_Y)] * len(best)
        options: Any = {"maxiter": steps, "maxfun": 2 * steps, "ftol": 1e-9, "maxcor": 20}
        with contextlib.suppress(_LateError):
            minimize(value, best, jac=True, method="L-BFGS-B", bounds=box, options=options)
        return best

    def _newton(
        self, everywhere: FloatArray, chosen: IntArray, deadline: float, steps: int = 60
    ) -> tuple[FloatArray, bool]:
        """Minimise over `chosen` by damped Newton steps; also whether the end was reached."""
        y, target = everywhere[chosen], self.target[chosen]
        everywhere = np.zeros(len(everywhere))
        dense = self.rows[chosen].toarray()

        def value(own: FloatArray) -> tuple[float, FloatArray, FloatArray, FloatArray]:
            everywhere[chosen] = own
            return self.evaluate(everywhere)

        bound, _, mean, variance = value(y)
        done, slow = False, 0
        for _ in range(steps):
            gradient = dense @ mean - target
            hessian = (dense * variance) @ dense.T
            # Unknowns that are driven to an end lose their variance: keep the matrix regular.
            ridge = 1e-7 * float(np.trace(hessian)) / max(1, len(y)) + 1e-9
            hessian[np.diag_indices_from(hessian)] += ridge
            try:
                move = -solve(hessian, gradient, assume_a="pos", check_finite=False)
            except LinAlgError:
                break
            slope = float(gradient @ move)
            done = slope > -1e-4 or slow >= 3
            if done or not np.isfinite(slope) or time.monotonic() > deadline:
                break
            length = min(1.0, _LARGEST_STEP / max(1e-300, float(np.abs(move).max())))
            while length > 1e-6:
                there = np.clip(y + length * move, -_LARGEST_Y, _LARGEST_Y)
                new = value(there)
                if new[0] <= bound + 0.1 * length * slope:
                    break
                length /= 3
            else:
                break
            slow = slow + 1 if bound - new[0] < 1e-3 else 0
            y, (bound, _, mean, variance) = there, new
        everywhere[chosen] = y
        return everywhere, done

    def tilt(self, y: FloatArray) -> Tilt:
        """The bound at `y` (multiples of 2**-20), rounded upwards."""
        bound, log_g, mean, variance = self.evaluate(y)
        return Tilt(y, (bound + self._rounding(y, log_g)) / math.log(2), mean, variance)

    def _rounding(self, y: FloatArray, log_g: FloatArray) -> float:
        """More than all rounding errors together: each unknown's terms are off by a few units."""
        s = np.abs(self.columns @ y) + self.log_profiles
        size = np.abs(log_g) + s * (self.low + self.span) + 1.0
        if self.listed.size:
            # A running sum is off by at most a unit of its size for every step.
            spread = np.maximum.reduceat(np.abs(self._log_ways), self._starts)
            size[self.listed] += spread * (self.low + self.span + 1)[self.listed] / 16
        return 64 * _EPS * (math.fsum(size) + float(np.abs(y) @ self.target) + 1.0)

    def shares(self, j: int, s: float, length: int) -> FloatArray:
        """P(X_j - lower = 0, 1, …), the first `length` values."""
        k = np.arange(int(self.span[j]) + 1, dtype=np.float64)
        if j in self._at:
            start = self._starts[self._at[j]]
            term = self._log_ways[start : start + len(k)] + k * s
        else:
            term = k * (s + self.log_profiles[j])
        share = np.exp(term - term.max())
        return np.asarray(share[:length] / share.sum())


def truncated_geometric(
    x: FloatArray, span: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Log of ``sum(exp(k x) for k in 0..span)``, and mean and variance of such a ``k``.

    Written so that nothing overflows or cancels: for positive ``x`` count from the other end.
    """
    a = -np.abs(x)
    n = span + 1.0
    near = np.abs(a) * n < 1e-3
    safe = np.where(near, -1.0, a)
    e1, en = np.exp(safe), np.exp(np.maximum(safe * n, -745.0))
    log_sum = np.log(-np.expm1(safe * n)) - np.log(-np.expm1(safe))
    mean = e1 / -np.expm1(safe) - n * en / -np.expm1(safe * n)
    variance = e1 / np.expm1(safe) ** 2 - n**2 * en / np.expm1(safe * n) ** 2
    # Few terms of the series around 0, where the formulas cancel.
    flat = (n**2 - 1.0) / 12.0
    log_sum = np.where(near, np.log(n) + a * span / 2 + flat * a**2 / 2, log_sum)
    mean = np.where(near, span / 2 + flat * a, mean)
    variance = np.where(near, flat, np.maximum(variance, 0.0))
    up = x > 0
    return (
        np.where(up, span * x + log_sum, log_sum),
        np.where(up, span - mean, mean),
        variance,
    )
