"""How many rows have each target, and, where draws are known, which rows they are."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from glassleak.errors import InconsistentModelError
from glassleak.reconstruction.regression._facts import Facts, IntArray
from glassleak.reconstruction.regression._values import Shares
from glassleak.reconstruction.regression._who import complete_trees, per_tree, who_is_who

# Of the time, for finding out which rows have which target.
_NAMING_SHARE = 0.4


@dataclass(frozen=True)
class People:
    """The rows, by name.

    Attributes
    ----------
    value : (rows,) int array
        The number of each row's target; -1 if it is not known.
    located : bool
        Rows stand at their own position of the training table.
    complete : bool
        It is proved how many rows have each target.
    reason : str
        Why rows are not located, or targets missing.
    growing : bool
        More rows may share a target than are listed: rows never drawn together.
    """

    value: IntArray
    located: bool
    complete: bool
    reason: str
    growing: bool = False


def people_of(facts: Facts, shares: Shares, deadline: float, seed: int = 0) -> People:
    """Name every row.

    Raises
    ------
    InconsistentModelError
        Trees contradict each other about the number of rows with some target.
    """
    distinct = per_tree(facts, shares, shares.distinct)
    size = distinct.max(axis=0, initial=0)
    whole = complete_trees(facts, shares)
    if not facts.bagged and (distinct[whole] != size).any():
        tree = int(np.flatnonzero((distinct[whole] != size).any(axis=1))[0])
        raise InconsistentModelError(
            "trees without bagging differ in how many rows have some target",
            f"tree {np.flatnonzero(whole)[tree]}",
        )
    sound = per_tree(facts, shares, shares.distinct * shares.sound).max(axis=0, initial=0)
    drawn_rows = facts.n_rows
    if facts.draws is not None:
        drawn_rows = int((facts.draws > 0).any(axis=0).sum())
    total = int(sound.sum())
    if total > drawn_rows:
        raise InconsistentModelError(
            f"leaves publish at least {total:,} rows with different names, "
            f"the model was trained on {drawn_rows:,}"
        )
    if facts.draws is not None:
        now = time.monotonic()
        who = who_is_who(
            facts, shares, whole, None if total < drawn_rows else size,
            now + _NAMING_SHARE * (deadline - now), seed,
        )  # fmt: skip
        if who is not None:
            proved = who.proved and total == drawn_rows
            return People(who.value, True, proved, "")
    return anonymous(facts, shares)


def anonymous(facts: Facts, shares: Shares) -> People:
    """Rows in no order, as many of each target as some tree shows."""
    size = per_tree(facts, shares, shares.distinct).max(axis=0, initial=0)
    sound = per_tree(facts, shares, shares.distinct * shares.sound).max(axis=0, initial=0)
    complete = int(sound.sum()) == facts.n_rows
    if size.sum() > facts.n_rows:
        size = sound  # what was tried out was wrong somewhere
    total = int(size.sum())
    value = np.full(facts.n_rows, -1, dtype=np.int64)
    value[:total] = np.repeat(np.arange(len(size)), size)
    reason = "which row is which is not told" if facts.bagged else ""
    if total < facts.n_rows:
        reason = f"the targets of {facts.n_rows - total:,} rows are not told by any one tree"
    return People(value, False, complete, reason, not complete)
