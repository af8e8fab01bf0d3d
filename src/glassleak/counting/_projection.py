"""What each attribute can still be inside a region, taken one attribute at a time."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from glassleak.counting._domains import bits
from glassleak.counting._formula import Formula, State
from glassleak.counting._regions import Box

_MAX_STEPS = 20_000


@dataclass(frozen=True)
class Projection:
    """Levels of every attribute that some profile of a region has.

    Attributes
    ----------
    levels : tuple of int
        One set per attribute; all empty if the region is.
    exact : bool
        False if for some level it was not decided in time; it is in the set then.
    """

    levels: tuple[int, ...]
    exact: bool


def project(formula: Formula, box: Box, clauses: int, *, deadline: float = math.inf) -> Projection:
    """The levels each attribute has in `box` outside the boxes of `clauses`.

    Found by examples: once every clause is satisfied, all levels that are left are possible, so
    that a few examples settle most attributes.
    """
    nothing = Projection((0,) * len(formula.domains), True)
    start = formula.begin(box, clauses)
    if start is None:
        return nothing
    _, parts = formula.split(start, 0)
    possible = list(start.levels)
    exact = True
    for clauses_of_part, attributes in parts:
        part = start.copy()
        part.active = clauses_of_part
        seen = dict.fromkeys(bits(attributes), 0)
        example, decided = _example(formula, part, deadline)
        if example is None and decided:
            return nothing
        exact &= decided
        for a in bits(attributes):
            if example is not None:
                for b in seen:
                    seen[b] |= example.levels[b]
            missing = part.levels[a] & ~seen[a]
            while missing and decided:
                state = part.copy()
                found = formula.narrow(state, [(a, missing)])
                example, decided = _example(formula, state, deadline) if found else (None, True)
                if example is None:
                    break
                for b in seen:
                    seen[b] |= example.levels[b]
                missing = part.levels[a] & ~seen[a]
            if not decided:
                exact = False
                seen = {b: part.levels[b] for b in seen}
                break
        for a, levels in seen.items():
            possible[a] = levels
    return Projection(tuple(possible), exact)


def _example(formula: Formula, state: State, deadline: float) -> tuple[State | None, bool]:
    """A narrower state in which every clause is satisfied, and whether that was decided."""
    stack = [state.copy()]  # narrowed in place below
    steps = 0
    while stack:
        here = stack.pop()
        if not here.active:
            return here, True
        steps += 1
        if steps > _MAX_STEPS or time.monotonic() > deadline:
            return None, False
        # The clause with fewest ways out; of those, the attribute with most levels outside.
        clause = min(bits(here.active), key=lambda c: here.open[c].bit_count())
        inside = formula.inside[clause]
        attribute = max(
            bits(here.open[clause]), key=lambda a: (here.levels[a] & ~inside[a]).bit_count()
        )
        within = here.copy()
        if formula.narrow(within, [(attribute, inside[attribute])]):
            stack.append(within)
        if formula.narrow(here, [(attribute, here.levels[attribute] & ~inside[attribute])]):
            stack.append(here)
    return None, True
