"""Count the profiles outside many boxes: take apart, remember, and ask the best next question.

The default rule of a rule list is a counting problem that no method solves fast in every case
(#SAT), while the recursion of Equations 13-15 is slow in nearly every case.  What makes it fast in
practice is known from model counters: problems that fall into parts which share no attribute are
solved part by part, and every part is solved once.  When the budget ends, what is not solved yet
gets bounds, and the result is still rigorous.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from glassleak.counting._bounds import quick_bounds
from glassleak.counting._branching import Branch, Branching
from glassleak.counting._domains import Domain, bits
from glassleak.counting._formula import Formula, State
from glassleak.counting._regions import Box

Key: TypeAlias = tuple[int, int, tuple[int, ...]]

# Solved parts that are remembered, at most: a few hundred bytes each.
_REMEMBERED = 1_000_000
# Share of the budget spent on the exact number; the rest makes bounds better if it was in vain.
_FOR_EXACT = 0.7
# Parts that may be solved to look at one piece, when bounds are sharpened piece by piece.
_GLANCE = 60
_SMALL = 40


@dataclass(frozen=True)
class Count:
    """A number of profiles, between two exact integers."""

    low: int
    high: int

    @property
    def exact(self) -> bool:
        """Whether the number is known."""
        return self.low == self.high

    def within(self, low: int, high: int) -> Count:
        """The same number, which is also known to lie between `low` and `high`."""
        return Count(max(self.low, low), min(self.high, high))


class _Frame:
    """A part that is being solved: its branches, and the parts of the branch at hand."""

    __slots__ = ("attributes", "branches", "high", "key", "low", "parts",
                 "sign", "state", "state_of_parts", "total_high", "total_low")  # fmt: skip

    def __init__(
        self, key: Key | None, state: State, attributes: int, branches: list[Branch]
    ) -> None:
        self.key, self.state, self.attributes, self.branches = key, state, attributes, branches
        self.parts: list[tuple[int, int]] = []
        self.state_of_parts = state
        self.sign = self.low = self.high = 0
        self.total_low = self.total_high = 0

    def close_branch(self) -> None:
        if self.sign > 0:
            self.total_low += self.low
            self.total_high += self.high
        elif self.sign < 0:
            self.total_low -= self.high
            self.total_high -= self.low
        self.sign = 0


class Counter:
    """Counts profiles inside one box and outside others, over common domains and boxes.

    Parameters
    ----------
    domains : sequence of Domain
    boxes : sequence of mapping
        All boxes there are; a count names those to stay out of.
    """

    def __init__(self, domains: Sequence[Domain], boxes: Sequence[Box]) -> None:
        self.formula = Formula(domains, boxes)
        self.branching = Branching(self.formula)
        self.nodes = 0
        self._solved: dict[Key, int] = {}
        self._limit, self._deadline = 0, math.inf
        self._all = (1 << len(self.formula.domains)) - 1

    def count(
        self,
        box: Box,
        clauses: int,
        *,
        max_nodes: int = 1_000_000,
        deadline: float = math.inf,
    ) -> Count:
        """Profiles in `box` that lie outside every box whose bit is set in `clauses`.

        Parameters
        ----------
        max_nodes : int
            Parts that may be solved before bounds are returned.
        deadline : float
            ``time.monotonic()`` value with the same effect.
        """
        state = self.formula.begin(box, clauses)
        if state is None:
            return Count(0, 0)
        return self.count_state(state, max_nodes=max_nodes, deadline=deadline)

    def count_state(
        self, state: State, *, max_nodes: int = 1_000_000, deadline: float = math.inf
    ) -> Count:
        """The same for a problem that has been narrowed already."""
        started, now = self.nodes, time.monotonic()
        self._deadline = now + _FOR_EXACT * (deadline - now)
        found = self._run(state, self.nodes + int(_FOR_EXACT * max_nodes))
        if found.exact:
            return found
        self._deadline = deadline
        share = int((self.nodes - started) * (1 / _FOR_EXACT - 1))
        better = self._sharpen(state, self.nodes + share)
        return found.within(better.low, better.high)

    def _sharpen(self, state: State, limit: int) -> Count:
        """Bounds: split the profiles where they are widest, until `limit`.

        Depth first leaves whole branches untouched when the budget ends; this does not.
        """
        first = self._run(state, self.nodes)
        low, high = first.low, first.high
        heap = [(first.low - first.high, 0, first, state)]
        made = 0
        while heap and self._in_time(limit):
            _, _, count, here = heapq.heappop(heap)
            # Follow the largest piece down to one that can be counted: lower bounds come from
            # there.  What is passed by on the way waits for its turn.
            while self._in_time(limit):
                low, high = low - count.low, high - count.high
                pieces = self._pieces(here, limit)
                low += sum(piece.low for piece, _ in pieces)
                high += sum(piece.high for piece, _ in pieces)
                open_ = [pair for pair in pieces if not pair[0].exact]
                if not open_:
                    break
                open_.sort(key=lambda pair: pair[0].high - pair[0].low)
                count, here = open_.pop()
                for other, where in open_:
                    made += 1
                    heapq.heappush(heap, (other.low - other.high, made, other, where))
            else:
                break
        return Count(low, high)

    def _in_time(self, limit: int) -> bool:
        return self.nodes < limit and time.monotonic() <= self._deadline

    def _pieces(self, state: State, limit: int) -> list[tuple[Count, State]]:
        """The profiles of `state` split by one attribute, each piece glanced at."""
        _, parts = self.formula.split(state, self._all)
        clauses, attributes = max(parts, key=lambda part: part[0].bit_count())
        self.nodes += 1
        pieces = []
        for _, _, restrictions in self.branching.levels(state, clauses, attributes):
            piece = state.copy()
            if self.formula.narrow(piece, restrictions):
                # Large pieces are not solved at a glance: no time is lost on trying.
                glance = _GLANCE if piece.active.bit_count() <= _SMALL else 0
                pieces.append((self._run(piece, min(limit, self.nodes + glance)), piece))
        return pieces

    def _run(self, state: State, limit: int) -> Count:
        """Count depth first until `limit`; bounds for what is left then."""
        stack = [_Frame(None, state, self._all, [(1, state.active, ())])]
        self._limit = limit
        while True:
            frame = stack[-1]
            if frame.parts:
                clauses, attributes = frame.parts.pop()
                deeper = self._part(frame, clauses, attributes)
                if deeper is not None:
                    stack.append(deeper)
                continue
            frame.close_branch()
            if frame.branches:
                self._next_branch(frame)
                continue
            stack.pop()
            low, high = max(0, frame.total_low), frame.total_high
            if not stack:
                return Count(low, high)
            if frame.key is not None and low == high and len(self._solved) < _REMEMBERED:
                self._solved[frame.key] = low
            _multiply(stack[-1], low, high)

    def _next_branch(self, frame: _Frame) -> None:
        sign, clauses, restrictions = frame.branches.pop()
        state = frame.state.copy()
        state.active = clauses
        if not self.formula.narrow(state, restrictions):
            return
        free, frame.parts = self.formula.split(state, frame.attributes)
        frame.state_of_parts, frame.sign = state, sign
        frame.low = frame.high = free

    def _part(self, frame: _Frame, clauses: int, attributes: int) -> _Frame | None:
        """Multiply a part's number into the branch, or give the frame that will find it."""
        state = frame.state_of_parts
        small = self._few(state, clauses, attributes)
        if small is not None:
            _multiply(frame, small, small)
            return None
        key = self._key(state, clauses, attributes)
        known = self._solved.get(key)
        if known is not None:
            _multiply(frame, known, known)
            return None
        if self.nodes >= self._limit or time.monotonic() > self._deadline:
            _multiply(frame, *quick_bounds(self.formula, state, clauses, attributes))
            return None
        self.nodes += 1
        branches = self.branching.branches(state, clauses, attributes)
        return _Frame(key, state, attributes, branches)

    def _few(self, state: State, clauses: int, attributes: int) -> int | None:
        """One or two clauses need no search."""
        rest = clauses & (clauses - 1)
        if rest & (rest - 1):
            return None
        formula = self.formula
        everything = formula.profiles(state, attributes)
        first, second = clauses.bit_length() - 1, (clauses & -clauses).bit_length() - 1
        outside = everything - formula.inside_size(state, (first,), everything)
        if rest:
            outside -= formula.inside_size(state, (second,), everything)
            outside += formula.inside_size(state, (first, second), everything)
        return outside

    def _key(self, state: State, clauses: int, attributes: int) -> Key:
        # Yes/no attributes that are open have both levels; the others may have been narrowed.
        many = self.formula.many
        levels = tuple(state.levels[a] for a in bits(attributes) if many[a])
        return clauses, attributes, levels


def _multiply(frame: _Frame, low: int, high: int) -> None:
    frame.low *= low
    frame.high *= high
    if not frame.high:
        frame.parts.clear()
