"""Which leaf of every tree each row is in.

A row whose target nobody shares is where its target is.  Rows with equal targets are told apart by
their boxes: what the leaves found so far have in common.  Every step is a deduction, so what it
finds holds for every table with these leaves; rows that nothing tells apart are taken in any order.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from glassleak.errors import InconsistentModelError
from glassleak.reconstruction.regression._facts import Facts, IntArray
from glassleak.reconstruction.regression._people import People
from glassleak.reconstruction.regression._values import Shares
from glassleak.reconstruction.regression._who import complete_trees

UNKNOWN, ABSENT = -1, -2
# More rows with one target than this are not told apart row by row.
MOST_ALIKE = 400


@dataclass
class Places:
    """Where rows are; filled in step by step.

    Attributes
    ----------
    leaf : (trees, rows) int array
        The leaf of each row; `UNKNOWN` or `ABSENT` (not drawn).
    low, high : (rows, columns) int arrays
        What the leaves of each row have in common.
    certain : (rows,) bool array
        No place of the row was chosen among several.
    """

    leaf: npt.NDArray[np.int64]
    low: npt.NDArray[np.int32]
    high: npt.NDArray[np.int32]
    certain: npt.NDArray[np.bool_]

    def put(self, facts: Facts, row: int, leaf: int, tree: int) -> None:
        """Put a row into a leaf and narrow its box."""
        self.leaf[tree, row] = leaf
        np.maximum(self.low[row], facts.low[leaf], out=self.low[row])
        np.minimum(self.high[row], facts.high[leaf], out=self.high[row])

    def meets(self, facts: Facts, rows: IntArray, leaf: int) -> npt.NDArray[np.bool_]:
        """Which of `rows` could be in a leaf, by their boxes."""
        low = np.maximum(self.low[rows], facts.low[leaf])
        high = np.minimum(self.high[rows], facts.high[leaf])
        return np.asarray((low <= high).all(axis=1))


def place_named(facts: Facts, shares: Shares, people: People) -> Places:
    """Place rows whose target is nobody else's, and mark who was not drawn."""
    n_rows, n_columns = facts.n_rows, facts.low.shape[1]
    leaf = np.full((facts.n_trees, n_rows), UNKNOWN, dtype=np.int64)
    if facts.draws is not None:
        leaf[facts.draws == 0] = ABSENT
    last = np.array([len(values) - 1 for values in facts.levels], dtype=np.int32)
    places = Places(
        leaf, np.zeros((n_rows, n_columns), np.int32), np.tile(last, (n_rows, 1)),
        np.full(n_rows, people.complete),
    )  # fmt: skip
    named = people.value >= 0
    size = np.bincount(people.value[named], minlength=len(shares.values))
    row_of = np.full(len(shares.values), -1, dtype=np.int64)
    row_of[people.value[named]] = np.flatnonzero(named)
    if facts.bagged and facts.draws is None and not people.growing:
        whole = complete_trees(facts, shares)
        single = named & (size[np.maximum(people.value, 0)] == 1)
        leaf[np.ix_(whole, single)] = ABSENT
    own = np.flatnonzero(size[shares.value] == (-1 if people.growing else 1))
    rows, leaves = row_of[shares.value[own]], shares.leaf[own]
    leaf[facts.tree[leaves], rows] = leaves
    np.maximum.at(places.low, rows, facts.low[leaves])
    np.minimum.at(places.high, rows, facts.high[leaves])
    apart = (places.low > places.high).any(axis=1)
    if apart.any():
        raise InconsistentModelError(
            f"leaves with the target {shares.values[people.value[np.argmax(apart)]]!r} have no "
            "profile in common: the schema is too narrow, or the model was altered"
        )
    return places


@dataclass
class Alike:
    """The rows of one target and the leaves that hold them.

    Attributes
    ----------
    rows : list of int
    seats : dict of tree to dict of leaf to [rows, draws]
        Not yet taken.
    whole : (trees,) bool array
        Trees that tell all their leaves.
    spare : list of int, optional
        Rows without a target: where fewer rows reach a leaf than it holds, there are more rows with
        the target than were ever drawn together, and they are taken from here.
    """

    rows: list[int]
    seats: dict[int, dict[int, list[int]]]
    whole: npt.NDArray[np.bool_]
    spare: list[int] = field(default_factory=list)


def groups_alike(facts: Facts, shares: Shares, people: People) -> list[Alike]:
    """Targets that several rows have."""
    whole = complete_trees(facts, shares)
    named = people.value >= 0
    spare = np.flatnonzero(~named).tolist() if people.growing else []
    size = np.bincount(people.value[named], minlength=len(shares.values))
    order = np.argsort(shares.value, kind="stable")
    ends = np.searchsorted(shares.value[order], np.arange(len(shares.values) + 1))
    tree = facts.tree
    found = []
    for g in np.flatnonzero(size > (0 if people.growing else 1)).tolist():
        seats: dict[int, dict[int, list[int]]] = {}
        for k in order[ends[g] : ends[g + 1]].tolist():
            at = seats.setdefault(int(tree[shares.leaf[k]]), {})
            taken = at.setdefault(int(shares.leaf[k]), [0, 0])
            taken[0] += int(shares.distinct[k])
            taken[1] += int(shares.drawn[k])
        found.append(Alike(np.flatnonzero(people.value == g).tolist(), seats, whole, spare))
    return found


