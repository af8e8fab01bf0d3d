"""From cells to rows: which profile of its cell should a row get?

All profiles of a cell explain the counts equally well.  Rows whose value of an attribute is open
get the values that occur elsewhere: in the same proportions for one good table (since rows are
matched before they are compared, a table with the right margins is closer to the truth than one
that repeats the single most frequent value), or drawn at random for one of many samples.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from glassleak.knowledge import Cells

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
Profiles = npt.NDArray[np.int32]


def fill_rows(cells: Cells, cell_of_row: IntArray, seed: int = 0) -> Profiles:
    """A profile (class of levels per block) for every row, inside the row's cell."""
    rng = np.random.default_rng(seed)
    profiles = cells.profiles[cell_of_row]
    for b, possible, open_rows, share in _open(cells, cell_of_row):
        for pattern, alike in _patterns(possible[open_rows]):
            rows = rng.permutation(open_rows[alike])
            profiles[rows, b] = _apportion(np.where(pattern, share, 0.0), len(rows))
    return profiles


def _patterns(
    possible: npt.NDArray[np.bool_],
) -> Iterator[tuple[npt.NDArray[np.bool_], IntArray]]:
    """Every distinct line, in order, with the lines that are equal to it.

    As strings of bytes: comparing thousands of levels one by one takes most of the time of
    reconstructing a single large tree.
    """
    packed = np.ascontiguousarray(np.packbits(possible, axis=1))
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).reshape(-1)
    order = np.argsort(keys, kind="stable")
    changes = np.flatnonzero(keys[order][1:] != keys[order][:-1]) + 1
    for alike in np.split(order, changes):
        yield possible[alike[0]], alike


def draw_rows(cells: Cells, cell_of_row: IntArray, rng: np.random.Generator) -> Profiles:
    """Like `fill_rows`, but drawn: first the proportions (Dirichlet), then every value."""
    profiles = cells.profiles[cell_of_row]
    for b, possible, open_rows, share in _open(cells, cell_of_row):
        chance = np.cumsum(possible[open_rows] * rng.dirichlet(share), axis=1)
        mark = rng.random(len(open_rows)) * chance[:, -1]
        drawn = (mark[:, None] >= chance).sum(axis=1)
        # Proportions so small that they vanish leave the value as it is.
        known = possible[open_rows, np.minimum(drawn, possible.shape[1] - 1)] & (mark > 0)
        profiles[open_rows[known], b] = drawn[known]
    return profiles


def _open(
    cells: Cells, cell_of_row: IntArray
) -> Iterator[tuple[int, npt.NDArray[np.bool_], IntArray, FloatArray]]:
    """Attributes open for some row: possible levels, open rows, and how common each level is."""
    for b, block in enumerate(cells.space.blocks):
        if len(block) == 1:
            continue
        possible = cells.levels(cell_of_row, b)
        is_open = possible.sum(axis=1) > 1
        if is_open.any():
            settled = cells.profiles[cell_of_row[~is_open], b]
            # Half a row for what has not been seen, or nothing could be said without settled rows.
            seen = np.bincount(settled, minlength=len(block)).astype(np.float64)
            yield b, possible, np.flatnonzero(is_open).astype(np.int64), seen + 0.5


def _apportion(share: FloatArray, seats: int) -> IntArray:
    """`seats` values in the proportions of `share`, by largest remainders."""
    quota = share / share.sum() * seats
    given = np.floor(quota).astype(np.int64)
    rest = seats - int(given.sum())
    given[np.argsort(given - quota, kind="stable")[:rest]] += 1
    return np.repeat(np.arange(len(share)), given)
