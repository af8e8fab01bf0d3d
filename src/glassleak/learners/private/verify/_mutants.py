"""Learners broken on purpose.  Verification that does not catch them is worth nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from glassleak.learners.private._candidates import Candidates
from glassleak.learners.private._exact import Randomness
from glassleak.learners.private._tools import Costs, Tools
from glassleak.learners.private.verify._cases import (
    COUNTS,
    RULES,
    TWO_TREES,
    Case,
    cases_of,
    tools_of,
)

Counts: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Mutant:
    """One way of breaking a learner.

    Attributes
    ----------
    name : str
    broken : callable
        From a learner's tools to broken ones.
    part : str
        Where it should show; a learner without this part cannot be broken like this.
    one_choice : bool
        Whether it shows best when only one rule or split is chosen.
    """

    name: str
    broken: Callable[[Tools], Tools]
    part: str
    one_choice: bool = False


def _half(tools: Tools) -> Tools:
    # Of Gaussian noise the cost falls with the square.
    more = 4 if tools.noise_name == "discrete Gaussian" else 2

    def noise(shape: tuple[int, int], cost: Fraction, source: Randomness) -> Counts:
        return tools.noise(shape, more * cost, source)

    return replace(tools, noise=noise)


def _truncated(tools: Tools) -> Tools:
    def noise(shape: tuple[int, int], cost: Fraction, source: Randomness) -> Counts:
        furthest = max(1, round(tools.scale(cost)))
        return np.clip(tools.noise(shape, cost, source), -furthest, furthest)

    return replace(tools, noise=noise)


def _one_exact(tools: Tools) -> Tools:
    def noise(shape: tuple[int, int], cost: Fraction, source: Randomness) -> Counts:
        drawn = tools.noise(shape, cost, source)
        drawn[-1] = 0
        return drawn

    return replace(tools, noise=noise)


def _mined(tools: Tools) -> Tools:
    """Only rules that hold for somebody."""

    def offer(candidates: Candidates, holds: npt.NDArray[np.bool_]) -> Candidates:
        met = holds[:, candidates.first] & holds[:, candidates.second]
        keep = met.any(axis=0)
        if not keep.any():
            return candidates
        return Candidates(candidates.literals, candidates.first[keep], candidates.second[keep])

    return replace(tools, offer=offer)


def _overspent(tools: Tools) -> Tools:
    """Many times what was paid for."""
    more = 25 if tools.noise_name == "discrete Gaussian" else 5

    def choose(costs: Costs, cost: Fraction, source: Randomness) -> int:
        return tools.choose(costs, more * cost, source)

    return replace(tools, choose=choose)


def _best(tools: Tools) -> Tools:
    def choose(costs: Costs, _cost: Fraction, _source: Randomness) -> int:
        return min(range(len(costs)), key=lambda i: costs[i])

    return replace(tools, choose=choose)


def _everybody(tools: Tools) -> Tools:
    def assign(n_people: int, n_trees: int, _source: Randomness) -> npt.NDArray[np.bool_]:
        return np.ones((n_trees, n_people), dtype=bool)

    return replace(tools, assign=assign)


MUTANTS = (
    Mutant("half the noise", _half, COUNTS),
    Mutant("truncated noise", _truncated, COUNTS),
    Mutant("a count without noise", _one_exact, COUNTS),
    Mutant("rules mined from the table", _mined, RULES, one_choice=True),
    Mutant("an overspent budget", _overspent, RULES, one_choice=True),
    Mutant("the best rule without noise", _best, RULES, one_choice=True),
    Mutant("everybody in every tree", _everybody, TWO_TREES),
)


def mutants_of(estimator: Any) -> Iterator[Case]:
    """`estimator` broken in every way, each as the case that should show it."""
    for mutant in MUTANTS:
        tools = mutant.broken(tools_of(estimator))
        for case in cases_of(estimator, tools=tools, one_choice=mutant.one_choice):
            if case.name == mutant.part:
                yield replace(case, name=mutant.name)
