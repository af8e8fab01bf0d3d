"""How many profiles each rule of a list captures, while the list is being searched.

The profiles are a product of attributes, each cut into the pieces the conditions can tell apart.
What rules leave is kept as disjoint boxes (one piece set per attribute), exactly, as integers.
For a finished model use `glassleak.uncertainty`, which counts larger lists too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import pandas as pd

from glassleak.errors import SchemaError
from glassleak.knowledge import profile_space
from glassleak.learners._literals import Floats, Literals
from glassleak.schema import Schema

# One bit set of pieces per attribute.
Box: TypeAlias = tuple[int, ...]
Region: TypeAlias = tuple[Box, ...]


@dataclass(frozen=True)
class Profiles:
    """The space of profiles and what every literal allows of it.

    Attributes
    ----------
    sizes : tuple of tuple of int
        Values in every piece of every attribute.
    allowed : tuple of (attribute, bit set)
        Per literal.
    """

    sizes: tuple[tuple[int, ...], ...]
    allowed: tuple[tuple[int, int], ...]
    _counted: dict[tuple[int, int], int] = field(default_factory=dict, repr=False, compare=False)

    @staticmethod
    def of(
        schema: Schema | None, names: Sequence[str], literals: Literals, values: Floats
    ) -> Profiles:
        """From a schema, or with every column on its own and one value in every piece.

        Without a schema a column of zeros and ones has two values, even if only one occurs.
        """
        if schema is None:
            return _independent(literals, ((values == 0) | (values == 1)).all(axis=0).tolist())
        invalid = int(schema.invalid_rows(pd.DataFrame(values, columns=list(names))).sum())
        if invalid:
            raise SchemaError(f"{invalid} rows of the table are ones the schema does not allow")
        cuts = {name: np.unique(literals.cut[literals.column == i]) for i, name in enumerate(names)}
        space = profile_space(schema, names, cuts, precision="float64")
        sizes: list[tuple[int, ...]] = []
        where: dict[int, tuple[int, int]] = {}
        for a, block in enumerate(space.blocks):
            if block.sizes is None:
                raise SchemaError(
                    f"{block.attribute.name!r} needs a resolution: a continuous attribute has "
                    "infinitely many profiles"
                )
            sizes.append(block.sizes)
            where |= {int(column): (a, j) for j, column in enumerate(block.columns)}
        allowed = []
        for i in range(len(literals)):
            a, j = where[int(literals.column[i])]
            values = space.blocks[a].values[:, j]
            holds = (values > literals.cut[i]) == literals.above[i]
            allowed.append((a, _bits(np.flatnonzero(holds).tolist())))
        return Profiles(tuple(sizes), tuple(allowed))

    @property
    def everything(self) -> Region:
        """All profiles."""
        return (tuple(_bits(range(len(pieces))) for pieces in self.sizes),)

    def rule(self, members: Sequence[int]) -> dict[int, int]:
        """What a conjunction of literals allows of each attribute it speaks of."""
        found: dict[int, int] = {}
        for i in members:
            attribute, bits = self.allowed[i]
            found[attribute] = found.get(attribute, bits) & bits
        return found

    def split(self, region: Region, rule: Mapping[int, int]) -> tuple[Region, Region]:
        """The part of `region` a rule captures, and the part it leaves."""
        captured: list[Box] = []
        left: list[Box] = []
        for box in region:
            inside = list(box)
            for attribute, bits in rule.items():
                outside = inside[attribute] & ~bits
                if outside:
                    piece = list(inside)
                    piece[attribute] = outside
                    left.append(tuple(piece))
                inside[attribute] &= bits
                if not inside[attribute]:
                    break
            else:
                captured.append(tuple(inside))
        return tuple(captured), tuple(left)

    def count(self, region: Region) -> int:
        """How many profiles are in `region`."""
        return sum(
            math.prod(self._size(attribute, bits) for attribute, bits in enumerate(box))
            for box in region
        )

    def _size(self, attribute: int, bits: int) -> int:
        key = (attribute, bits)
        if key not in self._counted:
            pieces = self.sizes[attribute]
            self._counted[key] = sum(pieces[i] for i in range(len(pieces)) if bits >> i & 1)
        return self._counted[key]


def _independent(literals: Literals, two_valued: Sequence[bool]) -> Profiles:
    cuts = [np.unique(literals.cut[literals.column == j]) for j in range(len(two_valued))]
    allowed = []
    for i in range(len(literals)):
        column = int(literals.column[i])
        place = int(np.searchsorted(cuts[column], literals.cut[i]))
        above = range(place + 1, len(cuts[column]) + 1)
        allowed.append((column, _bits(above if literals.above[i] else range(place + 1))))
    sizes = [
        (2,) if two and not len(found) else (1,) * (len(found) + 1)
        for two, found in zip(two_valued, cuts, strict=True)
    ]
    return Profiles(tuple(sizes), tuple(allowed))


def _bits(places: Sequence[int]) -> int:
    return sum(1 << i for i in places)
