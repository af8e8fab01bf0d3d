"""Leaves that do not tell their rows: named rows are fitted into them by boxes and sums.

Without bagging, and with known draws, every row is in exactly one leaf of a tree.  Rows that other
trees have placed reach few leaves of this one, and a leaf's mean and variance choose among them.
"""

from __future__ import annotations

import itertools
import math
import time

import numpy as np
import numpy.typing as npt

from glassleak.reconstruction.regression._facts import Facts, FloatArray, IntArray
from glassleak.reconstruction.regression._people import People
from glassleak.reconstruction.regression._place import UNKNOWN, Places
from glassleak.reconstruction.regression._values import SAME, Shares

_MOST_CHOICES = 50_000
_MOST_ROUNDS = 50


def place_rest(
    facts: Facts, shares: Shares, people: People, places: Places, deadline: float
) -> int:
    """Fit rows into leaves that do not tell them; how many leaves stay open."""
    target = np.where(people.value >= 0, shares.values[people.value], np.nan)
    open_ = [t for t in range(facts.n_trees) if not shares.told[facts.leaves_of(t)].all()]
    usable = not facts.bagged or facts.draws is not None
    if usable and people.complete:
        for _ in range(_MOST_ROUNDS):
            moved = False
            for t in open_:
                if time.monotonic() > deadline:
                    break
                moved |= _fit(facts, shares, places, target, t)
            if not moved:
                break
    return sum(
        int((held_by(facts, places, t) != facts.distinct[facts.leaves_of(t)]).sum())
        for t in range(facts.n_trees)
    )


def held_by(facts: Facts, places: Places, tree: int) -> IntArray:
    """Rows placed in each leaf of a tree."""
    here = places.leaf[tree]
    return np.bincount(here[here >= 0] - facts.first[tree], minlength=len(facts.leaves_of(tree)))


def _fit(facts: Facts, shares: Shares, places: Places, target: FloatArray, tree: int) -> bool:
    leaves = facts.leaves_of(tree)
    held = held_by(facts, places, tree)
    if (held[shares.told[leaves]] != facts.distinct[leaves][shares.told[leaves]]).any():
        return False  # rows without a place may be in leaves that tell
    rows = np.flatnonzero(places.leaf[tree] == UNKNOWN)
    rest = leaves[(held < facts.distinct[leaves])]
    if not len(rows) or not len(rest):
        return False
    reach = np.column_stack([places.meets(facts, rows, leaf) for leaf in rest.tolist()])
    only = reach.sum(axis=1) == 1
    for k in np.flatnonzero(only).tolist():
        places.put(facts, int(rows[k]), int(rest[np.argmax(reach[k])]), tree)
    if only.any():
        return True
    open_ = facts.distinct[rest] - held[rest - facts.first[tree]]
    for k in np.argsort(open_).tolist():
        own = rows[reach[:, k]]
        chosen = _choice(facts, places, target, tree, int(rest[k]), own, int(open_[k]))
        if chosen is not None:
            for row in chosen.tolist():
                places.put(facts, row, int(rest[k]), tree)
            return True
    return False


def _choice(
    facts: Facts, places: Places, target: FloatArray, tree: int, leaf: int, rows: IntArray,
    number: int,
) -> IntArray | None:  # fmt: skip
    """The only rows that fill a leaf, if they are the only ones."""
    if len(rows) == number:
        return rows
    if len(rows) < number or not facts.means or math.comb(len(rows), number) > _MOST_CHOICES:
        return None
    inside = np.flatnonzero(places.leaf[tree] == leaf)
    sets = np.array(list(itertools.combinations(range(len(rows)), number)))
    everybody = np.column_stack([np.tile(inside, (len(sets), 1)), rows[sets]])
    fitting = fits_leaf(facts, leaf, tree, everybody, target)
    return rows[sets[np.argmax(fitting)]] if int(fitting.sum()) == 1 else None


def fits_leaf(
    facts: Facts, leaf: int, tree: int, rows: IntArray, target: FloatArray
) -> npt.NDArray[np.bool_]:
    """Which lines of `rows` have the draws, mean and variance the leaf publishes."""
    drawn = np.ones(rows.shape) if facts.draws is None else facts.draws[tree][rows].astype(float)
    total, values = drawn.sum(axis=1), target[rows]
    mean = (drawn * values).sum(axis=1) / total
    scale = np.abs(values).max(axis=1)
    fits = (total == facts.drawn[leaf]) | (facts.draws is None)
    # Computed targets (from pairs) are a little off; the published mean is not.
    fits &= np.abs(mean - facts.mean[leaf]) <= 1e3 * SAME * np.maximum(scale, abs(facts.mean[leaf]))
    if facts.variances:
        variance = (drawn * (values - mean[:, None]) ** 2).sum(axis=1) / total
        near = 1e3 * SAME * scale**2 + 4 * facts.slack[leaf]
        fits &= np.abs(variance - facts.spread[leaf]) <= near
    return np.asarray(fits)
