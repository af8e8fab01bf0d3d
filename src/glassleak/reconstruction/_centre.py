"""Among many consistent tables, the one with the smallest expected error.

Any consistent table could be the true one.  The error of an answer is its distance to the truth
after matching rows, so the best answer is central: the sample whose mean distance to the other
samples is smallest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from glassleak.reconstruction._cells_attack import Histograms
from glassleak.reconstruction._evaluate import reconstruction_error
from glassleak.reconstruction._fill import fill_rows
from glassleak.schema import Schema

IntArray = npt.NDArray[np.int64]
# Comparing tables means matching their rows; beyond this many the gain is not worth the time.
_COMPARED_ROWS = 2_000


def central_sample(found: Histograms, schema: Schema, columns: Sequence[str]) -> IntArray:
    """The sampled histogram with the smallest mean distance to the other samples."""
    assert found.x is not None
    samples = np.unique(found.samples, axis=0)
    n_rows = int(found.x.sum())
    if len(samples) < 3 or n_rows > _COMPARED_ROWS:
        return found.samples[0]
    space = found.cells.space
    tables = [
        pd.DataFrame(
            space.values(fill_rows(found.cells, np.repeat(found.system.cell, sample), seed=i)),
            columns=list(columns),
        )
        for i, sample in enumerate(samples)
    ]
    distance = np.zeros((len(tables), len(tables)))
    for i in range(len(tables)):
        for j in range(i):
            distance[i, j] = distance[j, i] = reconstruction_error(tables[i], tables[j], schema)
    return samples[int(np.argmin(distance.sum(axis=1)))]
