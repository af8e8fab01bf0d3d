"""Exact counting: unknowns are decided one after the other, and equal futures are counted once.

After some unknowns have been decided, all that matters for the rest is what every equation that has
been begun and not yet finished still misses.  Histograms that agree in this *frontier* are merged
and their weights added.  What an equation's remaining unknowns can hold at least and at most cuts
off what cannot be completed.  The cost is the number of frontiers met, which is small when the
solutions are few or the equations overlap little, and exponential otherwise: hence a limit.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from glassleak.uncertainty.joint._piece import IntArray, Kind, Piece, log_ways_table, ways

_MAX_NUMBERS = 20_000_000
# Digits of all weights together.
_MAX_BITS = 4e8
# Pieces larger than this are not even tried.
MAX_NONZEROS = 600_000


class TooManyStatesError(Exception):
    """The limit was reached; nothing is known."""


def count(
    piece: Piece, kinds: tuple[Kind, ...], *, max_work: int, deadline: float = float("inf")
) -> tuple[int, ...]:
    """The exact number of tables of each kind.

    Parameters
    ----------
    max_work : int
        Frontiers to look at, over all steps.

    Raises
    ------
    TooManyStatesError
        The limit or the deadline was reached.
    """
    weights = np.empty((1, len(kinds)), dtype=object)
    weights[0] = 1
    size = 0.0
    for front, j, chosen, h in _steps(piece, max_work, deadline):
        if not len(h):
            return (0,) * len(kinds)
        low, high = int(h.min()), int(h.max())
        size += high * math.log2(piece.profiles[j])
        if (len(h) + high - low) * size > _MAX_BITS:
            raise TooManyStatesError
        table = np.empty((high - low + 1, len(kinds)), dtype=object)
        for k, kind in enumerate(kinds):
            base = low - int(piece.given[j])
            table[:, k] = [ways(piece.profiles[j], base + i, kind) for i in range(len(table))]
        weights = weights[chosen] * table[h - low]
        merged = front.merge()
        if merged is not None:
            weights = np.add.reduceat(weights[merged[0]], merged[1], axis=0)
    return tuple(int(total) for total in weights[0])


def count_logs(
    piece: Piece, kinds: tuple[Kind, ...], *, max_work: int, deadline: float = float("inf")
) -> tuple[tuple[float, float], ...]:
    """The same as logarithms, for numbers with more digits than are worth keeping.

    Returns
    -------
    tuple of (log, error)
        Natural logarithm of the number of each kind, and more than all rounding errors together.
    """
    weights = np.zeros((1, len(kinds)))
    largest, operations = 1.0, 1
    for front, j, chosen, h in _steps(piece, max_work, deadline):
        if not len(h):
            return ((-math.inf, 0.0),) * len(kinds)
        k = h - int(piece.given[j])
        own = [log_ways_table(piece.profiles[j], int(k.max()), kind) for kind in kinds]
        weights = weights[chosen] + np.column_stack(own)[k]
        merged = front.merge()
        # A sum of m terms, or a table of m steps, takes m roundings of numbers this large.
        operations += 4 + int(k.max())
        largest = max(largest, float(np.abs(weights).max()), max(float(t[-1]) for t in own))
        if merged is not None:
            operations += int(np.diff(np.append(merged[1], len(weights))).max())
            weights = np.logaddexp.reduceat(weights[merged[0]], merged[1], axis=0)
    error = 4 * float(np.finfo(float).eps) * largest * operations
    return tuple((float(total), error) for total in weights[0])


def _steps(
    piece: Piece, max_work: int, deadline: float
) -> Iterator[tuple[Frontier, int, IntArray, IntArray]]:
    """Decide one unknown after the other; the caller merges the frontiers in between."""
    if max_work <= 0 or piece.matrix.nnz > MAX_NONZEROS:
        raise TooManyStatesError
    front = Frontier(piece, decision_order(piece.matrix))
    for step, j in enumerate(front.order.tolist()):
        chosen, h = front.expand(j, limit=max_work)
        yield front, j, chosen, h
        max_work -= len(h)
        if max_work < 0 or (step % 16 == 0 and time.monotonic() > deadline):
            raise TooManyStatesError


class Frontier:
    """The distinct frontiers after each decision.

    Attributes
    ----------
    order : int array
        Unknowns in the order they are decided.
    missing : (frontiers, places) int array
        What each open equation misses; 0 in places that are free.
    place : int array
        The place of every open equation; -1 for the others.
    """

    def __init__(self, piece: Piece, order: IntArray) -> None:
        self.piece, self.order = piece, order
        columns = sp.csc_array(piece.matrix)
        self._starts, self._rows = columns.indptr, columns.indices.astype(np.int64)
        # What the unknowns of an equation that are still to be decided hold at least, at most.
        self.least = piece.matrix @ piece.lower
        self.most = piece.matrix @ piece.upper
        self.left = np.diff(piece.matrix.indptr).astype(np.int64)
        self.missing: IntArray = np.zeros((1, 0), dtype=np.int64)
        self.place = np.full(len(piece.target), -1, dtype=np.int64)
        self._free: list[int] = []
        rng = np.random.default_rng(11)
        self._marks = rng.integers(1, 2**64 - 1, size=len(piece.target), dtype=np.uint64)
        self._sums = np.zeros(1, dtype=np.uint64)

    def expand(self, j: int, *, limit: int) -> tuple[IntArray, IntArray]:
        """Decide unknown `j` in every way that can still be completed.

        Returns
        -------
        chosen, h : int arrays
            The frontier each new one came from, and the value of `j` there.
        """
        own = self._rows[self._starts[j] : self._starts[j + 1]]
        low, high = int(self.piece.lower[j]), int(self.piece.upper[j])
        self.least[own] -= low
        self.most[own] -= high
        self.left[own] -= 1
        self._open(own[self.place[own] < 0])
        at = self.place[own]
        here = self.missing[:, at]
        least = np.maximum((here - self.most[own]).max(axis=1, initial=low), low)
        most = np.minimum((here - self.least[own]).min(axis=1, initial=high), high)
        width = np.maximum(most - least + 1, 0)
        total = int(width.sum())
        if total > limit or total * max(1, self.missing.shape[1]) > _MAX_NUMBERS:
            raise TooManyStatesError
        if total == len(width) and bool((width == 1).all()):
            chosen, h = np.arange(total), least
        else:
            chosen = np.repeat(np.arange(len(width)), width)
            h = np.arange(total) - np.repeat(np.cumsum(width) - width, width) + least[chosen]
            self.missing, self._sums = self.missing[chosen], self._sums[chosen]
        if h.any():
            self.missing[:, at] -= h[:, None]
            with np.errstate(over="ignore"):
                self._sums -= h.astype(np.uint64) * np.add.reduce(self._marks[own])
        done = own[self.left[own] == 0]  # nothing is missing there any more
        self._free += self.place[done].tolist()
        self.place[done] = -1
        return chosen, h

    def merge(self) -> tuple[IntArray, IntArray] | None:
        """Keep one of each set of equal frontiers.

        Returns
        -------
        order, starts : int arrays, or ``None`` if all were distinct
            The frontiers sorted so that equal ones are neighbours, and where each set starts.
        """
        n = len(self._sums)
        if n < 2:
            return None
        order = np.argsort(self._sums, kind="stable")
        sums = self._sums[order]
        starts = np.flatnonzero(np.concatenate([[True], sums[1:] != sums[:-1]]))
        if len(starts) == n:
            return None
        first = order[np.repeat(starts, np.diff(np.append(starts, n)))]
        again = np.flatnonzero(first != order)
        if (self.missing[first[again]] != self.missing[order[again]]).any():
            raise TooManyStatesError  # two frontiers with one 64-bit mark: practically never
        self.keep(order[starts])
        return order, starts

    def keep(self, which: npt.NDArray[np.int64]) -> None:
        """Forget all frontiers but `which`."""
        self.missing, self._sums = self.missing[which], self._sums[which]

    def _open(self, new: IntArray) -> None:
        """Give equations that begin a place."""
        if not new.size:
            return
        short = len(new) - len(self._free)
        if short > 0:
            start = self.missing.shape[1]
            room = np.zeros((len(self.missing), short), dtype=np.int64)
            self.missing = np.hstack([self.missing, room])
            self._free += range(start, start + short)
        at = [self._free.pop() for _ in range(len(new))]
        self.place[new] = at
        self.missing[:, at] = self.piece.target[new]
        with np.errstate(over="ignore"):
            begun = self._marks[new] * self.piece.target[new].astype(np.uint64)
            self._sums += np.add.reduce(begun)


def decision_order(matrix: sp.csr_array) -> IntArray:
    """Unknowns, equation by equation; the equation with fewest undecided unknowns comes next."""
    n_rows, n_columns = matrix.shape
    columns = sp.csc_array(matrix)
    left = np.diff(matrix.indptr).astype(np.int64)
    begun = np.zeros(n_rows, dtype=bool)
    shared = np.zeros(n_columns, dtype=np.int64)  # equations begun that an unknown stands in
    done = np.zeros(n_columns, dtype=bool)
    queue = [(int(size), e) for e, size in enumerate(left)]
    heapq.heapify(queue)
    order: list[int] = []
    while queue:
        size, e = heapq.heappop(queue)
        if size != left[e] or not size:
            continue
        inside = matrix.indices[matrix.indptr[e] : matrix.indptr[e + 1]]
        inside = inside[~done[inside]]
        # Unknowns that share most with what is open come first: they are nearly determined.
        for j in inside[np.argsort(-shared[inside], kind="stable")].tolist():
            done[j] = True
            order.append(j)
            for other in columns.indices[columns.indptr[j] : columns.indptr[j + 1]].tolist():
                left[other] -= 1
                heapq.heappush(queue, (int(left[other]), other))
                if not begun[other]:
                    begun[other] = True
                    shared[matrix.indices[matrix.indptr[other] : matrix.indptr[other + 1]]] += 1
    order += np.flatnonzero(~done).tolist()
    return np.array(order, dtype=np.int64)
