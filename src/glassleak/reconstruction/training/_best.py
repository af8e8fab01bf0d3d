"""The best split of a node's rows on one column, as scikit-learn finds it."""

from __future__ import annotations

from typing import Any

import numpy as np

from glassleak._compiled import compiled

# Values closer than this count as equal.
_SAME = np.float32(1e-7)


@compiled
def worth_of(low: Any, high: Any, entropy: int) -> Any:
    """What scikit-learn maximises over splits, from weights per class on both sides.

    Step by step as the library computes it: which of two equally good splits is found depends on
    the last bit.
    """
    n_low, n_high = 0.0, 0.0
    for c in range(len(low)):
        n_low += low[c]
        n_high += high[c]
    impure_low, impure_high = 0.0, 0.0
    if entropy:
        for c in range(len(low)):
            if low[c] > 0.0:
                share = low[c] / n_low
                impure_low -= share * (np.log(share) / np.log(2.0))
            if high[c] > 0.0:
                share = high[c] / n_high
                impure_high -= share * (np.log(share) / np.log(2.0))
    else:
        squares_low, squares_high = 0.0, 0.0
        for c in range(len(low)):
            squares_low += low[c] * low[c]
            squares_high += high[c] * high[c]
        impure_low = 1.0 - squares_low / (n_low * n_low)
        impure_high = 1.0 - squares_high / (n_high * n_high)
    return -n_high * impure_high - n_low * impure_low


@compiled
def best_split(
    row: Any, times: Any, value: Any, label: Any, n_classes: int, entropy: int, least: int,
    low_rows: int, worth: float, threshold: float,
) -> Any:  # fmt: skip
    """The best split of the rows `row` on the column `value`.

    Parameters
    ----------
    row, times : int and float arrays
        Rows of the node and how often they count.
    value : (rows of the table,) float32 array
    least : int
        Fewest rows on either side.
    low_rows : int
        Rows that went low in the published split if it is on this column, otherwise 0.
    worth, threshold : float
        What the published split is worth, and where it is.

    Returns
    -------
    constant : bool
        Nothing to split.
    best : float
        The largest worth; minus infinity if there is no admissible split.  With `low_rows` given,
        of the other splits only; and infinity if one of them is found before the published one
        and as good, or after it and better.
    there : bool
        Whether the published split is half way between the values next to it; true if it is on
        another column.
    """
    n = len(row)
    key = np.empty(n, np.float32)
    for k in range(n):
        key[k] = value[row[k]]
    smallest, largest = key[0], key[0]
    for k in range(1, n):
        smallest, largest = min(smallest, key[k]), max(largest, key[k])
    if largest <= np.float32(smallest + _SAME):
        return True, -np.inf, low_rows == 0
    order = np.argsort(key)
    low, high = np.zeros(n_classes), np.zeros(n_classes)
    for k in range(n):
        high[label[row[k]]] += times[k]
    best = -np.inf
    beaten, there = False, low_rows == 0
    for p in range(n - 1):
        k = order[p]
        c = label[row[k]]
        low[c] += times[k]
        high[c] -= times[k]
        if key[order[p + 1]] <= np.float32(key[k] + _SAME):
            continue
        n_low = p + 1
        if n_low < least or n - n_low < least:
            continue
        if n_low == low_rows:
            there = key[k] / 2.0 + key[order[p + 1]] / 2.0 == threshold
            continue
        own = worth_of(low, high, entropy)
        best = max(best, own)
        if low_rows > 0 and better(own, worth, n_low < low_rows):
            beaten = True
    return False, np.inf if beaten else best, there


@compiled
def better(one: float, published: float, before: bool) -> Any:
    """Whether `one` would have been taken; of equally good splits the one looked at first is.

    Sums of logarithms may be rounded differently elsewhere: what differs in the last bits only
    speaks for neither.
    """
    if one == published:
        return before
    return one - published > 1e-10 * (1.0 + abs(published))
