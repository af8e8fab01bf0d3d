"""The most likely true counts behind noisy ones: what an attacker makes of a private model.

With independent discrete Laplace noise of one scale, whole numbers ``x`` have a likelihood
proportional to ``exp(-sum(abs(x - noisy)) / scale)``.  True counts are not negative, and add up to
the number of rows where that is known.  The closest such numbers are the most likely.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from glassleak.errors import UnsupportedModelError
from glassleak.models import Exact, Forest, Model, Noisy, RuleList, Tree


def is_noisy(model: Model) -> bool:
    """Whether the model's counts carry noise."""
    members = model.trees if isinstance(model, Forest) else (model,)
    return any(isinstance(member.counts, Noisy) for member in members)


def separate_trees(model: Model) -> tuple[Tree, ...] | None:
    """The trees of a private forest in which nobody is in two trees; ``None`` for other models.

    Only glassleak's own learner is known to train like this.
    """
    made = model.provenance
    ours = (made.library, made.estimator) == ("glassleak", "PrivateForestClassifier")
    # With accounting in rho everybody is in every tree.
    ours = ours and made.settings.get("accounting", "pure") == "pure"
    if not isinstance(model, Forest) or not ours or not is_noisy(model):
        return None
    return model.trees


def likely_sizes(trees: Sequence[Tree], n_rows: int | None) -> list[int | None]:
    """Most likely number of people of each tree, where they add up to `n_rows`."""
    if n_rows is None:
        return [None] * len(trees)
    leaves = [tree.counts.values[tree.leaves] for tree in trees if isinstance(tree.counts, Noisy)]
    counts = closest_counts(np.concatenate(leaves), n_rows)
    ends = np.cumsum([len(part) for part in leaves])
    return [int(part.sum()) for part in np.split(counts, ends[:-1])]


def most_likely(
    model: Model, n_rows: int | None = None, reachable: npt.NDArray[np.bool_] | None = None
) -> Tree | RuleList:
    """The same tree or rule list with the most likely exact counts.

    Parameters
    ----------
    model : Tree or RuleList
        With noisy counts; of a tree the leaves' are used, which inner nodes add up.
    n_rows : int, optional
        Rows of the training set, where known.
    reachable : bool array, optional
        Leaves (in the order of `Tree.leaves`) or rules that some possible profile reaches; the
        others hold nobody, whatever the noise says.

    Raises
    ------
    UnsupportedModelError
        For anything else: the trees of a private forest saw different people.
    """
    if not isinstance(model, Tree | RuleList) or not isinstance(model.counts, Noisy):
        raise UnsupportedModelError("noisy counts are read from a single tree or rule list only")
    noisy = model.counts.values
    groups = np.arange(len(noisy)) if isinstance(model, RuleList) else model.leaves
    if reachable is not None:
        groups = groups[reachable]
    exact = np.zeros(noisy.shape, dtype=np.int64)
    exact[groups] = closest_counts(noisy[groups], n_rows)
    if isinstance(model, RuleList):
        return replace(model, counts=Exact(exact), n_rows=n_rows, rows=None)
    return with_leaf_counts(model, exact, n_rows)


def with_leaf_counts(tree: Tree, counts: npt.NDArray[np.int64], n_rows: int | None = None) -> Tree:
    """`tree` with exact `counts`, of which the leaves' are given and inner nodes are summed up."""
    exact = counts.copy()
    # Children stand after their parents in no particular order, so sums are made from below.
    for node in _from_below(tree):
        exact[node] = exact[tree.left[node]] + exact[tree.right[node]]
    return replace(tree, counts=Exact(exact), n_rows=n_rows, rows=None, distinct_rows=None)


def closest_counts(noisy: npt.NDArray[np.float64], total: int | None) -> npt.NDArray[np.int64]:
    """Whole numbers of at least 0 (adding up to `total`) with the smallest sum of differences.

    Every unit moved costs 1 as long as it does not have to go below 0, so any way of moving that
    respects this is best; units are spread over the largest counts, where they matter least.
    """
    counts = np.maximum(np.rint(noisy), 0).astype(np.int64)
    if total is None:
        return counts
    flat = counts.reshape(-1)
    surplus = int(flat.sum()) - total
    if surplus > 0:
        while surplus > 0:
            open_ones = np.flatnonzero(flat)
            share = max(1, surplus // len(open_ones))
            for i in open_ones[np.argsort(-flat[open_ones], kind="stable")]:
                take = min(share, int(flat[i]), surplus)
                flat[i] -= take
                surplus -= take
    elif surplus < 0:
        # A count that was cut off at 0 would have to rise from below it first: those come last.
        order = np.argsort(-noisy.reshape(-1), kind="stable")
        open_ones = order[noisy.reshape(-1)[order] >= 0]
        chosen = open_ones if len(open_ones) else order
        each, rest = divmod(-surplus, len(chosen))
        flat[chosen] += each
        flat[chosen[:rest]] += 1
    return flat.reshape(counts.shape)


def _from_below(tree: Tree) -> list[int]:
    """Inner nodes, children before parents."""
    order: list[int] = []
    stack = [0]
    while stack:
        node = stack.pop()
        if tree.feature[node] >= 0:
            order.append(node)
            stack += [int(tree.left[node]), int(tree.right[node])]
    return order[::-1]
