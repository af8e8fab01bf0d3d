"""Among equally good rule lists, the one that says least about the training table.

What a list leaves unknown is ``sum of C_j * log2(Capt(f_j))`` over its rules: rows captured times
the logarithm of the profiles they may have (Ferry et al., equation 16).  It adds up along the list,
as errors do, and what is still to come depends only on the profiles left.  So the best and the
worst of all optimal lists, and their number, follow from one recursion over what is left; the
lists themselves, of which there may be millions, are never listed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glassleak.errors import SchemaError
from glassleak.learners._optimal_frontier import Frontier
from glassleak.learners._optimal_search import OutOfBudgetError, Rows, Search
from glassleak.learners._profiles import Profiles, Region

_ROUNDING = 1e-9
# Points of the recursion remembered, some hundred bytes each.
_MOST_STATES = 500_000


@dataclass(frozen=True)
class Ties:
    """The models (rule lists or trees) whose objective is within the tolerance of the best.

    Attributes
    ----------
    dist_g : float
        Uncertainty that remains with the model returned (Dist_G), between 0 and 1.
    dist_g_range : (float, float)
        Smallest and largest among all of them.
    n_models : int
        How many there are.
    complete : bool
        False if the budget ended first: then there may be more models, and a wider range.  Always
        False when the model is not proved optimal; then it alone is described.
    """

    dist_g: float
    dist_g_range: tuple[float, float]
    n_models: int
    complete: bool


@dataclass(frozen=True)
class _Rest:
    """All ways to go on from some point: bits of the best and the worst, their number, next."""

    most: float
    least: float
    number: int
    rule: int | None


def least_leaky(
    search: Search, frontier: Frontier, max_length: int, price: float, tolerance: float,
    profiles: Profiles,
) -> tuple[Ties, list[tuple[int, ...]]]:  # fmt: skip
    """What is known of the ties, and the least leaky list as literals.

    Without proof of what is optimal there are no ties: the list that was found is returned.

    Parameters
    ----------
    price, tolerance : float
        In rows.
    """
    walk = _Walk(search, price, profiles)
    n_rows = search.points.n_rows
    uninformed = n_rows * math.log2(profiles.count(profiles.everything))
    # With a single possible profile nothing was uncertain to begin with.
    scale = 1 / uninformed if uninformed else 0.0
    if not frontier.proved:
        bits, members = walk.follow(frontier.rules)
        return Ties(bits * scale, (bits * scale, bits * scale), 1, complete=False), members
    budget = frontier.objective + tolerance + _ROUNDING * max(1.0, frontier.objective)
    everything = search.everything
    found = walk.rest(everything, profiles.everything, max_length, budget)
    assert found is not None, "the list the search found is one of the ties"
    ties = Ties(
        dist_g=found.most * scale,
        dist_g_range=(found.least * scale, found.most * scale),
        n_models=found.number,
        complete=walk.complete,
    )
    return ties, walk.chosen(everything, profiles.everything, max_length, budget)


class _Walk:
    def __init__(self, search: Search, price: float, profiles: Profiles) -> None:
        self.search = search
        self.price = price
        self.profiles = profiles
        self.complete = True
        candidates = search.candidates
        self.rules = [profiles.rule(members) for members in candidates.members]
        self.memo: dict[tuple[Region, int, float], _Rest | None] = {}

    def rest(self, rows: Rows, region: Region, length: int, budget: float) -> _Rest | None:
        """All lists of at most `length` rules on `rows` whose cost is within `budget`."""
        key = (region, length, round(budget, 6))
        if key in self.memo:
            return self.memo[key]
        seen = self.search.scan(rows)
        found: _Rest | None = None
        if seen.stop <= budget:
            bits = seen.people * self._log2(region)
            found = _Rest(bits, bits, 1, None)
        for group in self._next(rows, length, budget):
            if found is not None and self._exhausted():
                self.complete = False
                break
            left_rows = self.search.after(rows, group)
            cost = float(seen.errors[group]) + self.price
            for candidate in self.search.candidates.groups[group]:
                captured, left = self.profiles.split(region, self.rules[candidate])
                below = self.rest(left_rows, left, length - 1, budget - cost)
                if below is None:
                    continue
                bits = int(seen.captured[group]) * self._log2(captured)
                found = _joined(found, below, bits, candidate)
        self.memo[key] = found
        return found

    def _exhausted(self) -> bool:
        return len(self.memo) >= _MOST_STATES or time.monotonic() > self.search.deadline

    def _next(self, rows: Rows, length: int, budget: float) -> list[int]:
        """Groups of candidates that some list within the budget starts with."""
        if length == 0:
            return []
        seen = self.search.scan(rows)
        worth = []
        for group in np.flatnonzero(seen.allowed & (seen.bound + self.price <= budget)).tolist():
            spare = budget - float(seen.errors[group]) - self.price
            left = self.search.after(rows, group)
            try:
                _, high = self.search.solve(left, length - 1, math.floor(spare) + 1)
            except OutOfBudgetError:
                self.complete = False
                high = min(self.search.known(left, length - 1)[1], self.search.scan(left).stop)
            if high <= spare:
                worth.append(group)
        return worth

    def chosen(
        self, rows: Rows, region: Region, length: int, budget: float
    ) -> list[tuple[int, ...]]:
        """The literals of the least leaky list, rule by rule."""
        members = self.search.candidates.members
        owner = {c: g for g, group in enumerate(self.search.candidates.groups) for c in group}
        out: list[tuple[int, ...]] = []
        while (found := self.rest(rows, region, length, budget)) and found.rule is not None:
            group = owner[found.rule]
            budget -= float(self.search.scan(rows).errors[group]) + self.price
            rows = self.search.after(rows, group)
            _, region = self.profiles.split(region, self.rules[found.rule])
            length -= 1
            out.append(members[found.rule])
        return out

    def follow(self, groups: Sequence[int]) -> tuple[float, list[tuple[int, ...]]]:
        """What remains unknown with the first candidates of `groups`, and their literals."""
        rows, region, bits = self.search.everything, self.profiles.everything, 0.0
        chosen = [self.search.candidates.groups[group][0] for group in groups]
        for group, candidate in zip(groups, chosen, strict=True):
            captured, region = self.profiles.split(region, self.rules[candidate])
            left = self.search.after(rows, group)
            people = self.search.scan(rows).people - self.search.scan(left).people
            bits += people * self._log2(captured)
            rows = left
        bits += self.search.scan(rows).people * self._log2(region)
        return bits, [self.search.candidates.members[c] for c in chosen]

    def _log2(self, region: Region) -> float:
        count = self.profiles.count(region)
        if count == 0:
            raise SchemaError("the table has rows that the schema does not allow")
        return math.log2(count)


def _joined(found: _Rest | None, below: _Rest, bits: float, candidate: int) -> _Rest:
    most, least = bits + below.most, bits + below.least
    if found is None:
        return _Rest(most, least, below.number, candidate)
    # Equal to rounding: keep what was there first, which has fewer rules or comes earlier.
    better = most > found.most * (1 + _ROUNDING)
    return _Rest(
        most if better else found.most,
        min(least, found.least),
        found.number + below.number,
        candidate if better else found.rule,
    )
