"""From a box to one profile: values no tree tells apart are taken from the people most alike."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from glassleak.reconstruction.replayed._problem import IntArray, Problem

# Every settled attribute in which two people differ makes them this many times less alike, but
# nobody is without any weight.
_PER_DIFFERENCE, _BACKGROUND = 4.0, 0.01
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
    people = np.argsort(-settled.sum(axis=1), kind="stable")[:_MOST_COMPARED]
    usual = _usual_answer(problem, profile, settled)
    for i in np.flatnonzero(is_open.any(axis=1)).tolist():
        both = settled[i] & settled[people]
        differ = ((profile[people] != profile[i]) & both).sum(axis=1) + (label[people] != label[i])
        alike = np.where(
            people == i, 0.0, _PER_DIFFERENCE ** -differ.astype(np.float64) + _BACKGROUND
        )
        for b in np.flatnonzero(is_open[i]).tolist():
            known = settled[people, b]
            votes = np.bincount(
                profile[people[known], b], weights=alike[known], minlength=len(blocks[b])
            )
            if len(votes) == 2 and usual is not None:
                heard = settled[:, b].mean()
                votes = heard * votes / max(votes.sum(), 1e-300) + (1.0 - heard) * usual
            votes = np.where(held[b][i], votes, -1.0)
            if votes.max() > 0:
                profile[i, b] = int(np.argmax(votes))
    return profile, size


def _usual_answer(
    problem: Problem, profile: npt.NDArray[np.int32], settled: npt.NDArray[np.bool_]
) -> npt.NDArray[np.float64] | None:
    """How often yes/no attributes are answered no and yes, over all of them.

    A column that trees hardly ever test hardly varies where it is not tested; the few rows that
    were tested are those where it did, so they say little about which answer is the common one.
    """
    two = [b for b, block in enumerate(problem.space.blocks) if len(block) == 2]
    answers = np.concatenate([profile[settled[:, b], b] for b in two]) if two else np.zeros(0, int)
    if not len(answers):
        return None
    return np.bincount(answers, minlength=2) / len(answers)
