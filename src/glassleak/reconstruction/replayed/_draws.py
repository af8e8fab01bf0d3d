"""How often every tree drew every row, and whether the trees' own figures agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.errors import InconsistentModelError, ModelTooLargeError, UnsupportedModelError
from glassleak.models import Exact, Forest

IntMatrix = npt.NDArray[np.int32]
MAX_ENTRIES = 2**28


def drawn_rows(forest: Forest, multiplicities: Any = None) -> IntMatrix:
    """Multiplicities (trees x rows), given by the caller or repeated from stored seeds.

    Parameters
    ----------
    multiplicities : (trees, rows) array of whole numbers, optional

    Raises
    ------
    UnsupportedModelError
        None are given and the model does not keep what would repeat them.
    InconsistentModelError
        They do not fit the model; the message names the first tree at fault.
    """
    if multiplicities is not None:
        matrix = _given(forest, multiplicities)
    elif forest.bagging.kind == "unknown" or forest.n_rows is None:
        raise UnsupportedModelError(
            "the model keeps no seeds (or no number of rows), so which rows each tree drew cannot "
            "be repeated",
            "bagging",
        )
    else:
        if len(forest) * forest.n_rows > MAX_ENTRIES:
            raise ModelTooLargeError(f"{len(forest):,} trees times {forest.n_rows:,} rows")
        matrix = forest.bagging.multiplicities(len(forest), forest.n_rows)
    check_draws(forest, matrix)
    return matrix


def _given(forest: Forest, multiplicities: Any) -> IntMatrix:
    matrix = np.asarray(multiplicities)
    if matrix.ndim != 2 or matrix.dtype.kind not in "iub":
        raise ValueError(
            "multiplicities must be whole numbers, one line per tree and one column per row"
        )
    if matrix.size > MAX_ENTRIES:
        raise ModelTooLargeError(f"multiplicities of {matrix.size:,} entries")
    if len(matrix) != len(forest):
        raise InconsistentModelError(
            f"multiplicities for {len(matrix)} trees, the forest has {len(forest)}"
        )
    if forest.n_rows is not None and matrix.shape[1] != forest.n_rows:
        raise InconsistentModelError(
            f"multiplicities for {matrix.shape[1]} rows, the forest was trained on {forest.n_rows}"
        )
    if matrix.size and (int(matrix.min()) < 0 or int(matrix.max()) >= 2**31):
        raise InconsistentModelError("a multiplicity is negative or impossibly large")
    return matrix.astype(np.int32)


def check_draws(forest: Forest, matrix: IntMatrix) -> None:
    """Raise unless every tree's draws and distinct rows are what `matrix` says.

    Raises
    ------
    UnsupportedModelError
        A tree does not publish exact counts.
    """
    for t, tree in enumerate(forest.trees):
        if not isinstance(tree.counts, Exact):
            raise UnsupportedModelError(
                "exact counts per class are needed, and are not published", f"tree {t}"
            )
        drawn, published = int(matrix[t].sum(dtype=np.int64)), int(tree.counts.totals[0])
        if drawn != published:
            raise InconsistentModelError(
                f"the multiplicities draw {drawn:,} rows, the tree counts {published:,}",
                f"tree {t}",
            )
        if tree.distinct_rows is not None:
            distinct, seen = int(np.count_nonzero(matrix[t])), int(tree.distinct_rows[0])
            if distinct != seen:
                raise InconsistentModelError(
                    f"the multiplicities draw {distinct:,} different rows, the tree saw {seen:,}",
                    f"tree {t}",
                )
