"""What is certain before any search: the classes of rows, and rows of rare classes.

A row of a rare class has few places in deep trees, so all its possibilities can be listed even
where those of the other rows cannot.  Counts are published per class, so the rows of one class are
a problem of their own.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.errors import InconsistentModelError
from glassleak.models import node_depths
from glassleak.reconstruction._survey import Progress
from glassleak.reconstruction.replayed._attack import who_is_who
from glassleak.reconstruction.replayed._possible import Overflow, list_possible, list_row
from glassleak.reconstruction.replayed._problem import Problem

BoolArray = npt.NDArray[np.bool_]
# Steps to find out whether a row fits anywhere as a member of a class.
_STEPS = 400_000
_LISTING_SHARE = 0.5


@dataclass(frozen=True)
class Settled:
    """What is known of every row.

    Attributes
    ----------
    allowed : (rows, classes) bool array
        Classes each row can have.
    certain : (rows,) bool array
        Rows proved to lie in their box.
    started : (rows,) bool array
        Rows with a box at all, certain or only possible.
    box : (rows, words) array
    """

    allowed: BoolArray
    certain: BoolArray
    started: BoolArray
    box: npt.NDArray[np.uint64]


def settle(problem: Problem, deadline: float, seed: int, tell: Progress) -> Settled:
    """Find the classes, and solve every class whose rows' possibilities can all be listed."""
    allowed = _by_sums(problem, _fitting_classes(problem, deadline))
    certain, started = (np.zeros(problem.n_rows, dtype=bool) for _ in range(2))
    box = np.repeat(problem.layout.everything(), problem.n_rows, axis=0)
    if not _told_apart(problem).any():
        return Settled(allowed, certain, started, box)
    for c in np.argsort(allowed.sum(axis=0), kind="stable").tolist():
        rows = np.flatnonzero(allowed[:, c])
        if not len(rows) or (allowed[rows].sum(axis=1) > 1).any():
            continue
        part = _only_class(problem, rows, c)
        possible = list_possible(part, deadline, _LISTING_SHARE, lambda _: None)
        if isinstance(possible, Overflow):
            continue
        # Distinct rows count all classes: they limit a row's places, but are no equation here.
        unstated = part.leaves._replace(distinct=np.full_like(part.leaves.distinct, -1))
        part = replace(part, leaves=unstated)
        found = who_is_who(part, possible, _after(deadline, _LISTING_SHARE), seed, tell)
        box[rows] = found.possible.box[found.pick]
        certain[rows] = found.certain
        started[rows] = True
    return Settled(allowed, certain, started, box)


def _after(deadline: float, share: float) -> float:
    now = time.monotonic()
    return now + share * max(0.0, deadline - now)


def _told_apart(problem: Problem) -> BoolArray:
    """Leaves that count every class on its own; known columns count all classes together."""
    told: BoolArray = (problem.leaves.draws >= 0).all(axis=1)
    return told


def _fitting_classes(problem: Problem, deadline: float) -> BoolArray:
    """Classes in which the row fits into every tree that drew it, as far as few steps tell."""
    parts = problem.facts.parts
    allowed = np.ones((problem.n_rows, problem.n_classes), dtype=bool)
    n_words = problem.layout.n_words
    start = problem.layout.everything()[0]
    depth = sum(int(node_depths(p.decisions.low, p.decisions.high).max()) for p in parts)
    stack = (
        np.empty((depth + 1, n_words), dtype=np.uint64),
        np.empty((depth + 1, 2), dtype=np.int64),
    )
    # Room for one: more than one and too many to tell are the same answer.
    buffer, boxes = np.empty((1, len(parts)), np.int32), np.empty((1, n_words), np.uint64)
    for i in range(problem.n_rows):
        if time.monotonic() > deadline:
            break
        times = np.ascontiguousarray(problem.drawn[:, i])
        for c in range(problem.n_classes):
            k = list_row(problem, times, c, start, stack, buffer, boxes, _STEPS)[0]
            allowed[i, c] = k != 0
        if not allowed[i].any():
            raise InconsistentModelError(
                f"row {i} fits into no leaf of its class in every tree that drew it: the "
                "multiplicities are not those of this forest, its counts were altered, or the "
                "schema is too narrow"
            )
    return allowed


def _by_sums(problem: Problem, allowed: BoolArray) -> BoolArray:
    """Classes from the trees' totals: ``sum over i of m_ti [class of i is c] = n_tc``.

    With as many independent draws as rows the solution is the only one.
    """
    if (allowed.sum(axis=1) == 1).all():
        return allowed
    told = np.logical_and.reduceat(_told_apart(problem), problem.leaves.first[:-1])
    drawn = problem.drawn[told].astype(np.float64)
    if len(drawn) < problem.n_rows or np.linalg.matrix_rank(drawn) < problem.n_rows:
        return allowed
    totals = np.add.reduceat(problem.leaves.draws, problem.leaves.first[:-1], axis=0)[told]
    found = np.rint(np.linalg.lstsq(drawn, totals.astype(np.float64), rcond=None)[0])
    whole = problem.drawn[told].astype(np.int64) @ found.astype(np.int64)
    if not np.array_equal(whole, totals) or not ((found == 0) | (found == 1)).all():
        return allowed
    classes: BoolArray = found == 1
    return classes if (classes & ~allowed).sum() == 0 else allowed


def _only_class(problem: Problem, rows: npt.NDArray[np.intp], c: int) -> Problem:
    """The problem of the rows of one class: the other classes' counts are zero."""
    leaves = problem.leaves
    told = _told_apart(problem)
    draws = np.where(told[:, None], 0, np.full_like(leaves.draws, -1))
    draws[told, c] = leaves.draws[told, c]
    own: Any = leaves._replace(draws=draws)
    return replace(problem, drawn=np.ascontiguousarray(problem.drawn[:, rows]), leaves=own)
