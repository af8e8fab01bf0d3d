"""Who is who: from the draws and the counts to a possibility for every row, and what is proved."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.errors import InconsistentModelError
from glassleak.reconstruction._survey import Progress
from glassleak.reconstruction.replayed._choices import Choices
from glassleak.reconstruction.replayed._choose import choose, ruled_out
from glassleak.reconstruction.replayed._decode import Decoded
from glassleak.reconstruction.replayed._possible import Possible
from glassleak.reconstruction.replayed._problem import IntArray, Problem

BoolArray = npt.NDArray[np.bool_]

# Shares of what is left of the budget.
_PRUNING_SHARE, _PROVING_SHARE = 0.3, 0.5
_MOST_PROVED = 60_000


@dataclass(frozen=True)
class Found:
    """A table in terms of possibilities, and what was proved about it.

    Attributes
    ----------
    possible : Possible
        What arithmetic left possible.
    pick : (rows,) int array
        The possibility chosen for each row.
    belief : (rows,) float array
        How likely the choice is; 1 where it is proved.
    certain : (rows,) bool array
        Rows proved to have this possibility in every table that fits.
    missed : int
        By how much published counts are missed; 0 is an exact table.
    unique : bool or None
        Whether every drawn row is certain; ``None`` if undecided.
    proof : str
    details : dict
    """

    possible: Possible
    pick: IntArray
    belief: npt.NDArray[np.float64]
    certain: BoolArray
    missed: int
    unique: bool | None
    proof: str
    details: dict[str, Any] = field(default_factory=dict)


def who_is_who(
    problem: Problem, possible: Possible, deadline: float, seed: int, tell: Progress
) -> Found:
    """Choose among the listed possibilities so that every count is reproduced.

    Raises
    ------
    InconsistentModelError
        A leaf cannot be filled exactly by any choice; the message names it.
    """
    started = time.monotonic()
    details: dict[str, Any] = {"possibilities": len(possible.box)}
    pruned = ruled_out(problem, possible, _after(deadline, _PRUNING_SHARE), tell)
    if pruned.conflict >= 0:
        raise _conflict(problem, pruned.conflict, possible)
    possible = possible.keep(pruned.alive)
    details |= {
        "possibilities_left": len(possible.box),
        "seconds_pruning": time.monotonic() - started,
    }
    started = time.monotonic()
    found = choose(problem, possible, deadline, seed, tell)
    details |= {"sweeps": found.sweeps, "seconds_weighing": time.monotonic() - started}
    started = time.monotonic()
    tell("proving", 0.8)
    certain, unique, proof = _prove(problem, possible, found, deadline)
    details["seconds_proving"] = time.monotonic() - started
    belief = np.where(certain, 1.0, found.belief[found.pick])
    return Found(possible, found.pick, belief, certain, found.missed, unique, proof, details)


def _after(deadline: float, share: float) -> float:
    now = time.monotonic()
    return now + share * max(0.0, deadline - now)


def _conflict(problem: Problem, leaf: int, possible: Possible) -> InconsistentModelError:
    whole = "" if possible.complete.all() else " among the possibilities that were listed"
    return InconsistentModelError(
        f"no choice of rows fills it exactly{whole}: the multiplicities are not those of this "
        "forest, its counts were altered, or the schema is too narrow",
        problem.place(leaf),
    )


def _prove(
    problem: Problem, possible: Possible, found: Decoded, deadline: float
) -> tuple[BoolArray, bool | None, str]:
    """Which rows have the same possibility in every table that fits."""
    rows = possible.rows
    drawn = np.diff(rows.first_tree) > 0
    several = (np.diff(rows.first) > 1) & drawn
    whole = bool(possible.complete.all())
    certain = ~several & drawn & whole
    if not several.any() and whole:
        return certain, True, "counting alone leaves one possibility to every row"
    if found.missed:
        return certain, None, "no exact table was found to compare with"
    size = int(np.diff(rows.first)[several].sum())
    if not whole or size > _MOST_PROVED:
        return certain, None, "undecided: too many possibilities to compare"
    until = _after(deadline, _PROVING_SHARE)
    choices = Choices(problem, rows, several, found.pick)
    undecided, differs = several.copy(), False
    while undecided.any():
        answer = choices.another(undecided, until)
        if answer.status == "impossible":
            certain |= undecided
            if not differs:
                return certain, True, "CP-SAT proved that no second table exists"
            return certain, False, "CP-SAT found a second table and proved the rows all share"
        if answer.pick is None:
            unique = False if differs else None
            return certain, unique, "undecided within the budget for some rows"
        differs = True
        undecided &= answer.pick == found.pick
    return certain, False, "CP-SAT found a second table"
