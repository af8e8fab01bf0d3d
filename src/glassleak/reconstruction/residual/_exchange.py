"""Compiled search: all ways to place a few rows anew without touching any equation.

The rows are taken out; what they leave behind is a small exact cover problem, "columns that add up
to these counts".  It is searched completely, always filling the equation with the fewest candidate
columns first, so that dead ends show early.  Each set of columns is met once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glassleak._compiled import compiled

# Most rows taken out at a time, and the most whose places are told apart (see `best_order`).
MAX_ROWS = 32
MAX_NAMED = 6


@compiled
def fitting(columns: Any, n: int, starts: Any, entries: Any, left: Any, out: Any) -> int:
    """Those of the first `n` `columns` all of whose equations have something left."""
    kept = 0
    for i in range(n):
        c = columns[i]
        fits = True
        for s in range(starts[c], starts[c + 1]):
            if left[entries[s]] == 0:
                fits = False
                break
        if fits:
            out[kept] = c
            kept += 1
    return kept


@compiled
def scarcest(
    columns: Any, n: int, starts: Any, entries: Any, left: Any, touched: Any, n_touched: int,
    count: Any,
) -> int:  # fmt: skip
    """The unfilled equation with the fewest of the first `n` `columns`; -1 if one has none."""
    for t in range(n_touched):
        count[touched[t]] = 0
    for i in range(n):
        c = columns[i]
        for s in range(starts[c], starts[c + 1]):
            count[entries[s]] += 1
    best, fewest = -1, np.int64(1) << 60
    for t in range(n_touched):
        e = touched[t]
        # Ties by number, so that the order of the search does not depend on the present table.
        if left[e] > 0 and (count[e] < fewest or (count[e] == fewest and e < best)):
            best, fewest = e, count[e]
    return best if fewest > 0 else -1


@compiled
def best_order(chosen: Any, m: int, who: Any, energy: Any, least: Any, last: Any) -> float:
    """Give the `m` chosen columns to the rows `who` at the smallest total energy.

    Over subsets of the columns: ``least[mask]`` is the cheapest way for as many rows, in order, as
    the mask has bits.  Afterwards `chosen` is in the order of `who`.
    """
    full = (1 << m) - 1
    least[0] = 0.0
    for mask in range(1, full + 1):
        row = -1
        for j in range(m):
            row += (mask >> j) & 1
        least[mask] = np.inf
        for j in range(m):
            if (mask >> j) & 1:
                cost = least[mask ^ (1 << j)] + energy[who[row], chosen[j]]
                if cost < least[mask]:
                    least[mask] = cost
                    last[mask] = j
    mask = full
    order = np.empty(m, np.int64)
    for row in range(m - 1, -1, -1):
        order[row] = chosen[last[mask]]
        mask ^= 1 << last[mask]
    for row in range(m):
        chosen[row] = order[row]
    return float(least[full])


@compiled
def place(
    who: Any, m: int, columns: Any, room: Any, starts: Any, entries: Any, bits: Any,
    log_weight: Any, energy: Any, left: Any, touched: Any, n_touched: int, effort: int,
    count: Any, stack: Any, best: Any,
) -> int:  # fmt: skip
    """Search all ways to fill `left` with `m` columns and keep one in `best`.

    Without `energy` one way is drawn, in proportion to the product of the columns' weights and
    to the number of orders it can be written in.  With `energy` (row by column) the cheapest one
    is taken.

    Returns the number of ways, or -1 if that would take more than `effort`: which depends on
    what is to be filled and not on how it is filled now, so that giving up favours no table.
    """
    least = np.empty(1 << MAX_NAMED)
    last = np.empty(1 << MAX_NAMED, np.int64)
    chosen = np.empty(MAX_ROWS, np.int64)
    named = np.empty(MAX_ROWS, np.int64)
    n_here = np.zeros(MAX_ROWS + 1, np.int64)
    n_branch = np.zeros(MAX_ROWS + 1, np.int64)
    at = np.zeros(MAX_ROWS + 1, np.int64)
    here, branch = stack[0], stack[1]
    n_here[0] = fitting(columns, len(columns), starts, entries, left, here[0])
    width = 1 + (starts[len(starts) - 1] // max(1, len(starts) - 1))
    ways, level, spent, entering = 0, 0, 0, True
    top = -np.inf
    while True:
        if entering and level == m:
            ways += 1
            if energy.shape[0]:
                for i in range(m):
                    named[i] = chosen[i]
                value = -best_order(named, m, who, energy, least, last)
            else:
                value = 0.0
                for i in range(m):
                    value += log_weight[chosen[i]]
                    same = 1
                    for j in range(i):
                        same += chosen[j] == chosen[i]
                    value -= np.log(same)
                    named[i] = chosen[i]
                # The largest of values with Gumbel noise is a draw in proportion to exp(value).
                value -= np.log(-np.log(np.random.random()))  # noqa: NPY002
            if value > top:
                top = value
                for i in range(m):
                    best[i] = named[i]
            entering = False
            level -= 1
            c = chosen[level]
            room[c] += 1
            for s in range(starts[c], starts[c + 1]):
                left[entries[s]] += 1
            continue
        if entering:
            spent += 1 + n_here[level] * width
            if spent > effort:
                for i in range(level):
                    c = chosen[i]
                    room[c] += 1
                    for s in range(starts[c], starts[c + 1]):
                        left[entries[s]] += 1
                return -1
            e = scarcest(
                here[level], n_here[level], starts, entries, left, touched, n_touched, count
            )
            n_branch[level], at[level] = 0, 0
            if e >= 0:
                bit = np.uint64(1) << np.uint64(e & 63)
                for i in range(n_here[level]):
                    if bits[here[level, i], e >> 6] & bit:
                        branch[level, n_branch[level]] = here[level, i]
                        n_branch[level] += 1
            entering = False
        if at[level] >= n_branch[level]:
            if level == 0:
                return ways
            level -= 1
            c = chosen[level]
            room[c] += 1
            for s in range(starts[c], starts[c + 1]):
                left[entries[s]] += 1
            # Sets with this column have all been met: the following branches do without it.
            kept = 0
            for i in range(n_here[level]):
                if here[level, i] != c:
                    here[level, kept] = here[level, i]
                    kept += 1
            n_here[level] = kept
            continue
        c = branch[level, at[level]]
        at[level] += 1
        if room[c] == 0:
            continue
        chosen[level] = c
        room[c] -= 1
        for s in range(starts[c], starts[c + 1]):
            left[entries[s]] -= 1
        n_here[level + 1] = fitting(
            here[level], n_here[level], starts, entries, left, here[level + 1]
        )
        level += 1
        entering = True


@compiled
def exchange(
    rows: Any, z: Any, room: Any, starts: Any, entries: Any, bits: Any, share: Any,
    log_weight: Any, energy: Any, sizes: Any, steps: int, effort: int, seed: int, tally: Any,
) -> int:  # fmt: skip
    """Take `steps` times a few rows out and place them anew, changing `rows` and `z` in place.

    Half of the time the rows are any rows, otherwise rows that share an equation, which are more
    alike and have more ways.  Either choice has the same probability before and after, so that
    drawing among all ways is Gibbs sampling.

    Parameters
    ----------
    room : int array
        How often each column can still be used.
    share : float array
        Cumulated targets of the equations.
    tally : (MAX_ROWS + 1, 2) int array
        By number of rows: how often they were taken out, and how often that was given up.

    Returns the number of steps in which there was a choice.
    """
    np.random.seed(seed)  # noqa: NPY002 - the generator that compiled code has
    n, n_rows, n_equations = len(starts) - 1, len(rows), len(share)
    columns = np.arange(n)
    left = np.zeros(n_equations, np.int64)
    count = np.zeros(n_equations, np.int64)
    touched = np.empty(n_equations, np.int64)
    eligible = np.empty(n_rows, np.int64)
    stack = np.empty((2, MAX_ROWS + 1, n), np.int32)
    best = np.empty(MAX_ROWS, np.int64)
    choices = 0
    for _ in range(steps):
        m = sizes[np.random.randint(len(sizes))]  # noqa: NPY002
        k = 0
        if np.random.random() < 0.5:  # noqa: NPY002
            e = np.searchsorted(share, np.random.random() * share[-1], side="right")  # noqa: NPY002
            bit = np.uint64(1) << np.uint64(e & 63)
            for i in range(n_rows):
                if bits[rows[i], e >> 6] & bit:
                    eligible[k] = i
                    k += 1
        else:
            for i in range(n_rows):
                eligible[i] = i
            k = n_rows
        m = min(m, k)
        if m < 2:
            continue
        for i in range(m):
            j = i + np.random.randint(k - i)  # noqa: NPY002
            eligible[i], eligible[j] = eligible[j], eligible[i]
        n_touched = 0
        for i in range(m):
            c = rows[eligible[i]]
            room[c] += 1
            for s in range(starts[c], starts[c + 1]):
                if left[entries[s]] == 0:
                    touched[n_touched] = entries[s]
                    n_touched += 1
                left[entries[s]] += 1
        ways = place(
            eligible, m, columns, room, starts, entries, bits, log_weight, energy, left, touched,
            n_touched, effort, count, stack, best,
        )  # fmt: skip
        tally[m, 0] += 1
        tally[m, 1] += ways < 0
        choices += ways > 1
        for i in range(m):
            old = rows[eligible[i]]
            new = best[i] if ways > 0 else old
            room[new] -= 1
            z[old] -= 1
            z[new] += 1
            rows[eligible[i]] = new
        for t in range(n_touched):
            left[touched[t]] = 0
    return choices
