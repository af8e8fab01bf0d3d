"""The problem in flat arrays: trees as tests on boxes, leaves with what they publish.

Every leaf v of tree t states, with m_ti the number of times tree t drew row i (equation 5 of the
forest paper with the draws known),

    sum over rows i in v of class c of m_ti  =  n_tvc,        rows in v with m_ti > 0  =  d_tv.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glassleak.knowledge import (
    Known,
    Part,
    Published,
    Space,
    profile_space,
    published,
    with_known_columns,
)
from glassleak.knowledge._boxes import BoxSpace
from glassleak.knowledge._compare import is_low
from glassleak.models import Forest
from glassleak.schema import Schema

IntArray = npt.NDArray[np.int64]


class Tests(NamedTuple):
    """All trees' nodes, one after the other.

    Attributes
    ----------
    root : (trees,) int array
    word, low_bits, all_bits : (nodes, pieces) arrays
        Where the tested attribute's bits are, those that go low, and all of them (`BoxSpace`).
    low, high : (nodes,) int arrays
        The next node; -1 at leaves.
    leaf : (nodes,) int array
        The leaf reached; -1 at tests.
    """

    root: Any
    word: Any
    low_bits: Any
    all_bits: Any
    low: Any
    high: Any
    leaf: Any


class Leaves(NamedTuple):
    """All trees' leaves, one after the other.

    Attributes
    ----------
    tree : (leaves,) int array
    first : (trees + 1,) int array
    draws : (leaves, classes) int array
        n_tvc; one column if the classes are not told apart, -1 where not stated.
    total : (leaves,) int array
        Their sum.
    distinct : (leaves,) int array
        d_tv; -1 where not published.
    most : (trees,) int array
        The largest multiplicity of each tree.
    """

    tree: Any
    first: Any
    draws: Any
    total: Any
    distinct: Any
    most: Any


@dataclass(frozen=True)
class Problem:
    """Everything known about the rows.

    Attributes
    ----------
    facts : Published
        One part per tree, and one for known columns.
    drawn : (parts, rows) int array
        m_ti; known columns count every row once.
    space : Space
    layout : BoxSpace
    tests : Tests
    leaves : Leaves
    """

    facts: Published
    drawn: npt.NDArray[np.int32]
    space: Space
    layout: BoxSpace
    tests: Tests
    leaves: Leaves

    @property
    def n_rows(self) -> int:
        return int(self.drawn.shape[1])

    @property
    def n_classes(self) -> int:
        return len(self.facts.classes)

    def place(self, leaf: int) -> str:
        """A leaf in words: ``tree 3, leaf 17``."""
        t = int(self.leaves.tree[leaf])
        part = self.facts.parts[t]
        return f"{part.name}, {part.groups[leaf - int(self.leaves.first[t])]}"


def problem_of(
    forest: Forest, schema: Schema, drawn: npt.NDArray[np.int32], known: Known
) -> Problem:
    """What `forest` and the draws say about its rows."""
    facts = published(list(forest.trees))
    named = tuple(replace(part, name=f"tree {t}") for t, part in enumerate(facts.parts))
    facts = replace(facts, parts=named, n_rows=int(drawn.shape[1]))
    distinct = [
        None if tree.distinct_rows is None else tree.distinct_rows[tree.leaves]
        for tree in forest.trees
    ]
    facts = with_known_columns(facts, known)
    for part in facts.parts[len(forest) :]:
        drawn = np.vstack([drawn, np.ones((1, drawn.shape[1]), dtype=np.int32)])
        distinct.append(part.counts.sum(axis=1))
    space = profile_space(
        schema, facts.columns, facts.thresholds, facts.precision, facts.comparison
    )
    layout = BoxSpace(space, facts)
    return Problem(
        facts,
        drawn,
        space,
        layout,
        _tests(facts.parts, layout),
        _leaves(facts, distinct, drawn),
    )


def _tests(parts: tuple[Part, ...], layout: BoxSpace) -> Tests:
    columns: list[list[npt.NDArray[Any]]] = [[] for _ in Tests._fields]
    nodes = leaves = 0
    for part in parts:
        tests = part.decisions
        word, low_bits, all_bits = _bits(part, layout)
        own = (
            np.array([nodes]),
            word,
            low_bits,
            all_bits,
            np.where(tests.low >= 0, tests.low + nodes, -1),
            np.where(tests.high >= 0, tests.high + nodes, -1),
            np.where(tests.group >= 0, tests.group + leaves, -1),
        )
        for column, values in zip(columns, own, strict=True):
            column.append(values)
        nodes += len(tests.column)
        leaves += part.n_groups
    return Tests(*[np.concatenate(column) for column in columns])


def _bits(part: Part, layout: BoxSpace) -> tuple[npt.NDArray[Any], ...]:
    """For every node: the words of its attribute, the bits that go low, and all its bits."""
    tests, facts = part.decisions, layout.facts
    shape = (len(tests.column), max(len(own) for own in layout.pieces))
    word = np.zeros(shape, dtype=np.int64)
    low_bits, all_bits = np.zeros(shape, dtype=np.uint64), np.zeros(shape, dtype=np.uint64)
    for column in np.unique(tests.column[tests.column >= 0]).tolist():
        nodes = np.flatnonzero(tests.column == column)
        b = int(layout.block_of[column])
        block = layout.space.blocks[b]
        value = block.values[:, int(np.flatnonzero(block.columns == column)[0]), None]
        low = is_low(value, tests.threshold[nodes][None, :], facts.precision, facts.comparison)
        low = np.where(np.isnan(value), tests.missing_low[nodes][None, :], low)
        for k, (at, shift, start, stop) in enumerate(layout.pieces[b]):
            bits = np.uint64(1) << np.arange(shift, shift + stop - start, dtype=np.uint64)
            word[nodes, k] = at
            chosen = np.where(low[start:stop].T, bits, np.uint64(0))
            low_bits[nodes, k] = np.bitwise_or.reduce(chosen, axis=1)
            all_bits[nodes, k] = np.bitwise_or.reduce(bits)
    return word, low_bits, all_bits


def _leaves(
    facts: Published, distinct: list[IntArray | None], drawn: npt.NDArray[np.int32]
) -> Leaves:
    sizes = [part.n_groups for part in facts.parts]
    width = len(facts.classes)
    draws = []
    for part in facts.parts:
        counts = part.counts
        if not part.by_class and width > 1:
            # Classes not told apart: nothing is stated about any one of them.
            counts = np.full((part.n_groups, width), -1, dtype=np.int64)
        draws.append(counts)
    total = np.concatenate([part.counts.sum(axis=1) for part in facts.parts])
    seen = [
        np.full(size, -1, dtype=np.int64) if d is None else np.asarray(d, dtype=np.int64)
        for size, d in zip(sizes, distinct, strict=True)
    ]
    return Leaves(
        np.repeat(np.arange(len(sizes)), sizes),
        np.concatenate([[0], np.cumsum(sizes)]),
        np.ascontiguousarray(np.vstack(draws)),
        total,
        np.concatenate(seen),
        drawn.max(axis=1, initial=0).astype(np.int64),
    )
