"""All trees in one set of arrays, laid out for the inner loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glassleak.errors import ModelTooLargeError, UnsupportedModelError
from glassleak.knowledge import Decisions, Part, Published
from glassleak.knowledge._compare import is_low
from glassleak.reconstruction.mixed._axes import Axis

IntArray = npt.NDArray[np.int32]
# Fields of a node, side by side in memory because they are read together.
BLOCK, CUT, LOW, HIGH, BELOW, ABOVE, COUNTS, MISSING = range(8)
# Bytes for the number of rows per node and level; the search does without them when they are more.
MAX_BYTES = 400_000_000


@dataclass(frozen=True)
class Grove:
    """Trees over levels.

    Attributes
    ----------
    node : (nodes, 8) int array
        Attribute tested (-1: a leaf), first level that goes high, children (a leaf: its number in
        place of the low child); largest level below the cut and smallest above it among the rows
        of the node, -1 for none; where the node's row counts per level start (or, for attributes
        that are not ordered, its line of `goes_low`); 1 where missing values go low, 2 where levels
        have no order.
    twice : float array
        Twice the threshold, where it is the sum of two training values; NaN elsewhere.
    goes_low : bool array
        For attributes that are not ordered: which levels go low.
    roots : int array
    first : (leaves, attributes) int array
        The first node on the way to each leaf that tests the attribute; -1 if none does.
    sizes, numbers : int arrays
        Levels per attribute, with and without "missing".
    ordered : bool array
    starts : int array
        Where each attribute's levels start in `low` and `high`.
    low, high : float arrays
        Ends of all levels.
    group : (leaves,) int array
        The group of the facts each leaf stands for, counted over all parts.
    depth : int
    n_counts : int
        Length of all row counts per level.
    """

    node: IntArray
    twice: npt.NDArray[np.float64]
    goes_low: npt.NDArray[np.bool_]
    roots: IntArray
    first: IntArray
    sizes: IntArray
    numbers: IntArray
    ordered: npt.NDArray[np.bool_]
    starts: npt.NDArray[np.int64]
    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    group: npt.NDArray[np.int64]
    depth: int
    n_counts: int


def grove_of(
    facts: Published, axes: Sequence[Axis], *, midpoints: bool, n_trees: int | None = None
) -> Grove:
    """The trees of `facts` over the levels of `axes`.

    Parameters
    ----------
    midpoints : bool
        Whether every threshold is half way between two training values of its node.
    n_trees : int, optional
        Only of so many parts; what comes after them are no trees of the model.

    Raises
    ------
    UnsupportedModelError
        A part is no tree.
    ModelTooLargeError
    """
    sizes = np.array([len(axis) for axis in axes], dtype=np.int32)
    block_of = {int(c): b for b, axis in enumerate(axes) for c in axis.columns}
    trees = [_unfolded(part) for part in facts.parts]
    nodes, twice, roots, groups = [], [], [], []
    shift = n_leaves = n_groups = 0
    for part, (tests, group) in zip(facts.parts, trees, strict=True):
        own = np.full((len(tests.column), 8), -1, dtype=np.int64)
        inner = tests.column >= 0
        own[inner, BLOCK] = [block_of[c] for c in tests.column[inner].tolist()]
        own[inner, LOW] = tests.low[inner] + shift
        own[inner, HIGH] = tests.high[inner] + shift
        own[~inner, LOW] = tests.group[~inner] + n_leaves
        own[:, MISSING] = tests.missing_low
        roots.append(shift)
        nodes.append(own)
        groups.append(group + n_groups)
        with np.errstate(over="ignore"):  # the largest float stands for "every number"
            twice.append(2.0 * tests.threshold)
        shift += len(own)
        n_leaves += len(group)
        n_groups += part.n_groups
    if shift >= 2**31 or n_leaves * len(axes) * 4 > MAX_BYTES:
        raise ModelTooLargeError(f"{n_leaves:,} leaves are too many for a search over rows")
    node = np.concatenate(nodes)
    column = np.concatenate([tests.column for tests, _ in trees])
    threshold = np.concatenate([tests.threshold for tests, _ in trees])
    goes_low = _cuts(node, column, threshold, axes, facts)
    double = np.concatenate(twice)
    whole = np.array([axis.ordered for axis in axes])[np.maximum(node[:, BLOCK], 0)]
    with np.errstate(invalid="ignore"):
        double[~whole | (node[:, BLOCK] < 0) | ~(np.abs(double) < 1e300)] = np.nan
    if n_trees is not None and n_trees < len(roots):
        double[roots[n_trees] :] = np.nan
    n_counts = _place_counts(node, double, sizes, midpoints)
    first, depth = _first_tests(node, roots, n_leaves, len(axes))
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Grove(
        node.astype(np.int32), double, goes_low, np.array(roots, dtype=np.int32), first, sizes,
        np.array([axis.n_numbers for axis in axes], dtype=np.int32),
        np.array([axis.ordered for axis in axes]), starts,
        np.concatenate([axis.low for axis in axes]), np.concatenate([axis.high for axis in axes]),
        np.concatenate(groups), depth, n_counts,
    )  # fmt: skip


def _unfolded(part: Part) -> tuple[Decisions, npt.NDArray[np.int64]]:
    """The tests as a tree whose leaves are numbered, and the group of every leaf.

    Known columns lead to "none of the known combinations" in many ways.  As nobody is there, every
    way can be a leaf of its own.
    """
    tests = part.decisions
    reached = np.concatenate([tests.low[tests.low >= 0], tests.high[tests.high >= 0]])
    twice = np.flatnonzero(np.bincount(reached, minlength=len(tests.low)) > 1)
    if not twice.size:
        return tests, np.arange(part.n_groups)
    if (tests.column[twice] >= 0).any() or part.counts[tests.group[twice]].any():
        raise UnsupportedModelError("search over rows needs trees", part.name)
    low, high = tests.low.copy(), tests.high.copy()
    column, group = list(tests.column), list(tests.group)
    groups = list(range(part.n_groups))
    for side in (low, high):
        for at in np.flatnonzero(np.isin(side, twice)).tolist():
            groups.append(int(tests.group[side[at]]))
            side[at] = len(column)
            column.append(-1)
            group.append(len(groups) - 1)
    extra = len(column) - len(low)
    none = np.full(extra, -1, dtype=low.dtype)
    return (
        Decisions(
            np.array(column, dtype=np.int32),
            np.concatenate([tests.threshold, np.zeros(extra)]),
            np.concatenate([tests.missing_low, np.zeros(extra, dtype=bool)]),
            np.concatenate([low, none]),
            np.concatenate([high, none]),
            np.array(group, dtype=np.int32),
        ),
        np.array(groups),
    )


def _cuts(
    node: npt.NDArray[np.int64],
    column: IntArray,
    threshold: npt.NDArray[np.float64],
    axes: Sequence[Axis],
    facts: Published,
) -> npt.NDArray[np.bool_]:
    """Fill in where each test cuts the levels; the lines of tests on attributes without order."""
    lines: list[npt.NDArray[np.bool_]] = [np.zeros(0, dtype=bool)]
    at = 0
    for axis in axes:
        for position, c in enumerate(axis.columns.tolist()):
            own = np.flatnonzero(column == c)
            if not own.size:
                continue
            if axis.ordered:
                if axis.n_numbers == len(axis):
                    node[own, MISSING] = 0
                # Rounding keeps the order of numbers, so every test cuts them at one place; equal
                # thresholds are looked at once.
                cuts, where = np.unique(threshold[own], return_inverse=True)
                values = axis.values[: axis.n_numbers, 0]
                counts = [
                    int(is_low(values, np.array([cut]), facts.precision, facts.comparison).sum())
                    for cut in cuts.tolist()
                ]
                node[own, CUT] = np.array(counts)[where.reshape(-1)]
                continue
            low = is_low(
                axis.values[:, position, None], threshold[own][None, :],
                facts.precision, facts.comparison,
            )  # fmt: skip
            node[own, MISSING] = 2
            node[own, COUNTS] = at + len(axis) * np.arange(len(own))
            at += len(axis) * len(own)
            lines.append(low.T.reshape(-1))
    return np.concatenate(lines)


def _place_counts(
    node: npt.NDArray[np.int64],
    double: npt.NDArray[np.float64],
    sizes: IntArray,
    midpoints: bool,
) -> int:
    """Give every test of a number its line of row counts; returns their length."""
    if not midpoints:
        double[:] = np.nan
    used = ~np.isnan(double)
    width = np.where(used, sizes[np.maximum(node[:, BLOCK], 0)], 0).astype(np.int64)
    if 4 * int(width.sum()) > MAX_BYTES:
        double[:] = np.nan
        return 0
    stop = np.cumsum(width)
    node[used, COUNTS] = (stop - width)[used]
    return int(stop[-1]) if len(stop) else 0


def _first_tests(
    node: npt.NDArray[np.int64], roots: list[int], n_leaves: int, n_axes: int
) -> tuple[IntArray, int]:
    """For every leaf and attribute the first node on the way that tests it; the longest way."""
    first = np.full((n_leaves, n_axes), -1, dtype=np.int32)
    block, low, high = node[:, BLOCK].tolist(), node[:, LOW].tolist(), node[:, HIGH].tolist()
    depth = 0
    for root in roots:
        tasks: list[tuple[int, int, dict[int, int]]] = [(root, 0, {})]
        while tasks:
            v, far, seen = tasks.pop()
            if block[v] < 0:
                depth = max(depth, far)
                first[low[v], list(seen)] = list(seen.values())
                continue
            if block[v] not in seen:
                seen = seen | {block[v]: v}
            tasks.append((low[v], far + 1, seen))
            tasks.append((high[v], far + 1, seen))
    return first, depth
