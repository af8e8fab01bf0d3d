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
_MOST_PROVING = 60.0


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
    complete : bool
        Whether it was decided for every row if it is certain.
    proof : str
    details : dict
    """

    possible: Possible
    pick: IntArray
    belief: npt.NDArray[np.float64]
    certain: BoolArray
    missed: int
    unique: bool | None
    complete: bool
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
        raise _conflict(problem, pruned.conflict)
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
    proved = _prove(problem, possible, found, deadline)
    details["seconds_proving"] = time.monotonic() - started
    belief = np.where(proved.certain, 1.0, found.belief[found.pick])
    return Found(
        possible, found.pick, belief, proved.certain, found.missed, proved.unique,
        proved.complete, proved.how, details,
    )  # fmt: skip


def _after(deadline: float, share: float) -> float:
    now = time.monotonic()
    return now + share * max(0.0, deadline - now)


def _conflict(problem: Problem, leaf: int) -> InconsistentModelError:
    return InconsistentModelError(
        "no choice of rows fills it exactly: the multiplicities are not those of this "
        "forest, its counts were altered, or the schema is too narrow",
        problem.place(leaf),
    )


@dataclass(frozen=True)
class _Proved:
    certain: BoolArray
    unique: bool | None
    complete: bool
    how: str


def _prove(problem: Problem, possible: Possible, found: Decoded, deadline: float) -> _Proved:
    """Which rows have the same possibility in every table that fits.

    CP-SAT is asked for a table in which some row not yet decided differs.  Every answer decides
    rows, and "there is none" proves all that are left.
    """
    rows = possible.rows
    drawn = np.diff(rows.first_tree) > 0
    several = (np.diff(rows.first) > 1) & drawn
    certain = ~several & drawn
    if not several.any():
        how = "counting alone leaves one possibility to every row"
        return _Proved(certain, True, True, how)
    if found.missed:
        return _Proved(certain, None, False, "no exact table was found to compare with")
    if int(np.diff(rows.first)[several].sum()) > _MOST_PROVED:
        return _Proved(certain, None, False, "undecided: too many possibilities to compare")
    until = min(_after(deadline, _PROVING_SHARE), time.monotonic() + _MOST_PROVING)
    choices = Choices(problem, rows, several, found.pick)
    undecided, differs = several.copy(), False
    while undecided.any():
        answer = choices.another(undecided, until)
        if answer.status == "impossible":
            if not differs:
                how = "CP-SAT proved that no second table exists"
                return _Proved(certain | undecided, True, True, how)
            break
        if answer.pick is None:
            unique = False if differs else None
            return _Proved(certain, unique, False, "undecided within the budget for some rows")
        differs = True
        undecided &= answer.pick == found.pick
    how = "CP-SAT found other tables, and proved what they all share"
    return _Proved(certain | undecided, False, True, how)
