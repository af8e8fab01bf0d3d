"""Tables of numbers and categories: settle what can be listed, search for the rest."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.reconstruction._survey import Progress
from glassleak.reconstruction.replayed._attack import Found
from glassleak.reconstruction.replayed._levels import levels_of
from glassleak.reconstruction.replayed._polish import polish
from glassleak.reconstruction.replayed._possible import Possible, Rows
from glassleak.reconstruction.replayed._problem import Problem
from glassleak.reconstruction.replayed._search import Walk, boxes_of, search
from glassleak.reconstruction.replayed._settle import settle
from glassleak.reconstruction.values._conflicts import Conflicts

FloatArray = npt.NDArray[np.float64]
_SETTLING_SHARE = 0.3
# Beyond as long as the search itself took.
_POLISHING_SECONDS = 10.0


def search_who_is_who(
    problem: Problem,
    why: str,
    deadline: float,
    seed: int,
    tell: Progress,
    check: Callable[[FloatArray], Conflicts] | None = None,
) -> Found:
    """A table for rows whose possibilities are too many to list.

    Parameters
    ----------
    why : str
        Why they were not listed.
    check : callable, optional
        Which thresholds a table of placed rows contradicts.

    Raises
    ------
    InconsistentModelError
        Some row fits nowhere, or the rows of a rare class cannot fill its leaves.
    """
    started = time.monotonic()
    tell("finding classes and rare rows", 0.1)
    until = started + _SETTLING_SHARE * max(0.0, deadline - started)
    settled = settle(problem, until, seed, tell)
    details: dict[str, Any] = {
        "not_listed": why,
        "rows_settled": int(settled.certain.sum()),
        "classes_settled": int((settled.allowed.sum(axis=1) == 1).sum()),
        "seconds_settling": time.monotonic() - started,
    }
    levels = levels_of(problem)
    now = time.monotonic()

    def polished(walk: Walk, forming: float) -> None:
        assert check is not None
        until = min(deadline, 2 * time.monotonic() - now + _POLISHING_SECONDS)
        tell("moving rows the thresholds contradict", 0.9)
        before, after = polish(
            walk, lambda level: check(problem.space.values(level.astype(np.int32))), forming, until
        )
        details["conflicts_before"], details["conflicts_after"] = before, after

    found = search(
        problem, levels, settled, deadline, seed,
        lambda share: tell("searching for a table", 0.3 + 0.6 * share),
        None if check is None else polished,
    )  # fmt: skip
    details |= {
        "rounds": found.rounds,
        "sweeps": found.sweeps,
        "forming": found.forming,
        "energy": found.energy,
        "seconds_searching": time.monotonic() - now,
    }
    n_rows = problem.n_rows
    rows = Rows(
        np.arange(n_rows + 1), found.label, found.leaf, levels.first, levels.tree, levels.first
    )
    belief = np.where(settled.certain, 1.0, found.belief)
    how = "rows of rare classes by listing what they can be; the others were searched for"
    return Found(
        Possible(rows, boxes_of(problem, levels, found)), np.arange(n_rows), belief,
        settled.certain, 0 if found.energy == 0 else 1, None, False, how, details,
    )  # fmt: skip
