"""Random moves of one row or of two, accepted as Metropolis and Hastings prescribe.

Rows stand on *places*: the (profile, class) pairs the relaxation leaves plausible.  A row is taken
out and drawn anew from all places (Gibbs), or two rows exchange some of what they differ in.
Exchanges leave most leaves' counts as they are, which is what lets the search move when nearly
every leaf is exactly full.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glassleak._compiled import compiled
from glassleak.reconstruction.bagged._leaf_terms import Leaves, Memory, leaf_value, step_value

_NEGLIGIBLE = -25.0


class Places(NamedTuple):
    """Where rows can stand.

    Attributes
    ----------
    profile, label : int64 arrays
    leaf : (places, trees) int32 array
    levels : (places, attributes + 1) int64 array
        The class is the last attribute.
    weights : int64 array
        ``levels @ weights`` numbers all combinations; `numbers` (sorted) are those of the places.
    numbers : int64 array
    start, inside : arrays
        The places inside leaf g are ``inside[start[g] : start[g + 1]]``.
    """

    profile: npt.NDArray[np.int64]
    label: npt.NDArray[np.int64]
    leaf: npt.NDArray[np.int32]
    levels: npt.NDArray[np.int64]
    weights: npt.NDArray[np.int64]
    numbers: npt.NDArray[np.int64]
    start: npt.NDArray[np.int64]
    inside: npt.NDArray[np.int32]


class Table(NamedTuple):
    """A table under search, changed in place.

    Attributes
    ----------
    at : int64 array
        The place of every row.
    held : (leaves, classes) int32 array
        Rows per leaf and class.
    group : int32 array
        Rows of one group may stand on the same places; -1: the row never moves.
    allowed : (groups, places) bool array
    """

    at: npt.NDArray[np.int64]
    held: npt.NDArray[np.int32]
    group: npt.NDArray[np.int32]
    allowed: npt.NDArray[np.bool_]


def places_of(
    leaf: npt.NDArray[np.int32],
    sizes: npt.NDArray[np.int64],
    strides: npt.NDArray[np.int64],
    n_classes: int,
    n_leaves: int,
    numbers: npt.NDArray[np.int64],
) -> Places:
    """Index the pairs ``profile * n_classes + label`` listed in `numbers` (sorted)."""
    profile, label = np.divmod(numbers, n_classes)
    own = np.ascontiguousarray(leaf[profile])
    levels = np.column_stack([(profile[:, None] // strides) % sizes, label])
    counts = np.bincount(own.reshape(-1), minlength=n_leaves)
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    inside = np.empty(own.size, dtype=np.int32)
    _sort_by_leaf(own, start.copy(), inside)
    weights = np.append(strides * n_classes, 1).astype(np.int64)
    return Places(profile, label, own, levels, weights, numbers, start, inside)


@compiled
def _sort_by_leaf(leaf: Any, position: Any, inside: Any) -> None:
    for i in range(leaf.shape[0]):
        for t in range(leaf.shape[1]):
            g = leaf[i, t]
            inside[position[g]] = i
            position[g] += 1


@compiled
def total_value(lv: Leaves, memory: Memory, held: Any) -> Any:
    """Log-likelihood of all trees, up to a constant."""
    total = 0.0
    for g in range(len(lv.distinct)):
        total += leaf_value(lv, memory, g, held)
    return total


@compiled
def _place_row(places: Places, held: Any, come: Any, go: Any, a: int, sign: int) -> None:
    """Shift a row in or out; what was noted about its leaves is void."""
    c = places.label[a]
    for t in range(places.leaf.shape[1]):
        g = places.leaf[a, t]
        held[g, c] += sign
        for e in range(held.shape[1]):
            come[g, e] = np.nan
            go[g, e] = np.nan


@compiled
def _comes(lv: Leaves, memory: Memory, held: Any, come: Any, g: int, c: int) -> Any:
    """What one row more of class `c` changes in leaf `g`, noted for the next time."""
    if np.isnan(come[g, c]):
        come[g, c] = step_value(lv, memory, g, c, 1, held)
    return come[g, c]


@compiled
def _goes(lv: Leaves, memory: Memory, held: Any, go: Any, g: int, c: int) -> Any:
    """The same for one row less."""
    if np.isnan(go[g, c]):
        go[g, c] = step_value(lv, memory, g, c, -1, held)
    return go[g, c]


@compiled
def _in_turn(
    lv: Leaves, memory: Memory, held: Any, ga: int, ca: int, gb: int, cb: int, ga2: int, ca2: int,
    gb2: int, cb2: int,
) -> Any:  # fmt: skip
    """The change of one tree when leaves coincide: one step after the other."""
    total = step_value(lv, memory, ga, ca, -1, held)
    held[ga, ca] -= 1
    total += step_value(lv, memory, gb, cb, -1, held)
    held[gb, cb] -= 1
    total += step_value(lv, memory, ga2, ca2, 1, held)
    held[ga2, ca2] += 1
    total += step_value(lv, memory, gb2, cb2, 1, held)
    held[ga2, ca2] -= 1
    held[gb, cb] += 1
    held[ga, ca] += 1
    return total


@compiled
def two_rows(
    lv: Leaves, memory: Memory, leaf: Any, label: Any, held: Any, come: Any, go: Any, a: int,
    b: int, a2: int, b2: int,
) -> Any:  # fmt: skip
    """Change of the log-likelihood when two rows move from a and b to a2 and b2."""
    total = 0.0
    ca, cb, ca2, cb2 = label[a], label[b], label[a2], label[b2]
    for t in range(leaf.shape[1]):
        ga, gb, ga2, gb2 = leaf[a, t], leaf[b, t], leaf[a2, t], leaf[b2, t]
        if ga == ga2 and ca == ca2:
            if gb == gb2 and cb == cb2:
                continue
            if gb != gb2:
                total += _goes(lv, memory, held, go, gb, cb) + _comes(
                    lv, memory, held, come, gb2, cb2
                )
                continue
        elif gb == gb2 and cb == cb2:
            if ga != ga2:
                total += _goes(lv, memory, held, go, ga, ca) + _comes(
                    lv, memory, held, come, ga2, ca2
                )
                continue
        elif ga == gb2 and ca == cb2:
            if gb == ga2 and cb == ca2:
                continue
            if gb != ga2:
                total += _goes(lv, memory, held, go, gb, cb) + _comes(
                    lv, memory, held, come, ga2, ca2
                )
                continue
        elif gb == ga2 and cb == ca2:
            if ga != gb2:
                total += _goes(lv, memory, held, go, ga, ca) + _comes(
                    lv, memory, held, come, gb2, cb2
                )
                continue
        elif ga != gb and ga2 != gb2 and ga != ga2 and ga != gb2 and gb != ga2 and gb != gb2:
            total += (
                _goes(lv, memory, held, go, ga, ca)
                + _goes(lv, memory, held, go, gb, cb)
                + _comes(lv, memory, held, come, ga2, ca2)
                + _comes(lv, memory, held, come, gb2, cb2)
            )
            continue
        total += _in_turn(lv, memory, held, ga, ca, gb, cb, ga2, ca2, gb2, cb2)
    return total


@compiled
def exchange(
    lv: Leaves, memory: Memory, places: Places, log_prior: Any, table: Table, moving: Any,
    beta: float, steps: int, enough: int, seed: int,
) -> int:  # fmt: skip
    """Let two random rows exchange some attributes, `steps` times or `enough` accepted ones.

    Returns how many times they did.
    """
    np.random.seed(seed)  # noqa: NPY002 - the generator that compiled code has
    at, held, group, allowed = table.at, table.held, table.group, table.allowed
    n_moving, n_levels = len(moving), places.levels.shape[1]
    differ = np.empty(n_levels, np.int64)
    accepted = 0
    come, go = np.full(held.shape, np.nan), np.full(held.shape, np.nan)
    leaf, label = places.leaf, places.label
    for _ in range(steps):
        i = moving[np.random.randint(n_moving)]  # noqa: NPY002
        j = moving[np.random.randint(n_moving)]  # noqa: NPY002
        a, b = at[i], at[j]
        if a == b:
            continue
        n_differ = 0
        for k in range(n_levels):
            if places.levels[a, k] != places.levels[b, k]:
                differ[n_differ] = k
                n_differ += 1
        if n_differ < 2:
            continue
        number = places.numbers[a]
        change = np.int64(0)
        if np.random.random() < 0.5:  # noqa: NPY002
            k = differ[np.random.randint(n_differ)]  # noqa: NPY002
            change += (places.levels[b, k] - places.levels[a, k]) * places.weights[k]
        else:
            for m in range(n_differ):
                if np.random.random() < 0.5:  # noqa: NPY002
                    k = differ[m]
                    change += (places.levels[b, k] - places.levels[a, k]) * places.weights[k]
        if change == 0 or number + change == places.numbers[b]:
            continue
        a2 = np.searchsorted(places.numbers, number + change)
        if a2 >= len(places.numbers) or places.numbers[a2] != number + change:
            continue
        other = places.numbers[b] - change
        b2 = np.searchsorted(places.numbers, other)
        if b2 >= len(places.numbers) or places.numbers[b2] != other:
            continue
        if not (allowed[group[i], a2] and allowed[group[j], b2]):
            continue
        gain = two_rows(lv, memory, leaf, label, held, come, go, a, b, a2, b2)
        gain += log_prior[a2] + log_prior[b2] - log_prior[a] - log_prior[b]
        if gain >= 0.0 or np.random.random() < math.exp(beta * gain):  # noqa: NPY002
            _place_row(places, held, come, go, a, -1)
            _place_row(places, held, come, go, b, -1)
            _place_row(places, held, come, go, a2, 1)
            _place_row(places, held, come, go, b2, 1)
            at[i], at[j] = a2, b2
            accepted += 1
            if accepted >= enough:
                break
    return accepted


@compiled
def _all_gains(
    lv: Leaves, memory: Memory, places: Places, held: Any, gain: Any, score: Any
) -> None:
    for g in range(gain.shape[0]):
        for c in range(gain.shape[1]):
            gain[g, c] = step_value(lv, memory, g, c, 1, held)
    for i in range(len(score)):
        c = places.label[i]
        total = 0.0
        for t in range(places.leaf.shape[1]):
            total += gain[places.leaf[i, t], c]
        score[i] = total


@compiled
def _move(
    lv: Leaves, memory: Memory, places: Places, held: Any, gain: Any, score: Any, a: int, sign: int
) -> None:
    """Shift a row in or out and keep every place's score up to date."""
    c = places.label[a]
    for t in range(places.leaf.shape[1]):
        g = places.leaf[a, t]
        held[g, c] += sign
        if lv.draws[g, c] == 0:
            continue
        if lv.kind[g] >= 0:
            new = step_value(lv, memory, g, c, 1, held)
            change = new - gain[g, c]
            if change != 0.0:
                gain[g, c] = new
                for m in range(places.start[g], places.start[g + 1]):
                    k = places.inside[m]
                    if places.label[k] == c:
                        score[k] += change
            continue
        for e in range(gain.shape[1]):
            new = step_value(lv, memory, g, e, 1, held)
            change = new - gain[g, e]
            if change != 0.0:
                gain[g, e] = new
                for m in range(places.start[g], places.start[g + 1]):
                    k = places.inside[m]
                    if places.label[k] == e:
                        score[k] += change


