"""Tables of numbers and categories: settle what can be listed, search for the rest."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.errors import BudgetExhaustedError
from glassleak.knowledge._compare import is_low
from glassleak.reconstruction._survey import Progress
from glassleak.reconstruction.mixed._axes import Axis, axes_of
from glassleak.reconstruction.mixed._grove import grove_of
from glassleak.reconstruction.mixed._mend import Figures
from glassleak.reconstruction.mixed._search import Cooling, Placed, Task, search
from glassleak.reconstruction.mixed._terms import exact_terms
from glassleak.reconstruction.replayed._attack import Found
from glassleak.reconstruction.replayed._boxes import boxes_of
from glassleak.reconstruction.replayed._possible import Possible, Rows
from glassleak.reconstruction.replayed._problem import Problem
from glassleak.reconstruction.replayed._settle import Settled, settle

_SETTLING_SHARE = 0.3
# Of the time, kept back for values and for sending the table through the model.
_VALUES_SHARE = 0.05
# A figure that is right weighs more than two that are nearly right: measured better than the plain
# sum where every tree saw its own sample.
_POWER = 0.5
_COOLING = Cooling(hot=5.0, cold=0.3, still=0.2, half_way=1.0)


def search_who_is_who(
    problem: Problem,
    why: str,
    deadline: float,
    seed: int,
    tell: Progress,
    *,
    midpoints: bool,
    may_give_up: bool = False,
    latest: float | None = None,
) -> Found:
    """A table for rows whose possibilities are too many to list.

    Parameters
    ----------
    why : str
        Why they were not listed.
    midpoints : bool
        Whether every threshold is half way between two values of its node.
    may_give_up : bool
        Leave half of the time to the caller if no table begins to form.
    latest : float, optional
        Go on beyond `deadline`, until then, while some figure is not met.

    Raises
    ------
    BudgetExhaustedError
        It was given up.
    InconsistentModelError
        Some row fits nowhere, or the rows of a rare class cannot fill its leaves.
    """
    started = time.monotonic()
    tell("finding classes and rare rows", 0.1)
    until = started + _SETTLING_SHARE * max(0.0, deadline - started)
    settled = settle(problem, until, seed, tell)
    settling = time.monotonic() - started
    task, group = _task(problem, settled, midpoints)
    now = time.monotonic()
    until = deadline - _VALUES_SHARE * max(0.0, deadline - now)
    if latest is not None:
        latest -= _VALUES_SHARE * max(0.0, deadline - now)
    placed = search(
        task, deadline=until, seed=seed, tell=tell, may_give_up=may_give_up, latest=latest
    )
    if may_give_up and not placed.formed:
        raise BudgetExhaustedError("no table that fits the draws began to form in half of the time")
    details: dict[str, Any] = {
        "not_listed": why,
        "rows_settled": int(settled.certain.sum()),
        "classes_settled": int((settled.allowed.sum(axis=1) == 1).sum()),
        "seconds_settling": settling,
        "seconds_searching": time.monotonic() - now,
        "sweeps": placed.sweeps,
        "misfit": placed.misfit,
        "thresholds_not_half_way": placed.not_half_way if midpoints else None,
    }
    return _found(problem, settled, placed, group[placed.leaf], details)


def _task(problem: Problem, settled: Settled, midpoints: bool) -> tuple[Task, Any]:
    """What to search for, and the leaf of the problem that each leaf of the task stands for."""
    facts, leaves = problem.facts, problem.leaves
    axes = axes_of(problem.space, facts)
    n_trees = sum(part.name.startswith("tree") for part in facts.parts)
    grove = grove_of(facts, axes, midpoints=midpoints, n_trees=n_trees)
    most = int(problem.drawn.sum(axis=1).max(initial=0))
    terms = exact_terms(
        leaves.draws[grove.group], most, power=_POWER, distinct=leaves.distinct[grove.group]
    )
    start, barred = _inside_boxes(problem, settled, axes)
    times = np.ascontiguousarray(problem.drawn.T.astype(np.int32))
    draws, distinct = leaves.draws[grove.group], leaves.distinct[grove.group]
    stated = (draws >= 0).all() and (distinct >= 0).all()
    task = Task(
        grove, axes, terms, settled.allowed, times, settled.certain, start, barred,
        Figures(draws, distinct) if stated else None, cooling=_COOLING,
    )  # fmt: skip
    return task, grove.group


def _inside_boxes(
    problem: Problem, settled: Settled, axes: tuple[Axis, ...]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_] | None]:
    """A profile inside every row's box, and which levels would leave the box of a certain row."""
    rows = np.flatnonzero(settled.certain)
    start = np.zeros((problem.n_rows, len(axes)), dtype=np.int32)
    if not rows.size:
        return start, None
    barred = []
    for b, (axis, block) in enumerate(zip(axes, problem.space.blocks, strict=True)):
        inside = problem.layout.bits(settled.box, b)
        own = _told_apart(problem, block.columns, axis.values)
        other = _told_apart(problem, block.columns, block.values)
        held = inside @ (own[None, :, :] == other[:, None, :]).all(axis=2) > 0
        start[:, b] = held.argmax(axis=1)
        barred.append(~held & settled.certain[:, None])
    return start, np.column_stack(barred)


def _told_apart(
    problem: Problem, columns: npt.NDArray[np.int64], values: npt.NDArray[np.float64]
) -> npt.NDArray[np.int64]:
    """Of every level and column, the number of thresholds it is below; -1 where it is missing."""
    facts, out = problem.facts, []
    for k, column in enumerate(columns.tolist()):
        cuts = facts.thresholds.get(facts.columns[column], np.empty(0))
        low = is_low(values[:, k, None], cuts[None, :], facts.precision, facts.comparison)
        out.append(np.where(np.isnan(values[:, k]), -1, low.sum(axis=1)))
    return np.column_stack(out)


def _found(
    problem: Problem, settled: Settled, placed: Placed, leaf: Any, details: dict[str, Any]
) -> Found:
    by_row = problem.drawn.T > 0
    first = np.concatenate([[0], np.cumsum(by_row.sum(axis=1))])
    n_rows = problem.n_rows
    rows = Rows(
        np.arange(n_rows + 1), placed.labels.astype(np.int64), leaf[by_row], first,
        np.nonzero(by_row)[1], first,
    )  # fmt: skip
    how = "rows of rare classes by listing what they can be; the others were searched for"
    return Found(
        Possible(rows, boxes_of(problem, leaf)), np.arange(n_rows),
        np.where(settled.certain, 1.0, placed.in_place), settled.certain,
        0 if placed.misfit == 0 else 1, None, False, how, details,
    )  # fmt: skip
