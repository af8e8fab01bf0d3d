"""What a bagged forest publishes: per leaf the draws of each class and the distinct rows.

Every tree saw its own sample of the same rows.  Two figures per leaf survive: how many *draws* of
each class ended there, and how many *distinct rows* did (scikit-learn's ``n_node_samples``).
Internal nodes add nothing, both figures are sums over the leaves below.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glassleak.errors import InconsistentModelError, ModelTooLargeError, UnsupportedModelError
from glassleak.models import Exact, Forest, Label, Tree

IntArray = npt.NDArray[np.int64]
# Rows are moved one by one, and counts index tables of logarithms.
MAX_ROWS = 200_000
MAX_LEAVES = 5_000_000


@dataclass(frozen=True)
class Evidence:
    """All leaves of all trees, one after the other.

    Attributes
    ----------
    forest : Forest
    n_rows : int
        Rows of the training set, given or estimated (see `n_rows_from`).
    n_rows_from : "model", "caller", "draws" or "likelihood"
        "draws": as many as were drawn, which is what libraries do unless told otherwise.
    first_leaf : (trees + 1,) int array
        Where each tree's leaves begin.
    draws : (leaves, classes) int array
    distinct : (leaves,) int array
        -1 where the model does not publish it.
    """

    forest: Forest
    n_rows: int
    n_rows_from: str
    first_leaf: IntArray
    draws: IntArray
    distinct: IntArray

    @property
    def classes(self) -> tuple[Label, ...]:
        return self.forest.classes

    @property
    def n_leaves(self) -> int:
        return len(self.draws)

    def place(self, leaf: int) -> str:
        """A leaf in words: ``tree 3, leaf 17``."""
        t = int(np.searchsorted(self.first_leaf, leaf, side="right")) - 1
        tree = self.forest.trees[t]
        return f"tree {t}, leaf {tree.leaves[leaf - int(self.first_leaf[t])]}"


def evidence_of(forest: Forest, n_rows: int | None = None) -> Evidence:
    """The leaves of `forest`, checked.

    Parameters
    ----------
    n_rows : int, optional
        Overrides what the model says about its number of training rows.

    Raises
    ------
    UnsupportedModelError
        Counts are noisy or missing.
    InconsistentModelError
        Leaves with more distinct rows than draws, or trees that hold more rows than there are.
    """
    if sum(tree.n_leaves for tree in forest.trees) > MAX_LEAVES:
        raise ModelTooLargeError(f"more than {MAX_LEAVES:,} leaves")
    draws, distinct = [], []
    for i, tree in enumerate(forest.trees):
        if not isinstance(tree.counts, Exact):
            raise UnsupportedModelError(
                "exact counts per class are needed, and are not published", f"tree {i}"
            )
        own, seen = _leaf_figures(tree, i)
        draws.append(own)
        distinct.append(seen)
    number, source = _number_of_rows(forest, distinct, draws, n_rows)
    if number > MAX_ROWS:
        raise ModelTooLargeError(f"{number:,} rows; at most {MAX_ROWS:,} are reconstructed")
    for i, seen in enumerate(distinct):
        if int(seen.sum()) > number:
            raise InconsistentModelError(
                f"holds {int(seen.sum())} distinct rows of {number}", f"tree {i}"
            )
    first = np.concatenate([[0], np.cumsum([len(seen) for seen in distinct])])
    return Evidence(forest, number, source, first, np.concatenate(draws), np.concatenate(distinct))


def _leaf_figures(tree: Tree, number: int) -> tuple[IntArray, IntArray]:
    assert isinstance(tree.counts, Exact)
    leaves = tree.leaves
    draws = tree.counts.values[leaves]
    if tree.distinct_rows is None:
        return draws, np.full(len(leaves), -1, dtype=np.int64)
    distinct = tree.distinct_rows[leaves]
    totals = draws.sum(axis=1)
    present = np.count_nonzero(draws, axis=1)
    for at in np.flatnonzero((distinct > totals) | (distinct < present)).tolist():
        raise InconsistentModelError(
            f"{distinct[at]} distinct rows in {totals[at]} draws of {present[at]} classes",
            f"tree {number}, leaf {leaves[at]}",
        )
    return draws, distinct


def _number_of_rows(
    forest: Forest, distinct: list[IntArray], draws: list[IntArray], given: int | None
) -> tuple[int, str]:
    if given is not None:
        if given < 1 or given != int(given):
            raise ValueError(f"n_rows must be a positive whole number, got {given!r}")
        return int(given), "caller"
    if forest.n_rows is not None:
        return forest.n_rows, "model"
    n_draws = [int(own.sum()) for own in draws]
    seen = [int(own.sum()) for own in distinct]
    if min(seen) < 0 or sum(seen) == sum(n_draws):
        # Without distinct rows, or without repeats, the counts do not say how many there were.
        return max(n_draws), "draws"
    return most_likely_rows(n_draws, seen), "likelihood"


def most_likely_rows(n_draws: list[int], n_distinct: list[int]) -> int:
    r"""Most likely number N of rows when n draws with replacement gave D distinct ones.

    Maximises :math:`\sum_t \log \binom{N}{D_t} D_t! - n_t \log N`, which rises and then falls.
    """
    total = sum(n_draws)

    def score(n: int) -> float:
        return sum(math.lgamma(n + 1) - math.lgamma(n - d + 1) for d in n_distinct) - (
            total * math.log(n)
        )

    low = max(n_distinct)
    high = max(2 * low, 16)
    while score(high) < score(high + 1):
        high *= 2
        if high > MAX_ROWS:
            raise ModelTooLargeError(
                "hardly any row was drawn twice, so the number of rows cannot be told: give n_rows"
            )
    while low < high:
        middle = (low + high) // 2
        if score(middle) < score(middle + 1):
            low = middle + 1
        else:
            high = middle
    return low
