r"""How likely each row is in each leaf, given how likely all other rows are where.

Belief propagation (sum-product) on the graph of rows and leaves.  What a leaf v tells row i is the
ratio

.. math:: r_i(v, c) = \frac{P(\text{the others count } n_{tv} - m_{ti} e_c \text{ and } d_{tv} - 1)}
                           {P(\text{the others count } n_{tv} \text{ and } d_{tv})}

where the others are taken to be independent and placed by what all *other* trees say about them.
Leaves with few states are summed exactly; in large leaves the sums are taken for normal.  Trees
take turns: each one uses what the one before has just said, without which rows overreact together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glassleak._compiled import compiled
from glassleak.reconstruction.replayed._places import Places
from glassleak.reconstruction.replayed._possible import Rows
from glassleak.reconstruction.replayed._problem import Leaves
from glassleak.reconstruction.replayed._states import rows_in, states_of

MAX_STATES = 600
# No single leaf may be more certain than this, in natural logarithms: it may be wrong for now.
CEILING = 30.0
_TINY = 1e-250
_LEAST = 1e-12


@compiled
def sweep(
    turn: Any, rows: Rows, places: Places, leaves: Leaves, score: Any, said: Any, share: Any,
    says: Any, sharpness: float, damping: float,
) -> None:  # fmt: skip
    """Let every tree of `turn` speak once.

    Changes in place `score` (per possibility, log of its belief up to a constant per row) and
    `said` (per place, the log ratio its leaf last said); `share` and `says` are scratch.
    """
    for t in turn:
        first, last = places.first_in_tree[t], places.first_in_tree[t + 1]
        for x in range(first, last):
            _without_tree(rows, places, places.in_tree[x], score, said, share)
        for v in range(leaves.first[t], leaves.first[t + 1]):
            if places.first_in_leaf[v + 1] > places.first_in_leaf[v]:
                _speak(places, leaves, v, share, says)
        for x in range(first, last):
            slot = places.in_tree[x]
            i = places.slot_row[slot]
            n_trees = rows.first_tree[i + 1] - rows.first_tree[i]
            for q in range(places.first[slot], places.first[slot + 1]):
                says[q] = (1 - damping) * (sharpness * says[q] - said[q])
                said[q] += says[q]
            entry = rows.entry[i] + places.slot_tree[slot]
            for j in range(rows.first[i], rows.first[i + 1]):
                score[j] += says[places.of[entry]]
                entry += n_trees


@compiled
def _without_tree(rows: Rows, places: Places, slot: int, score: Any, said: Any, share: Any) -> None:
    """Where the slot's row is in this tree, by what all other trees say."""
    i = places.slot_row[slot]
    n_trees = rows.first_tree[i + 1] - rows.first_tree[i]
    begin = rows.entry[i] + places.slot_tree[slot]
    highest = -np.inf
    entry = begin
    for j in range(rows.first[i], rows.first[i + 1]):
        highest = max(highest, score[j] - said[places.of[entry]])
        entry += n_trees
    for q in range(places.first[slot], places.first[slot + 1]):
        share[q] = 0.0
    total = 0.0
    entry = begin
    for j in range(rows.first[i], rows.first[i + 1]):
        q = places.of[entry]
        w = np.exp(score[j] - said[q] - highest)
        share[q] += w
        total += w
        entry += n_trees
    for q in range(places.first[slot], places.first[slot + 1]):
        share[q] = max(share[q] / total, _LEAST)


@compiled
def _speak(places: Places, leaves: Leaves, v: int, share: Any, says: Any) -> None:
    begins = rows_in(
        places.in_leaf, places.row, places.first_in_leaf[v], places.first_in_leaf[v + 1]
    )
    n_states, weight, digit = states_of(leaves, v, MAX_STATES)
    if n_states == 0:
        for x in range(places.first_in_leaf[v], places.first_in_leaf[v + 1]):
            says[places.in_leaf[x]] = 0.0
    elif n_states > 0:
        _speak_exactly(places, begins, n_states, weight, digit, share, says)
    else:
        _speak_roughly(places, leaves, v, begins, share, says)


