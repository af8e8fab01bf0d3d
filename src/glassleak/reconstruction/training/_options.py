"""What open cells may hold: for every row and attribute, the values that keep it in its leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt


class Options(NamedTuple):
    """Open cells and what each may hold.

    Attributes
    ----------
    columns : (attributes, width) int array
        The columns of every attribute, -1 behind the last; one-hot columns change together.
    row, attribute : (cells,) int arrays
    first : (cells + 1,) int array
    value : (options, width) float32 array
        Cell k may hold ``value[first[k] : first[k + 1]]``.
    """

    columns: Any
    row: Any
    attribute: Any
    first: Any
    value: Any

    def __len__(self) -> int:
        return len(self.row)


def options_of(
    columns: Sequence[Sequence[int]],
    cells: Sequence[tuple[int, int, npt.ArrayLike]],
) -> Options:
    """Open cells in flat arrays.

    Parameters
    ----------
    columns : sequence of sequences of int
        The columns of every attribute.
    cells : sequence of (row, attribute, values)
        With one line of `values` per possibility; cells with one possibility are left out.
    """
    width = max((len(own) for own in columns), default=1)
    listed = np.full((len(columns), width), -1, dtype=np.int64)
    for g, own in enumerate(columns):
        listed[g, : len(own)] = own
    rows, groups, sizes, parts = [], [], [0], []
    for row, group, values in cells:
        array = np.asarray(values, dtype=np.float32).reshape(-1, len(columns[group]))
        array = np.unique(array, axis=0)
        if len(array) < 2:
            continue
        rows.append(row)
        groups.append(group)
        sizes.append(len(array))
        parts.append(np.pad(array, ((0, 0), (0, width - array.shape[1]))))
    return Options(
        listed, np.array(rows, dtype=np.int64), np.array(groups, dtype=np.int64), np.cumsum(sizes),
        np.concatenate(parts) if parts else np.zeros((0, width), dtype=np.float32),
    )  # fmt: skip
