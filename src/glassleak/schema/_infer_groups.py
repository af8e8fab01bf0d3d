"""Which yes/no columns of a table are one attribute: every claim is checked against every row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glassleak.schema._infer_names import Hint
from glassleak.schema._patterns import consecutive_order, distinct_patterns

Block = npt.NDArray[np.uint8]

# Rows that independent columns would be expected to break a rule in, before none doing so counts:
# exp(-5) is a chance of 0.7 %.
ENOUGH = 5.0
MIN_ROWS = 5
MIN_ROWS_WITHOUT_NAMES = 20
# Nobody cuts one number into more overlapping bins, and comparing all pairs of columns is dear.
_MAX_BINS = 100


@dataclass(frozen=True)
class Group:
    """Columns that the data show to be one attribute.

    Attributes
    ----------
    members : tuple of int
        Positions, in the table's order.
    prefix : str
        What their names share; empty if names played no part.
    patterns : tuple of tuple of int, optional
        Combinations that occur; ``None`` for one-hot columns.
    absent : bool
        One-hot only: whether some row has none of them.
    reason : str
        What was checked, with figures.
    """

    members: tuple[int, ...]
    prefix: str
    reason: str
    absent: bool = False
    patterns: tuple[tuple[int, ...], ...] | None = None


@dataclass(frozen=True)
class Unsettled:
    """A column whose name suggests a group that the data neither refute nor support."""

    member: int
    prefix: str
    reason: str


def by_names(
    block: Block, hints: Sequence[Hint], n_columns: int
) -> tuple[list[Group], list[Unsettled]]:
    """Groups that names suggest and data support.

    Parameters
    ----------
    block : (rows, table columns) uint8 array
        Zeros and ones; columns that are something else are not mentioned in `hints`.
    """
    groups: list[Group] = []
    unsettled: dict[int, Unsettled] = {}
    for hint in hints:
        groups += _resolve(block, hint, unsettled)
    grouped = {member for group in groups for member in group.members}
    return groups, [unsettled[m] for m in range(n_columns) if m in unsettled and m not in grouped]


def without_names(block: Block, free: Sequence[bool]) -> list[Group]:
    """Runs of three and more adjacent `free` columns that add up to 1 in every row."""
    n_rows, n_columns = block.shape
    if n_rows < MIN_ROWS_WITHOUT_NAMES:
        return []
    ones = block.sum(axis=0, dtype=np.int64)
    usable = np.asarray(free) & (ones > 0) & (ones < n_rows)
    groups: list[Group] = []
    start = 0
    while start < n_columns:
        # Each column has ones, so at most one run from here can hold n_rows of them.
        stop, total = start, 0
        while stop < n_columns and usable[stop] and total < n_rows:
            total += int(ones[stop])
            stop += 1
        if total == n_rows and stop - start >= 3 and (block[:, start:stop].sum(axis=1) == 1).all():
            groups.append(
                Group(
                    tuple(range(start, stop)),
                    "",
                    f"exactly one of these {stop - start} adjacent columns is 1 "
                    f"in each of {n_rows:,} rows",
                )
            )
            start = stop
        else:
            start += 1
    return groups


def _resolve(block: Block, hint: Hint, unsettled: dict[int, Unsettled]) -> list[Group]:
    """Take `hint` as one attribute if the data agree, otherwise look at its parts."""
    whole = _one_hot(block, hint, unsettled)
    if whole is not None:
        return [whole]
    parts = [(child, _resolve(block, child, unsettled)) for child in hint.children]
    # Two attributes whose names begin alike ("capital_gain", "capital_loss") stay two, even if
    # few combinations of them occur; two bins of one attribute ("age_18_20", "age_18_22") do not.
    if not parts or not all(_settled(child, groups) for child, groups in parts):
        bins = _bins(block, hint)
        if bins is not None:
            return [bins]
    return [group for _, groups in parts for group in groups]


def _settled(child: Hint, groups: list[Group]) -> bool:
    covered = {member for group in groups for member in group.members}
    one_hot = all(group.patterns is None for group in groups)
    return covered == set(child.members) and (one_hot or child.certain)


def _one_hot(block: Block, hint: Hint, unsettled: dict[int, Unsettled]) -> Group | None:
    part = block[:, list(hint.members)]
    n_rows = len(part)
    sums = part.sum(axis=1, dtype=np.int64)
    if sums.max() > 1:
        return None
    ones = part.sum(axis=0, dtype=np.int64)
    complete = bool((sums == 1).all())
    kept = _with_evidence(ones, n_rows, complete)
    for i, member in enumerate(hint.members):
        if i not in kept:
            unsettled[member] = Unsettled(
                member,
                hint.prefix,
                f"never 1 together with another column named {hint.prefix!r}…, but it is 1 in "
                f"only {ones[i]:,} of {n_rows:,} rows",
            )
    if len(kept) < 2:
        return None
    members = tuple(hint.members[i] for i in kept)
    if complete:
        reason = f"exactly one of them is 1 in each of {n_rows:,} rows"
    else:
        counts = ones[kept].astype(float)
        expected = (counts.sum() ** 2 - (counts**2).sum()) / 2 / n_rows
        reason = (
            f"no two of them are 1 in any of {n_rows:,} rows, where {expected:,.0f} such pairs "
            f"would be expected of unrelated columns; in {int((sums == 0).sum()):,} rows none is"
        )
    return Group(members, hint.prefix, reason, absent=not complete)


def _with_evidence(ones: npt.NDArray[np.int64], n_rows: int, complete: bool) -> list[int]:
    """Columns for which never occurring with the others is no accident."""
    kept = [i for i in range(len(ones)) if ones[i] > 0]
    if complete:
        return kept if n_rows >= MIN_ROWS else []
    while kept:
        # Chance that a column's ones all miss the rows of the others, as minus its logarithm.
        others = ones[kept].sum() - ones[kept]
        evidence = -ones[kept] * np.log1p(-others / n_rows)
        weakest = int(np.argmin(evidence))
        if evidence[weakest] >= ENOUGH:
            break
        kept.pop(weakest)
    return kept


def _bins(block: Block, hint: Hint) -> Group | None:
    """Overlapping intervals of one line: few combinations, in an order that keeps each together."""
    if len(hint.members) > _MAX_BINS:
        return None
    part = block[:, list(hint.members)]
    kept = _related(part)
    if len(kept) < 2:
        return None
    limit = min(2 * len(kept) + 1, 2 ** min(len(kept), 32) - 1)
    patterns = distinct_patterns(part[:, kept], limit)
    if patterns is None:
        return None
    order = consecutive_order(patterns)
    if order is None:
        return None
    return Group(
        tuple(hint.members[i] for i in kept),
        hint.prefix,
        f"only {len(order)} of {2 ** len(kept):,} combinations occur in {len(part):,} rows, in the "
        "way of overlapping intervals; others would be possible in principle",
        patterns=tuple(patterns[i] for i in order),
    )


def _related(part: Block) -> list[int]:
    """The columns tied to each other by rules such as "a implies b" or "never both".

    A rule counts when unrelated columns would have been expected to break it in enough rows.
    """
    n_rows, n_columns = part.shape
    if n_rows < MIN_ROWS_WITHOUT_NAMES:
        return []
    wide = part.astype(np.float64)
    both = wide.T @ wide
    ones = np.diagonal(both)
    zeros = n_rows - ones
    seen_and_expected = (
        (both, np.outer(ones, ones)),
        (ones[:, None] - both, np.outer(ones, zeros)),
        (ones[None, :] - both, np.outer(zeros, ones)),
        (n_rows - ones[:, None] - ones[None, :] + both, np.outer(zeros, zeros)),
    )
    tied = np.zeros((n_columns, n_columns), dtype=bool)
    for seen, expected in seen_and_expected:
        tied |= (seen == 0) & (expected / n_rows >= ENOUGH)
    np.fill_diagonal(tied, False)
    candidates = [i for i in range(n_columns) if tied[i].any()]
    if not candidates:
        return []
    reached, fresh = {candidates[0]}, [candidates[0]]
    while fresh:
        neighbours = set(np.flatnonzero(tied[fresh.pop()]).tolist()) - reached
        reached |= neighbours
        fresh += sorted(neighbours)
    # Unconnected parts are not one attribute, whatever they are called.
    return candidates if reached == set(candidates) else []
