"""What a model's splits say about its columns: all that inference without data can go by.

The schema layer does not know models; a model hands this summary over (``split_evidence()``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse


@dataclass(frozen=True)
class SplitEvidence:
    """Facts about the columns that follow from a model alone.

    Attributes
    ----------
    columns : tuple of str
    thresholds : mapping of column to array
        Sorted distinct thresholds; a column without an entry is never split on.
    together : (n_columns, n_columns) sparse int array
        ``together[a, b]``: nodes reached with column *a* high that split on *b*.  Both sides of a
        split hold people, so a positive entry *proves* that a and b can be high together.
    below : (n_columns,) int array
        Splits made below "column a is high": the chances the model had to refute an exclusion.
    splits : (n_columns,) int array
        Splits made on each column, in the nodes looked at.
    somebody_without : callable
        ``somebody_without(columns)`` is True when some node is reached by people for whom all the
        given columns are low, which proves that they need not have any of them.
    splits_without : callable
        ``splits_without(columns)``: splits made where all the given columns are low.
    n_nodes : int
        Nodes looked at.
    """

    columns: tuple[str, ...]
    thresholds: Mapping[str, npt.NDArray[np.float64]]
    together: sparse.csr_array
    below: npt.NDArray[np.int64]
    splits: npt.NDArray[np.int64]
    somebody_without: Callable[[Sequence[str]], bool]
    splits_without: Callable[[Sequence[str]], int]
    n_nodes: int
