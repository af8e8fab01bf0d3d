"""From cells to rows: which profile of its cell should a row get?

All profiles of a cell explain the counts equally well.  Rows whose value of an attribute is open
get the values that occur elsewhere, in the same proportions: since rows are matched before they
are compared, a table with the right margins is closer to the truth than one that repeats the
single most frequent value.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from glassleak.knowledge import Cells

IntArray = npt.NDArray[np.int64]


def fill_rows(cells: Cells, cell_of_row: IntArray, seed: int = 0) -> npt.NDArray[np.int32]:
    """A profile (class of levels per block) for every row, inside the row's cell."""
    rng = np.random.default_rng(seed)
    profiles = cells.profiles[cell_of_row]
    for b, block in enumerate(cells.space.blocks):
        if len(block) == 1:
            continue
        possible = cells.levels(cell_of_row, b)
        is_open = possible.sum(axis=1) > 1
        if not is_open.any():
            continue
        settled = np.bincount(profiles[~is_open, b], minlength=len(block))
        # Half a row for what has not been seen, or nothing could be said without settled rows.
        share = settled + 0.5
        open_rows = np.flatnonzero(is_open)
        patterns, member = np.unique(possible[open_rows], axis=0, return_inverse=True)
        member = member.reshape(-1)
        for g, pattern in enumerate(patterns):
            rows = rng.permutation(open_rows[member == g])
            profiles[rows, b] = _apportion(np.where(pattern, share, 0.0), len(rows))
    return profiles


def _apportion(share: npt.NDArray[np.float64], seats: int) -> IntArray:
    """`seats` values in the proportions of `share`, by largest remainders."""
    quota = share / share.sum() * seats
    given = np.floor(quota).astype(np.int64)
    rest = seats - int(given.sum())
    given[np.argsort(given - quota, kind="stable")[:rest]] += 1
    return np.repeat(np.arange(len(share)), given)
