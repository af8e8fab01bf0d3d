"""Remaining uncertainty as a reader sees it: tree by tree, and person by person."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd

from glassleak.audit._exhibit import Exhibit
from glassleak.errors import GlassleakError
from glassleak.models import Bagging, Forest, Model
from glassleak.schema import Schema
from glassleak.uncertainty import Uncertainty, uncertainty

_STEPS = (1, 2, 5)
_PROFILES = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)


def by_trees(
    model: Model, schema: Schema, whole: Uncertainty, *, seconds: float, seed: int
) -> tuple[tuple[Exhibit, ...], str]:
    """What remains, given the first trees of a forest only; and why it stops where it does.

    Forests whose trees drew their own rows have bounds from above only, which cost nothing.
    """
    if not isinstance(model, Forest) or len(model) < 2 or whole.n_rows == 0:
        return (), ""
    rows: list[tuple[Any, ...]]
    note = ""
    columns: tuple[str, ...] = ("trees", "at least (%)", "at most (%)")
    if model.bagging.kind == "none":
        rows, note = _counted(model, schema, whole, seconds, seed)
        caption = (
            "Share of the uncertainty about the training table that is left when only the first "
            "trees are published: 100% is nothing learnt, 0% is that one table is possible. Where "
            "the two lines differ, the truth is proved to lie between them."
        )
    else:
        rows, columns = _at_most(model, whole), ("trees", "at most (%)")
        caption = (
            "At most this share of the uncertainty about the training table is left when only the "
            "first trees are published (the best of them alone; 100% is nothing learnt). The trees "
            "drew their own rows, so what several of them give away together is not counted here, "
            "and the truth is lower."
        )
    if len(rows) < 2:
        return (), note
    return (
        Exhibit(
            "uncertainty.by_trees",
            "What remains uncertain as trees are added",
            f"{caption} {note}".strip(),
            columns,
            tuple(rows),
            chart="line",
        ),
    ), note


def _numbers(most: int) -> Iterator[int]:
    """1, 2, 5, 10, 20, 50, …, below `most`."""
    scale = 1
    while True:
        for step in _STEPS:
            if step * scale >= most:
                return
            yield step * scale
        scale *= 10


def _counted(
    model: Forest, schema: Schema, whole: Uncertainty, seconds: float, seed: int
) -> tuple[list[tuple[Any, ...]], str]:
    rows: list[tuple[Any, ...]] = []
    deadline = time.monotonic() + seconds
    numbers = list(_numbers(len(model)))
    low_after = whole.main.share_low
    high_before = 1.0
    note = ""
    for i, number in enumerate(numbers):
        left = deadline - time.monotonic()
        if left < 0.1:
            note = f"Counted up to {numbers[i - 1] if i else 0} trees only, for want of time."
            break
        part = replace(model, trees=model.trees[:number], bagging=Bagging())
        try:
            found = uncertainty(
                part, schema, budget_seconds=max(0.2, left / (len(numbers) - i)), seed=seed
            ).main
        except GlassleakError as error:
            note = f"Not counted beyond {numbers[i - 1] if i else 0} trees: {error}."
            break
        # More trees only rule tables out, so neighbours bound each other.
        low, high = max(found.share_low, low_after), min(found.share_high, high_before)
        high_before = high
        rows.append((number, _percent(low), _percent(high)))
    rows.append(_whole(model, whole, high_before))
    return rows, note


def _whole(model: Forest, whole: Uncertainty, before: float) -> tuple[Any, ...]:
    high = min(whole.main.share_high, before)
    return (len(model), _percent(whole.main.share_low), _percent(high))


def _at_most(model: Forest, whole: Uncertainty) -> list[tuple[Any, ...]]:
    table = whole.per_model
    if table is None or len(table) != len(model):
        return []
    best = table["share"].clip(upper=1.0).cummin().tolist()
    numbers = [*_numbers(len(model)), len(model)]
    return [(n, _percent(best[n - 1])) for n in numbers]


def _percent(share: float) -> float | None:
    return round(100 * share, 3) if math.isfinite(share) else None


def people(found: Uncertainty) -> tuple[Exhibit, ...]:
    """How many people are left with how many possible profiles."""
    if found.per_leaf is None:
        return ()
    leaves = found.per_leaf.loc[found.per_leaf["rows"] > 0]
    if leaves.empty:
        return ()
    rows = tuple(_by_profiles(leaves))
    alone = rows[0][1]
    return (
        Exhibit(
            "exposure.people",
            f"{alone:,} of {found.n_rows:,} people are left with a single possible profile",
            "Number of people by how many different profiles (combinations of all values) are "
            "possible for them, given the leaf or rule they are in. With one, every value follows."
            + ("" if found.exact else " Numbers of profiles are lower bounds."),
            ("possible profiles", "people"),
            rows,
            chart="bar",
        ),
    )


def _by_profiles(leaves: pd.DataFrame) -> Iterator[tuple[str, int]]:
    # Python integers: the numbers may have hundreds of digits.
    pairs = list(zip(leaves["profiles_low"].tolist(), leaves["rows"].tolist(), strict=True))
    yield "1", sum(int(rows) for low, rows in pairs if low <= 1)
    for low, high in itertools.pairwise(_PROFILES):
        here = sum(int(rows) for n, rows in pairs if low < n <= high)
        yield f"{low + 1:,} to {high:,}", here
    yield f"over {_PROFILES[-1]:,}", sum(int(rows) for n, rows in pairs if n > _PROFILES[-1])
