"""Small forests made from a table, and all tables that fit them, by trying every one."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from glassleak.models import Exact, RuleList, Tree
from glassleak.schema import Schema


def random_tree(
    table: np.ndarray, labels: np.ndarray, schema: Schema, seed: int, leaves: int
) -> Tree:
    """A tree with random splits at half-way thresholds, and the counts `table` has in it."""
    rng = np.random.default_rng(seed)
    columns = schema.columns
    feature, threshold, left, right, open_leaves = [-1], [math.nan], [-1], [-1], [0]
    for _ in range(leaves - 1):
        node = open_leaves.pop(int(rng.integers(len(open_leaves))))
        column = int(rng.integers(len(columns)))
        feature[node] = column
        threshold[node] = float(rng.choice(np.unique(np.floor(table[:, column])))) + 0.5
        left[node], right[node] = len(feature), len(feature) + 1
        open_leaves += [len(feature), len(feature) + 1]
        for values, new in ((feature, -1), (threshold, math.nan), (left, -1), (right, -1)):
            values += [new, new]
    shape = Tree(
        columns, (0, 1), np.array(feature), np.array(threshold), np.array(left), np.array(right),
        Exact(np.zeros((len(feature), 2), dtype=np.int64)),
    )  # fmt: skip
    counts = np.zeros((len(feature), 2), dtype=np.int64)
    np.add.at(counts, (shape.apply(table), labels), 1)
    for node in range(len(feature) - 1, -1, -1):  # children come after their parents
        if left[node] >= 0:
            counts[node] = counts[left[node]] + counts[right[node]]
    return Tree(
        columns, (0, 1), shape.feature, shape.threshold, shape.left, shape.right, Exact(counts)
    )


def random_table(schema: Schema, n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows drawn from all profiles, and classes."""
    rng = np.random.default_rng(seed)
    every = all_profiles(schema)
    return every[rng.integers(len(every), size=n_rows)], rng.integers(2, size=n_rows)


def all_profiles(schema: Schema) -> np.ndarray:
    """Every valid profile, in the order of the schema's columns."""
    levels = [attribute.level_values().tolist() for attribute in schema]
    return np.array([[*itertools.chain(*parts)] for parts in itertools.product(*levels)])


def consistent(trees: Sequence[Tree | RuleList], schema: Schema, n_rows: int) -> tuple[int, int]:
    """Numbers of consistent tables, ordered and unordered, from the definition.

    Ordered: distinct lists of rows sorted by cell and class, rows of one cell in any order.
    """
    every = all_profiles(schema)
    leaf = np.column_stack([tree.apply(every) for tree in trees])
    people = [(p, c) for p in range(len(every)) for c in range(2)]
    wanted = []
    for one in trees:
        ends = one.leaves if isinstance(one, Tree) else range(len(one))
        counts = {(int(v), c): int(one.counts.values[v, c]) for v in ends for c in (0, 1)}
        wanted.append({key: n for key, n in counts.items() if n})
    ordered = unordered = 0
    for rows in itertools.combinations_with_replacement(people, n_rows):
        if all(
            Counter((int(leaf[p, t]), c) for p, c in rows) == wanted[t] for t in range(len(trees))
        ):
            unordered += 1
            cells = Counter((tuple(leaf[p]), c) for p, c in rows)
            lists = math.prod(math.factorial(k) for k in cells.values())
            ordered += lists // math.prod(math.factorial(k) for k in Counter(rows).values())
    return ordered, unordered
