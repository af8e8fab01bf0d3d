"""Weigh the possibilities of all rows against each other until every count is reproduced."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glassleak._compiled import compiled
from glassleak.reconstruction.replayed._messages import sweep
from glassleak.reconstruction.replayed._places import Places
from glassleak.reconstruction.replayed._possible import Rows
from glassleak.reconstruction.replayed._problem import IntArray, Leaves, Problem

# Leaves speak softly at first, and never at full voice: loops of leaves that repeat each other
# make rows surer than they should be.
_FIRST_VOICE, _LAST_VOICE = 0.1, 0.8
_DAMPING = 0.5
# Sweeps at the last voice before an attempt counts as settled.
_SETTLING = 4


@dataclass(frozen=True)
class Decoded:
    """A possibility for every row.

    Attributes
    ----------
    pick : (rows,) int array
        The most likely possibility of each row, of the last sweep.
    belief : (possibilities,) float array
        Probabilities; those of a row add up to 1.
    missed : int
        By how much the picks miss the published counts, in draws and distinct rows; 0 is exact.
    sweeps : int
    """

    pick: IntArray
    belief: npt.NDArray[np.float64]
    missed: int
    sweeps: int


def decode(
    problem: Problem,
    rows: Rows,
    places: Places,
    rng: np.random.Generator,
    ramp: int,
    deadline: float,
    tell: Callable[[float], None],
) -> Decoded:
    """Sweep over the trees until the most likely possibilities are exact, or all is settled.

    Parameters
    ----------
    ramp : int
        Sweeps over which the voice rises: more are slower, and surer to settle well.
    deadline : float
        Checked after every sweep, of which there is at least one.
    """
    share, says = np.zeros(len(places.row)), np.zeros(len(places.row))
    score, said = np.zeros(len(rows.label)), np.zeros(len(places.row))
    for k in range(ramp + _SETTLING):
        voice = min(_LAST_VOICE, _FIRST_VOICE + (1 - _FIRST_VOICE) * k / ramp)
        turn = rng.permutation(len(problem.facts.parts))
        sweep(turn, rows, places, problem.leaves, score, said, share, says, voice, _DAMPING)
        pick, belief = beliefs(rows, score)
        missed = missed_by(problem, rows, pick)
        tell(float(belief[pick].mean()))
        if missed == 0 or time.monotonic() > deadline:
            break
    return Decoded(pick, belief, missed, k + 1)


@compiled
def beliefs(rows: Rows, score: npt.NDArray[np.float64]) -> tuple[IntArray, npt.NDArray[np.float64]]:
    """The best possibility of every row, and the probabilities of all."""
    n_rows = len(rows.first) - 1
    pick = np.empty(n_rows, np.int64)
    belief = np.empty(len(score))
    for i in range(n_rows):
        best = rows.first[i]
        for j in range(rows.first[i], rows.first[i + 1]):
            if score[j] > score[best]:
                best = j
        pick[i] = best
        total = 0.0
        for j in range(rows.first[i], rows.first[i + 1]):
            belief[j] = np.exp(score[j] - score[best])
            total += belief[j]
        for j in range(rows.first[i], rows.first[i + 1]):
            belief[j] /= total
    return pick, belief


def missed_by(problem: Problem, rows: Rows, pick: IntArray) -> int:
    """By how much the picked possibilities miss the published counts."""
    draws, distinct = gaps(problem, rows, pick)
    return int(np.abs(draws).sum() + np.abs(distinct).sum())


def gaps(problem: Problem, rows: Rows, pick: IntArray) -> tuple[IntArray, IntArray]:
    """Published minus picked: draws per leaf and class, distinct rows per leaf (0: not stated)."""
    leaves = problem.leaves
    draws, distinct = leaves.draws.copy(), leaves.distinct.copy()
    _take(rows, leaves, problem.drawn, pick, draws, distinct)
    draws[leaves.draws < 0] = 0
    distinct[leaves.distinct < 0] = 0
    return draws, distinct


@compiled
def _take(
    rows: Rows,
    leaves: Leaves,
    drawn: npt.NDArray[np.int32],
    pick: IntArray,
    draws: IntArray,
    distinct: IntArray,
) -> None:
    for i in range(len(pick)):
        n_trees = rows.first_tree[i + 1] - rows.first_tree[i]
        entry = rows.entry[i] + (pick[i] - rows.first[i]) * n_trees
        c = rows.label[pick[i]]
        for k in range(n_trees):
            v = rows.leaf[entry + k]
            draws[v, c] -= drawn[leaves.tree[v], i]
            distinct[v] -= 1
