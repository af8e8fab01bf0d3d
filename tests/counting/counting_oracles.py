"""Slow and obviously right: every profile listed, and the recursion as the paper prints it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from glassleak.models import Condition, Exact, Rule, RuleList, Tree
from glassleak.schema import Attribute, Binary, Bins, Categorical, Numeric, Ordinal, Schema


def all_profiles(schema: Schema, columns: Sequence[str]) -> np.ndarray:
    """Every valid profile, in the given columns."""
    where = {c: i for i, c in enumerate(columns)}
    blocks = [attribute.level_values() for attribute in schema]
    out = np.empty((math.prod(len(b) for b in blocks), len(columns)))
    for row, levels in zip(out, itertools.product(*blocks), strict=True):
        for attribute, level in zip(schema, levels, strict=True):
            row[[where[c] for c in attribute.columns]] = level
    return out


def brute_force(model: Tree | RuleList, schema: Schema) -> list[int]:
    """Profiles of each leaf (in node order) or rule, by sending every profile through the model."""
    place = model.apply(all_profiles(schema, model.columns))
    numbers = model.leaves if isinstance(model, Tree) else range(len(model))
    return [int((place == number).sum()) for number in numbers]


def recursion(sizes: Sequence[int], boxes: Sequence[dict[int, int]]) -> list[int]:
    """Equations 13 to 15: captures of every rule, the last box being "everybody else".

    Parameters
    ----------
    sizes : levels per attribute
    boxes : per rule, attribute -> set of levels
    """

    def num(box: dict[int, int]) -> int:
        full = [(1 << size) - 1 for size in sizes]
        return math.prod((box.get(a, all_) & all_).bit_count() for a, all_ in enumerate(full))

    def both(one: dict[int, int], other: dict[int, int]) -> dict[int, int]:
        return {a: one.get(a, -1) & other.get(a, -1) for a in one.keys() | other.keys()}

    def captured(first: int, box: dict[int, int]) -> int:
        overlap = both(boxes[first], box)
        if not num(overlap):
            return 0
        return num(overlap) - sum(captured(before, overlap) for before in range(first))

    return [captured(j, box) for j, box in enumerate(boxes)]


@st.composite
def small_schemas(draw: st.DrawFn, max_attributes: int = 5) -> Schema:
    """A few attributes of every countable kind, with few enough profiles to list them."""
    attributes: list[Attribute] = []
    for i in range(draw(st.integers(1, max_attributes))):
        name, kind = f"a{i}", draw(st.integers(0, 5))
        columns = [f"{name}:{j}" for j in range(3)]
        if kind == 0:
            attributes.append(Binary(name))
        elif kind == 1:
            low = draw(st.integers(-3, 3))
            attributes.append(
                Ordinal(name, low, low + draw(st.integers(0, 4)), missing=draw(st.booleans()))
            )
        elif kind == 2:
            steps = draw(st.integers(0, 4))
            attributes.append(Numeric(name, 0.5, 0.5 + 0.1 * steps, 0.1))
        elif kind == 3:
            attributes.append(Categorical(name, columns, absent=draw(st.booleans())))
        elif kind == 4:
            attributes.append(
                Categorical(
                    name, levels=draw(st.permutations([3, 1, 2])), missing=draw(st.booleans())
                )
            )
        else:
            patterns = [(1, 0, 0), (1, 1, 0), (0, 1, 1), (0, 0, 0)]
            attributes.append(Bins(name, columns, draw(st.permutations(patterns))))
    return Schema(attributes)


_ENDS = st.one_of(st.sampled_from([0.5, 1.5, 2.5, 0.6, 0.7, 0.0, 1.0, 2.0, -1.0]), st.floats(-4, 6))


@st.composite
def conditions(draw: st.DrawFn, n_columns: int) -> Condition:
    column = draw(st.integers(0, n_columns - 1))
    if draw(st.booleans()):
        return draw(st.sampled_from([Condition(column, low=0.5), Condition(column, high=0.5)]))
    ends = sorted(draw(st.lists(_ENDS, min_size=2, max_size=2, unique=True)))
    side = draw(st.integers(0, 2))
    low, high = ends
    return Condition(column, -math.inf if side == 1 else low, math.inf if side == 2 else high)


@st.composite
def rule_lists(draw: st.DrawFn, schema: Schema, max_rules: int = 6) -> RuleList:
    """Rules over the schema's columns: overlapping, contradictory, useless ones among them."""
    columns = schema.columns
    some = st.lists(conditions(len(columns)), min_size=1, max_size=4)
    rules = [Rule(tuple(c), 1) for c in draw(st.lists(some, max_size=max_rules))]
    rules.append(Rule((), 0))
    counts = np.zeros((len(rules), 2), dtype=np.int64)
    precision: Any = draw(st.sampled_from(["float32", "float64"]))
    return RuleList(columns, (0, 1), tuple(rules), Exact(counts), precision=precision)


def random_boxes(
    rng: np.random.Generator, sizes: Sequence[int], n_boxes: int, width: int
) -> list[dict[int, int]]:
    """Random boxes of intervals, none of which is a whole attribute."""
    boxes = []
    for _ in range(n_boxes):
        box = {}
        for a in rng.choice(len(sizes), size=min(width, len(sizes)), replace=False).tolist():
            low, high = 0, sizes[a] - 1
            while high - low == sizes[a] - 1:
                low, high = sorted(rng.integers(sizes[a], size=2).tolist())
            box[a] = ((1 << (high - low + 1)) - 1) << low
        boxes.append(box)
    return boxes


def as_rule_list(
    sizes: Sequence[int],
    boxes: Sequence[dict[int, int]],
    rows: Sequence[Sequence[int]] | None = None,
) -> tuple[RuleList, Schema]:
    """Boxes of intervals as a rule list over whole numbers, and its schema."""
    rules = []
    for box in boxes:
        made = []
        for a, mask in sorted(box.items()):
            low, high = (mask & -mask).bit_length() - 1, mask.bit_length() - 1
            made.append(Condition(a, low - 0.5, high + 0.5))
        rules.append(Rule(tuple(made), 1))
    rules.append(Rule((), 0))
    counts = np.ones((len(rules), 2), dtype=np.int64) if rows is None else np.array(rows)
    names = tuple(f"a{i}" for i in range(len(sizes)))
    schema = Schema([Ordinal(name, 0, size - 1) for name, size in zip(names, sizes, strict=True)])
    return RuleList(names, (0, 1), tuple(rules), Exact(counts)), schema
