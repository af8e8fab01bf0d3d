"""How many rows have each target, and, where draws are known, which rows they are."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glassleak.errors import InconsistentModelError
from glassleak.reconstruction.regression._facts import Facts, IntArray
from glassleak.reconstruction.regression._values import Shares

# Comparisons of rows with targets, over all trees.
_MOST_COMPARED = 2_000_000_000
_MOST_CHOICES = 200_000


@dataclass(frozen=True)
class People:
    """The rows, by name.

    Attributes
    ----------
    value : (rows,) int array
        The number of each row's target; -1 if it is not known.
    located : bool
        Rows stand at their own position of the training table.
    complete : bool
        It is proved how many rows have each target.
    reason : str
        Why rows are not located, or targets missing.
    drawn_rows : int
        Rows that some tree drew.
    """

    value: IntArray
    located: bool
    complete: bool
    reason: str
    drawn_rows: int


def people_of(facts: Facts, shares: Shares, deadline: float) -> People:
    """Name every row.

    Raises
    ------
    InconsistentModelError
        Trees contradict each other about the number of rows with some target.
    """
    distinct = _per_tree(facts, shares, shares.distinct)
    size = distinct.max(axis=0, initial=0)
    whole = complete_trees(facts, shares)
    if not facts.bagged and (distinct[whole] != size).any():
        tree = int(np.flatnonzero((distinct[whole] != size).any(axis=1))[0])
        raise InconsistentModelError(
            "trees without bagging differ in how many rows have some target",
            f"tree {np.flatnonzero(whole)[tree]}",
        )
    drawn_rows = facts.n_rows
    if facts.draws is not None:
        drawn_rows = int((facts.draws > 0).any(axis=0).sum())
    total = int(size.sum())
    if total > drawn_rows:
        raise InconsistentModelError(
            f"leaves publish at least {total:,} rows with different names, "
            f"the model was trained on {drawn_rows:,}"
        )
    anonymous = np.full(facts.n_rows, -1, dtype=np.int64)
    anonymous[:total] = np.repeat(np.arange(len(size)), size)
    reason = "" if total == drawn_rows else f"the targets of {drawn_rows - total:,} rows are not told"
    if facts.draws is None:
        return People(anonymous, False, total == facts.n_rows, reason, drawn_rows)
    if total != drawn_rows:
        return People(anonymous, False, False, reason, drawn_rows)
    value = _who_is_who(facts, shares, distinct, size, whole, deadline)
    if value is None:
        why = "rows with equal targets could not be told apart by the draws in time"
        return People(anonymous, False, True, why, drawn_rows)
    return People(value, True, True, reason, drawn_rows)


def complete_trees(facts: Facts, shares: Shares) -> npt.NDArray[np.bool_]:
    """Trees all of whose leaves are told."""
    return np.add.reduceat(~shares.told, facts.first[:-1]) == 0


def _per_tree(facts: Facts, shares: Shares, number: IntArray) -> IntArray:
    """Rows (or draws) of each target in every tree, as far as leaves tell."""
    out = np.zeros((facts.n_trees, len(shares.values)), dtype=np.int64)
    np.add.at(out, (facts.tree[shares.leaf], shares.value), number)
    return out


def _who_is_who(
    facts: Facts,
    shares: Shares,
    distinct: IntArray,
    size: IntArray,
    whole: npt.NDArray[np.bool_],
    deadline: float,
) -> IntArray | None:
    """The target of every row, from how often trees drew it and how often they drew the target."""
    assert facts.draws is not None
    draws, left = facts.draws, _per_tree(facts, shares, shares.drawn)
    present, rest, seats = (draws > 0).astype(np.int64), distinct.copy(), size.copy()
    value = np.full(facts.n_rows, -1, dtype=np.int64)
    value[~present.any(axis=0)] = -2
    if whole.all():
        # With one row per target, the draws of the target are those of the row.
        rows = {draws[:, i].astype(np.int64).tobytes(): i for i in np.flatnonzero(value == -1)}
        for g in np.flatnonzero(size == 1).tolist():
            i = rows.get(np.ascontiguousarray(left[:, g]).tobytes())
            if i is not None and value[i] == -1:
                value[i] = g
        _take(value, np.flatnonzero(value >= 0), draws, present, left, rest, seats)
    while (value == -1).any():
        rows_, groups = np.flatnonzero(value == -1), np.flatnonzero(seats > 0)
        if len(rows_) * len(groups) * facts.n_trees > _MOST_COMPARED:
            return None
        fits = np.ones((len(rows_), len(groups)), dtype=bool)
        for t in range(facts.n_trees):
            own = draws[t, rows_][:, None].astype(np.int64)
            there, room = left[t, groups], rest[t, groups]
            if whole[t]:
                # Whoever is drawn is among those the leaves tell.
                fits &= (own <= there) & ((own == 0) | (room > 0))
            # The only one left accounts for all that is left.
            alone = seats[groups] == 1
            fits &= ~alone | (own == there) | ((not whole[t]) & (there == 0))
        if not fits.any(axis=1).all():
            raise InconsistentModelError("the draws are not those of this forest: a row fits nowhere")
        fixed = _forced(fits, seats[groups])
        if not fixed.any():
            chosen = _choose(facts, fits, rows_, groups, left, rest, seats, whole, deadline)
            if chosen is None:
                return None
            value[rows_] = groups[chosen]
            break
        new = rows_[fixed.any(axis=1)]
        value[new] = groups[np.argmax(fixed[fixed.any(axis=1)], axis=1)]
        _take(value, new, draws, present, left, rest, seats)
        if (seats < 0).any() or (left < 0).any():
            raise InconsistentModelError("the draws are not those of this forest: too many rows fit")
    return np.where(value == -2, -1, value)


def _take(
    value: IntArray, rows: IntArray, draws: npt.NDArray[np.int32], present: IntArray,
    left: IntArray, rest: IntArray, seats: IntArray,
) -> None:  # fmt: skip
    """Subtract placed rows from what is left to explain."""
    np.subtract.at(seats, value[rows], 1)
    np.subtract.at(left.T, value[rows], draws[:, rows].T.astype(np.int64))
    np.subtract.at(rest.T, value[rows], present[:, rows].T)


def _forced(fits: npt.NDArray[np.bool_], seats: IntArray) -> npt.NDArray[np.bool_]:
    """Choices without alternative: a row with one target, a target with as many rows as seats."""
    only = fits & (fits.sum(axis=1) == 1)[:, None]
    full = fits & (fits.sum(axis=0) == seats)[None, :]
    forced = only | full
    # A row two targets insist on would be an inconsistency; the next round says so.
    forced &= (forced.sum(axis=1) == 1)[:, None]
    return forced


def _choose(
    facts: Facts, fits: npt.NDArray[np.bool_], rows: IntArray, groups: IntArray, left: IntArray,
    rest: IntArray, seats: IntArray, whole: npt.NDArray[np.bool_], deadline: float,
) -> IntArray | None:  # fmt: skip
    """A choice that meets all equations, from CP-SAT; ``None`` if it is not found in time."""
    from ortools.sat.python import cp_model

    assert facts.draws is not None
    if int(fits.sum()) > _MOST_CHOICES:
        return None
    model = cp_model.CpModel()
    take = {(i, g): model.new_bool_var("") for i, g in zip(*np.nonzero(fits), strict=True)}
    for i in range(len(rows)):
        model.add_exactly_one(take[i, g] for g in np.flatnonzero(fits[i]))
    for g in range(len(groups)):
        own = np.flatnonzero(fits[:, g])
        model.add(sum(take[i, g] for i in own) == int(seats[groups[g]]))
        for t in np.flatnonzero(whole).tolist():
            drawn = facts.draws[t, rows[own]]
            terms = [(int(m), take[i, g]) for m, i in zip(drawn, own, strict=True) if m]
            model.add(sum(m * x for m, x in terms) == int(left[t, groups[g]]))
            model.add(sum(x for _, x in terms) == int(rest[t, groups[g]]))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 2
    solver.parameters.max_time_in_seconds = max(0.1, 0.4 * (deadline - time.monotonic()))
    if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    out = np.full(len(rows), -1, dtype=np.int64)
    for (i, g), variable in take.items():
        if solver.value(variable):
            out[i] = g
    return out
