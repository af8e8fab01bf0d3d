"""Certified optimal rule lists: branch and bound with a clock, and the lists it found."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.learners._optimal_kernel import (
    DEPTH,
    ENTERING,
    ENTRIES,
    FULL,
    INFINITE,
    NODES,
    PAUSED,
    Frames,
    Memory,
    Problem,
    advance,
    key_of,
    reindex,
    scan,
    slot_of,
    unwind,
    without,
)
from glassleak.learners._optimal_problem import Candidates, Points

Rows = npt.NDArray[np.int32]
# About a twentieth of a second of work between two looks at the clock.
_SLICE = 30_000_000
# Sets of points there is room for at first.
_ROOM = 1024


class OutOfBudgetError(Exception):
    """The clock or the memory given to a search ended; bounds found so far are kept."""


@dataclass(frozen=True)
class Scan:
    """What every rule would do on a set of points.

    Attributes
    ----------
    captured, errors : int array
        Rows each rule captures, and errors among them.
    bound : int array
        Its errors plus those nobody can avoid on what it leaves.
    allowed : bool array
    people, stop : int
        Rows there are, and errors if no rule follows.
    """

    captured: npt.NDArray[np.int64]
    errors: npt.NDArray[np.int64]
    bound: npt.NDArray[np.int64]
    allowed: npt.NDArray[np.bool_]
    people: int
    stop: int


@dataclass
class Search:
    """``f(R, k)``: fewest errors on the points R with at most k rules, remembered for every R met.

    Parameters
    ----------
    points, candidates
    max_length : int
    least, rest : int
        Fewest rows a rule captures, and leaves to the rules after it.
    deadline : float
        ``time.monotonic()`` at which to stop.
    memory_bytes : int
        Most memory for sets of points remembered.
    progress : callable, optional
        Called now and then with `step` and the share of steps done.
    """

    points: Points
    candidates: Candidates
    max_length: int
    least: int
    rest: int
    deadline: float
    memory_bytes: int = 1_000_000_000
    progress: Callable[[str, float], None] | None = None
    step: tuple[str, float] = ("", 0.0)
    nodes: int = 0
    states: int = 0

    def __post_init__(self) -> None:
        captures = self.candidates.captures
        n_points, n_rules = captures.shape
        # A set of points is known by the rules that capture some of it, or by its points: two sets
        # left by rules of the list differ in both.  The shorter name is used.
        by_rule = n_rules <= n_points
        bits = captures if by_rule else np.eye(n_points, dtype=bool)
        self._problem = Problem(
            captures=np.ascontiguousarray(captures, dtype=np.uint8),
            counts=self.points.counts.astype(np.int32),
            floor=self.points.floor.astype(np.int32),
            keys=packed_words(bits),
        )
        # Per entry: its key, three numbers per length, and its places in the index; while memory
        # grows, the old one is still there.
        each = 8 * self._problem.keys.shape[1] + 12 * (self.max_length + 1) + 32
        self._most = max(_ROOM, self.memory_bytes * 3 // 4 // each)
        self._memory = _memory(_ROOM, self._problem.keys.shape[1], self.max_length)
        self._frames = _frames(self.max_length, n_points, n_rules)

    @property
    def floor(self) -> int:
        """Errors no list can avoid."""
        return int(self.points.floor.sum())

    @property
    def everything(self) -> Rows:
        """All points."""
        return np.arange(len(self.points.counts), dtype=np.int32)

    def solve(self, rows: Rows, length: int, limit: int = INFINITE) -> tuple[int, int]:
        """Bounds on ``f(rows, length)``.

        They are equal when it is below `limit`; otherwise the lower one is at least `limit`.

        Raises
        ------
        OutOfBudgetError
            What was found until then is in `known`.
        """
        low, high = self.known(rows, length)
        if low == high or low >= limit:
            return low, high
        if time.monotonic() > self.deadline:
            raise OutOfBudgetError
        control = self._frames.control
        control[DEPTH], control[ENTERING] = 0, 1
        self._frames.n_rows[0] = len(rows)
        self._frames.rows[0, : len(rows)] = rows
        self._frames.limit[0] = limit
        while True:
            status = advance(
                self._problem, self._memory, self._frames, length, self.least, self.rest, _SLICE
            )
            self.nodes, self.states = int(control[NODES]), int(control[ENTRIES])
            if self.progress is not None:
                self.progress(*self.step)
            full = status == FULL and not self._grow()
            if full or (status == PAUSED and time.monotonic() > self.deadline):
                unwind(self._memory, self._frames, length)
                raise OutOfBudgetError
            if status not in (FULL, PAUSED):
                return self.known(rows, length)

    def known(self, rows: Rows, length: int) -> tuple[int, int]:
        """What is known of ``f(rows, length)`` without looking further."""
        entry = self._find(rows)
        if entry < 0:
            return 0, INFINITE
        return int(self._memory.low[entry, length]), int(self._memory.high[entry, length])

    def best_list(self, rows: Rows, length: int) -> list[int]:
        """The rules that reach the upper bound of ``f(rows, length)``."""
        chosen: list[int] = []
        while length > 0 and (entry := self._find(rows)) >= 0:
            rule = int(self._memory.choice[entry, length])
            if rule < 0:
                break
            chosen.append(rule)
            rows, length = self.after(rows, rule), length - 1
        return chosen

    def after(self, rows: Rows, rule: int) -> Rows:
        """The points of `rows` that `rule` does not capture."""
        out = np.empty(len(rows), dtype=np.int32)
        return out[: without(self._problem, rows, len(rows), rule, out)]

    def scan(self, rows: Rows) -> Scan:
        """What every rule would capture of `rows`."""
        n_classes = self.points.counts.shape[1]
        inside = np.zeros((n_classes + 1, self._problem.captures.shape[1]), dtype=np.int32)
        totals = np.zeros(n_classes + 1, dtype=np.int64)
        scan(self._problem, rows, len(rows), inside, totals)
        captured = inside[:-1].sum(axis=0, dtype=np.int64)
        people = int(totals[:-1].sum())
        errors = captured - inside[:-1].max(axis=0, initial=0)
        return Scan(
            captured=captured,
            errors=errors,
            bound=errors + totals[-1] - inside[-1],
            allowed=(captured >= self.least) & (people - captured >= self.rest),
            people=people,
            stop=people - int(totals[:-1].max(initial=0)),
        )

    def _find(self, rows: Rows) -> int:
        key = np.zeros(self._problem.keys.shape[1], dtype=np.uint64)
        key_of(self._problem, rows, len(rows), key)
        return int(self._memory.index[slot_of(self._memory, key)])

    def _grow(self) -> bool:
        size = len(self._memory.keys)
        if size >= self._most:
            return False
        larger = _memory(min(4 * size, self._most), self._memory.keys.shape[1], self.max_length)
        for name in ("keys", "low", "high", "choice"):
            getattr(larger, name)[:size] = getattr(self._memory, name)
        reindex(larger, size)
        self._memory = larger
        return True


@functools.cache
def warm_up() -> None:
    """Compile the search on a problem of two points, so that it does not cost a user's budget."""
    bits = np.array([[True], [False]])
    points = Points(bits, np.array([[2, 1], [1, 2]]))
    search = Search(points, Candidates(((0,),), bits, ((0,),)), 2, 1, 1, deadline=np.inf)
    search.solve(search.everything, 2)
    search._grow()  # compiles the larger memory's index, too
    unwind(search._memory, search._frames, 2)


