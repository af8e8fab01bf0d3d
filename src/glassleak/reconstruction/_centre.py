"""Among many consistent tables, the one with the smallest expected error.

Any consistent table could be the true one.  The error of an answer is its distance to the truth
after matching rows, so the best answer is central: the sample whose mean distance to the other
samples is smallest.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from glassleak.reconstruction._cells_attack import Histograms
from glassleak.reconstruction._fill import fill_rows
from glassleak.reconstruction.evaluation._evaluate import reconstruction_error
from glassleak.schema import Schema

IntArray = npt.NDArray[np.int64]
# Comparing tables means matching their rows; beyond this many the gain is not worth the time.
_COMPARED_ROWS = 2_000


def central_sample(
    found: Histograms, schema: Schema, columns: Sequence[str], deadline: float
) -> IntArray:
    """The sampled histogram with the smallest mean distance to the other samples.

    Distances are worked out sample by sample until `deadline`; those not reached are not
    considered.
    """
    samples: IntArray = np.unique(found.samples, axis=0)
    late = time.monotonic() > deadline
    if late or len(samples) < 3 or int(samples[0].sum()) > _COMPARED_ROWS:
        first: IntArray = found.samples[0]
        return first
    space = found.cells.space
    tables: list[pd.DataFrame] = []
    total = np.zeros(len(samples))
    for i, sample in enumerate(samples):
        rows = fill_rows(found.cells, np.repeat(found.system.cell, sample), seed=i)
        tables.append(pd.DataFrame(space.values(rows), columns=list(columns)))
        for j in range(i):
            apart = reconstruction_error(tables[i], tables[j], schema)
            total[i] += apart
            total[j] += apart
        if i >= 2 and time.monotonic() > deadline:
            break
    chosen: IntArray = samples[int(np.argmin(total[: len(tables)]))]
    return chosen
