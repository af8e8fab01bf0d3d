"""Hypothesis strategies for schemas and models: valid ones, of every kind, with odd names.

Examples
--------
>>> from hypothesis import given
>>> from strategies import models, schemas
>>> @given(schemas(), models())
... def test_something(schema, model): ...
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from glassleak.models import (
    Bagging,
    Condition,
    Counts,
    Exact,
    Forest,
    Missing,
    Noisy,
    Provenance,
    Rule,
    RuleList,
    Tree,
)
from glassleak.schema import Binary, Bins, Categorical, Guess, Numeric, Ordinal, Schema

# ---------------------------------------------------------------------------------------- names


def texts(min_size: int = 1) -> st.SearchStrategy[str]:
    """Text that can be written to a file: any script, control characters, quotes, newlines."""
    return st.text(st.characters(codec="utf-8"), min_size=min_size, max_size=8)


def names(min_size: int = 1, max_size: int = 6) -> st.SearchStrategy[list[str]]:
    """Distinct names."""
    return st.lists(texts(), min_size=min_size, max_size=max_size, unique=True)


def labels() -> st.SearchStrategy[Any]:
    """What a class or a level can be called."""
    return st.one_of(
        texts(min_size=0),
        st.integers(-(2**53), 2**53),
        st.floats(allow_nan=False, allow_infinity=False),
        st.booleans(),
    )


def classes(min_size: int = 1, max_size: int = 4) -> st.SearchStrategy[tuple[Any, ...]]:
    """Distinct class labels of one sort or mixed; 1, 1.0 and True are different labels."""
    return st.lists(
        labels(), min_size=min_size, max_size=max_size, unique_by=lambda v: (type(v), v)
    ).map(tuple)


# --------------------------------------------------------------------------------------- schema


@st.composite
def ordinals(draw: st.DrawFn, name: str = "a", column: str | None = None) -> Ordinal:
    """Whole numbers, up to 50 of them."""
    low = draw(st.one_of(st.integers(-100, 100), st.integers(-(2**53), 2**53 - 60)))
    high = low + draw(st.integers(0, 50))
    return Ordinal(name, low, high, column, missing=draw(st.booleans()))


@st.composite
def numerics(
    draw: st.DrawFn, name: str = "a", column: str | None = None, continuous: bool | None = None
) -> Numeric:
    """Decimals in up to 50 steps, or continuous numbers."""
    if draw(st.booleans()) if continuous is None else continuous:
        ends = sorted(draw(st.tuples(*[st.floats(-1e150, 1e150)] * 2)))
        return Numeric(name, *ends, None, column, missing=draw(st.booleans()))
    resolution = draw(st.one_of(st.sampled_from([1e-6, 0.01, 0.1, 0.25, 1, 5]), st.floats(1e-3, 9)))
    low = resolution * draw(st.integers(-(10**6), 10**6))
    high = low + resolution * draw(st.floats(0, 50))
    return Numeric(name, low, high, resolution, column, missing=draw(st.booleans()))


@st.composite
def raw_categoricals(draw: st.DrawFn, name: str = "a", column: str | None = None) -> Categorical:
    """One column of labels."""
    levels = draw(st.lists(labels(), min_size=1, max_size=5, unique=True))
    return Categorical(name, levels=levels, column=column, missing=draw(st.booleans()))


@st.composite
def bins(draw: st.DrawFn, columns: Sequence[str], name: str = "a") -> Bins:
    """Combinations of zeros and ones, in any order."""
    pattern = st.tuples(*[st.integers(0, 1)] * len(columns))
    return Bins(name, tuple(columns), draw(st.lists(pattern, min_size=1, max_size=6, unique=True)))


@st.composite
def attributes_on(draw: st.DrawFn, columns: Sequence[str], name: str) -> Any:
    """An attribute called `name` that occupies exactly `columns`."""
    if len(columns) == 1 and draw(st.booleans()):
        column = draw(st.sampled_from([columns[0], None])) if name == columns[0] else columns[0]
        one = [
            st.just(Binary(name, column)),
            ordinals(name, column),
            numerics(name, column),
            raw_categoricals(name, column),
        ]
        return draw(st.one_of(one))
    if draw(st.booleans()):
        return draw(bins(columns, name))
    absent = True if len(columns) == 1 else draw(st.booleans())
    some = st.lists(labels(), min_size=len(columns), max_size=len(columns), unique=True)
    return Categorical(name, columns, draw(st.one_of(st.none(), some)), absent)


@st.composite
def guesses(draw: st.DrawFn) -> Guess:
    """A flagged assumption."""
    words = texts(min_size=0)
    source = st.sampled_from(["data", "model", "column name"])
    return Guess(draw(words), draw(words), draw(words), draw(source))


@st.composite
def schemas(draw: st.DrawFn, max_columns: int = 6) -> Schema:
    """Schemas of every kind of attribute."""
    columns = draw(names(max_size=max_columns))
    attributes = []
    taken: set[str] = set()
    while columns:
        size = draw(st.integers(1, len(columns)))
        part, columns = columns[:size], columns[size:]
        own = part[0] if draw(st.booleans()) else None
        name = own if own and own not in taken else draw(texts().filter(lambda n: n not in taken))
        taken.add(name)
        attributes.append(draw(attributes_on(part, name)))
    return Schema(attributes, draw(st.lists(guesses(), max_size=2)))


# --------------------------------------------------------------------------------------- models


def thresholds() -> st.SearchStrategy[float]:
    """Finite numbers, often such as libraries write."""
    return st.one_of(
        st.sampled_from([0.5, 1.5, -0.0, 1e-35]), st.floats(allow_nan=False, allow_infinity=False)
    )


@st.composite
def provenances(draw: st.DrawFn) -> Provenance:
    """Where a model came from, with settings as JSON can hold them."""
    value = st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(-10, 10), texts(0)),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts(0), inner, max_size=2),
        max_leaves=4,
    )
    words = texts(min_size=0)
    return Provenance(
        draw(words), draw(words), draw(words),
        draw(st.dictionaries(texts(0), value, max_size=3)),
        tuple(draw(st.lists(words, max_size=2))),
    )  # fmt: skip


@st.composite
def shapes(draw: st.DrawFn, max_leaves: int = 8) -> tuple[list[int], list[int]]:
    """Children of a random binary tree; node 0 is the root, the others come in any order."""
    left, right, leaves = [-1], [-1], [0]
    for _ in range(draw(st.integers(0, max_leaves - 1))):
        node = leaves.pop(draw(st.integers(0, len(leaves) - 1)))
        left[node], right[node] = len(left), len(left) + 1
        leaves += [left[node], right[node]]
        left += [-1, -1]
        right += [-1, -1]
    order = [0, *draw(st.permutations(range(1, len(left))))]
    moved = [[-1] * len(left), [-1] * len(left)]
    for out, children in zip(moved, (left, right), strict=True):
        for node, child in enumerate(children):
            out[order[node]] = order[child] if child >= 0 else -1
    return moved[0], moved[1]


def add_up(left: Sequence[int], right: Sequence[int], at_leaves: np.ndarray) -> np.ndarray:
    """Totals of all nodes from those of the leaves (entries of internal nodes are ignored)."""
    totals = np.array(at_leaves)
    order, stack = [], [0]
    while stack:
        node = stack.pop()
        order.append(node)
        if left[node] >= 0:
            stack += [left[node], right[node]]
    for node in reversed(order):
        if left[node] >= 0:
            totals[node] = totals[left[node]] + totals[right[node]]
    return totals


def _spread(draw: st.DrawFn, total: int, cells: int) -> np.ndarray:
    """`total` rows over `cells` cells."""
    cuts = sorted(draw(st.lists(st.integers(0, total), min_size=cells - 1, max_size=cells - 1)))
    return np.diff([0, *cuts, total]).astype(np.int64)


@st.composite
def trees(
    draw: st.DrawFn,
    columns: Sequence[str] | None = None,
    labels_: Sequence[Any] | None = None,
    total: int | None = None,
    n_rows: int | None = None,
    distinct: bool = True,
) -> Tree:
    """Trees of every kind of counts.

    Parameters
    ----------
    total : int, optional
        Rows at the root, with multiplicity.
    n_rows : int, optional
        Distinct rows there are at most.
    distinct : bool
        Whether distinct rows may be published.
    """
    columns = draw(names()) if columns is None else columns
    labels_ = draw(classes()) if labels_ is None else labels_
    total = draw(st.integers(0, 40)) if total is None else total
    left, right = draw(shapes())
    n, leaf = len(left), np.array(left) < 0
    feature = np.where(leaf, -1, draw(hnp.arrays(np.int32, n, elements=_below(len(columns)))))
    threshold = np.where(leaf, np.nan, draw(hnp.arrays(np.float64, n, elements=thresholds())))
    cells = np.zeros((n, len(labels_)), dtype=np.int64)
    cells[leaf] = _spread(draw, total, int(leaf.sum()) * len(labels_)).reshape(-1, len(labels_))
    counts = add_up(left, right, cells)
    rows = counts.sum(axis=1)
    few = np.minimum(rows, 1) if n_rows is not None else np.minimum(rows, draw(st.integers(1, 40)))
    published: dict[str, Any] = {}
    if distinct and draw(st.booleans()):
        published["distinct_rows"] = add_up(left, right, few)
        if n_rows is not None and published["distinct_rows"][0] > n_rows:
            del published["distinct_rows"]
    if draw(st.booleans()):
        published["rows"] = rows
    if draw(st.booleans()):
        published["missing_left"] = draw(hnp.arrays(np.bool_, n))
    return Tree(
        tuple(columns), tuple(labels_), feature.astype(np.int32), threshold,
        np.array(left, dtype=np.int32), np.array(right, dtype=np.int32),
        draw(_counts(counts)),
        comparison=draw(st.sampled_from(["<=", "<"])),
        precision=draw(st.sampled_from(["float32", "float64"])),
        provenance=draw(provenances()), **published,
    )  # fmt: skip


@st.composite
def _counts(draw: st.DrawFn, exact: np.ndarray) -> Counts:
    kind = draw(st.sampled_from(["exact", "noisy", "missing"]))
    if kind == "missing":
        return Missing(draw(texts(0)))
    if kind == "exact":
        return Exact(exact)
    noise = st.floats(-1e6, 1e6)
    values = draw(hnp.arrays(np.float64, exact.shape, elements=noise))
    return Noisy(values, draw(st.floats(1e-6, 1e6)), draw(texts(0)))


@st.composite
def baggings(draw: st.DrawFn, n_trees: int, n_rows: int, draws: int) -> Bagging:
    """Every kind but "none", for `n_trees` trees on `n_rows` rows."""
    kind = draw(st.sampled_from(["unknown", "matrix", "recipe"]))
    if kind == "unknown":
        return Bagging("unknown", draw(st.sampled_from([None, draws])))
    if kind == "matrix":
        cells = hnp.arrays(np.int32, (n_trees, n_rows), elements=st.integers(0, 5))
        return Bagging("known", draw(st.sampled_from([None, draws])), matrix=draw(cells))
    replacing = ["forest", "forest-weighted", "bagging", "bagging-weighted"]
    once = ["bagging-without-replacement", "bagging-weighted-without-replacement"]
    recipe = draw(st.sampled_from(replacing + once if draws <= n_rows else replacing))
    seeds = draw(hnp.arrays(np.int64, n_trees, elements=st.integers(0, 2**32 - 1)))
    weights = None
    if "weighted" in recipe:
        weights = draw(hnp.arrays(np.float64, n_rows, elements=st.floats(0.01, 100)))
    features = (0, 0, False)
    if recipe.startswith("bagging"):
        columns = draw(st.integers(1, 9))
        features = (columns, draw(st.integers(1, columns)), draw(st.booleans()))
    return Bagging("known", draws, seeds, recipe, weights, features)


@st.composite
def forests(draw: st.DrawFn) -> Forest:
    """Forests with and without bagging."""
    columns, labels_ = draw(names()), draw(classes())
    n_trees = draw(st.integers(1, 3))
    total = draw(st.integers(1, 30))
    bagged = draw(st.booleans())
    n_rows = draw(st.integers(1, 30)) if bagged else None
    members = draw(
        st.lists(
            trees(columns, labels_, total, n_rows, distinct=bagged),
            min_size=n_trees,
            max_size=n_trees,
        )
    )
    bagging = Bagging()
    if n_rows is not None:
        bagging = draw(baggings(n_trees, n_rows, total))
    aggregation = draw(st.sampled_from(["mean", "sum"]))
    return Forest(tuple(members), bagging, n_rows, aggregation, draw(provenances()))


@st.composite
def conditions(draw: st.DrawFn, n_columns: int) -> Condition:
    """Intervals with one or both ends."""
    ends = sorted(draw(st.lists(thresholds(), min_size=2, max_size=2, unique=True)))
    low = draw(st.sampled_from([-math.inf, ends[0]]))
    high = draw(st.sampled_from([math.inf, ends[1]]))
    return Condition(draw(_below(n_columns)), low, high)


@st.composite
def rule_lists(draw: st.DrawFn) -> RuleList:
    """Rule lists of every kind of counts."""
    columns, labels_ = draw(names()), draw(classes())
    prediction = st.sampled_from([None, *labels_])
    body = st.lists(conditions(len(columns)), min_size=1, max_size=3).map(tuple)
    rules = draw(st.lists(st.builds(Rule, body, prediction), max_size=4))
    rules.append(Rule((), draw(prediction)))
    shape = (len(rules), len(labels_))
    exact = draw(hnp.arrays(np.int64, shape, elements=st.integers(0, 50)))
    return RuleList(
        tuple(columns), labels_, tuple(rules), draw(_counts(exact)),
        rows=draw(st.sampled_from([None, exact.sum(axis=1)])),
        precision=draw(st.sampled_from(["float32", "float64"])),
        provenance=draw(provenances()),
    )  # fmt: skip


def models() -> st.SearchStrategy[Tree | Forest | RuleList]:
    """Any model."""
    return st.one_of(trees(), forests(), rule_lists())


def _below(n: int) -> st.SearchStrategy[int]:
    return st.integers(0, n - 1)
