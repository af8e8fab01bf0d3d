"""Which row has which target, from how often each tree drew the row and how often the target.

With known draws this is linear: for every tree and target, the draws of the rows with the target
add up to the draws of its leaves, and so do the numbers of distinct rows.  Two equations per tree
determine as many rows as there are equations; beyond that, rows with targets of their own are found
by comparing draws, and the rest by elimination.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glassleak.reconstruction.regression._facts import Facts, FloatArray, IntArray
from glassleak.reconstruction.regression._values import Shares
from glassleak.reconstruction.regression._who_search import search_choice

BoolArray = npt.NDArray[np.bool_]
# Comparisons of rows with targets, over all trees.
_MOST_COMPARED = 2_000_000_000
_MOST_SOLVED = 3_000
_NEVER_DRAWN = -2


@dataclass(frozen=True)
class Who:
    """The target of every row (-1: never drawn), and whether there is no other assignment."""

    value: IntArray
    proved: bool


@dataclass
class _Left:
    """What is left to explain.

    Attributes
    ----------
    value : (rows,) int array
        Found so far; -1 if not.
    draws, rows : (trees, targets) int arrays
        Draws and distinct rows in the leaves of each target, in trees that tell all their leaves.
    other, told : (trees, rows or targets) int arrays
        Draws of rows, and of targets, in trees that tell some leaves only.
    seats, size : (targets,) int array, optional
        Rows per target, where that is known: without a row so far, and in all.
    """

    value: IntArray
    draws: IntArray
    rows: IntArray
    other: npt.NDArray[np.int32]
    told: IntArray
    seats: IntArray | None
    size: IntArray

    @property
    def groups(self) -> IntArray:
        """Targets that are not used up."""
        return np.flatnonzero(self.rows.any(axis=0) if self.seats is None else self.seats > 0)

    def take(self, found: IntArray, drawn: npt.NDArray[np.int32]) -> None:
        """Subtract rows whose target was found."""
        groups, own = self.value[found], drawn[:, found].astype(np.int64)
        np.subtract.at(self.draws.T, groups, own.T)
        np.subtract.at(self.rows.T, groups, (own > 0).astype(np.int64).T)
        if self.seats is not None:
            np.subtract.at(self.seats, groups, 1)

    @property
    def possible(self) -> bool:
        """Whether no more was taken than there was."""
        fine = (self.draws >= 0).all() and (self.rows >= 0).all()
        return bool(fine and (self.seats is None or (self.seats >= 0).all()))


def complete_trees(facts: Facts, shares: Shares) -> BoolArray:
    """Trees all of whose leaves are told."""
    return np.asarray(np.add.reduceat(~shares.told, facts.first[:-1]) == 0)


def per_tree(facts: Facts, shares: Shares, number: IntArray) -> IntArray:
    """Rows (or draws) of each target in every tree, as far as leaves tell."""
    out = np.zeros((facts.n_trees, len(shares.values)), dtype=np.int64)
    np.add.at(out, (facts.tree[shares.leaf], shares.value), number)
    return out


def who_is_who(
    facts: Facts,
    shares: Shares,
    whole: BoolArray,
    seats: IntArray | None,
    deadline: float,
    seed: int = 0,
) -> Who | None:
    """The target of every row, or ``None`` if that was not found.

    Parameters
    ----------
    whole : (trees,) bool array
        Trees that tell all their leaves.
    seats : (targets,) int array, optional
        Rows per target, where that is known.
    """
    assert facts.draws is not None
    drawn = facts.draws[whole]
    value = np.full(facts.n_rows, -1, dtype=np.int64)
    value[~(facts.draws > 0).any(axis=0)] = _NEVER_DRAWN
    of_targets = per_tree(facts, shares, shares.drawn)
    left = _Left(
        value, of_targets[whole], per_tree(facts, shares, shares.distinct)[whole],
        facts.draws[~whole], of_targets[~whole], None if seats is None else seats.copy(),
        np.zeros(0, np.int64) if seats is None else seats,
    )  # fmt: skip
    proved = _solve(left, drawn)
    if not proved:
        _compare(left, drawn, seats)
        # How many rows share a target is certain only where all were counted.
        proved = seats is not None
        if (value == -1).any() and not _solve(left, drawn):
            proved &= _eliminate(left, drawn)
            if (value == -1).any():
                proved = False
                if not _search(left, drawn, deadline, seed):
                    return None
    if (left.draws != 0).any() or (left.rows != 0).any():
        return None
    return Who(np.where(value == _NEVER_DRAWN, -1, value), proved)


def _solve(left: _Left, drawn: npt.NDArray[np.int32]) -> bool:
    """All rows at once, where there are as many equations as rows."""
    rows = np.flatnonzero(left.value == -1)
    if len(left.other) or not 0 < len(rows) <= min(2 * len(drawn), _MOST_SOLVED):
        return False
    own = drawn[:, rows].astype(np.float64)
    matrix = np.vstack([own, own > 0])
    groups = left.groups
    wanted = np.vstack([left.draws[:, groups], left.rows[:, groups]]).astype(np.float64)
    try:
        share, _, rank, _ = np.linalg.lstsq(matrix, wanted, rcond=1e-9)
    except np.linalg.LinAlgError:
        return False
    if rank < len(rows) or not _is_choice(share.astype(np.float64)):
        return False
    left.value[rows] = groups[np.argmax(share, axis=1)]
    left.take(rows, drawn)
    return True


def _is_choice(share: FloatArray) -> bool:
    """Whether every line is a single 1 among zeros, but for rounding."""
    nearest = np.rint(share)
    return bool(
        np.abs(share - nearest).max(initial=0.0) < 1e-3
        and (nearest.sum(axis=1) == 1).all()
        and (nearest >= 0).all()
    )


def _compare(left: _Left, drawn: npt.NDArray[np.int32], seats: IntArray | None) -> None:
    """Targets of one row have the draws of that row."""
    if len(left.other):
        return
    free = np.flatnonzero(left.value == -1)
    rows: dict[bytes, int] = {}
    twice: set[bytes] = set()
    for i in free.tolist():
        key = drawn[:, i].astype(np.int64).tobytes()
        if key in rows:
            twice.add(key)
        rows[key] = i
    most = left.rows.max(axis=0, initial=0) if seats is None else seats
    found = []
    for g in np.flatnonzero(most == 1).tolist():
        key = np.ascontiguousarray(left.draws[:, g]).tobytes()
        if key in rows and key not in twice:
            left.value[rows[key]] = g
            found.append(rows[key])
    left.take(np.array(found, dtype=np.int64), drawn)


def _fits(left: _Left, drawn: npt.NDArray[np.int32], rows: IntArray, groups: IntArray) -> BoolArray:
    """Which rows could have which target, tree by tree."""
    fits = np.ones((len(rows), len(groups)), dtype=bool)
    for t in range(len(drawn)):
        own = drawn[t, rows][:, None].astype(np.int64)
        fits &= own <= left.draws[t, groups]
        fits &= (own == 0) | (left.rows[t, groups] > 0)
        if left.seats is not None:
            # The last one accounts for all that is left.
            fits &= (left.seats[groups] != 1) | (own == left.draws[t, groups])
    if left.seats is None:
        return fits
    single = (left.seats[groups] == 1) & (left.size[groups] == 1)
    for t in range(len(left.other)):
        # Where the leaf of a target is told, its draws are those of its row.
        there = left.told[t, groups]
        own = left.other[t, rows][:, None]
        fits &= ~single | (there == 0) | (own == there)
    return fits


def _eliminate(left: _Left, drawn: npt.NDArray[np.int32]) -> bool:
    """Choices without alternative, until there are none; whether all is well."""
    while (left.value == -1).any():
        rows = np.flatnonzero(left.value == -1)
        groups = left.groups
        if len(rows) * len(groups) * (len(drawn) + len(left.other)) > _MOST_COMPARED:
            return True
        fits = _fits(left, drawn, rows, groups)
        forced = fits & (fits.sum(axis=1) == 1)[:, None]
        if left.seats is not None:
            forced |= fits & (fits.sum(axis=0) == left.seats[groups])
        forced &= (forced.sum(axis=1) == 1)[:, None]
        found = forced.any(axis=1)
        if not found.any():
            return True
        left.value[rows[found]] = groups[np.argmax(forced[found], axis=1)]
        left.take(rows[found], drawn)
        if not left.possible:
            return False
    return True


def _search(left: _Left, drawn: npt.NDArray[np.int32], deadline: float, seed: int) -> bool:
    """A choice that meets all equations; whether one was found in time."""
    rows, groups = np.flatnonzero(left.value == -1), left.groups
    if not left.possible or not len(drawn) or not len(groups):
        return False
    own = drawn[:, rows].astype(np.float64)
    wanted = np.vstack([left.draws[:, groups], left.rows[:, groups]]).astype(np.float64)
    choice = search_choice(np.vstack([own, own > 0]), wanted, deadline, seed)
    if choice is None:
        return False
    left.value[rows] = groups[choice]
    left.take(rows, drawn)
    return True
