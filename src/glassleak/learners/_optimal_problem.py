"""The finite problem behind an optimal rule list: distinct rows and candidate rules.

Rows that no candidate tells apart are one *point* with counts per class; of candidates that
capture the same points only one takes part in the search.  Both make the search smaller without
changing what is optimal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glassleak.learners._literals import Bools, Floats, Literals

MAX_CANDIDATES = 50_000
_MAX_CELLS = 1_000_000_000


@dataclass(frozen=True)
class Candidates:
    """Rules a list may use.

    Attributes
    ----------
    members : tuple of tuple of int
        Literals of each candidate, narrower candidates first.
    captures : (points, groups) bool array
        Which points satisfy the candidates of each group.
    groups : tuple of tuple of int
        Candidates that capture the same points, in order.
    """

    members: tuple[tuple[int, ...], ...]
    captures: Bools
    groups: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Points:
    """Distinct rows.

    Attributes
    ----------
    holds : (points, literals) bool array
    counts : (points, classes) int array
    """

    holds: Bools
    counts: npt.NDArray[np.int64]

    @property
    def n_rows(self) -> int:
        return int(self.counts.sum())

    @property
    def floor(self) -> npt.NDArray[np.int64]:
        """Rows of each point that any rule list gets wrong: all but its largest class."""
        wrong: npt.NDArray[np.int64] = self.counts.sum(axis=1) - self.counts.max(axis=1)
        return wrong


def points_of(
    values: Floats, codes: npt.NDArray[np.int64], literals: Literals, n_classes: int
) -> Points:
    """Merge the rows that satisfy the same literals."""
    holds = literals.holds(values)
    packed = np.packbits(holds, axis=1)
    _, first, point = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    counts = np.zeros((len(first), n_classes), dtype=np.int64)
    np.add.at(counts, (point.ravel(), codes), 1)
    return Points(holds[first], counts)


def candidates_of(
    points: Points, literals: Literals, max_width: int, least: int, most: int
) -> Candidates:
    """All conjunctions of up to `max_width` literals that hold for `least` to `most` rows."""
    weights = points.counts.sum(axis=1)
    compatible = literals.compatible()
    members: list[tuple[int, ...]] = []
    captures: list[Bools] = []
    # A conjunction holds for no more rows than its parts, so those below `least` are not extended.
    layer: list[tuple[tuple[int, ...], Bools]] = [((), np.ones(len(points.holds), dtype=bool))]
    for _ in range(max_width):
        grown: list[tuple[tuple[int, ...], Bools]] = []
        for chosen, held in layer:
            fits = np.ones(len(literals), dtype=bool)
            fits[: chosen[-1] + 1 if chosen else 0] = False
            for i in chosen:
                fits &= compatible[i]
            extended = np.flatnonzero(fits)
            holds = points.holds[:, extended] & held[:, None]
            support = weights @ holds
            for j in np.flatnonzero(support >= least):
                grown.append(((*chosen, int(extended[j])), holds[:, j]))
                if support[j] <= most:
                    members.append(grown[-1][0])
                    captures.append(holds[:, j])
            if len(members) > MAX_CANDIDATES or len(members) * len(weights) > _MAX_CELLS:
                raise ValueError(
                    f"more than {min(len(members), MAX_CANDIDATES):,} candidate rules; raise "
                    "min_support, or lower max_width or n_thresholds"
                )
        layer = grown
    return _grouped(tuple(members), captures, len(weights))


def _grouped(
    members: tuple[tuple[int, ...], ...], captures: list[Bools], n_points: int
) -> Candidates:
    by_capture: dict[bytes, list[int]] = {}
    for i, capture in enumerate(captures):
        by_capture.setdefault(np.packbits(capture).tobytes(), []).append(i)
    groups = tuple(tuple(group) for group in by_capture.values())
    table = np.zeros((n_points, len(groups)), dtype=bool)
    for g, group in enumerate(groups):
        table[:, g] = captures[group[0]]
    return Candidates(members, table, groups)
