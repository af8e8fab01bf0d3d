"""Cells of as many trees as fit into memory: fewer trees still give a valid upper bound."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from glassleak.errors import InconsistentModelError, ModelTooLargeError
from glassleak.knowledge import Cells, Part, Published, Space
from glassleak.knowledge._boxes import BoxSpace
from glassleak.knowledge._cells import same_rows

MAX_BOXES = 150_000
# Boxes times trees: the group of every box in every tree is kept.
_MAX_NUMBERS = 15_000_000
# After so many parts that do not fit, the others are not tried.
_MAX_REFUSED = 8


def cells_within(
    facts: Published,
    space: Space,
    *,
    deadline: float,
    max_boxes: int = MAX_BOXES,
) -> tuple[Cells, Published]:
    """Cells of all parts, or of those that keep the number of boxes within the limit.

    Returns
    -------
    cells, facts
        And the facts of the parts that were used, in their own order.
    """
    layout = BoxSpace(space, facts)
    boxes = layout.everything()
    allowed = (facts.class_totals != 0)[None, :]
    limit = max(1000, min(max_boxes, _MAX_NUMBERS // max(1, len(facts.parts))))
    seen: dict[int, npt.NDArray[np.int32]] = {}
    refused = 0
    # Parts that rule most out come first.
    for p in sorted(range(len(facts.parts)), key=lambda p: _survival(facts.parts[p])):
        if seen and (time.monotonic() > deadline or refused >= _MAX_REFUSED):
            break
        part = facts.parts[p]
        try:
            cut, source, group = layout.cut(boxes, part, limit)
        except ModelTooLargeError:
            refused += 1
            continue
        still = allowed[source] & (part.counts[group] != 0)
        live = np.flatnonzero(still.any(axis=1))
        boxes, allowed = cut[live], still[live]
        seen = {q: g[source[live]] for q, g in seen.items()}
        seen[p] = group[live]
    used = sorted(seen)
    if not used:
        raise ModelTooLargeError(f"no tree has fewer than {limit:,} cells")
    for c in np.flatnonzero((facts.class_totals > 0) & ~allowed.any(axis=0)):
        raise InconsistentModelError(
            f"no possible profile fits the counts of class {facts.classes[c]!r} in every part"
        )
    groups = np.column_stack([seen[p] for p in used]).astype(np.int32)
    start, cell_of = same_rows(groups)
    largest, profiles, exact, apart = layout.describe(boxes, cell_of, len(start))
    cells = Cells(
        space, groups[start], allowed[start], profiles, exact, apart, boxes[largest], layout
    )
    return cells, replace(facts, parts=tuple(facts.parts[p] for p in used))


def group_profiles(layout: BoxSpace, part: Part) -> list[int] | None:
    """How many valid profiles each group of one part holds; ``None`` if it cannot be counted."""
    try:
        boxes, _, group = layout.cut(layout.everything(), part, MAX_BOXES)
    except ModelTooLargeError:
        return None
    # Groups that no profile reaches have no box.
    reached, cell_of = np.unique(group, return_inverse=True)
    _, _, exact, _ = layout.describe(boxes, cell_of.reshape(-1).astype(np.int64), len(reached))
    if exact is None:
        return None
    profiles = [0] * part.n_groups
    for g, n in zip(reached.tolist(), exact, strict=True):
        profiles[g] = n
    return profiles


def _survival(part: Part) -> float:
    """Share of (group, class) pairs with rows: small means the part rules much out."""
    return float((part.counts != 0).mean())
