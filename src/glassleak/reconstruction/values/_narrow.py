"""Narrow the values of one column until nothing changes.

In a node with threshold t the largest value that went low, a, and the smallest that went high, b,
satisfy ``a + b = 2 t``.  With an interval for every row this says: a lies between the largest lower
end and the largest upper end of its rows, b likewise, and each end bounds the other.  No row of the
low side exceeds a; if only one of them can reach it, that row does.  If both rows are known they
are linked (see `_chains`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glassleak._compiled import compiled
from glassleak.reconstruction.values._chains import Cells, difference, link, refresh, tighten
from glassleak.reconstruction.values._lattice import Lattice, at_least, at_most

# Rounding of the threshold to double precision, relative to the larger of the two values.
_ROUNDING = 4e-16
_LARGEST = 1e300
# Intervals are valid after any round; numbers without steps could shrink for very long.
_MOST_ROUNDS = 300
# Rows that could be the extreme one, compared pair by pair.
_MOST_COMPARED = 24


@compiled
def use_sides(splits: Any, lattice: Lattice, cells: Cells, skipped: Any, known: Any) -> None:
    """Rows that went low are at most the threshold, rows that went high above it.

    Splits that leave nothing to some row are marked in `skipped`.
    """
    for s in range(len(splits.start)):
        if abs(splits.threshold[s]) >= _LARGEST:
            continue
        most = at_most(lattice, splits.threshold[s])
        least = at_least(lattice, np.nextafter(splits.threshold[s], np.inf))
        for x in range(splits.start[s], splits.stop[s]):
            i = splits.row[x]
            if not known[i]:
                continue
            if x < splits.middle[s]:
                outcome = tighten(cells, lattice, i, -np.inf, most)
            else:
                outcome = tighten(cells, lattice, i, least, np.inf)
            if outcome < 0:
                skipped[s] = True


@compiled
def use_midpoints(
    splits: Any, lattice: Lattice, cells: Cells, skipped: Any, known: Any, stop_at_conflict: bool
) -> Any:
    """Narrow `cells` until nothing changes; contradictory splits are marked in `skipped`.

    Returns
    -------
    bool
        Whether no contradiction was met.
    """
    fine, changed, rounds = True, True, 0
    while changed and rounds < _MOST_ROUNDS:
        changed = False
        rounds += 1
        for s in range(len(splits.start)):
            if skipped[s] or abs(splits.threshold[s]) >= _LARGEST:
                continue
            outcome = _meet_half_way(splits, s, lattice, cells, known)
            if outcome < 0:
                fine = False
                if stop_at_conflict:
                    return False
                skipped[s] = True
            elif outcome > 0:
                changed = True
        outcome = refresh(cells, lattice, known)
        if outcome < 0:
            fine = False
            if stop_at_conflict:
                return False
        elif outcome > 0:
            changed = True
    return fine


@compiled
def _ends_of(row: Any, start: int, stop: int, cells: Cells, known: Any, sign: int) -> Any:
    """Smallest and largest value of the largest row (sign 1), or minus the smallest's (-1)."""
    least, most, n_rows = -np.inf, -np.inf, 0
    for x in range(start, stop):
        i = row[x]
        if known[i]:
            n_rows += 1
            least = max(least, cells.low[i] if sign > 0 else -cells.high[i])
            most = max(most, cells.high[i] if sign > 0 else -cells.low[i])
    return least, most, n_rows


@compiled
def _meet_half_way(splits: Any, s: int, lattice: Lattice, cells: Cells, known: Any) -> Any:
    """Use one split: 1 if something was narrowed, 0 if not, -1 if it contradicts the rest."""
    start, middle, stop = splits.start[s], splits.middle[s], splits.stop[s]
    a_low, a_high, n_low = _ends_of(splits.row, start, middle, cells, known, 1)
    b_high, b_low, n_high = _ends_of(splits.row, middle, stop, cells, known, -1)
    if n_low == 0 or n_high == 0:
        return -1
    b_low, b_high = -b_low, -b_high
    twice = 2.0 * splits.threshold[s]
    slack = _ROUNDING * max(max(abs(a_low), abs(a_high)), max(abs(b_low), abs(b_high)))
    before = np.inf
    # Single precision and steps make each end bound the other more than once.
    while True:
        a_low = max(a_low, at_least(lattice, twice - b_high - slack))
        a_high = min(a_high, at_most(lattice, twice - b_low + slack))
        b_low = max(b_low, at_least(lattice, twice - a_high - slack))
        b_high = min(b_high, at_most(lattice, twice - a_low + slack))
        if a_low > a_high or b_low > b_high:
            return -1
        width = (a_high - a_low) + (b_high - b_low)
        if width == before:
            break
        before = width
    one, changed = _bound(splits.row, start, middle, lattice, cells, known, a_low, a_high, 1)
    if changed < 0:
        return -1
    other, more = _bound(splits.row, middle, stop, lattice, cells, known, b_low, b_high, -1)
    if more < 0:
        return -1
    linked = link(cells, lattice, one, other, twice) if one >= 0 and other >= 0 else 0
    return -1 if linked < 0 else max(changed, max(more, linked))


@compiled
def _bound(
    row: Any, start: int, stop: int, lattice: Lattice, cells: Cells, known: Any, least: float,
    most: float, sign: int,
) -> Any:  # fmt: skip
    """The largest (sign 1) or smallest (-1) of the rows lies between `least` and `most`.

    Returns the row that is it, -1 if several could be, and whether anything changed.
    """
    changed, reaching = 0, 0
    extreme = np.empty(_MOST_COMPARED, np.int64)
    for x in range(start, stop):
        i = row[x]
        if not known[i]:
            continue
        if sign > 0:
            outcome = tighten(cells, lattice, i, -np.inf, most)
            reaches = cells.high[i] >= least
        else:
            outcome = tighten(cells, lattice, i, least, np.inf)
            reaches = cells.low[i] <= most
        if outcome < 0:
            return -1, -1
        changed = max(changed, outcome)
        if reaches:
            if reaching < _MOST_COMPARED:
                extreme[reaching] = i
            reaching += 1
    if reaching == 0:
        return -1, -1
    if reaching > _MOST_COMPARED:
        return -1, changed
    best = _undisputed(cells, extreme, reaching, sign)
    if best >= 0:
        outcome = tighten(cells, lattice, best, least, most)
        if outcome < 0:
            return -1, -1
        changed = max(changed, outcome)
    return best, changed


@compiled
def _undisputed(cells: Cells, rows: Any, n_rows: int, sign: int) -> Any:
    """The row that is never less extreme than any other; -1 if there is none."""
    best = rows[0]
    for k in range(1, n_rows):
        least, most = difference(cells, rows[k], best)
        if (least if sign > 0 else -most) >= 0:
            best = rows[k]
    for k in range(n_rows):
        if rows[k] != best:
            least, most = difference(cells, best, rows[k])
            if (least if sign > 0 else -most) < 0:
                return -1
    return best


@compiled
def reproduced(splits: Any, values: Any, known: Any) -> Any:
    """For every split, whether `values` give exactly its threshold."""
    out = np.zeros(len(splits.start), np.bool_)
    for s in range(len(splits.start)):
        a, b = -np.inf, np.inf
        for x in range(splits.start[s], splits.stop[s]):
            i = splits.row[x]
            if known[i] and x < splits.middle[s]:
                a = max(a, values[i])
            elif known[i]:
                b = min(b, values[i])
        if abs(splits.threshold[s]) >= _LARGEST:
            out[s] = b == np.inf
        else:
            out[s] = a / 2.0 + b / 2.0 == splits.threshold[s]
    return out
