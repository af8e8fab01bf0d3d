"""What bagged forests still bound: every tree saw only some of the rows.

A tree's counts are those of its own bootstrap sample, so the counts of different trees are not
sums over the same rows and cannot be combined as equations.  What holds for every training set:
at least as many *different* rows as a leaf saw lie in it.  List these leaf by leaf and the other
rows, about which the tree says nothing, at the end: there are at most as many training sets as such
lists.  This is a bound from above for each tree alone; the truth is far below (`glassleak
reconstruct` often finds bagged tables too).
"""

from __future__ import annotations

import math

import numpy as np

from glassleak.errors import GlassleakError, UnsupportedModelError
from glassleak.knowledge import profile_space, published
from glassleak.knowledge._boxes import BoxSpace
from glassleak.models import Exact, Forest, Tree
from glassleak.reconstruction import reconstruct
from glassleak.schema import Schema
from glassleak.uncertainty.joint._cells import group_profiles
from glassleak.uncertainty.joint._piece import IntArray

REASON = (
    "not assessed beyond an upper bound: the trees were trained on different bootstrap samples, so "
    "their counts do not describe the same rows"
)


def bagged_singles(forest: Forest, schema: Schema, n_profiles: int) -> list[tuple[str, float]]:
    """For every tree: its name and at most how many bits it leaves."""
    if forest.n_rows is None:
        raise UnsupportedModelError("the number of training rows is not known", "n_rows")
    facts = published(list(forest.trees))
    space = profile_space(
        schema, facts.columns, facts.thresholds, facts.precision, facts.comparison
    )
    layout = BoxSpace(space, facts)
    found = []
    for i, (tree, part) in enumerate(zip(forest.trees, facts.parts, strict=True)):
        profiles = group_profiles(layout, part)
        seen = distinct_rows(tree)
        if profiles is None or any(k and not n for n, k in zip(profiles, seen, strict=True)):
            continue
        elsewhere = max(0, forest.n_rows - int(seen.sum()))
        inside = (int(k) * math.log2(n) for n, k in zip(profiles, seen, strict=True) if k)
        found.append((f"tree {i}", math.fsum(inside) + elsewhere * math.log2(n_profiles)))
    return found


def only_one_table(forest: Forest, schema: Schema, *, budget_seconds: float, seed: int) -> str:
    """The proof that a forest whose draws are known fits one table alone; empty if there is none.

    With the draws every row has an identity, so counts of different trees are about the same rows
    again.
    """
    if forest.bagging.kind != "known" or budget_seconds <= 0:
        return ""
    try:
        found = reconstruct(forest, schema, budget_seconds=budget_seconds, seed=seed)
    except GlassleakError:
        return ""
    proved = found.status == "unique" and found.certificate.certain_rows == forest.n_rows
    return found.certificate.proof if proved else ""


def distinct_rows(tree: Tree) -> IntArray:
    """At least how many different training rows lie in each leaf."""
    if tree.distinct_rows is not None:
        return np.asarray(tree.distinct_rows[tree.leaves], dtype=np.int64)
    assert isinstance(tree.counts, Exact)
    # Rows drawn twice look like two; rows of different classes are different rows.
    return np.asarray((tree.counts.values[tree.leaves] > 0).sum(axis=1), dtype=np.int64)