@compiled
def redraw(
    lv: Leaves, memory: Memory, places: Places, log_prior: Any, table: Table, order: Any,
    beta: float, seed: int,
) -> int:  # fmt: skip
    """Draw every row listed in `order` anew from all places; how many moved."""
    np.random.seed(seed)  # noqa: NPY002 - the generator that compiled code has
    at, held, group, allowed = table.at, table.held, table.group, table.allowed
    n = len(places.label)
    gain = np.zeros(held.shape)
    score = np.zeros(n)
    heat = np.zeros(n)
    _all_gains(lv, memory, places, held, gain, score)
    moved = 0
    for i in order:
        a = at[i]
        _move(lv, memory, places, held, gain, score, a, -1)
        best = -1e300
        for k in range(n):
            heat[k] = beta * (score[k] + log_prior[k]) if allowed[group[i], k] else -1e300
            best = max(best, heat[k])
        total = 0.0
        for k in range(n):
            v = heat[k] - best
            if v > _NEGLIGIBLE:
                total += math.exp(v)
        u = np.random.random() * total  # noqa: NPY002
        a2 = a
        for k in range(n):
            v = heat[k] - best
            if v > _NEGLIGIBLE:
                u -= math.exp(v)
                if u <= 0.0:
                    a2 = k
                    break
        moved += a2 != a
        at[i] = a2
        _move(lv, memory, places, held, gain, score, a2, 1)
    return moved


