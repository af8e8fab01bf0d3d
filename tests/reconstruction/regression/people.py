"""Small tables with targets of every sort, and their models."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd

import glassleak as gl

SCHEMA = gl.Schema(
    [gl.Ordinal("age", 0, 60), gl.Ordinal("days", 0, 300), gl.Numeric("sum", 0, 50, resolution=0.5)]
)


def table(n: int, seed: int, kind: str = "float") -> tuple[pd.DataFrame, np.ndarray]:
    """`n` rows and their targets: floats, many or few whole numbers, or mostly zeros."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({
        "age": rng.integers(0, 61, n), "days": rng.integers(0, 301, n),
        "sum": rng.integers(0, 101, n) / 2,
    })  # fmt: skip
    y = X["age"] + 0.2 * X["days"] + rng.normal(0, 3, n)
    made = {
        "float": y, "int": np.round(y), "few": np.round(y / 20),
        "zeros": np.where(rng.random(n) < 0.4, 0.0, np.round(y, 2)),
    }  # fmt: skip
    return X, np.asarray(made[kind], dtype=float)


def counted(X: pd.DataFrame, y: Any) -> Counter[tuple[float, ...]]:
    """Rows with their targets; computed targets agree to nine digits."""
    rows = X.to_numpy(dtype=float).tolist()
    return Counter((*row, float(f"{t:.8g}")) for row, t in zip(rows, y, strict=True))


def check_claims(found: Any, X: pd.DataFrame, y: np.ndarray) -> None:
    """Nothing that is called certain or unique may be wrong."""
    truth = counted(X, y)
    assert len(found.table) == len(X)
    if found.status == "unique":
        assert counted(found.table, found.labels) == truth
    bounds = found.certificate.bounds
    sure = bounds[(bounds["minimum"] > 0) & (bounds["profiles"] == 1)]
    for row, least in zip(
        counted(sure[list(X)], sure["class"]).elements(), sure["minimum"], strict=True
    ):
        assert truth[row] >= least
    certain = found.confidence >= 1
    assert set(counted(found.table[certain], found.labels[certain])) <= set(truth)
    if found.details.get("rows_at_their_own_position") and found.certificate.complete:
        assert np.allclose(found.labels, y, rtol=1e-8)
