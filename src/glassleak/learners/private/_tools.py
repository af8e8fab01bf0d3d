"""What touches the data or draws noise, in one place, so that it can be watched and broken.

The learners take their candidates, their choices and their noise from here.  Verification swaps in
broken ones, to show that it would notice (`glassleak.learners.private.verify`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from glassleak.learners.private._candidates import Candidates
from glassleak.learners.private._exact import Randomness, discrete_laplace
from glassleak.learners.private._selection import permute_and_flip

Costs: TypeAlias = Sequence[int] | Sequence[Fraction]
Offer: TypeAlias = Callable[[Candidates, npt.NDArray[np.bool_]], Candidates]
Choose: TypeAlias = Callable[[Costs, Fraction, Randomness], int]
Assign: TypeAlias = Callable[[int, int, Randomness], npt.NDArray[np.bool_]]
Noise: TypeAlias = Callable[[tuple[int, int], Fraction, Randomness], npt.NDArray[np.int64]]


def as_declared(candidates: Candidates, _holds: npt.NDArray[np.bool_]) -> Candidates:
    """All candidates, whatever the table holds."""
    return candidates


def choose(costs: Costs, epsilon: Fraction, source: Randomness) -> int:
    """Permute-and-flip on monotone costs: `epsilon`-differentially private."""
    return permute_and_flip(costs, epsilon, source, monotone=True)


def laplace_noise(
    shape: tuple[int, int], scale: Fraction, source: Randomness
) -> npt.NDArray[np.int64]:
    """Independent discrete Laplace noise for every count of a (groups, classes) table."""
    rows, columns = shape
    drawn = [[discrete_laplace(scale, source) for _ in range(columns)] for _ in range(rows)]
    return np.array(drawn, dtype=np.int64).reshape(shape)


def one_tree_each(n_people: int, n_trees: int, source: Randomness) -> npt.NDArray[np.bool_]:
    """(trees, people): everybody is in exactly one tree, by a coin of their own."""
    drawn = np.array([source.randrange(n_trees) for _ in range(n_people)], dtype=np.int64)
    members: npt.NDArray[np.bool_] = np.arange(n_trees)[:, None] == drawn
    return members


@dataclass(frozen=True)
class Tools:
    """The places where a learner meets the data or the dice.

    Attributes
    ----------
    offer : callable
        Which of the declared candidates may be chosen.
    choose : callable
        Position of a candidate of nearly lowest cost.
    noise : callable
        Noise for a table of counts.
    assign : callable
        Who is in which tree of a forest.
    """

    offer: Offer = as_declared
    choose: Choose = choose
    noise: Noise = laplace_noise
    assign: Assign = one_tree_each


HONEST = Tools()
