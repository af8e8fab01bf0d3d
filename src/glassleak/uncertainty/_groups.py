"""Leaves or rules with the rows they hold and the profiles they leave possible."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from glassleak.counting import (
    Count,
    Counter,
    RuleRegions,
    TreeRegions,
    count_leaves,
    count_rules,
    project,
    regions_of,
)
from glassleak.errors import InconsistentModelError, UnsupportedModelError
from glassleak.models import Exact, Missing, RuleList, Tree
from glassleak.schema import Schema

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Groups:
    """A model's leaves or rules, over the profiles of a schema.

    Attributes
    ----------
    model : Tree or RuleList
    schema : Schema
    regions : TreeRegions or RuleRegions
    numbers : int array
        Node of each leaf, or position of each rule.
    rows : int array
        People each holds.
    class_rows : (groups, classes) int array, or None
        The same by class, where it is published.
    counts : tuple of Count
        Profiles each captures.
    shares : float array
        Mean over attributes of what remains of each alone (one row of Equation 1).
    shares_exact : bool
    counter : Counter, optional
        For rule lists: what was solved, for further questions.
    """

    model: Tree | RuleList
    schema: Schema
    regions: TreeRegions | RuleRegions
    numbers: IntArray
    rows: IntArray
    class_rows: IntArray | None
    counts: tuple[Count, ...]
    shares: npt.NDArray[np.float64]
    shares_exact: bool
    counter: Counter | None

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def noun(self) -> str:
        return "rule" if isinstance(self.model, RuleList) else "leaf"

    @property
    def exact(self) -> bool:
        """Whether the profiles of every group that holds people were counted exactly."""
        return all(c.exact for c, n in zip(self.counts, self.rows.tolist(), strict=True) if n)

    @cached_property
    def n_profiles(self) -> int:
        """Profiles of the schema."""
        return math.prod(domain.n_levels for domain in self.regions.domains)


def count_groups(
    model: Tree | RuleList,
    schema: Schema,
    *,
    deadline: float = math.inf,
    progress: Callable[[float], None] | None = None,
) -> Groups:
    """Count what every leaf or rule of `model` captures.

    Raises
    ------
    UnsupportedModelError
        It is not published how many rows a leaf or rule holds.
    SchemaError
        The schema does not fit the model, or leaves an attribute continuous.
    InconsistentModelError
        A leaf or rule holds rows but no profile of the schema.
    """
    people = _people(model)
    regions = regions_of(model, schema)
    where = np.asarray(regions.numbers, dtype=np.int64)
    rows = people[where].astype(np.int64)
    counter = None
    if isinstance(regions, TreeRegions):
        profiles, shares = count_leaves(regions)
        counts = [Count(number, number) for number in profiles]
        sharp = True
    else:
        counter = Counter(regions.domains, regions.boxes)
        now = time.monotonic()
        # Attributes one by one are a cheap question next to the number of profiles.
        counts = count_rules(
            regions, counter=counter, deadline=now + 0.8 * (deadline - now), progress=progress
        )
        shares, sharp = _shares(regions, counter, rows, deadline)
    noun = "rule" if isinstance(model, RuleList) else "leaf"
    for number, held, count in zip(where.tolist(), rows.tolist(), counts, strict=True):
        if held and not count.high:
            raise InconsistentModelError(
                f"{held} rows, but no profile of the schema can reach it", f"{noun} {number}"
            )
    # Where there are people there is a profile.
    counts = [
        count.within(1, count.high) if held else count
        for held, count in zip(rows.tolist(), counts, strict=True)
    ]
    return Groups(
        model, schema, regions, where, rows, _class_rows(model, where, rows), tuple(counts), shares,
        sharp, counter,
    )  # fmt: skip


def _people(model: Tree | RuleList) -> IntArray:
    people = model.people
    if people is None:
        why = (
            model.counts.reason
            if isinstance(model.counts, Missing)
            else "the published counts carry noise"
        )
        raise UnsupportedModelError(f"it is not known how many rows each leaf or rule holds: {why}")
    return people


def _class_rows(model: Tree | RuleList, where: IntArray, rows: IntArray) -> IntArray | None:
    if not isinstance(model.counts, Exact):
        return None
    values = model.counts.values[where].astype(np.int64)
    # Rows drawn repeatedly are counted repeatedly: then classes of people are not known.
    return values if bool((values.sum(axis=1) == rows).all()) else None


def _shares(
    regions: RuleRegions, counter: Counter, rows: IntArray, deadline: float
) -> tuple[npt.NDArray[np.float64], bool]:
    """What remains of each attribute alone, on average, per rule that holds people."""
    whole = [math.log2(domain.n_levels) for domain in regions.domains]
    uncertain = sum(bits > 0 for bits in whole)
    shares = np.zeros(len(regions))
    exact = True
    for number in np.flatnonzero(rows).tolist():
        found = project(
            counter.formula, regions.boxes[number], (1 << number) - 1, deadline=deadline
        )
        exact &= found.exact
        left = [
            math.log2(size) / bits
            for domain, levels, bits in zip(regions.domains, found.levels, whole, strict=True)
            if bits and (size := domain.size(levels))
        ]
        shares[number] = math.fsum(left) / uncertain if uncertain else 0.0
    return shares, exact
