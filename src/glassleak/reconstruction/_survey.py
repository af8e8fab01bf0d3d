"""What propagation leaves open: solve it, look around in it, and prove what holds everywhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glassleak.errors import BudgetExhaustedError
from glassleak.knowledge import Published, Space, System
from glassleak.reconstruction._components import Component
from glassleak.reconstruction._conflict import explain_conflict
from glassleak.reconstruction._ranges import Ranges, ranges
from glassleak.reconstruction.residual._residual import (
    Infeasible,
    Solution,
    sample_solutions,
    solve_component,
)

IntArray = npt.NDArray[np.int64]
Progress = Callable[[str, float], None]
# Without a table there is no answer at all, so most of the time may go into finding one; of what
# is left, half goes into sampling and the rest into proofs.
_SOLVING_SHARE = 0.85
_SURVEY_SHARE, _SAMPLING_SHARE = 0.6, 0.5


@dataclass(frozen=True)
class Survey:
    """What is known about one component.

    Attributes
    ----------
    component : Component
    first : int array
        The solution found first.
    samples : (k, unknowns) int array
        Consistent histograms, at least one.
    ranges : Ranges
    method : str
        What found the first one.
    """

    component: Component
    first: IntArray
    samples: IntArray
    ranges: Ranges
    method: str


def survey(
    facts: Published,
    space: Space,
    system: System,
    pieces: list[Component],
    weight: npt.NDArray[np.float64],
    *,
    n_samples: int,
    all_bounds: bool,
    deadline: float,
    seed: int,
    tell: Progress,
) -> list[Survey]:
    """Solve every component, then sample and certify each.

    Parameters
    ----------
    weight : float array
        Profiles per unknown, so that samples are spread over tables and not over histograms.

    Raises
    ------
    InconsistentModelError
        A component has no solution.
    BudgetExhaustedError
        No solution of some component was found in time.
    """
    started = time.monotonic()
    until = started + _SOLVING_SHARE * (deadline - started)
    solutions = []
    for i, piece in enumerate(pieces):
        tell("solving", 0.3 + 0.3 * i / len(pieces))
        solutions.append(_solve(facts, space, system, piece, until, deadline, seed, tell))
    found = []
    for i, (piece, solution) in enumerate(zip(pieces, solutions, strict=True)):
        tell("certifying", 0.6 + 0.3 * i / len(pieces))
        now = time.monotonic()
        # The same table of samples serves the proofs and the second round of samples, which
        # needs about as long again.
        weighed = len(piece.unknowns) / sum(len(one.unknowns) for one in pieces[i:])
        share = _SURVEY_SHARE * max(0.0, deadline - now) * weighed
        # Only rows known besides the model stay put: rows that must be somewhere may be any rows.
        drawn = sample_solutions(
            piece.matrix, piece.target, system.lower[piece.unknowns], piece.upper, n_samples,
            deadline=now + _SAMPLING_SHARE * share, seed=seed, start=solution.x,
            weight=weight[piece.unknowns],
            progress=lambda step, done: tell(step, 0.6 + 0.1 * done),
        )  # fmt: skip
        witnesses = np.vstack([*drawn, solution.x])
        proved = ranges(piece, witnesses, now + share, everything=all_bounds)
        # The first solution is a corner of the set: the samples, where there are any, say more.
        samples = np.vstack(drawn) if drawn else witnesses
        found.append(Survey(piece, solution.x, samples, proved, solution.method))
    return found


def _solve(
    facts: Published,
    space: Space,
    system: System,
    piece: Component,
    until: float,
    deadline: float,
    seed: int,
    tell: Progress,
) -> Solution:
    answer = solve_component(
        piece.matrix, piece.target, piece.lower, piece.upper, deadline=until, seed=seed,
        progress=lambda step, done: tell(f"solving, {step}", 0.3 + 0.3 * done),
    )  # fmt: skip
    if isinstance(answer, Infeasible):
        raise explain_conflict(facts, space, system, deadline)
    if answer is None:
        raise BudgetExhaustedError(
            f"no consistent table was found within the budget: {len(piece.unknowns):,} counts in "
            f"{len(piece.target):,} equations stay open"
        )
    return answer
