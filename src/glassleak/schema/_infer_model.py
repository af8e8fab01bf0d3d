"""Guess a schema from a model alone; where it leaves a doubt, more profiles are assumed, not fewer.

A split proves things: people were on both its sides.  What never happened in the model proves
nothing, it only supports, and only as far as the model had chances to show otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glassleak.schema._attributes import Attribute, Binary, Categorical, Numeric, Ordinal
from glassleak.schema._checks import MAX_WHOLE
from glassleak.schema._evidence import ONLY_MISSING, SplitEvidence
from glassleak.schema._infer_columns import MAX_ORDINAL, MAX_STEPS_OF_ONE
from glassleak.schema._infer_names import Hint, free_name, hints
from glassleak.schema._schema import Guess, Schema

# Splits on b that would be expected where a is 1, of unrelated columns, before none counts.  Of
# 2,650 simulated models, many on columns that only 1 to 11 rows kept from being one-hot, 10 made
# one exclude a row of its training table.
_ENOUGH_SPLITS = 10.0
# The same for "nobody has none of them", which fewer nodes can show.
_ENOUGH_WITHOUT = 20.0
# People that unrelated columns would be expected to share, as for tables.
_ENOUGH_ROWS = 5.0
# Beyond this a range has no finite width; no table has such numbers, a hostile file may.
_FAR = 8e307
_ABOVE_ZERO = 1e-30


def infer_from_model(evidence: SplitEvidence) -> Schema:
    """See `Schema.infer`."""
    singles = [
        _single(c, evidence.thresholds.get(c), _tells_0_from_1(c, i, evidence))
        for i, c in enumerate(evidence.columns)
    ]
    binary = {
        i
        for i, (attribute, _) in enumerate(singles)
        if isinstance(attribute, Binary) and evidence.splits[i] > 0
    }
    groups: list[_Exclusive] = []
    # Where no leaf is smaller, a few people with two of the values could never be seen.
    if evidence.smallest_leaf == 1:
        for hint in hints(evidence.columns, range(len(evidence.columns))):
            groups += _resolve(hint, binary, evidence)
    in_group = {member: group for group in groups for member in group.members}

    taken = set(evidence.columns)
    attributes: list[Attribute] = []
    guesses: list[Guess] = []
    for i, (attribute, guess) in enumerate(singles):
        group = in_group.get(i)
        if group is None:
            attributes.append(attribute)
            guesses.append(guess)
        elif group.members[0] == i:
            name = free_name(group.prefix, taken)
            taken.add(name)
            attribute, guess = _categorical(name, group, evidence)
            attributes.append(attribute)
            guesses.append(guess)
    return Schema(attributes, guesses)


def _tells_0_from_1(column: str, i: int, evidence: SplitEvidence) -> str:
    """Why all the model asks of a column is whether it is 0 or 1; empty if it may ask for more."""
    thresholds = evidence.thresholds.get(column, np.empty(0))
    if thresholds.size == 0:
        return ""
    low, high = float(thresholds[0]), float(thresholds[-1])
    strict, weak = "<" in evidence.comparisons, "<=" in evidence.comparisons
    if low < 0 or high > 1 or (low == 0 and strict) or (high == 1 and weak):
        return ""
    # Midway (scikit-learn), just above zero (LightGBM) or the upper value itself (XGBoost).
    if low == high and (low in (0.5, 1.0) or low < _ABOVE_ZERO):
        return f"the model asks one question of it only, at {low:g}"
    if evidence.again[i] or not evidence.splits[i]:
        return ""
    # Random splits lie anywhere between; two on one way to a leaf would tell more values apart.
    below = int(evidence.below[i]) + evidence.splits_without([column])
    if below * float(evidence.splits[i]) / float(evidence.splits.sum()) < _ENOUGH_SPLITS:
        return ""
    return f"{len(thresholds)} thresholds from 0 to 1, never two of them on the way to a leaf"


def _single(
    column: str, thresholds: npt.NDArray[np.float64] | None, tells_0_from_1: str
) -> tuple[Attribute, Guess]:
    """One column, from its thresholds."""
    if thresholds is None or len(thresholds) == 0:
        reason = "never used by the model: no count depends on it"
        return Binary(column), Guess(column, "yes or no (0 or 1)", reason, "model")
    if tells_0_from_1:
        return Binary(column), Guess(column, "yes or no (0 or 1)", tells_0_from_1, "model")
    missing = bool(thresholds[-1] >= ONLY_MISSING)
    numbers = thresholds[:-1] if missing else thresholds
    attribute, what, reason = _from_numbers(column, numbers, missing)
    if missing:
        what += " or missing"
        reason += "; some splits tell missing values from others"
    return attribute, Guess(column, what, reason, "model")


def _from_numbers(
    column: str, thresholds: npt.NDArray[np.float64], missing: bool
) -> tuple[Attribute, str, str]:
    if len(thresholds) == 0:
        reason = "the model never asks for its value"
        return Ordinal(column, 0, 1, missing=missing), "yes or no (0 or 1)", reason
    low, high = float(thresholds[0]), float(thresholds[-1])
    n = len(thresholds)
    seen = f"{n} threshold{'s' if n > 1 else ''} from {low:g} to {high:g}"
    wider = "the range is taken from them, the true one may be wider"
    halves = int(np.count_nonzero(thresholds % 1 == 0.5))
    whole = int(np.count_nonzero(thresholds % 1 == 0))
    # A threshold lies midway between two values: x.5, or whole where whole numbers are skipped.
    # Several of both kinds and none between are no accident; of a few, all have to be x.5.
    midway = halves + whole == n and (halves == n or (n >= 4 and 4 * halves >= n))
    first, last = math.floor(low), math.ceil(high)
    if midway:
        seen += f", {halves} of them midway between whole numbers"
        # A whole threshold separates the numbers beside it, not the number itself.
        first, last = first - (first == low), last + (last == high)
    reason = f"{seen}; {wider}"
    if midway and last - first < MAX_ORDINAL and max(-first, last) <= MAX_WHOLE:
        what = f"whole numbers from {first} to {last}"
        return Ordinal(column, first, last, missing=missing), what, reason
    # As far again on both sides as the thresholds reach, and at least 1, so that a column of zeros
    # and ones with few thresholds in between is inside; a single one says nothing about scale.
    margin = max(1.0, high - low if high > low else abs(low))
    bottom, top = max(low - margin, -_FAR), min(high + margin, _FAR)
    if midway and max(-bottom, top) < MAX_STEPS_OF_ONE:
        bottom, top = float(math.floor(bottom)), float(math.ceil(top))
        what = f"numbers from {bottom:g} to {top:g} in steps of 1"
        return Numeric(column, bottom, top, 1, missing=missing), what, reason
    what = f"numbers from {bottom:g} to {top:g}, of unknown resolution"
    return Numeric(column, bottom, top, missing=missing), what, reason


@dataclass(frozen=True)
class _Exclusive:
    """Columns of which the model supports that no two are 1 together."""

    members: tuple[int, ...]
    prefix: str
    expected: float
    whole: bool  # whether no column of that name is left out, whose people would have none


def _resolve(hint: Hint, binary: Set[int], evidence: SplitEvidence) -> list[_Exclusive]:
    """The columns of `hint` as one attribute, or its parts, as far as the model supports it."""
    index = np.array([m for m in hint.members if m in binary], dtype=np.intp)
    if len(index) < 2:
        return []
    together = evidence.together[index][:, index].toarray()
    if (together + together.T)[~np.eye(len(index), dtype=bool)].any():
        return [group for child in hint.children for group in _resolve(child, binary, evidence)]
    rate = evidence.splits[index] / max(int(evidence.splits.sum()), 1)
    chances = np.outer(evidence.below[index], rate)
    expected = chances + chances.T
    kept = _supported(expected, evidence.high_rows[index], evidence.n_rows)
    if len(kept) < 2:
        return [group for child in hint.children for group in _resolve(child, binary, evidence)]
    weakest = min(expected[a, b] for a in kept for b in kept if a != b)
    whole = len(kept) == len(hint.members)
    return [_Exclusive(tuple(index[kept].tolist()), hint.prefix, float(weakest), whole)]


def _supported(
    expected: npt.NDArray[np.float64], rows: npt.NDArray[np.int64], n_rows: int
) -> list[int]:
    """The columns left when those without enough support towards the others are taken away."""
    kept = [i for i in range(len(rows)) if rows[i] > 0]
    while len(kept) > 1:
        pairs = expected[np.ix_(kept, kept)]
        doubtful = (pairs < _ENOUGH_SPLITS).sum(axis=1) - 1
        doubtful += np.diagonal(pairs) >= _ENOUGH_SPLITS
        if doubtful.any():
            # Of equally doubtful columns the one with least support goes first.
            worst = max(range(len(kept)), key=lambda i: (doubtful[i], -pairs[i].sum()))
            kept.pop(worst)
            continue
        own = rows[kept].astype(np.float64)
        others = np.minimum((own.sum() - own) / max(n_rows, 1), 1 - 1e-9)
        shared = -own * np.log1p(-others)
        worst = int(np.argmin(shared))
        if shared[worst] >= _ENOUGH_ROWS:
            return kept
        kept.pop(worst)
    return []


def _categorical(name: str, group: _Exclusive, evidence: SplitEvidence) -> tuple[Attribute, Guess]:
    columns = tuple(evidence.columns[i] for i in group.members)
    chances = _chances_without(group.members, columns, evidence)
    seen = evidence.somebody_without(columns)
    absent = seen or not group.whole or chances < _ENOUGH_WITHOUT
    reason = (
        f"no split of the model is on one of them where another is 1, although "
        f"{group.expected:,.0f} or more would be expected for each two unrelated columns"
    )
    if absent:
        what = f"{len(columns)} one-hot columns: one or none of them is 1"
    else:
        what = f"{len(columns)} one-hot columns: one is 1"
        reason += f"; nor does anybody have none of them, in {chances:,.0f} chances to be seen"
    return Categorical(name, columns=columns, absent=absent), Guess(
        name, what, reason, "column name"
    )


def _chances_without(
    members: Sequence[int], columns: Sequence[str], evidence: SplitEvidence
) -> float:
    """Splits on a last column expected where all others are 0, had anybody none of them."""
    total = max(int(evidence.splits.sum()), 1)
    chances = 0.0
    for i, column in zip(members, columns, strict=True):
        others = [c for c in columns if c != column]
        chances += evidence.splits_without(others) * float(evidence.splits[i]) / total
    return chances
