"""Cells: profiles that fall into the same group of every part cannot be told apart.

Cells are found without listing profiles.  A *box* is a set of profiles given by the allowed levels
of every attribute, kept as bits.  Starting from the box of everything, each part cuts every box
along its tests; boxes that reach a group without rows of any still possible class are dropped
(zero-count pruning: nobody is there).  The most selective parts come first, so the number of boxes
stays near the number of cells, whatever the number of profiles.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glassleak.errors import InconsistentModelError, ModelTooLargeError
from glassleak.knowledge._boxes import BoxSpace
from glassleak.knowledge._parts import Part, Published
from glassleak.knowledge._space import Space

Boxes = npt.NDArray[np.uint64]
MAX_BOXES = 5_000_000
MAX_BYTES = 1_200_000_000
# Small enough for the processor's cache, and to look at the clock often.
_BYTES_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class Cells:
    """Cells that can hold training rows.

    Attributes
    ----------
    space : Space
    groups : (cells, parts) int array
        The group of every part the cell lies in.
    allowed : (cells, classes) bool array
        Classes the cell can hold.
    profiles : (cells, blocks) int array
        One profile of each cell, by class of levels per block: of the largest box, the largest
        class of levels (`Space.values` gives its table).
    n_profiles : list of int, or None
        Valid profiles of each cell, exactly; ``None`` if an attribute is continuous.
    n_told_apart : float array
        Profiles of each cell that the model's tests tell apart though its groups do not.
    boxes : (cells, words) array
        The largest box of each cell, as bits (see `BoxSpace`).
    layout : BoxSpace
    """

    space: Space
    groups: npt.NDArray[np.int32]
    allowed: npt.NDArray[np.bool_]
    profiles: npt.NDArray[np.int32]
    n_profiles: list[int] | None
    n_told_apart: npt.NDArray[np.float64]
    boxes: Boxes
    layout: BoxSpace

    def __len__(self) -> int:
        return len(self.groups)

    def levels(self, cells: npt.NDArray[np.int64], block: int) -> npt.NDArray[np.bool_]:
        """(cells, classes of levels): what an attribute can be in each of `cells`."""
        return self.layout.bits(self.boxes[cells], block)


def enumerate_cells(
    facts: Published,
    space: Space,
    *,
    deadline: float = float("inf"),
    max_boxes: int = MAX_BOXES,
) -> Cells:
    """All cells that can hold rows.

    Cost: O(boxes x depth) per part; memory is bounded by `MAX_BOXES` and `MAX_BYTES`.

    Raises
    ------
    ModelTooLargeError
        When too many cells remain possible.
    BudgetExhaustedError
        When the deadline passes.
    InconsistentModelError
        When no profile at all is possible for a class that has rows.
    """
    layout = BoxSpace(space, facts)
    boxes = layout.everything()
    allowed = (facts.class_totals != 0)[None, :]
    seen: list[tuple[int, npt.NDArray[np.int32]]] = []
    order = sorted(range(len(facts.parts)), key=lambda p: _survival(facts.parts[p]))
    for p in order:
        boxes, source, group, allowed = _refine(
            layout, boxes, allowed, facts.parts[p], deadline, max_boxes
        )
        seen = [(q, g[source]) for q, g in seen]
        seen.append((p, group))
    for c in np.flatnonzero((facts.class_totals > 0) & ~allowed.any(axis=0)):
        raise InconsistentModelError(
            f"no possible profile fits the counts of class {facts.classes[c]!r} in every part"
        )
    groups = np.empty((len(boxes), len(facts.parts)), dtype=np.int32)
    for p, group in seen:
        groups[:, p] = group
    first, cell_of = same_rows(groups)
    largest, profiles, exact, told_apart = layout.describe(boxes, cell_of, len(first), deadline)
    return Cells(
        space, groups[first], allowed[first], profiles, exact, told_apart, boxes[largest], layout
    )


def _refine(
    layout: BoxSpace,
    boxes: Boxes,
    allowed: npt.NDArray[np.bool_],
    part: Part,
    deadline: float,
    max_boxes: int,
) -> tuple[Boxes, npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
    """Cut all boxes along one part and drop those where nobody can be, some boxes at a time.

    Returns
    -------
    boxes, source, group, allowed
        What remains, the box each came from, the part's group it lies in, its possible classes.
    """
    masks = layout.masks_of(part, deadline)
    # A box, its groups in every part, and later its places in the equations.
    each = 8 * layout.n_words + 20 * len(layout.facts.parts)
    limit = min(max_boxes, MAX_BYTES // each)
    at_once = max(1, _BYTES_AT_ONCE // (8 * layout.n_words))
    found = [(boxes[:0], np.empty(0, np.int64), np.empty(0, np.int32), allowed[:0])]
    kept = 0
    for start in range(0, len(boxes), at_once):
        some = slice(start, start + at_once)
        pieces, source, group = layout.cut(boxes[some], part, limit, deadline, masks)
        possible = allowed[some][source] & (part.counts[group] != 0)
        live = np.flatnonzero(possible.any(axis=1))
        kept += len(live)
        if kept > limit:
            raise ModelTooLargeError(f"more than {limit:,} cells remain possible")
        found.append((pieces[live], source[live] + start, group[live], possible[live]))
    joined = [np.concatenate(column) for column in zip(*found, strict=True)]
    return joined[0], joined[1], joined[2], joined[3]


def _survival(part: Part) -> float:
    """Share of (group, class) pairs with rows: small means the part rules much out."""
    return float((part.counts != 0).mean())


def same_rows(
    table: npt.NDArray[np.int32],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """First index of every distinct row, and for each row which distinct one it is.

    Rows are compared by a random 64-bit sum, and then for real: a collision would merge people
    who can be told apart.
    """
    if not len(table):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    rng = np.random.default_rng(20240)
    weights: npt.NDArray[np.uint64] = rng.integers(
        0, 2**64, size=(table.shape[1],), dtype=np.uint64
    )
    sums = np.zeros(len(table), dtype=np.uint64)
    for c, weight in enumerate(weights):
        mixed = (table[:, c].astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)) * weight
        mixed ^= mixed >> np.uint64(29)
        sums += mixed * np.uint64(0xBF58476D1CE4E5B9)
    _, first, inverse = np.unique(sums, return_index=True, return_inverse=True)
    if (table[first[inverse]] != table).any():
        _, first, inverse = np.unique(table, axis=0, return_index=True, return_inverse=True)
    return first.astype(np.int64), inverse.reshape(-1).astype(np.int64)
