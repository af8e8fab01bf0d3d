"""Equations that imply all the others: trees overlap, so about half are redundant."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.linalg import solve_triangular

IntArray = npt.NDArray[np.int64]
# Elimination costs the cube of this; larger systems keep all their equations.
_MAX_EQUATIONS = 2_000
_COLUMNS, _MIXTURES = 2_000, 16
_TOLERANCE = 1e-8


def independent_rows(matrix: sp.csc_array) -> IntArray:
    """Rows that span all rows, sparse ones preferred.

    Decided in floating point: it only makes linear programs smaller, and whatever comes out of
    those is checked against all equations.
    """
    n_rows, n_columns = matrix.shape
    if n_rows > _MAX_EQUATIONS:
        return np.arange(n_rows, dtype=np.int64)
    rng = np.random.default_rng(7)
    sample = matrix
    if n_columns > max(_COLUMNS, 8 * n_rows):
        sample = matrix[:, np.sort(rng.choice(n_columns, max(_COLUMNS, 8 * n_rows), replace=False))]
    # Random mixtures of all columns show what a sample of them might miss.
    mixed = matrix @ rng.standard_normal((n_columns, _MIXTURES)) / np.sqrt(n_columns)
    dense = np.hstack([sample.toarray().astype(np.float64), mixed])
    gram = dense @ dense.T
    size = np.diag(gram).copy()
    order = np.argsort(size, kind="stable")
    order = order[size[order] > 0]
    scale = 1 / np.sqrt(size[order])
    gram = gram[np.ix_(order, order)] * scale[:, None] * scale
    factor = np.zeros((len(order), len(order)))
    kept: list[int] = []
    for i in range(len(order)):
        k = len(kept)
        share = solve_triangular(
            factor[:k, :k], gram[kept, i], lower=True, check_finite=False
        ) if k else np.empty(0)  # fmt: skip
        rest = 1.0 - float(share @ share)
        if rest > _TOLERANCE:
            factor[k, :k], factor[k, k] = share, np.sqrt(rest)
            kept.append(i)
    return np.sort(order[kept]).astype(np.int64)
