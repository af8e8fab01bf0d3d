"""Exact smallest and largest counts over all integer tables of the joint cell system."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from glassleak.disclosure._bounds import CountBounds
from glassleak.disclosure._joint import JointProblem
from glassleak.disclosure._joint_entropy import contradiction, settled
from glassleak.reconstruction._components import Component, components
from glassleak.reconstruction._ranges import ranges
from glassleak.reconstruction.residual._residual import (
    Infeasible,
    sample_solutions,
    solve_component,
)

IntArray = npt.NDArray[np.int64]
_SAMPLES = 24


def joint_bounds(
    problem: JointProblem,
    *,
    budget_seconds: float = 60,
    seed: int = 0,
    progress: Callable[[str, float], None] | None = None,
) -> CountBounds:
    """Proved bounds on how many people of every QI have every class.

    Cells are bounded by the machinery of reconstruction; QIs of one cell cannot be told apart, so
    theirs follow as in a leaf: ``max(0, least - others) <= count <= min(n_q, most)``.
    """
    started = time.monotonic()
    deadline = started + budget_seconds
    tell = progress or (lambda _step, _share: None)
    system = problem.system
    found = settled(problem)
    low, high, exact = found.lower.copy(), found.upper.copy(), found.fixed.copy()
    pieces = components(system, found)
    # Small components first: they are the ones that can be decided completely.
    for i, piece in enumerate(reversed(pieces)):
        tell("deciding what is certain", i / len(pieces))
        left = deadline - time.monotonic()
        if left <= 0:
            break
        share = min(deadline, time.monotonic() + 2 * left / (len(pieces) - i))
        _decide(piece, low, high, exact, share, seed)
    lower, upper = problem.table(low), problem.table(high)
    decided = np.ones(lower.shape, dtype=bool)
    decided[system.cell, system.label] = exact
    cell, people = problem.cell, problem.number[:, None]
    others = problem.size[cell][:, None] - people
    notes = () if decided.all() else (
        f"{int((~decided).any(axis=1).sum())} cells were not decided within the budget",
    )  # fmt: skip
    return CountBounds(
        problem.number,
        np.maximum(0, lower[cell] - others),
        np.minimum(people, upper[cell]),
        decided[cell],
        time.monotonic() - started,
        notes,
    )


def _decide(
    piece: Component, low: IntArray, high: IntArray, exact: npt.NDArray[np.bool_],
    deadline: float, seed: int,
) -> None:  # fmt: skip
    now = time.monotonic()
    answer = solve_component(
        piece.matrix, piece.target, piece.lower, piece.upper,
        deadline=now + 0.5 * (deadline - now), seed=seed,
    )  # fmt: skip
    if isinstance(answer, Infeasible):
        raise contradiction()
    if answer is None:
        return
    now = time.monotonic()
    drawn = sample_solutions(
        piece.matrix, piece.target, piece.lower, piece.upper, _SAMPLES,
        deadline=now + 0.2 * (deadline - now), seed=seed, start=answer.x,
        weight=np.ones(len(piece.unknowns)),
    )  # fmt: skip
    proved = ranges(piece, np.vstack([*drawn, answer.x]), deadline, everything=True, workers=1)
    low[piece.unknowns], high[piece.unknowns] = proved.lower, proved.upper
    exact[piece.unknowns] = proved.exact
