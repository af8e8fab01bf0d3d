"""For every cell the smallest and largest count over all consistent histograms.

Propagation gives proved outer bounds for all cells at once; known histograms give inner ones.
Where they meet the range is exact.  What remains is asked one cell at a time, most telling first:
cells that every known histogram fills ("is this person certainly there?").
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from glassleak.reconstruction._components import Component
from glassleak.reconstruction._exact import Prover

IntArray = npt.NDArray[np.int64]
_PRIME = 2_147_483_647
_RANK_LIMIT = 1500
_PROVABLE = 3_000_000


@dataclass(frozen=True)
class Ranges:
    """Proved ranges of the unknowns of a component.

    Attributes
    ----------
    lower, upper : int arrays
        No consistent histogram is outside.
    exact : bool array
        Both ends are attained by some consistent histogram.
    unique : bool or None
    proof : str
    witnesses : (k, unknowns) int array
        All consistent histograms met on the way.
    complete : bool
        Whether it was decided for every cell how many people are certainly there.
    """

    lower: IntArray
    upper: IntArray
    exact: npt.NDArray[np.bool_]
    unique: bool | None
    proof: str
    witnesses: IntArray
    complete: bool = True


def ranges(
    component: Component,
    witnesses: IntArray,
    deadline: float,
    *,
    everything: bool = True,
    workers: int = 2,
) -> Ranges:
    """Decide uniqueness and tighten ranges until `deadline`.

    Parameters
    ----------
    witnesses : (k, unknowns) int array
        Consistent histograms, at least one.
    everything : bool
        Also ask for the largest count of every cell; otherwise only who is certainly there.
    """
    known = np.unique(witnesses, axis=0)
    unique: bool | None = False if len(known) > 1 else None
    proof = "two different consistent tables were found" if unique is False else ""
    prover: Prover | None = None
    # Writing the problem down for CP-SAT takes longer than the deadline allows for large ones.
    able = component.matrix.nnz <= _PROVABLE and time.monotonic() < deadline
    if unique is None:
        if full_column_rank(component.matrix, deadline):
            unique, proof = True, "the equations have full column rank (modulo a prime)"
        elif not able:
            proof = "undecided within the budget"
        else:
            prover = Prover(component, workers)
            answer = prover.another(known[0], deadline)
            if answer.status == "impossible":
                unique, proof = True, "CP-SAT proved that no second table exists"
            elif answer.x is not None:
                unique, proof = False, "CP-SAT found a second consistent table"
                known = np.vstack([known, answer.x])
            else:
                proof = "undecided within the budget"
    if unique:
        exact = np.ones(len(component.lower), dtype=bool)
        return Ranges(known[0], known[0], exact, True, proof, known)
    lower, upper = component.lower.copy(), component.upper.copy()
    ends = (False, True) if everything else (False,)
    if able:
        prover = prover or Prover(component, workers)
        known = _tighten(prover, known, lower, upper, ends, deadline)
    exact = (known.min(axis=0) == lower) & (known.max(axis=0) == upper)
    complete = bool((known.min(axis=0) == lower).all())
    return Ranges(lower, upper, exact, unique, proof, known, complete)


def _tighten(
    prover: Prover,
    known: IntArray,
    lower: IntArray,
    upper: IntArray,
    ends: tuple[bool, ...],
    deadline: float,
) -> IntArray:
    """Ask for extremes, cells filled in every known histogram first; returns all witnesses."""
    seen_low, seen_high = known.min(axis=0), known.max(axis=0)
    found = [known]
    order = np.argsort(-seen_low, kind="stable")
    for largest in ends:
        for j in order.tolist():
            if time.monotonic() > deadline:
                return np.vstack(found)
            settled = seen_high[j] == upper[j] if largest else seen_low[j] == lower[j]
            if settled:
                continue
            hint = found[0][0]
            answer = prover.extreme(j, largest=largest, hint=hint, deadline=deadline)
            if answer.x is not None:
                found.append(answer.x[None, :])
                np.minimum(seen_low, answer.x, out=seen_low)
                np.maximum(seen_high, answer.x, out=seen_high)
            if answer.bound is not None:
                if largest:
                    upper[j] = min(upper[j], answer.bound)
                else:
                    lower[j] = max(lower[j], answer.bound)
    return np.vstack(found)


def full_column_rank(matrix: sp.csr_array, deadline: float = math.inf) -> bool:
    """Whether the columns are independent modulo a prime, which proves it over the rationals.

    Then two different solutions cannot exist.  (The converse does not hold, so False decides
    nothing; it is also the answer when the time is over.)
    """
    n_rows, n_columns = matrix.shape
    if n_columns > n_rows or n_columns > _RANK_LIMIT or n_rows > 10 * _RANK_LIMIT:
        return False
    work = matrix.toarray().astype(np.int64)
    for column in range(n_columns):
        row = column  # every column so far had a pivot
        pivots = np.flatnonzero(work[row:, column])
        if not pivots.size or time.monotonic() > deadline:
            return False
        pivot = row + int(pivots[0])
        if pivot != row:
            work[[row, pivot]] = work[[pivot, row]]
        inverse = pow(int(work[row, column]), -1, _PRIME)
        # Entries stay below 2**31, so products stay below 2**62.
        work[row, column:] = work[row, column:] * inverse % _PRIME
        below = row + 1 + np.flatnonzero(work[row + 1 :, column])
        if below.size:
            factor = work[below, column][:, None]
            work[below, column:] = (work[below, column:] - factor * work[row, column:]) % _PRIME
    return True