@compiled
def redraw_some(
    lv: Leaves, memory: Memory, places: Places, log_prior: Any, table: Table, order: Any,
    chance: Any, tried: int, beta: float, seed: int,
) -> int:  # fmt: skip
    """Draw every row listed in `order` anew from `tried` random places and its own; how many moved.

    For leaves so large that keeping every place's score up to date takes longer.  `chance` (the
    running sum of each place's chance to be tried) makes up for places tried more often: iterated
    sampling importance resampling, which leaves the same distribution unchanged as `redraw`.
    """
    np.random.seed(seed)  # noqa: NPY002 - the generator that compiled code has
    at, held, group, allowed = table.at, table.held, table.group, table.allowed
    n, n_trees = len(places.label), places.leaf.shape[1]
    gain = np.zeros(held.shape)
    for g in range(held.shape[0]):
        for c in range(held.shape[1]):
            gain[g, c] = step_value(lv, memory, g, c, 1, held)
    heat = np.empty(tried + 1)
    place = np.empty(tried + 1, np.int64)
    moved = 0
    for i in order:
        a = at[i]
        _shift_gains(lv, memory, places, held, gain, a, -1)
        best = -1e300
        for m in range(tried + 1):
            k = a
            if m > 0:
                k = min(np.searchsorted(chance, np.random.random() * chance[-1]), n - 1)  # noqa: NPY002
            place[m] = k
            if not allowed[group[i], k]:
                heat[m] = -1e300
                continue
            c = places.label[k]
            score = log_prior[k]
            for t in range(n_trees):
                score += gain[places.leaf[k, t], c]
            own = chance[k] - chance[k - 1] if k > 0 else chance[0]
            heat[m] = beta * score - math.log(own)
            best = max(best, heat[m])
        total = 0.0
        for m in range(tried + 1):
            heat[m] = math.exp(heat[m] - best) if heat[m] > best + _NEGLIGIBLE else 0.0
            total += heat[m]
        u = np.random.random() * total  # noqa: NPY002
        a2 = a
        for m in range(tried + 1):
            u -= heat[m]
            if u <= 0.0 and heat[m] > 0.0:
                a2 = place[m]
                break
        moved += a2 != a
        at[i] = a2
        _shift_gains(lv, memory, places, held, gain, a2, 1)
    return moved


@compiled
def _shift_gains(
    lv: Leaves, memory: Memory, places: Places, held: Any, gain: Any, a: int, sign: int
) -> None:
    c = places.label[a]
    for t in range(places.leaf.shape[1]):
        g = places.leaf[a, t]
        held[g, c] += sign
        if lv.draws[g, c] > 0:
            for e in range(gain.shape[1]):
                gain[g, e] = step_value(lv, memory, g, e, 1, held)
