"""QIs that no fact in use tells apart, merged into blocks.

Merging loses nothing: facts speak of sums over groups, so giving all QIs of a block their average
keeps every fact true and raises the entropy.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from glassleak.disclosure._candidates import Candidate, Candidates
from glassleak.disclosure._problem import Problem


class Blocks:
    """A partition of the QIs that is refined as facts come into use; at first, the leaves."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.of = problem.leaf.astype(np.int64)
        self._number = len(problem.leaf_size)

    def refine(self, candidates: Candidates, added: Sequence[Candidate]) -> None:
        """Tell apart what the candidates in `added` tell apart."""
        for candidate in added:
            own = self.problem.nodes[candidate.node]
            groups = candidates.groups(candidate)
            # Group 0 keeps its block numbers, so blocks outside the node are not touched.
            inside = self.of[own.start : own.stop]
            key = inside * (int(groups.max()) + 1) + groups
            _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
            old = inside[first]
            fresh = np.ones(len(first), dtype=bool)
            _, keeper = np.unique(old, return_index=True)
            fresh[keeper] = False
            number = np.where(fresh, self._number + np.cumsum(fresh) - 1, old)
            self._number += int(fresh.sum())
            self.of[own.start : own.stop] = number[inverse.reshape(-1)]

    def within(
        self, start: int, stop: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """For QIs ``start:stop``: block of each (from 0), leaf and people of each block."""
        _, first, of = np.unique(self.of[start:stop], return_index=True, return_inverse=True)
        of = of.reshape(-1)
        number = np.bincount(of, weights=self.problem.number[start:stop]).astype(np.int64)
        return of, self.problem.leaf[start:stop][first], number
