"""Learners broken on purpose.  Verification that does not catch them is worth nothing."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from glassleak.learners.private._candidates import Candidates
from glassleak.learners.private._exact import Randomness
from glassleak.learners.private._selection import permute_and_flip
from glassleak.learners.private._tools import Costs, Tools, laplace_noise
from glassleak.learners.private.verify._cases import COUNTS, RULES, TWO_TREES, Case, cases_of

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Mutant:
    """One way of breaking a learner.

    Attributes
    ----------
    name : str
    tools : Tools
    part : str
        Where it should show; a learner without this part cannot be broken like this.
    one_choice : bool
        Whether it shows best when only one rule or split is chosen.
    """

    name: str
    tools: Tools
    part: str
    one_choice: bool = False


def _half(shape: tuple[int, int], scale: Fraction, source: Randomness) -> npt.NDArray[np.int64]:
    return laplace_noise(shape, scale / 2, source)


def _truncated(
    shape: tuple[int, int], scale: Fraction, source: Randomness
) -> npt.NDArray[np.int64]:
    furthest = max(1, round(scale))
    return np.clip(laplace_noise(shape, scale, source), -furthest, furthest)


def _one_exact(
    shape: tuple[int, int], scale: Fraction, source: Randomness
) -> npt.NDArray[np.int64]:
    noise = laplace_noise(shape, scale, source)
    noise[-1] = 0
    return noise


def _mined(candidates: Candidates, holds: npt.NDArray[np.bool_]) -> Candidates:
    """Only rules that hold for somebody."""
    met = holds[:, candidates.first] & holds[:, candidates.second]
    keep = met.any(axis=0)
    if not keep.any():
        return candidates
    return Candidates(candidates.literals, candidates.first[keep], candidates.second[keep])


def _overspent(costs: Costs, epsilon: Fraction, source: Randomness) -> int:
    """Five times what was paid for."""
    return permute_and_flip(costs, 5 * epsilon, source, monotone=True)


def _best(costs: Costs, _epsilon: Fraction, _source: Randomness) -> int:
    return min(range(len(costs)), key=lambda i: costs[i])


def _everybody(n_people: int, n_trees: int, _source: Randomness) -> npt.NDArray[np.bool_]:
    return np.ones((n_trees, n_people), dtype=bool)


MUTANTS = (
    Mutant("half the noise", Tools(noise=_half), COUNTS),
    Mutant("truncated noise", Tools(noise=_truncated), COUNTS),
    Mutant("a count without noise", Tools(noise=_one_exact), COUNTS),
    Mutant("rules mined from the table", Tools(offer=_mined), RULES, one_choice=True),
    Mutant("an overspent budget", Tools(choose=_overspent), RULES, one_choice=True),
    Mutant("the best rule without noise", Tools(choose=_best), RULES, one_choice=True),
    Mutant("everybody in every tree", Tools(assign=_everybody), TWO_TREES),
)


def mutants_of(estimator: Any) -> Iterator[Case]:
    """`estimator` broken in every way, each as the case that should show it."""
    for mutant in MUTANTS:
        for case in cases_of(estimator, tools=mutant.tools, one_choice=mutant.one_choice):
            if case.name == mutant.part:
                yield Case(mutant.name, case.claim, case.here, case.there)
