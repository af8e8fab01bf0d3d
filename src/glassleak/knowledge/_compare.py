"""On which side of a threshold a value falls, compared exactly as the model compares."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def is_low(
    values: npt.NDArray[np.float64],
    cuts: npt.NDArray[np.float64],
    precision: str,
    comparison: str,
) -> npt.NDArray[np.bool_]:
    """Whether `values` (rounded to `precision`) are below `cuts`; shapes broadcast."""
    rounded: npt.NDArray[Any] = values.astype(np.float32 if precision == "float32" else np.float64)
    low: npt.NDArray[np.bool_] = rounded <= cuts if comparison == "<=" else rounded < cuts
    return low
