"""Narrow the values of one column until nothing changes.

In a node with threshold t the largest value that went low, a, and the smallest that went high, b,
satisfy ``a + b = 2 t``.  With an interval for every row this says: a lies between the largest lower
end and the largest upper end of its rows, b likewise, and each end bounds the other.  No row of the
low side exceeds a; if only one of them can reach it, that row does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glassleak._compiled import compiled
from glassleak.reconstruction.values._lattice import Lattice, at_least, at_most

# Rounding of the threshold to double precision, relative to the larger of the two values.
_ROUNDING = 4e-16
_LARGEST = 1e300
# Intervals are valid after any round; numbers without steps could shrink for very long.
_MOST_ROUNDS = 300


@compiled
def narrow(
    splits: Any, lattice: Lattice, midpoints: bool, low: Any, high: Any, skipped: Any, known: Any
) -> int:
    """Narrow `low` and `high` in place, and mark contradictory splits in `skipped`.

    Parameters
    ----------
    midpoints : bool
        Whether thresholds are half way between values; otherwise only sides are used.
    known : bool array
        Rows that have a value in this column at all.

    Returns
    -------
    int
        Rounds until nothing changed.
    """
    for s in range(len(splits.start)):
        _sides(splits, s, lattice, low, high, skipped, known)
    if not midpoints:
        return 0
    rounds = 0
    changed = True
    while changed and rounds < _MOST_ROUNDS:
        changed = False
        rounds += 1
        for s in range(len(splits.start)):
            if not skipped[s] and abs(splits.threshold[s]) < _LARGEST:
                outcome = _meet_half_way(splits, s, lattice, low, high, known)
                if outcome < 0:
                    skipped[s] = True
                elif outcome > 0:
                    changed = True
    return rounds


@compiled
def _sides(
    splits: Any, s: int, lattice: Lattice, low: Any, high: Any, skipped: Any, known: Any
) -> None:
    """Rows that went low are at most the threshold, rows that went high above it."""
    if abs(splits.threshold[s]) >= _LARGEST:
        return
    most = at_most(lattice, splits.threshold[s])
    least = at_least(lattice, np.nextafter(splits.threshold[s], np.inf))
    for x in range(splits.start[s], splits.stop[s]):
        i = splits.row[x]
        if not known[i]:
            continue
        if x < splits.middle[s]:
            if low[i] > most:
                skipped[s] = True
            else:
                high[i] = min(high[i], most)
        elif high[i] < least:
            skipped[s] = True
        else:
            low[i] = max(low[i], least)


@compiled
def _ends_of(row: Any, start: int, stop: int, low: Any, high: Any, known: Any, sign: float) -> Any:
    """Smallest and largest value the largest (sign 1) or smallest (-1) row can have."""
    least, most, n_rows = -np.inf, -np.inf, 0
    for x in range(start, stop):
        i = row[x]
        if known[i]:
            n_rows += 1
            least = max(least, low[i] if sign > 0 else -high[i])
            most = max(most, high[i] if sign > 0 else -low[i])
    return least, most, n_rows


@compiled
def _meet_half_way(splits: Any, s: int, lattice: Lattice, low: Any, high: Any, known: Any) -> int:
    """Use one split: 1 if something was narrowed, 0 if not, -1 if it contradicts the rest."""
    start, middle, stop = splits.start[s], splits.middle[s], splits.stop[s]
    a_low, a_high, n_low = _ends_of(splits.row, start, middle, low, high, known, 1.0)
    b_high, b_low, n_high = _ends_of(splits.row, middle, stop, low, high, known, -1.0)
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
    changed = _not_above(splits.row, start, middle, low, high, known, a_low, a_high)
    changed += _not_below(splits.row, middle, stop, low, high, known, b_low, b_high)
    return 1 if changed else 0


@compiled
def _not_above(
    row: Any, start: int, stop: int, low: Any, high: Any, known: Any, least: float, most: float
) -> int:
    """The largest of the rows lies between `least` and `most`."""
    changed, reaching, last = 0, 0, -1
    for x in range(start, stop):
        i = row[x]
        if not known[i]:
            continue
        if high[i] > most:
            high[i] = most
            changed = 1
        if high[i] >= least:
            reaching += 1
            last = i
    if reaching == 1 and low[last] < least:
        low[last] = least
        changed = 1
    return changed


@compiled
def _not_below(
    row: Any, start: int, stop: int, low: Any, high: Any, known: Any, least: float, most: float
) -> int:
    """The smallest of the rows lies between `least` and `most`."""
    changed, reaching, last = 0, 0, -1
    for x in range(start, stop):
        i = row[x]
        if not known[i]:
            continue
        if low[i] < least:
            low[i] = least
            changed = 1
        if low[i] <= most:
            reaching += 1
            last = i
    if reaching == 1 and high[last] > most:
        high[last] = most
        changed = 1
    return changed


@compiled
def reproduced(splits: Any, values: Any, known: Any) -> Any:
    """For every split, whether `values` give exactly its threshold."""
    out = np.zeros(len(splits.start), np.bool_)
    for s in range(len(splits.start)):
        start, middle, stop = splits.start[s], splits.middle[s], splits.stop[s]
        _, a, n_low = _ends_of(splits.row, start, middle, values, values, known, 1.0)
        _, b, n_high = _ends_of(splits.row, middle, stop, values, values, known, -1.0)
        if abs(splits.threshold[s]) >= _LARGEST:
            out[s] = n_high == 0
        else:
            out[s] = n_low > 0 and n_high > 0 and a / 2.0 + -b / 2.0 == splits.threshold[s]
    return out
