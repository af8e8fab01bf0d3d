"""Bits that remain, from the number of profiles of every leaf or rule."""

from __future__ import annotations

import math

from glassleak.counting import log2_multisets
from glassleak.schema import Attribute, Binary, Bins, Categorical, Schema
from glassleak.uncertainty._groups import Groups, IntArray
from glassleak.uncertainty._result import Remaining


def columns_apart(schema: Schema) -> Schema:
    """The schema in which every column is an attribute of its own.

    This is how the paper counts: one-hot columns are taken to be independent of each other, so that
    combinations no person can have are counted too.
    """
    names = {a.name for a in schema if not _spread(a)}
    apart: list[Attribute] = []
    for attribute in schema:
        if not _spread(attribute):
            apart.append(attribute)
            continue
        for column in attribute.columns:
            name = column
            while name in names:
                name += "'"
            names.add(name)
            apart.append(Binary(name, column))
    return Schema(apart)


def _spread(attribute: Attribute) -> bool:
    """Whether an attribute is carried by yes/no columns."""
    return isinstance(attribute, Bins) or (isinstance(attribute, Categorical) and attribute.one_hot)


def ordered(groups: Groups) -> Remaining:
    """Rows in their places: the sum over rows of log2 of their profiles (Equation 10)."""
    rows = groups.rows.tolist()
    n = sum(rows)
    # Equation 4.
    each = math.fsum(math.log2(domain.n_levels) for domain in groups.regions.domains)
    low = math.fsum(
        held * math.log2(c.low) for held, c in zip(rows, groups.counts, strict=True) if held
    )
    if groups.exact:
        return Remaining(low, low, n * each)
    high = math.fsum(
        held * math.log2(c.high) for held, c in zip(rows, groups.counts, strict=True) if held
    )
    return Remaining(low, high, n * each)


def unordered(groups: Groups) -> Remaining:
    """Tables as multisets of rows, classes left out."""
    return _multisets(groups, groups.rows[:, None])


def unordered_by_class(groups: Groups) -> Remaining | None:
    """Tables as multisets of rows with their class; class totals count as known to everybody."""
    return None if groups.class_rows is None else _multisets(groups, groups.class_rows)


def _multisets(groups: Groups, rows: IntArray) -> Remaining:
    per_group = rows.tolist()
    totals = [sum(column) for column in zip(*per_group, strict=True)]
    uninformed = math.fsum(log2_multisets(groups.n_profiles, total) for total in totals)
    low = _sum_multisets([(c.low, held) for c, held in zip(groups.counts, per_group, strict=True)])
    if groups.exact:
        return Remaining(low, low, uninformed)
    high = _sum_multisets(
        [(c.high, held) for c, held in zip(groups.counts, per_group, strict=True)]
    )
    return Remaining(low, high, uninformed)


def _sum_multisets(pairs: list[tuple[int, list[int]]]) -> float:
    return math.fsum(
        log2_multisets(profiles, held) for profiles, some in pairs for held in some if held
    )


def dist(groups: Groups) -> float:
    """Equation 1, averaged over rows and attributes."""
    n = int(groups.rows.sum())
    if not n:
        return 0.0
    held = zip(groups.rows.tolist(), groups.shares.tolist(), strict=True)
    return math.fsum(rows * share for rows, share in held if rows) / n