def place_alike(facts: Facts, places: Places, group: Alike, deadline: float = np.inf) -> bool:
    """Place the rows of one target as far as deductions go; whether all were placed.

    Raises
    ------
    InconsistentModelError
        A leaf can be reached by too few rows.
    """
    order = sorted(group.seats, key=lambda t: -len(group.seats[t]))
    # Trees to look at again: those not looked at since some row's box changed.
    stale = set(order)
    while True:
        while stale and time.monotonic() < deadline:
            for t in order:
                if t in stale:
                    stale.discard(t)
                    if _deduce(facts, places, group, t):
                        stale = {u for u in order if group.seats[u]}
        if time.monotonic() >= deadline or not any(
            _anyone(facts, places, group, t) for t in order if group.seats[t]
        ):
            break
        stale = {u for u in order if group.seats[u]}
    return not any(group.seats.values())


def reach_of(
    facts: Facts, places: Places, group: Alike, tree: int
) -> tuple[IntArray, list[int], npt.NDArray[np.bool_]]:
    """Rows without a place in a tree, its leaves with seats, and which row could be where."""
    own = np.array(group.rows)
    rows = own[places.leaf[tree, own] == UNKNOWN]
    leaves = list(group.seats[tree])
    at = np.array(leaves, dtype=np.int64)
    low = np.maximum(places.low[rows][:, None], facts.low[at][None])
    high = np.minimum(places.high[rows][:, None], facts.high[at][None])
    fits = (low <= high).all(axis=2)
    if facts.draws is not None and len(rows) and leaves:
        seats, draws = np.array([group.seats[tree][leaf] for leaf in leaves]).T
        drawn = facts.draws[tree, rows][:, None]
        fits &= np.where(seats == 1, drawn == draws, drawn <= draws - (seats - 1))
    return rows, leaves, fits


def seat(facts: Facts, places: Places, group: Alike, row: int, leaf: int, tree: int) -> None:
    """Put a row of the group into a leaf that has a seat left."""
    at = group.seats[tree]
    places.put(facts, row, leaf, tree)
    at[leaf][0] -= 1
    if facts.draws is not None:
        at[leaf][1] -= int(facts.draws[tree, row])
    if at[leaf][0] == 0:
        del at[leaf]
    if not at and group.whole[tree]:
        # Everybody else with this target was not drawn.
        for other in group.rows:
            if places.leaf[tree, other] == UNKNOWN:
                places.leaf[tree, other] = ABSENT


def _deduce(facts: Facts, places: Places, group: Alike, tree: int) -> bool:
    """Leaves that exactly as many rows reach as they hold; rows that reach one leaf only."""
    rows, leaves, fits = reach_of(facts, places, group, tree)
    if not leaves:
        return False
    seats = np.array([group.seats[tree][leaf][0] for leaf in leaves])
    number = fits.sum(axis=0)
    if (number < seats).any():
        lacking = int((seats - number).max())
        if len(group.spare) >= lacking:
            group.rows += [group.spare.pop() for _ in range(lacking)]
            return _deduce(facts, places, group, tree)
        if not places.certain[group.rows].all():
            return False
        raise InconsistentModelError(
            "too few rows reach the leaf: the schema is too narrow, or the model was altered",
            f"tree {tree}, leaf {facts.node[leaves[int(np.argmax(number < seats))]]}",
        )
    forced = fits & (number == seats)
    # Without known draws a row may be absent, and leaves that do not tell may hold it.
    if (not facts.bagged or facts.draws is not None) and group.whole[tree]:
        forced |= fits & (fits.sum(axis=1) == 1)[:, None]
    moved = False
    for i in np.flatnonzero(forced.any(axis=1)).tolist():
        leaf = leaves[int(np.argmax(forced[i]))]
        if leaf in group.seats[tree]:
            seat(facts, places, group, int(rows[i]), leaf, tree)
            moved = True
    return moved


def _anyone(facts: Facts, places: Places, group: Alike, tree: int) -> bool:
    """Seat rows where all that reach a leaf are the same so far: it can be any of them."""
    moved = False
    rows, leaves, fits = reach_of(facts, places, group, tree)
    signature = [_signature(facts, places, row) for row in rows.tolist()]
    free = np.ones(len(rows), dtype=bool)
    for k, leaf in enumerate(leaves):
        own = np.flatnonzero(fits[:, k] & free).tolist()
        if (facts.draws is not None and moved) or not own:
            break
        if len({signature[i] for i in own}) == 1 and len(own) >= group.seats[tree][leaf][0]:
            # Those not seated stay the same among each other, so the next leaf may follow.
            for i in own[: group.seats[tree][leaf][0]]:
                seat(facts, places, group, int(rows[i]), leaf, tree)
                free[i] = False
                moved = True
    return moved


def _signature(facts: Facts, places: Places, row: int) -> bytes:
    parts = [places.leaf[:, row].tobytes(), places.low[row].tobytes(), places.high[row].tobytes()]
    if facts.draws is not None:
        parts.append(facts.draws[:, row].tobytes())
    return b"".join(parts)
