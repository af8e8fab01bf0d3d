"""How many tables one piece has: exactly if possible, otherwise between bounds."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from glassleak.errors import InconsistentModelError
from glassleak.reconstruction._ranges import full_column_rank
from glassleak.reconstruction.residual._residual import Infeasible, Solution, solve_component
from glassleak.uncertainty.joint._bits import Bits
from glassleak.uncertainty.joint._frontier import TooManyStatesError, count, count_logs
from glassleak.uncertainty.joint._inside import inside_bits
from glassleak.uncertainty.joint._piece import KINDS, FloatArray, IntArray, Kind, Piece
from glassleak.uncertainty.joint._product import Product, Tilt
from glassleak.uncertainty.joint._sampled import estimate
from glassleak.uncertainty.joint._sharpen import sharpened

# Shares of the time left when each step begins.
_ABOVE, _TABLE, _INSIDE = 0.6, 0.45, 0.4
# Numbers with more digits are counted as logarithms.
_MANY_BITS = 20_000


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

    exact: int = 4_000_000
    block: int = 20_000
    keep: int = 200
    repetitions: int = 6


def exactly(piece: Piece, effort: Effort, deadline: float) -> dict[Kind, Bits] | None:
    """The exact numbers, if they can be had."""
    kinds = _kinds(piece)
    digits = float(piece.upper.max(initial=0)) * math.log2(max(piece.profiles))
    try:
        if digits > _MANY_BITS:
            logs = count_logs(piece, kinds, max_work=effort.exact, deadline=deadline)
            return _both({kind: _from_log(*log) for kind, log in zip(kinds, logs, strict=True)})
        numbers = count(piece, kinds, max_work=effort.exact, deadline=deadline)
    except TooManyStatesError:
        return None
    if not numbers[0]:
        raise InconsistentModelError("no table has these counts (all possibilities were tried)")
    return _both({kind: Bits.known(math.log2(n)) for kind, n in zip(kinds, numbers, strict=True)})


def _from_log(log: float, error: float) -> Bits:
    """All tables were counted, in floating point: bounds that differ by its errors."""
    if not math.isfinite(log):
        raise InconsistentModelError("no table has these counts (all possibilities were tried)")
    bits, off = log / math.log(2), 2 * error
    return Bits(max(0.0, bits - off), max(0.0, bits + off), False, max(0.0, bits))


def bounded(piece: Piece, effort: Effort, deadline: float, seed: int) -> dict[Kind, Bits]:
    """Bounds, and an estimate if sampling comes through.

    Raises
    ------
    InconsistentModelError
        It is proved that there is no table.
    """
    kinds = _kinds(piece)
    clock = _Clock(deadline)
    tilts, high = _from_above(piece, kinds, clock.until(_ABOVE))
    # A table to count around is worth waiting for: without one there is no lower bound.
    table = _table(piece, clock.until(_TABLE), seed)
    low = dict.fromkeys(kinds, 0.0)
    if table is not None:
        if full_column_rank(piece.matrix):
            return _both({kind: Bits.known(piece.bits(table, kind)) for kind in kinds})
        low = inside_bits(
            piece, table, kinds, max_work=effort.block, deadline=clock.until(_INSIDE), seed=seed
        )
    guesses = estimate(
        piece, kinds, tilts[kinds[0]], keep=effort.keep, repetitions=effort.repetitions,
        deadline=clock.until(0.9), seed=seed,
    )  # fmt: skip
    if not all(tilt.best for tilt in tilts.values()):
        starts = {kind: tilt.y for kind, tilt in tilts.items()}
        again = _from_above(piece, kinds, deadline, starts)[1]
        high = {kind: min(high[kind], again[kind]) for kind in kinds}
    found: dict[Kind, Bits] = {}
    for kind in kinds:
        # What certainly exists has been added up in floating point: a shade less is safe.
        safe = max(0.0, low[kind] * (1 - 1e-12) - 1e-12)
        guess = guesses.get(kind)
        bits, error = (None, 0.0) if guess is None else (guess.bits, guess.error)
        found[kind] = Bits(safe, max(safe, high[kind]), False, bits, error, sampled=True)
    return _both(found)


class _Clock:
    """Divides the time that is left now."""

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline

    def until(self, share: float) -> float:
        """When `share` of the time left will have gone."""
        now = time.monotonic()
        return now + share * max(0.0, self.deadline - now)


def _from_above(
    piece: Piece,
    kinds: tuple[Kind, ...],
    deadline: float,
    starts: dict[Kind, FloatArray] | None = None,
) -> tuple[dict[Kind, Tilt], dict[Kind, float]]:
    """The best products, and their bounds."""
    clock = _Clock(deadline)
    tilts: dict[Kind, Tilt] = {}
    high: dict[Kind, float] = {}
    for i, kind in enumerate(kinds):
        product = Product(piece, kind)
        # The two kinds differ little: the second starts where the first one ended.
        start = tilts["ordered"].y if tilts else None
        if starts is not None:
            start = starts[kind]
        share = 0.6 if i + 1 < len(kinds) else 0.9
        tilts[kind] = product.best(start=start, deadline=clock.until(share))
        high[kind] = sharpened(product, tilts[kind], deadline=clock.until(share / 2))
    return tilts, high


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
