"""What each attribute can be: its levels, grouped into what a model tells apart, as bits.

A set of levels is a Python integer whose bit ``i`` stands for the ``i``-th class of levels.  How
many levels a set holds is exact at any size.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import or_

import numpy as np
import numpy.typing as npt

from glassleak.errors import SchemaError
from glassleak.knowledge import Block, profile_space
from glassleak.schema import Attribute, Numeric, Ordinal, Schema

FloatArray = npt.NDArray[np.float64]
# Sets met more often than this are worth remembering, but not without end.
_REMEMBERED = 1 << 16


def bits(mask: int) -> Iterator[int]:
    """Positions of the ones of `mask`, from the lowest."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


@dataclass(frozen=True)
class Domain:
    """The levels of one attribute.

    Attributes
    ----------
    attribute : Attribute
    columns : int array
        Where its columns stand in the model.
    values : (classes, columns) float array
        One level of each class, as the model sees it.
    sizes : tuple of int
        Levels per class.
    members : tuple of int arrays, or None
        The levels of each class, as positions in the attribute's list of levels.  ``None`` where
        the list is too long to write down: there, classes are runs of neighbouring levels.
    cuts : tuple of float arrays
        The model's thresholds on each column, from the lowest.
    precision, comparison : str
        How the model compares values with thresholds.
    """

    attribute: Attribute
    columns: npt.NDArray[np.int64]
    values: FloatArray
    sizes: tuple[int, ...]
    members: tuple[npt.NDArray[np.int64], ...] | None
    cuts: tuple[FloatArray, ...]
    precision: str
    comparison: str
    _known: dict[int, int] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def everything(self) -> int:
        """The set of all levels."""
        return (1 << len(self.sizes)) - 1

    @cached_property
    def n_levels(self) -> int:
        """Number of levels."""
        return self.starts[-1]

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """For every class the levels of all classes before it; the last entry is all levels."""
        return (0, *itertools.accumulate(self.sizes))

    @cached_property
    def missing(self) -> int:
        """The set of levels that are "missing"."""
        absent = np.isnan(self.values).any(axis=1)
        return sum(1 << int(i) for i in np.flatnonzero(absent))

    def size(self, mask: int) -> int:
        """Number of levels in a set."""
        known = self._known.get(mask)
        if known is None:
            low = mask & -mask
            if mask & (mask + low):
                known = sum(self.sizes[i] for i in bits(mask))
            else:  # one run of ones: intervals, mostly
                known = self.starts[mask.bit_length()] - self.starts[max(low.bit_length() - 1, 0)]
            if len(self._known) < _REMEMBERED:
                self._known[mask] = known
        return known

    def ranks(self, position: int, cuts: FloatArray) -> npt.NDArray[np.intp]:
        """How many distinct values of the column at `position` are below each of `cuts`."""
        distinct, _ = self._orders[position]
        # The same test as the model's own: `value <= cut`, or `value < cut`.
        if self.comparison == "<=":
            return np.searchsorted(distinct, cuts, side="right")
        return np.searchsorted(distinct, cuts, side="left")

    def below(self, position: int, rank: int) -> int:
        """The set of levels with one of the `rank` lowest values of the column at `position`."""
        _, sets = self._orders[position]
        return (1 << rank) - 1 if sets is None else sets[rank]

    def ranks_of_values(self, position: int, values: FloatArray) -> npt.NDArray[np.intp]:
        """Between which thresholds each value of a column lies, -1 where it is missing."""
        cuts = self.cuts[position]
        seen = as_compared(values, self.precision)
        rank = np.searchsorted(cuts, seen, "left" if self.comparison == "<=" else "right")
        return np.where(np.isnan(seen), -1, rank)

    @cached_property
    def _orders(self) -> tuple[tuple[FloatArray, tuple[int, ...] | None], ...]:
        """Per column: its distinct values from the lowest, and the set of levels up to each.

        Where classes of levels stand in the order of their values, sets are runs of ones and need
        not be written down.
        """
        found: list[tuple[FloatArray, tuple[int, ...] | None]] = []
        for position in range(self.values.shape[1]):
            seen = as_compared(self.values[:, position], self.precision)
            present = np.flatnonzero(~np.isnan(seen))
            distinct, value = np.unique(seen[present], return_inverse=True)
            if len(distinct) == len(present) and bool((value == present).all()):
                found.append((distinct, None))
                continue
            steps = [0] * len(distinct)
            for level, at in zip(present.tolist(), value.tolist(), strict=True):
                steps[at] |= 1 << level
            found.append((distinct, (0, *itertools.accumulate(steps, or_))))
        return tuple(found)


def as_compared(values: FloatArray, precision: str) -> FloatArray:
    """`values` rounded as the model rounds them before comparing."""
    with np.errstate(over="ignore"):  # beyond float32 a value is infinite, as in the library
        single = values.astype(np.float32) if precision == "float32" else values
    return single.astype(np.float64)


def domains_of(
    schema: Schema,
    columns: Sequence[str],
    thresholds: Mapping[str, FloatArray],
    precision: str,
    comparison: str,
) -> tuple[Domain, ...]:
    """The domain of every attribute of `schema`.

    Raises
    ------
    SchemaError
        An attribute is continuous and no resolution is declared, so it has no number of levels.
    """
    endless = [a.name for a in schema if a.size is None]
    if endless:
        shown = ", ".join(repr(name) for name in endless[:5]) + (", …" if len(endless) > 5 else "")
        raise SchemaError(
            f"no finite number of values: {shown}. To count profiles, say how finely each number "
            f"was recorded, as in Numeric({endless[0]!r}, low, high, resolution=1), or in a schema "
            "file: resolution = 1"
        )
    space = profile_space(schema, columns, thresholds, precision, comparison)
    return tuple(
        _domain(block, columns, thresholds, precision, comparison) for block in space.blocks
    )


def _domain(
    block: Block,
    columns: Sequence[str],
    thresholds: Mapping[str, FloatArray],
    precision: str,
    comparison: str,
) -> Domain:
    assert block.sizes is not None
    cuts = tuple(np.unique(thresholds.get(columns[c], np.empty(0))) for c in block.columns)
    domain = Domain(
        block.attribute, block.columns, block.values, block.sizes, None, cuts, precision, comparison
    )
    if isinstance(block.attribute, Ordinal | Numeric):
        return domain
    number = {outcome: i for i, outcome in enumerate(_outcomes(domain, block.values))}
    listed: list[list[int]] = [[] for _ in block.sizes]
    for level, outcome in enumerate(_outcomes(domain, block.attribute.level_values())):
        listed[number[outcome]].append(level)
    members = tuple(np.array(levels, dtype=np.int64) for levels in listed)
    assert tuple(len(m) for m in members) == block.sizes
    return replace(domain, members=members)


def _outcomes(domain: Domain, levels: FloatArray) -> list[tuple[int, ...]]:
    """What every test says about each level, as the number of thresholds it passes per column."""
    passed = [domain.ranks_of_values(i, levels[:, i]) for i in range(levels.shape[1])]
    return [tuple(row) for row in np.column_stack(passed).tolist()]
