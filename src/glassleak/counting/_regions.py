"""The part of all profiles that each leaf or rule captures.

A *box* restricts some attributes to sets of levels.  A leaf is a box.  A rule captures the part of
its box that no rule before it captures (Equation 12 of the paper on uncertainty).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from glassleak.counting._domains import Domain, domains_of
from glassleak.errors import UnsupportedModelError
from glassleak.models import RuleList, Tree
from glassleak.schema import Schema

Box: TypeAlias = Mapping[int, int]  # attribute -> set of levels; others are not restricted


@dataclass(frozen=True)
class Region:
    """The profiles in `box` that lie in none of the boxes of `without`."""

    box: Box
    without: tuple[Box, ...] = ()


class Regions(Protocol):
    """The regions of a model's leaves or rules, over common domains."""

    domains: tuple[Domain, ...]

    def __len__(self) -> int: ...

    def region(self, number: int) -> Region:
        """The region of one leaf or rule."""


def regions_of(model: Tree | RuleList, schema: Schema) -> TreeRegions | RuleRegions:
    """The regions of `model` over the profiles of `schema`.

    Raises
    ------
    SchemaError
        The schema does not fit the model, or leaves an attribute continuous.
    """
    if isinstance(model, RuleList):
        return RuleRegions(model, schema)
    if isinstance(model, Tree):
        return TreeRegions(model, schema)
    raise UnsupportedModelError(f"a single tree or rule list is needed, not {type(model).__name__}")


class _Columns:
    """Which attribute a column of the model belongs to, and where in it."""

    def __init__(self, domains: tuple[Domain, ...], n_columns: int) -> None:
        self.attribute = np.zeros(n_columns, dtype=np.int64)
        self.position = np.zeros(n_columns, dtype=np.int64)
        for a, domain in enumerate(domains):
            self.attribute[domain.columns] = a
            self.position[domain.columns] = np.arange(len(domain.columns))


class TreeRegions:
    """The leaves of a tree, in node order."""

    def __init__(self, tree: Tree, schema: Schema) -> None:
        self.tree = tree
        internal = tree.feature >= 0
        thresholds = {
            tree.columns[c]: np.unique(tree.threshold[tree.feature == c])
            for c in np.unique(tree.feature[internal]).tolist()
        }
        self.domains = domains_of(schema, tree.columns, thresholds, tree.precision, tree.comparison)
        self._where = _Columns(self.domains, len(tree.columns))
        self._rank = np.zeros(tree.n_nodes, dtype=np.int64)
        for c in np.unique(tree.feature[internal]).tolist():
            nodes = np.flatnonzero(tree.feature == c)
            domain = self.domains[self._where.attribute[c]]
            self._rank[nodes] = domain.ranks(int(self._where.position[c]), tree.threshold[nodes])
        self.numbers = tree.leaves

    def __len__(self) -> int:
        return len(self.numbers)

    def low(self, node: int) -> tuple[int, int]:
        """The attribute a node tests, and its levels that go left."""
        column = int(self.tree.feature[node])
        attribute = int(self._where.attribute[column])
        domain = self.domains[attribute]
        mask = domain.below(int(self._where.position[column]), int(self._rank[node]))
        if domain.missing and self.tree.missing_left is not None and self.tree.missing_left[node]:
            mask |= domain.missing
        return attribute, mask

    def region(self, number: int) -> Region:
        box: dict[int, int] = {}
        node = int(self.numbers[number])
        while node:
            parent = int(self._parent[node])
            attribute, mask = self.low(parent)
            if self.tree.right[parent] == node:
                mask = ~mask
            box[attribute] = box.get(attribute, self.domains[attribute].everything) & mask
            node = parent
        return Region(box)

    @cached_property
    def _parent(self) -> npt.NDArray[np.int64]:
        parent = np.zeros(self.tree.n_nodes, dtype=np.int64)
        internal = np.flatnonzero(self.tree.feature >= 0)
        parent[self.tree.left[internal]] = internal
        parent[self.tree.right[internal]] = internal
        return parent


class RuleRegions:
    """The rules of a list, in its order; the last one is "everybody else"."""

    def __init__(self, rules: RuleList, schema: Schema) -> None:
        found: dict[str, list[float]] = {}
        for rule in rules.rules:
            for c in rule.conditions:
                ends = [end for end in (c.low, c.high) if math.isfinite(end)]
                found.setdefault(rules.columns[c.column], []).extend(ends)
        thresholds = {column: np.unique(np.array(ends)) for column, ends in found.items()}
        self.domains = domains_of(schema, rules.columns, thresholds, rules.precision, "<=")
        where = _Columns(self.domains, len(rules.columns))
        self.boxes: list[dict[int, int]] = []
        for rule in rules.rules:
            box: dict[int, int] = {}
            for c in rule.conditions:
                a, position = int(where.attribute[c.column]), int(where.position[c.column])
                domain = self.domains[a]
                low, high = domain.ranks(position, np.array([c.low, c.high])).tolist()
                inside = domain.below(position, high) & ~domain.below(position, low)
                box[a] = box.get(a, domain.everything) & inside
            self.boxes.append(box)
        self.numbers = np.arange(len(rules.rules))

    def __len__(self) -> int:
        return len(self.boxes)

    def region(self, number: int) -> Region:
        return Region(self.boxes[number], tuple(self.boxes[:number]))
