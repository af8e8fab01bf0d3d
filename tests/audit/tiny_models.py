"""Models small enough to work out every figure by hand."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from glassleak.audit import Policy, Subject
from glassleak.models import (
    Bagging,
    Condition,
    Counts,
    Exact,
    Forest,
    Model,
    Rule,
    RuleList,
    Tree,
)
from glassleak.readers import open_model

# A root, a leaf, and a second split with two leaves.
LEAVES = {1: (12, 9), 3: (1, 0), 4: (15, 0)}


def counts_of(leaves: dict[int, tuple[int, ...]]) -> np.ndarray:
    counts = np.array([leaves.get(i, (0,) * len(leaves[1])) for i in range(5)])
    counts[2] = counts[3] + counts[4]
    counts[0] = counts[1] + counts[2]
    return counts


def tree(leaves: dict[int, tuple[int, ...]] | None = None, **changes: Any) -> Tree:
    """Three leaves: 21 people of both classes, 1 person, 15 people of one class."""
    counts = counts_of(leaves or LEAVES)
    fields: dict[str, Any] = {
        "columns": ("age", "sex"),
        "classes": ("no", "yes"),
        "feature": [0, -1, 1, -1, -1],
        "threshold": [30.5, np.nan, 0.5, np.nan, np.nan],
        "left": [1, -1, 3, -1, -1],
        "right": [2, -1, 4, -1, -1],
        "counts": Exact(counts),
    }
    return Tree(**(fields | changes))


def stump(left: tuple[int, int], right: tuple[int, int], **changes: Any) -> Tree:
    """Two leaves."""
    counts = np.array([np.add(left, right), left, right])
    fields: dict[str, Any] = {
        "columns": ("age", "sex"),
        "classes": ("no", "yes"),
        "feature": [0, -1, -1],
        "threshold": [30.5, np.nan, np.nan],
        "left": [1, -1, -1],
        "right": [2, -1, -1],
        "counts": Exact(counts),
    }
    return Tree(**(fields | changes))


def safe_tree() -> Tree:
    """Nothing the default policy forbids."""
    return stump((40, 25), (30, 55))


def forest(*trees: Tree, **changes: Any) -> Forest:
    return Forest(trees, **({"bagging": Bagging()} | changes))


def rules(counts: Counts, **changes: Any) -> RuleList:
    """Two conditions and everybody else."""
    listed = (
        Rule((Condition(0, 40.5),), "yes"),
        Rule((Condition(1, 0.5),), "no"),
        Rule((), "no"),
    )
    return RuleList(("age", "sex"), ("no", "yes"), listed, counts, **changes)


def subject(model: Model | Any, policy: Policy | None = None) -> Subject:
    return Subject(open_model(model), policy or Policy(), None, None, time.monotonic() + 60, seed=0)
