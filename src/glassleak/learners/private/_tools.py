"""What touches the data or draws noise, in one place, so that it can be watched and broken.

The learners take their candidates, their choices and their noise from here.  Verification swaps in
broken ones, to show that it would notice (`glassleak.learners.private.verify`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from glassleak.learners.private._candidates import Candidates
from glassleak.learners.private._exact import Randomness, discrete_gaussian, discrete_laplace
from glassleak.learners.private._selection import exponential_choice, permute_and_flip
from glassleak.learners.private._zcdp import slope_for, variance_for

Costs: TypeAlias = Sequence[int] | Sequence[Fraction]
Offer: TypeAlias = Callable[[Candidates, npt.NDArray[np.bool_]], Candidates]
Choose: TypeAlias = Callable[[Costs, Fraction, Randomness], int]
Assign: TypeAlias = Callable[[int, int, Randomness], npt.NDArray[np.bool_]]
Noise: TypeAlias = Callable[[tuple[int, int], Fraction, Randomness], npt.NDArray[np.int64]]
Scale: TypeAlias = Callable[[Fraction], float]


def as_declared(candidates: Candidates, _holds: npt.NDArray[np.bool_]) -> Candidates:
    """All candidates, whatever the table holds."""
    return candidates


def choose(costs: Costs, epsilon: Fraction, source: Randomness) -> int:
    """Permute-and-flip on monotone costs: `epsilon`-differentially private."""
    return permute_and_flip(costs, epsilon, source, monotone=True)


def laplace_noise(
    shape: tuple[int, int], epsilon: Fraction, source: Randomness
) -> npt.NDArray[np.int64]:
    """Independent discrete Laplace noise for every count of a (groups, classes) table."""
    return _drawn(shape, lambda: discrete_laplace(1 / epsilon, source))


def gaussian_noise(
    shape: tuple[int, int], rho: Fraction, source: Randomness
) -> npt.NDArray[np.int64]:
    """Independent discrete Gaussian noise: `rho`-zCDP where a person changes one count by 1."""
    return _drawn(shape, lambda: discrete_gaussian(variance_for(rho), source))


def _drawn(shape: tuple[int, int], draw: Callable[[], int]) -> npt.NDArray[np.int64]:
    rows, columns = shape
    drawn = [[draw() for _ in range(columns)] for _ in range(rows)]
    return np.array(drawn, dtype=np.int64).reshape(shape)


def choose_concentrated(costs: Costs, rho: Fraction, source: Randomness) -> int:
    """The exponential mechanism on monotone costs: `rho`-zCDP."""
    return exponential_choice(costs, slope_for(rho), source)


def laplace_scale(epsilon: Fraction) -> float:
    """Scale of discrete Laplace noise that costs `epsilon`."""
    return float(1 / epsilon)


def gaussian_scale(rho: Fraction) -> float:
    """Deviation of discrete Gaussian noise that costs `rho`."""
    return math.sqrt(variance_for(rho))


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
        Noise for a table of counts, given what it may cost.
    assign : callable
        Who is in which tree of a forest.
    scale : callable
        Scale of the noise of a given cost.
    choice_name, noise_name : str
        For the account.
    """

    offer: Offer = as_declared
    choose: Choose = choose
    noise: Noise = laplace_noise
    assign: Assign = one_tree_each
    scale: Scale = laplace_scale
    choice_name: str = "permute-and-flip"
    noise_name: str = "discrete Laplace"


# Costs are epsilons.
HONEST = Tools()
# Costs are rhos.
CONCENTRATED = Tools(
    choose=choose_concentrated, noise=gaussian_noise, scale=gaussian_scale,
    choice_name="exponential mechanism", noise_name="discrete Gaussian",
)  # fmt: skip
