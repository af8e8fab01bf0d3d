"""Which rows two independent searches agree on.

Cooling from different random starts scrambles different rows; a row that comes out of both is
hardly ever wrong.  Keeping these rows leaves a smaller problem in which the leaves' remaining
counts are right.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from glassleak.reconstruction.mixed._axes import Axis

IntArray = npt.NDArray[np.int32]
# Of the attributes, how many may differ; numbers count by distance, a tenth of the levels is 1.
_TOLERANCE, _NEAR = 0.1, 0.1


def agreed(
    axes: Sequence[Axis], one: IntArray, other: IntArray, labels: IntArray
) -> npt.NDArray[np.bool_]:
    """Rows of `one` that have a partner in `other`; both have the same `labels`."""
    found = np.zeros(len(one), dtype=bool)
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        distance = _distances(axes, one[rows], other[rows])
        own, partner = linear_sum_assignment(distance)
        found[rows[own]] = distance[own, partner] <= _TOLERANCE * len(axes)
    return found


def _distances(axes: Sequence[Axis], one: IntArray, other: IntArray) -> npt.NDArray[np.float32]:
    total = np.zeros((len(one), len(other)), dtype=np.float32)
    for b, axis in enumerate(axes):
        gap = np.abs(one[:, None, b] - other[None, :, b])
        far = _NEAR * len(axis) if axis.by_size else 0.0
        total += np.minimum(gap / max(far, 1.0), 1.0).astype(np.float32)
    return total
