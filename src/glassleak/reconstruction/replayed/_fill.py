"""From a box to one profile: values no tree tells apart are taken from the people most alike."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from glassleak.reconstruction.replayed._problem import IntArray, Problem

# Every settled attribute in which two people differ makes them this many times less alike.
_PER_DIFFERENCE = 4.0
_MOST_COMPARED = 2000


def fill(
    problem: Problem, box: npt.NDArray[np.uint64], label: IntArray
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]:
    """A profile (class of levels per block) for every row, and how many profiles its box holds.

    Cost: O(open rows x rows x blocks), with at most `_MOST_COMPARED` rows to compare with.
    """
    blocks = problem.space.blocks
    n_rows = len(box)
    profile = np.zeros((n_rows, len(blocks)), dtype=np.int32)
    is_open = np.zeros((n_rows, len(blocks)), dtype=bool)
    held, size = [], np.ones(n_rows)
    for b, block in enumerate(blocks):
        bits = problem.layout.bits(box, b)
        levels = np.ones(len(block)) if block.sizes is None else np.array(
            [float(min(s, 2**60)) for s in block.sizes]
        )  # fmt: skip
        size *= np.inf if block.sizes is None else bits @ levels
        is_open[:, b] = bits.sum(axis=1) > 1
        profile[:, b] = np.argmax(np.where(bits, levels, 0.0), axis=1)
        held.append(bits)
    settled = ~is_open
    people = np.flatnonzero(settled.mean(axis=1) >= 0.5)[:_MOST_COMPARED]
    if not len(people):
        return profile, size
    for i in np.flatnonzero(is_open.any(axis=1)).tolist():
        both = settled[i] & settled[people]
        differ = ((profile[people] != profile[i]) & both).sum(axis=1) + (label[people] != label[i])
        alike = np.where(people == i, 0.0, _PER_DIFFERENCE ** -differ.astype(np.float64))
        for b in np.flatnonzero(is_open[i]).tolist():
            known = settled[people, b]
            votes = np.bincount(
                profile[people[known], b], weights=alike[known], minlength=len(blocks[b])
            )
            votes = np.where(held[b][i], votes, -1.0)
            if votes.max() > 0:
                profile[i, b] = int(np.argmax(votes))
    return profile, size
