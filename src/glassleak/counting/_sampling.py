"""Profiles of a region, drawn uniformly: every one with the same probability."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from glassleak.counting._counter import Counter
from glassleak.counting._domains import Domain, bits
from glassleak.counting._regions import Box
from glassleak.errors import BudgetExhaustedError
from glassleak.schema import Numeric, Ordinal

IntArray = npt.NDArray[np.int64]


def sample_box(
    domains: Sequence[Domain], levels: Sequence[int], size: int, rng: np.random.Generator
) -> IntArray:
    """`size` profiles of a box: for every attribute a level of its set, as (size, attributes)."""
    drawn = np.empty((size, len(domains)), dtype=np.int64)
    for a, (domain, mask) in enumerate(zip(domains, levels, strict=True)):
        drawn[:, a] = _sample_levels(domain, mask, size, rng)
    return drawn


def _sample_levels(domain: Domain, mask: int, size: int, rng: np.random.Generator) -> IntArray:
    low = mask & -mask
    if domain.members is None and not mask & (mask + low):  # one run of neighbouring levels
        start = domain.starts[low.bit_length() - 1]
        return rng.integers(start, domain.starts[mask.bit_length()], size=size)
    classes = list(bits(mask))
    sizes = np.array([domain.sizes[c] for c in classes], dtype=np.int64)
    ends = np.cumsum(sizes)
    at = rng.integers(int(ends[-1]), size=size)
    if domain.members is not None:
        return np.concatenate([domain.members[c] for c in classes])[at]
    which = np.searchsorted(ends, at, side="right")
    starts = np.array([domain.starts[c] for c in classes], dtype=np.int64)
    return starts[which] + at - (ends - sizes)[which]


def level_table(domains: Sequence[Domain], drawn: IntArray) -> npt.NDArray[np.float64]:
    """Drawn levels as a table in the model's columns."""
    n_columns = sum(len(domain.columns) for domain in domains)
    table = np.empty((len(drawn), n_columns))
    for a, domain in enumerate(domains):
        attribute = domain.attribute
        if isinstance(attribute, Ordinal | Numeric):
            step = 1.0 if isinstance(attribute, Ordinal) else attribute.resolution or 0.0
            values = np.minimum(attribute.low + step * drawn[:, a], attribute.high)
            absent = attribute.missing & (drawn[:, a] == domain.n_levels - 1)
            table[:, domain.columns[0]] = np.where(absent, np.nan, values)
        else:
            table[:, domain.columns] = attribute.level_values()[drawn[:, a]]
    return table


def sample_outside(
    counter: Counter,
    box: Box,
    clauses: int,
    size: int,
    rng: np.random.Generator,
    *,
    deadline: float = math.inf,
) -> IntArray:
    """`size` profiles in `box` outside the boxes of `clauses`.

    Attributes are drawn one after the other, each group of levels with the exact number of profiles
    that go with it as its weight, until nothing is left to stay out of.

    Raises
    ------
    BudgetExhaustedError
        The profiles could not be counted exactly, so none can be drawn uniformly.
    ValueError
        There is no such profile.
    """
    formula = counter.formula
    drawn = np.empty((size, len(formula.domains)), dtype=np.int64)
    for row in range(size):
        state = formula.begin(box, clauses)
        while state is not None and state.active:
            _, parts = formula.split(state, 0)
            branches = counter.branching.levels(state, *parts[0])
            children, weights = [], []
            for _, _, restrictions in branches:
                child = state.copy()
                if not formula.narrow(child, restrictions):
                    continue
                count = counter.count_state(child, deadline=deadline)
                if not count.exact:
                    raise BudgetExhaustedError(
                        "the profiles of a rule could not be counted in time"
                    )
                children.append(child)
                weights.append(count.low)
            state = children[_draw(weights, rng)] if sum(weights) else None
            if time.monotonic() > deadline:
                raise BudgetExhaustedError(f"{row:,} of {size:,} profiles were drawn in time")
        if state is None:
            raise ValueError("no profile is left to draw from")
        drawn[row] = sample_box(formula.domains, state.levels, 1, rng)[0]
    return drawn


def _draw(weights: Sequence[int], rng: np.random.Generator) -> int:
    """A position with exactly these weights, which may be of any size."""
    at = _below(sum(weights), rng)
    for position, weight in enumerate(weights):
        if at < weight:
            return position
        at -= weight
    raise AssertionError("unreachable")


def _below(limit: int, rng: np.random.Generator) -> int:
    """A whole number from 0 to `limit` - 1, all alike, however large."""
    n_bits = limit.bit_length()
    while True:
        drawn = int.from_bytes(rng.bytes((n_bits + 7) // 8), "little") >> (-n_bits % 8)
        if drawn < limit:
            return drawn
