"""The profiles a schema allows, as far as a model can tell them apart.

Levels of an attribute that no split separates form one *class of levels*.  Only combinations of
such classes need to be looked at: attributes the model never uses cost nothing, and a numeric
attribute has as many classes as it has intervals between thresholds, whatever its resolution.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glassleak.knowledge._compare import is_low
from glassleak.schema import Attribute, Numeric, Ordinal, Schema

# Attributes with more levels than this are cut at thresholds without listing their levels.
_LISTED = 4096


@dataclass(frozen=True)
class Block:
    """One attribute, its levels grouped into what the model can tell apart.

    Attributes
    ----------
    attribute : Attribute
    columns : int array
        Where its columns stand in the model.
    values : (classes, columns) float array
        One level of each class.
    sizes : tuple of int, or None
        Levels per class; ``None`` if the attribute is continuous.
    """

    attribute: Attribute
    columns: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]
    sizes: tuple[int, ...] | None

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True)
class Space:
    """All distinguishable profiles: the product of the blocks."""

    blocks: tuple[Block, ...]
    n_columns: int

    @property
    def size(self) -> int:
        """Number of distinguishable profiles."""
        return math.prod(len(block) for block in self.blocks)

    def values(self, profiles: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]:
        """The table of `profiles` in the model's columns."""
        out = np.empty((len(profiles), self.n_columns))
        for b, block in enumerate(self.blocks):
            out[:, block.columns] = block.values[profiles[:, b]]
        return out


def profile_space(
    schema: Schema,
    columns: Sequence[str],
    thresholds: Mapping[str, npt.NDArray[np.float64]],
    precision: str = "float32",
    comparison: str = "<=",
) -> Space:
    """The space of profiles of `schema` that splits at `thresholds` can tell apart."""
    schema.check_columns(columns)
    position = {c: i for i, c in enumerate(columns)}
    blocks = []
    for attribute in schema:
        where = np.array([position[c] for c in attribute.columns])
        cuts = [thresholds.get(c, np.empty(0)) for c in attribute.columns]
        big = attribute.size is None or attribute.size > _LISTED
        if big and isinstance(attribute, Ordinal | Numeric):
            values, sizes = _cut(attribute, cuts[0], precision, comparison)
        else:
            values, sizes = _grouped(attribute.level_values(), cuts, precision, comparison)
            if isinstance(attribute, Ordinal | Numeric):
                values = _typical(attribute.level_values(), sizes, attribute.missing)
        blocks.append(Block(attribute, where, values, sizes))
    return Space(tuple(blocks), len(columns))


def _grouped(
    levels: npt.NDArray[np.float64],
    cuts: Sequence[npt.NDArray[np.float64]],
    precision: str,
    comparison: str,
) -> tuple[npt.NDArray[np.float64], tuple[int, ...]]:
    """Group listed levels by the outcome of every test on their columns."""
    # Whatever is low at one threshold is low at every higher one: how often says which.
    tests = [
        is_low(levels[:, i, None], cut, precision, comparison).sum(axis=1)
        for i, cut in enumerate(cuts)
    ]
    # A missing value takes its own way at every node, so it is told apart from everything.
    signature = np.column_stack([*tests, np.isnan(levels).any(axis=1)])
    _, first, sizes = np.unique(signature, axis=0, return_index=True, return_counts=True)
    order = np.argsort(first)
    return levels[first[order]], tuple(int(s) for s in sizes[order])


def _typical(
    levels: npt.NDArray[np.float64], sizes: tuple[int, ...], missing: bool
) -> npt.NDArray[np.float64]:
    """A level to stand for each class of ascending levels: the middle one.

    At both ends the one next to the threshold: ranges are declared wider than the data, and a
    class that reaches to the end of the range says nothing about how far values go.
    """
    stop = np.cumsum(sizes)
    start = stop - np.array(sizes)
    at = (start + stop - 1) // 2
    n_numbers = len(sizes) - int(missing)
    if n_numbers > 1:
        at[0] = stop[0] - 1
        at[n_numbers - 1] = start[n_numbers - 1]
    out: npt.NDArray[np.float64] = levels[at]
    return out


def _cut(
    attribute: Ordinal | Numeric, cuts: npt.NDArray[np.float64], precision: str, comparison: str
) -> tuple[npt.NDArray[np.float64], tuple[int, ...] | None]:
    """Cut a long range at the thresholds; the middle of each interval stands for it."""
    step = 1.0 if isinstance(attribute, Ordinal) else attribute.resolution
    low, high = float(attribute.low), float(attribute.high)
    if step is None:
        edges = [low, *[float(t) for t in cuts if low < t < high], high]
        middles = np.array([(a + b) / 2 for a, b in itertools.pairwise(edges)])
        values, sizes = middles, None
    else:
        n_levels = (attribute.size or 0) - int(attribute.missing)
        ends = [_levels_below(low, step, n_levels, float(t), precision, comparison) for t in cuts]
        marks = sorted({0, n_levels, *ends})
        spans = list(itertools.pairwise(marks))
        values = np.array([low + step * ((a + b - 1) // 2) for a, b in spans])
        sizes = tuple(b - a for a, b in spans)
    if attribute.missing:
        values = np.append(values, np.nan)
        sizes = None if sizes is None else (*sizes, 1)
    return values[:, None], sizes


def _levels_below(
    low: float, step: float, n_levels: int, cut: float, precision: str, comparison: str
) -> int:
    """How many of the levels ``low + i * step`` fall below `cut`, by bisection on the real test."""
    start, stop = 0, n_levels
    while start < stop:
        middle = (start + stop) // 2
        value = np.array([low + step * middle])
        if is_low(value, np.array([cut]), precision, comparison)[0]:
            start = middle + 1
        else:
            stop = middle
    return start
