"""An exact table: weigh, complete what is nearly decided, or decide row by row."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from glassleak.reconstruction._survey import Progress
from glassleak.reconstruction.replayed._choices import Choices
from glassleak.reconstruction.replayed._decode import Decoded, decode, missed_by
from glassleak.reconstruction.replayed._places import places_of
from glassleak.reconstruction.replayed._possible import Possible
from glassleak.reconstruction.replayed._problem import IntArray, Problem
from glassleak.reconstruction.replayed._prune import Pruned, prune

# Sweeps over which leaves raise their voice, attempt by attempt.
_RAMPS = (8, 24)
# Possibilities less likely than this are set aside at first; then fewer and fewer are.
_SET_ASIDE = (1e-2, 1e-4, 1e-8)
_COMPLETING = 15.0
# What it takes to hand one coefficient to CP-SAT.
_SECONDS_PER_ENTRY = 3e-6
# Rows decided at a time, as a share of those that are open.
_DECIDED = 0.15
_FEW_POSSIBILITIES = 2000


def ruled_out(problem: Problem, possible: Possible, deadline: float, tell: Progress) -> Pruned:
    """What arithmetic rules out."""
    places = places_of(problem, possible.rows)
    return prune(
        problem, possible.rows, places, deadline, lambda x: tell("ruling out", 0.3 + 0.2 * x)
    )


def choose(
    problem: Problem, possible: Possible, deadline: float, seed: int, tell: Progress
) -> Decoded:
    """A possibility for every row; exact if one of the ways succeeds in time.

    Rows are weighed against each other first.  If the likely possibilities are few, CP-SAT
    completes them.  Where many tables fit, weighing leaves rows open: then the surest rows are
    decided, the consequences drawn, and the rest weighed again.
    """
    rows = possible.rows
    if (np.diff(rows.first) == 1).all():
        pick = rows.first[:-1].astype(np.int64)
        return Decoded(pick, np.ones(len(pick)), missed_by(problem, rows, pick), 0)
    rng = np.random.default_rng(seed)
    places = places_of(problem, rows)

    def weigh(share: float) -> None:
        tell("weighing", 0.5 + 0.3 * share)

    best: Decoded | None = None
    for ramp in _RAMPS:
        decoded = decode(problem, rows, places, rng, ramp, deadline, weigh)
        if best is None or decoded.missed < best.missed:
            best = decoded
        if best.missed == 0:
            return best
        done = _completed(problem, possible, decoded, deadline)
        if done is not None:
            return Decoded(done, decoded.belief, 0, decoded.sweeps)
        if time.monotonic() > deadline:
            return best
    assert best is not None
    while time.monotonic() < deadline:
        done = _decided(problem, possible, rng, deadline, weigh)
        if done is not None:
            missed = missed_by(problem, rows, done)
            if missed < best.missed:
                best = Decoded(done, best.belief, missed, best.sweeps)
            if missed == 0:
                break
    return best


def _nothing(_step: str, _share: float) -> None:
    """Steps inside steps are not told."""


def _completed(
    problem: Problem, possible: Possible, decoded: Decoded, deadline: float
) -> IntArray | None:
    """An exact table among the likely possibilities, if CP-SAT finds one."""
    for least in _SET_ASIDE:
        likely = decoded.belief >= least
        some = possible.keep(likely)
        pruned = ruled_out(problem, some, deadline, _nothing)
        if pruned.conflict >= 0:
            continue
        some, kept = some.keep(pruned.alive), np.flatnonzero(likely)[pruned.alive]
        several = np.diff(some.rows.first) > 1
        pick = some.rows.first[:-1].astype(np.int64)
        if several.any():
            until = min(deadline, time.monotonic() + _COMPLETING)
            if not _affordable(some, several, until):
                return None
            answer = Choices(problem, some.rows, several, pick).solve(until)
            if answer.status == "unknown":
                return None
            if answer.pick is None:
                continue
            pick = answer.pick
        if missed_by(problem, some.rows, pick) == 0:
            whole: IntArray = kept[pick]
            return whole
    return None


def _affordable(some: Possible, several: npt.NDArray[np.bool_], until: float) -> bool:
    """Whether the equations can be written down, and then solved, in the time there is."""
    rows = some.rows
    entries = int((np.diff(rows.first) * np.diff(rows.first_tree))[several].sum())
    return entries * _SECONDS_PER_ENTRY < (until - time.monotonic()) / 2


def _decided(
    problem: Problem,
    possible: Possible,
    rng: np.random.Generator,
    deadline: float,
    tell: Callable[[float], None],
) -> IntArray | None:
    """Decide the surest rows, draw the consequences, weigh again; the picks, or None if stuck."""
    some, kept = possible, np.arange(len(possible.box))
    while True:
        decoded = decode(
            problem, some.rows, places_of(problem, some.rows), rng, _RAMPS[0], deadline, tell
        )
        width = np.diff(some.rows.first)
        several = width > 1
        whole: IntArray = kept[decoded.pick]
        if decoded.missed == 0 or not several.any() or time.monotonic() > deadline:
            return whole
        if int(width[several].sum()) <= _FEW_POSSIBILITIES:
            until = min(deadline, time.monotonic() + _COMPLETING / 3)
            answer = Choices(problem, some.rows, several, decoded.pick).solve(until)
            if answer.pick is not None:
                found: IntArray = kept[answer.pick]
                return found
            if answer.status == "impossible":
                return whole
        open_rows = np.flatnonzero(several)
        surest = open_rows[np.argsort(-decoded.belief[decoded.pick[open_rows]], kind="stable")]
        batch = max(1, int(_DECIDED * len(surest)))
        while True:
            alive = np.ones(len(some.box), dtype=bool)
            chosen = surest[:batch]
            alive[np.isin(some.owner, chosen)] = False
            alive[decoded.pick[chosen]] = True
            if batch == 0:
                # Not even the surest row can be what it seems: rule that out instead.
                alive[:] = True
                alive[decoded.pick[surest[0]]] = False
            less = some.keep(alive)
            pruned = ruled_out(problem, less, deadline, _nothing)
            if pruned.conflict < 0:
                kept = kept[alive][pruned.alive]
                some = less.keep(pruned.alive)
                break
            if batch == 0 or time.monotonic() > deadline:
                return whole
            batch //= 2