@compiled
def _speak_exactly(
    places: Places, begins: Any, n_states: int, weight: Any, digit: Any, share: Any, says: Any
) -> None:
    n_rows, full, n_classes = len(begins) - 1, n_states - 1, len(digit)
    before = np.zeros((n_rows + 1, n_states))
    before[0, 0] = 1.0
    for u in range(n_rows):
        _count_row(places, begins, u, weight, digit, share, before[u], before[u + 1])
    after, further = np.zeros(n_states), np.zeros(n_states)
    after[0] = 1.0
    for u in range(n_rows - 1, -1, -1):
        out = 0.0
        for s in range(n_states):
            out += before[u, s] * after[full - s]
        for y in range(begins[u], begins[u + 1]):
            q = places.in_leaf[y]
            c, times = places.label[q], places.times[q]
            room = digit[c, full] - times if weight[c] > 0 else 0
            step = times * weight[c] + weight[n_classes]
            inside = 0.0
            for s in range(full - step + 1):
                if before[u, s] != 0.0 and digit[c, s] <= room:
                    inside += before[u, s] * after[full - step - s]
            ratio = np.log(max(inside, _TINY)) - np.log(max(out, _TINY))
            says[q] = min(max(ratio, -CEILING), CEILING)
        _count_row(places, begins, u, weight, digit, share, after, further)
        for s in range(n_states):
            after[s] = further[s]


@compiled
def _count_row(
    places: Places, begins: Any, u: int, weight: Any, digit: Any, share: Any, now: Any, then: Any
) -> None:
    """Distribution over states after row `u`, scaled to sum 1."""
    n_states, n_classes = len(now), len(digit)
    out = 1.0
    for y in range(begins[u], begins[u + 1]):
        out -= share[places.in_leaf[y]]
    out = max(out, 0.0)
    for s in range(n_states):
        then[s] = now[s] * out
    for y in range(begins[u], begins[u + 1]):
        q = places.in_leaf[y]
        c, times = places.label[q], places.times[q]
        room = digit[c, n_states - 1] - times if weight[c] > 0 else 0
        step = times * weight[c] + weight[n_classes]
        for s in range(n_states - step):
            if now[s] != 0.0 and digit[c, s] <= room:
                then[s + step] += now[s] * share[q]
    total = 0.0
    for s in range(n_states):
        total += then[s]
    if total > 0:
        for s in range(n_states):
            then[s] /= total


@compiled
def _speak_roughly(
    places: Places, leaves: Leaves, v: int, begins: Any, share: Any, says: Any
) -> None:
    n_rows, n_classes = len(begins) - 1, leaves.draws.shape[1]
    size = n_classes + 1
    goal = np.zeros(size)
    mean = np.zeros(size)
    spread = np.zeros((size, size))
    own = np.zeros(size)
    for u in range(n_rows):
        own[:] = 0.0
        for y in range(begins[u], begins[u + 1]):
            q = places.in_leaf[y]
            c, times, w = places.label[q], places.times[q], share[q]
            own[c] += w * times
            own[n_classes] += w
            spread[c, c] += w * times * times
            spread[c, n_classes] += w * times
            spread[n_classes, c] += w * times
            spread[n_classes, n_classes] += w
        for a in range(size):
            mean[a] += own[a]
            for b in range(size):
                spread[a, b] -= own[a] * own[b]
    for a in range(size):
        stated = leaves.draws[v, a] if a < n_classes else leaves.distinct[v]
        goal[a] = stated
        if stated < 0:
            goal[a] = mean[a]
            spread[a, :] = 0.0
            spread[:, a] = 0.0
            spread[a, a] = 1e12
        # Whole numbers: a twelfth is the variance of rounding.
        spread[a, a] += 1 / 12
    inverse = np.linalg.inv(spread)
    gap = np.zeros(size)
    for u in range(n_rows):
        own[:] = 0.0
        for y in range(begins[u], begins[u + 1]):
            q = places.in_leaf[y]
            own[places.label[q]] += share[q] * places.times[q]
            own[n_classes] += share[q]
        for a in range(size):
            gap[a] = goal[a] - mean[a] + own[a]
        for y in range(begins[u], begins[u + 1]):
            q = places.in_leaf[y]
            c, times = places.label[q], places.times[q]
            # Half the difference of two quadratic forms: gap, and gap without this row.
            ratio = 0.0
            for a in range(size):
                ratio += gap[a] * (times * inverse[a, c] + inverse[a, n_classes])
            ratio -= 0.5 * (
                times * times * inverse[c, c]
                + 2 * times * inverse[c, n_classes]
                + inverse[n_classes, n_classes]
            )
            says[q] = min(max(ratio, -CEILING), CEILING)
