"""What a model's splits say about its columns: all that inference without data can go by.

The schema layer does not know models; a model hands this summary over (``split_evidence()``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

# No number is above it, so a split there tells missing values from all others.
ONLY_MISSING = sys.float_info.max


@dataclass(frozen=True)
class SplitEvidence:
    """Facts about the columns that follow from a model alone.

    Splits are counted once for each distinct set of answers on the way to them: trees of a forest
    that repeat each other are no further evidence.

    Attributes
    ----------
    columns : tuple of str
    thresholds : mapping of column to array
        Sorted distinct thresholds; a column without an entry is never split on.
    comparisons : frozenset of str
        How values are compared with them: ``"<="``, ``"<"``, or both in different trees.
    together : (n_columns, n_columns) sparse int array
        ``together[a, b]``: splits on *b* where column *a* is high.  Both sides of a split hold
        people, so a positive entry *proves* that a and b can be high together.
    below : (n_columns,) int array
        Splits made where column a is high: the chances the model had to refute an exclusion.
    splits : (n_columns,) int array
        Splits made on each column.
    again : (n_columns,) int array
        Splits made on each column below another split on it; never for a yes/no column.
    high_rows : (n_columns,) int array
        For how many people each column is high at least; zeros if no counts are published.
    somebody_without : callable
        ``somebody_without(columns)`` is True when some node is reached by people for whom all the
        given columns are low, which proves that they need not have any of them.
    splits_without : callable
        ``splits_without(columns)``: splits made where all the given columns are low.
    smallest_leaf : int
        People in the smallest leaf that holds any; 0 if no counts are published.  Combinations
        that fewer people have cannot be seen in the model.
    n_rows : int
        People the counts speak of (of one tree, if they differ); 0 if no counts are published.
    n_nodes : int
        Nodes looked at.
    """

    columns: tuple[str, ...]
    thresholds: Mapping[str, npt.NDArray[np.float64]]
    comparisons: frozenset[str]
    together: sparse.csr_array
    below: npt.NDArray[np.int64]
    splits: npt.NDArray[np.int64]
    again: npt.NDArray[np.int64]
    high_rows: npt.NDArray[np.int64]
    somebody_without: Callable[[Sequence[str]], bool]
    splits_without: Callable[[Sequence[str]], int]
    smallest_leaf: int
    n_rows: int
    n_nodes: int