def _memory(size: int, n_words: int, max_length: int) -> Memory:
    shape = (size, max_length + 1)
    slots = 1 << (2 * size - 1).bit_length()
    return Memory(
        index=np.full(slots, -1, dtype=np.int64),
        keys=np.zeros((size, n_words), dtype=np.uint64),
        low=np.zeros(shape, dtype=np.int32),
        high=np.full(shape, INFINITE, dtype=np.int32),
        choice=np.full(shape, -1, dtype=np.int32),
    )


def _frames(max_length: int, n_points: int, n_rules: int) -> Frames:
    depth = max_length + 1
    per_depth = [np.zeros(depth, dtype=np.int64) for _ in range(7)]
    return Frames(
        control=np.zeros(4, dtype=np.int64),
        rows=np.zeros((depth, n_points), dtype=np.int32),
        n_rows=per_depth[0],
        queue=np.zeros((depth, n_rules), dtype=np.int64),
        errors=np.zeros((depth, n_rules), dtype=np.int64),
        n_rules=per_depth[1],
        at=per_depth[2],
        best=per_depth[3],
        best_rule=per_depth[4],
        limit=per_depth[5],
        entry=per_depth[6],
    )


def packed_words(bits: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """Pack each line of `bits` into 64-bit words."""
    width = max(1, -(-bits.shape[1] // 64)) * 64
    padded = np.zeros((len(bits), width), dtype=bool)
    padded[:, : bits.shape[1]] = bits
    words: npt.NDArray[np.uint64] = np.packbits(padded, axis=1, bitorder="little").view("<u8")
    return words.astype(np.uint64)
