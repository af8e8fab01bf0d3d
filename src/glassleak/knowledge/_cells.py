"""Cells: profiles that fall into the same group of every part cannot be told apart.

Two facts keep the number of cells small.  A profile that reaches, in *any* part, a group without
rows of class c cannot occur with class c (zero-count pruning); and profiles with the same group
everywhere are one cell.  Parts are visited most constraining first, so that most profiles are gone
after a few of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glassleak.errors import InconsistentModelError, ModelTooLargeError
from glassleak.knowledge._parts import Part, Published
from glassleak.knowledge._space import Space

_CHUNK = 1 << 18
MAX_PROFILES = 1 << 28
MAX_CELLS = 20_000_000


@dataclass(frozen=True)
class Cells:
    """Cells that can hold training rows.

    Attributes
    ----------
    profiles : (cells, blocks) int array
        One distinguishable profile of each cell (`Space.values` gives its table).
    groups : (cells, parts) int array
        The group of every part the cell lies in.
    allowed : (cells, classes) bool array
        Classes the cell can hold.
    members : tuple of int arrays, or None
        Distinguishable profiles of each cell where there is more than one: rows of `merged`.
    n_looked_at : int
        Profiles enumerated.
    """

    space: Space
    profiles: npt.NDArray[np.int32]
    groups: npt.NDArray[np.int32]
    allowed: npt.NDArray[np.bool_]
    cell_of: npt.NDArray[np.int64]
    all_profiles: npt.NDArray[np.int32]
    n_looked_at: int

    def __len__(self) -> int:
        return len(self.profiles)

    @property
    def n_distinguishable(self) -> npt.NDArray[np.int64]:
        """Distinguishable profiles per cell (told apart by some split, but by no group)."""
        return np.bincount(self.cell_of, minlength=len(self.profiles))

    def members(self, cell: int) -> npt.NDArray[np.int32]:
        """The distinguishable profiles of one cell."""
        return self.all_profiles[self.cell_of == cell]


def enumerate_cells(
    facts: Published,
    space: Space,
    *,
    deadline: float = float("inf"),
    keep: Callable[[npt.NDArray[np.int32]], npt.NDArray[np.bool_]] | None = None,
) -> Cells:
    """All cells that can hold rows, by looking at every distinguishable profile.

    Cost: O(profiles x few parts + survivors x parts); memory is bounded by the survivors.

    Parameters
    ----------
    keep : callable, optional
        Further knowledge that rules profiles out.

    Raises
    ------
    ModelTooLargeError
        When there are too many profiles to look at, or too many survive.
    InconsistentModelError
        When no profile at all is possible for a class that has rows.
    """
    if space.size > MAX_PROFILES:
        raise ModelTooLargeError(f"{space.size:,} distinguishable profiles are too many to list")
    order = sorted(range(len(facts.parts)), key=lambda p: _survival(facts.parts[p]))
    kept_profiles, kept_groups, kept_allowed = [], [], []
    survivors = 0
    for start in range(0, space.size, _CHUNK):
        profiles = space.profiles(start, min(start + _CHUNK, space.size))
        if keep is not None:
            profiles = profiles[keep(profiles)]
        found = _survivors(facts, space, profiles, order)
        survivors += len(found[0])
        if survivors > MAX_CELLS or time.monotonic() > deadline:
            raise ModelTooLargeError(f"{survivors:,} cells and more remain possible")
        for target, value in zip((kept_profiles, kept_groups, kept_allowed), found, strict=True):
            target.append(value)
    profiles = np.concatenate(kept_profiles)
    groups = np.concatenate(kept_groups)
    allowed = np.concatenate(kept_allowed)
    for c in np.flatnonzero((facts.class_totals > 0) & ~allowed.any(axis=0)):
        raise InconsistentModelError(
            f"no possible profile fits the counts of class {facts.classes[c]!r}"
        )
    first, cell_of = same_rows(groups)
    return Cells(
        space, profiles[first], groups[first], allowed[first], cell_of, profiles, space.size
    )


def _survival(part: Part) -> float:
    """Share of groups a part leaves possible: small means it prunes much."""
    return float((part.counts > 0).mean())


def _survivors(
    facts: Published, space: Space, profiles: npt.NDArray[np.int32], order: list[int]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
    values = space.values(profiles)
    allowed = np.repeat(facts.class_totals[None, :] > 0, len(profiles), axis=0)
    seen: list[tuple[int, npt.NDArray[np.int32]]] = []
    alive = np.arange(len(profiles))
    for p in order:
        part = facts.parts[p]
        group = part.assign(values)
        allowed &= part.counts[group] > 0
        seen.append((p, group))
        live = allowed.any(axis=1)
        if not live.all():
            keep = np.flatnonzero(live)
            values, allowed, alive = values[keep], allowed[keep], alive[keep]
            seen = [(q, g[keep]) for q, g in seen] if len(keep) < 0.7 * len(live) else [
                (q, g[keep]) for q, g in seen
            ]
    groups = np.empty((len(alive), len(facts.parts)), dtype=np.int32)
    for p, group in seen:
        groups[:, p] = group
    return profiles[alive], groups, allowed


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
    weights = rng.integers(0, 2**64, size=table.shape[1], dtype=np.uint64)
    sums = np.zeros(len(table), dtype=np.uint64)
    for column, weight in zip(table.T, weights, strict=True):
        mixed = (column.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)) * weight
        mixed ^= mixed >> np.uint64(29)
        sums += mixed * np.uint64(0xBF58476D1CE4E5B9)
    _, first, inverse = np.unique(sums, return_index=True, return_inverse=True)
    if (table[first[inverse]] != table).any():
        _, first, inverse = np.unique(table, axis=0, return_index=True, return_inverse=True)
    return first.astype(np.int64), inverse.reshape(-1).astype(np.int64)
