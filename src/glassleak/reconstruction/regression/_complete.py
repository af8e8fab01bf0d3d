"""Seats of rows with equal targets that deductions leave open: a choice that fits, from CP-SAT."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from glassleak.reconstruction.regression._facts import Facts
from glassleak.reconstruction.regression._place import Alike, Places, reach_of, seat

# Possible places of one row, compared two by two.
_MOST_OPTIONS = 600
_MOST_SECONDS = 5.0


def complete(facts: Facts, places: Places, group: Alike, deadline: float) -> bool:
    """Fill the open seats of one target; whether that was possible in time."""
    from ortools.sat.python import cp_model

    options: dict[int, list[tuple[int, int]]] = {}
    for tree in group.seats:
        rows_, leaves_, fits = reach_of(facts, places, group, tree)
        for i, k in zip(*np.nonzero(fits), strict=True):
            options.setdefault(int(rows_[i]), []).append((tree, leaves_[k]))
    if not options:
        return not any(group.seats.values())
    if max(len(own) for own in options.values()) > _MOST_OPTIONS:
        return False
    model = cp_model.CpModel()
    take = {(row, leaf): model.new_bool_var("") for row, own in options.items() for _, leaf in own}
    for tree, seats in group.seats.items():
        for leaf, (number, draws) in seats.items():
            rows = [row for row in options if (row, leaf) in take]
            model.add(sum(take[row, leaf] for row in rows) == number)
            if facts.draws is not None:
                drawn = facts.draws[tree]
                model.add(sum(int(drawn[row]) * take[row, leaf] for row in rows) == draws)
    sure = not facts.bagged or facts.draws is not None
    for row, own in options.items():
        for tree in {tree for tree, _ in own}:
            here = [take[row, leaf] for t, leaf in own if t == tree]
            if sure and group.whole[tree]:
                model.add_exactly_one(here)
            else:
                model.add_at_most_one(here)
        leaves = np.array([leaf for _, leaf in own])
        low = np.maximum(facts.low[leaves], places.low[row])
        high = np.minimum(facts.high[leaves], places.high[row])
        # Boxes that meet two by two have a profile in common, so pairs say everything.
        for k in range(1, len(leaves)):
            apart = (np.maximum(low[:k], low[k]) > np.minimum(high[:k], high[k])).any(axis=1)
            for j in np.flatnonzero(apart).tolist():
                if own[j][0] != own[k][0]:
                    model.add_bool_or(
                        take[row, own[j][1]].negated(), take[row, own[k][1]].negated()
                    )
    until = time.monotonic() + min(_MOST_SECONDS, 0.5 * (deadline - time.monotonic()))
    chosen = _solution(model, take, until)
    if not chosen:
        return False
    open_ = _not_proved(model, take, chosen, until)
    for row, own in options.items():
        places.certain[row] &= row not in open_
        for tree, leaf in own:
            if (row, leaf) in chosen:
                seat(facts, places, group, row, leaf, tree)
    return not any(group.seats.values())


def _solution(model: Any, take: dict[tuple[int, int], Any], until: float) -> set[Any] | None:
    """The (row, leaf) pairs of a solution: empty if there is none, ``None`` if none was found."""
    from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 2
    solver.parameters.max_time_in_seconds = max(0.05, until - time.monotonic())
    status = solver.solve(model)
    if status == cp_model.INFEASIBLE:
        return set()
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    return {key for key, variable in take.items() if solver.value(variable)}


def _not_proved(
    model: Any, take: dict[tuple[int, int], Any], chosen: set[Any], until: float
) -> set[int]:
    """Rows that could be elsewhere, as far as that is not excluded in time.

    The solver is asked again and again for a solution in which some row not yet seen elsewhere is;
    if there is none, those rows are where they are in every solution.
    """
    settled: set[int] = {row for row, _ in take}
    moved: set[int] = set()
    while settled and time.monotonic() < until:
        asked = model.clone()
        asked.add_bool_or(
            variable.negated() if key in chosen else variable
            for key, variable in take.items()
            if key[0] in settled
        )
        other = _solution(asked, take, until)
        if other is None:
            break
        if not other:
            return moved
        elsewhere = {row for row, _ in chosen ^ other}
        moved |= elsewhere
        settled -= elsewhere
    return moved | settled
