"""How many tables one piece has: exactly if possible, otherwise between bounds."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from glassleak.errors import InconsistentModelError
from glassleak.reconstruction._ranges import full_column_rank
from glassleak.reconstruction.residual._residual import Infeasible, Solution, solve_component
from glassleak.uncertainty.joint._bits import Bits
from glassleak.uncertainty.joint._frontier import TooManyStatesError, count
from glassleak.uncertainty.joint._inside import inside_bits
from glassleak.uncertainty.joint._piece import KINDS, IntArray, Kind, Piece
from glassleak.uncertainty.joint._product import Product
from glassleak.uncertainty.joint._sampled import estimate
from glassleak.uncertainty.joint._sharpen import sharpened


@dataclass(frozen=True)
class Effort:
    """How hard to try, in steps and not in seconds, so that results can be repeated.

    Attributes
    ----------
    exact : int
        Frontiers looked at when counting a whole piece.
    block : int
        The same for each block of the lower bound.
    keep, repetitions : int
        Frontiers kept, and repetitions, for the estimate.
    """

    exact: int = 400_000
    block: int = 20_000
    keep: int = 400
    repetitions: int = 8


def exactly(piece: Piece, effort: Effort, deadline: float) -> dict[Kind, Bits] | None:
    """The exact numbers, if they can be had."""
    kinds = _kinds(piece)
    try:
        numbers = count(piece, kinds, max_work=effort.exact, deadline=deadline)
    except TooManyStatesError:
        return None
    if not numbers[0]:
        raise InconsistentModelError("no table has these counts (all possibilities were tried)")
    return _both({kind: Bits.known(math.log2(n)) for kind, n in zip(kinds, numbers, strict=True)})


def bounded(piece: Piece, effort: Effort, deadline: float, seed: int) -> dict[Kind, Bits]:
    """Bounds, and an estimate if sampling comes through.

    Raises
    ------
    InconsistentModelError
        It is proved that there is no table.
    """
    started = time.monotonic()
    left = max(0.0, deadline - started)
    kinds = _kinds(piece)
    # A table to count around is worth waiting for; bounds from above take what they take.
    table = _table(piece, started + 0.4 * left, seed)
    if table is not None and full_column_rank(piece.matrix):
        return _both({kind: Bits.known(piece.bits(table, kind)) for kind in kinds})
    low = dict.fromkeys(kinds, 0.0)
    if table is not None:
        low = inside_bits(
            piece, table, kinds, max_work=effort.block, deadline=started + 0.6 * left, seed=seed
        )
    found: dict[Kind, Bits] = {}
    for i, kind in enumerate(kinds):
        now = time.monotonic()
        until = now + max(0.0, deadline - now) / (len(kinds) - i)
        product = Product(piece, kind)
        tilt = product.best(deadline=now + 0.5 * (until - now))
        guess = estimate(
            piece, kind, tilt, keep=effort.keep, repetitions=effort.repetitions, deadline=until,
            seed=seed,
        )  # fmt: skip
        # What certainly exists has been added up in floating point: a shade less is safe.
        safe = max(0.0, low[kind] * (1 - 1e-12) - 1e-12)
        found[kind] = Bits(
            safe,
            max(safe, sharpened(product, tilt)),
            False,
            None if guess is None else guess.bits,
            0.0 if guess is None else guess.error,
        )
    return _both(found)


def _table(piece: Piece, deadline: float, seed: int) -> IntArray | None:
    answer = solve_component(
        piece.matrix, piece.target, piece.lower, piece.upper, deadline=deadline, seed=seed,
        workers=1,
    )  # fmt: skip
    if isinstance(answer, Infeasible):
        raise InconsistentModelError(f"no table has these counts (proved by {answer.method})")
    return answer.x if isinstance(answer, Solution) else None


def _kinds(piece: Piece) -> tuple[Kind, ...]:
    """Where every cell is one profile, both kinds are the same number."""
    alike = all(
        n == 1 or most <= 1
        for n, most in zip(piece.profiles, (piece.upper - piece.given).tolist(), strict=True)
    )
    return ("ordered",) if alike else KINDS


def _both(found: dict[Kind, Bits]) -> dict[Kind, Bits]:
    return {kind: found.get(kind, found["ordered"]) for kind in KINDS}
