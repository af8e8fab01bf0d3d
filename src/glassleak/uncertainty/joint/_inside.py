"""Lower bounds: many tables around one known table, counted exactly.

Divide the unknowns into blocks in any way, and look at one known histogram ``h``.  Whatever else
the cells of *one* block could hold such that each equation gets the same from this block as before
can be combined with every such change of the other blocks: all equations still hold, and different
combinations are different tables.  So the product of the blocks' own numbers is a lower bound, and
with a single block it is the exact number.  Blocks that are too large to count are cut in two.
"""

from __future__ import annotations

import math
import time

import numpy as np
import scipy.sparse as sp

from glassleak.knowledge import System
from glassleak.reconstruction._components import components
from glassleak.reconstruction._propagate import propagate
from glassleak.uncertainty.joint._frontier import TooManyStatesError, count
from glassleak.uncertainty.joint._piece import IntArray, Kind, Piece, filled_bits

# Cutting a block in two costs a failed attempt at counting it whole.
_CHOICES = 4


def inside_bits(
    piece: Piece,
    h: IntArray,
    kinds: tuple[Kind, ...],
    *,
    max_work: int,
    deadline: float,
    seed: int = 0,
) -> dict[Kind, float]:
    """log2 of a number of tables that certainly exist, by kind.

    Parameters
    ----------
    h : int array
        A histogram that satisfies `piece`.
    max_work : int
        Effort for each block (see `count`).
    """
    assert piece.holds(h)
    rng = np.random.default_rng(seed)
    total = dict.fromkeys(kinds, 0.0)
    blocks = [np.arange(piece.n_unknowns)]
    while blocks:
        block = blocks.pop()
        own = piece.part(block, h)
        fixed, opened = open_pieces(own)
        for kind in kinds:
            rows = (fixed - own.given)[fixed >= 0].tolist()
            sizes = [n for n, value in zip(own.profiles, fixed.tolist(), strict=True) if value >= 0]
            total[kind] += filled_bits(sizes, rows, kind)
        for where, smaller in opened:
            found = _counted(smaller, kinds, max_work, deadline)
            if found is not None:
                for kind, number in zip(kinds, found, strict=True):
                    total[kind] += math.log2(number)
                continue
            halves = _halves(smaller, h[block[where]], rng)
            if halves is None or time.monotonic() > deadline:
                for kind in kinds:
                    total[kind] += smaller.bits(h[block[where]], kind)
                continue
            blocks += [block[where[half]] for half in halves]
    return total


def open_pieces(piece: Piece) -> tuple[IntArray, list[tuple[IntArray, Piece]]]:
    """What propagation settles (-1 where nothing), and the independent pieces that stay open."""
    matrix = sp.csc_array(piece.matrix)
    bounds = propagate(matrix, piece.target, piece.lower, piece.upper)
    nothing = np.zeros(piece.n_unknowns, dtype=np.int64)
    system = System(nothing, nothing, matrix, piece.target, nothing, piece.lower, piece.upper)
    opened = [
        (
            one.unknowns,
            Piece(
                one.matrix,
                one.target,
                one.lower,
                one.upper,
                tuple(piece.profiles[j] for j in one.unknowns.tolist()),
                piece.given[one.unknowns],
                piece.parts[one.equations],
            ),
        )
        for one in components(system, bounds)
    ]
    return np.where(bounds.fixed, bounds.lower, -1), opened


def _counted(
    piece: Piece, kinds: tuple[Kind, ...], max_work: int, deadline: float
) -> tuple[int, ...] | None:
    try:
        return count(piece, kinds, max_work=max_work, deadline=deadline)
    except TooManyStatesError:
        return None


def _halves(
    piece: Piece, h: IntArray, rng: np.random.Generator
) -> tuple[IntArray, IntArray] | None:
    """Inside and outside of a leaf that holds about half of the rows; ``None`` if there is none.

    People of one leaf have more in common, hence more to exchange, than people drawn at random.
    """
    rows = int(h.sum())
    inside = piece.matrix @ h
    useful = np.flatnonzero((inside > 0) & (inside < rows))
    if rows < 2 or not useful.size:
        return None
    best = useful[np.argsort(np.abs(2 * inside[useful] - rows), kind="stable")[:_CHOICES]]
    e = int(rng.choice(best))
    within = np.zeros(piece.n_unknowns, dtype=bool)
    within[piece.matrix.indices[piece.matrix.indptr[e] : piece.matrix.indptr[e + 1]]] = True
    return np.flatnonzero(within), np.flatnonzero(~within)
