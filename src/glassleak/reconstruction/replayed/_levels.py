"""The trees as tests on levels, for rows whose possibilities are too many to list.

A row is one level per attribute.  Where every test on an attribute cuts its levels in two at one
place (numbers, codes of categories), all levels are followed through a tree at once, as ranges;
levels that are not in order (one-hot columns, missing values) are followed one by one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glassleak.errors import ModelTooLargeError
from glassleak.knowledge import Part
from glassleak.knowledge._compare import is_low
from glassleak.reconstruction.replayed._problem import Problem

_MAX_TABLE = 200_000_000
BLOCK, CUT, LOW, HIGH, ORDERED, ENTRY = range(6)


class Levels(NamedTuple):
    """All trees' nodes, one after the other, and the rows each tree drew.

    Attributes
    ----------
    root : (trees,) int array
    node : (nodes, 6) int array
        What a step through a tree needs, side by side in memory: the attribute tested (-1 at
        leaves); the level from which on the ordered ones go high; the next node for low and for
        high levels (at leaves, the number of the leaf); the number of ordered levels; where the
        outcomes for the other levels begin in `goes_low`.
    goes_low : bool array
    n_levels, n_ordered : (attributes,) int arrays
        All levels, and how many of them, from the first on, are in order.
    tree, times : int arrays
        The trees that drew each row and how often: ``tree[first[i] : first[i + 1]]``.
    first : (rows + 1,) int array
    """

    root: Any
    node: Any
    goes_low: Any
    n_levels: Any
    n_ordered: Any
    tree: Any
    times: Any
    first: Any


def levels_of(problem: Problem) -> Levels:
    """The trees of `problem` as tests on levels.

    Raises
    ------
    ModelTooLargeError
        The outcomes of all tests for all unordered levels do not fit into memory.
    """
    blocks = problem.space.blocks
    n_ordered = np.array([_ordered(block.values) for block in blocks])
    n_levels = np.array([len(block) for block in blocks])
    listed: list[npt.NDArray[np.int32]] = []
    outcomes: list[npt.NDArray[np.bool_]] = []
    nodes = leaves = size = 0
    roots = []
    for part in problem.facts.parts:
        tests = part.decisions
        roots.append(nodes)
        block = np.full(len(tests.column), -1, dtype=np.int64)
        cut, entry = np.zeros_like(block), np.zeros_like(block)
        for column in np.unique(tests.column[tests.column >= 0]).tolist():
            here = np.flatnonzero(tests.column == column)
            b = int(problem.layout.block_of[column])
            low = _low_levels(problem, part, here, b)
            ordered = int(n_ordered[b])
            block[here], cut[here] = b, low[:, :ordered].sum(axis=1)
            rest = low.shape[1] - ordered
            entry[here] = size - ordered + rest * np.arange(len(here))
            outcomes.append(low[:, ordered:].reshape(-1))
            size += rest * len(here)
            if size > _MAX_TABLE:
                raise ModelTooLargeError("too many tests on too many levels")
        ends = block < 0
        listed.append(
            np.column_stack([
                block, cut, np.where(ends, tests.group + leaves, tests.low + nodes),
                tests.high + nodes, np.where(ends, 0, n_ordered[block]), entry,
            ]).astype(np.int32)
        )  # fmt: skip
        nodes += len(block)
        leaves += part.n_groups
    by_row = np.ascontiguousarray(problem.drawn.T)
    return Levels(
        np.array(roots), np.ascontiguousarray(np.concatenate(listed)),
        np.concatenate([*outcomes, np.zeros(1, dtype=bool)]), n_levels, n_ordered,
        np.nonzero(by_row)[1], by_row[by_row > 0].astype(np.int64),
        np.concatenate([[0], np.cumsum((by_row > 0).sum(axis=1))]),
    )  # fmt: skip


def _ordered(values: npt.NDArray[np.float64]) -> int:
    """How many levels, from the first on, are ascending numbers of one column."""
    if values.shape[1] > 1:
        return 0
    numbers = values[:, 0]
    count = len(numbers) - int(np.isnan(numbers).sum())
    ascending = not np.isnan(numbers[:count]).any() and bool((np.diff(numbers[:count]) > 0).all())
    return count if ascending else 0


def _low_levels(
    problem: Problem, part: Part, nodes: npt.NDArray[np.intp], b: int
) -> npt.NDArray[np.bool_]:
    """(nodes, levels): which levels of attribute `b` go low at nodes that test one column of it."""
    tests, facts = part.decisions, problem.facts
    block = problem.space.blocks[b]
    at = int(np.flatnonzero(block.columns == tests.column[nodes[0]])[0])
    value = block.values[:, at][None, :]
    low = is_low(value, tests.threshold[nodes][:, None], facts.precision, facts.comparison)
    return np.where(np.isnan(value), tests.missing_low[nodes][:, None], low)
