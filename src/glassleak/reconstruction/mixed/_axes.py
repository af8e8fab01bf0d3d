"""Every attribute as a short list of levels a row can have, whatever its range.

Ages or grades are listed one by one; long ranges are cut at the forest's thresholds, where the
interval is all that decides which way a row goes.  Each level carries the smallest and largest
number it stands for, as the model sees them, because thresholds say something about the numbers
themselves (see `glassleak.reconstruction.values`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glassleak.knowledge import Published, Space
from glassleak.schema import Attribute, Bins, Categorical, Numeric, Ordinal

FloatArray = npt.NDArray[np.float64]
# Levels listed one by one; beyond that, only what thresholds tell apart.
_LISTED = 256


@dataclass(frozen=True)
class Axis:
    """One attribute.

    Attributes
    ----------
    columns : int array
        Where its columns stand in the model.
    values : (levels, columns) float array
        One value of each level; numbers ascend and "missing" comes last.
    low, high : float arrays
        Smallest and largest number of each level, rounded as the model rounds.
    ordered : bool
        One column of numbers, so that every split cuts the levels in two runs.
    by_size : bool
        Numbers whose distance matters (and not codes of categories).
    n_numbers : int
        Levels without "missing".
    """

    columns: npt.NDArray[np.int64]
    values: FloatArray
    low: FloatArray
    high: FloatArray
    ordered: bool
    by_size: bool
    n_numbers: int

    def __len__(self) -> int:
        return len(self.values)


def axes_of(space: Space, facts: Published) -> tuple[Axis, ...]:
    """The axes of `space`, one per attribute."""
    return tuple(
        _axis(block.attribute, block.columns, block.values, block.sizes, facts)
        for block in space.blocks
    )


def _axis(
    attribute: Attribute,
    columns: npt.NDArray[np.int64],
    values: FloatArray,
    sizes: tuple[int, ...] | None,
    facts: Published,
) -> Axis:
    one_hot = isinstance(attribute, Categorical) and attribute.one_hot
    short = attribute.size is not None and attribute.size <= _LISTED
    if isinstance(attribute, Bins) or one_hot:
        if short:
            values = attribute.level_values()
        none = np.full(len(values), np.nan)
        return Axis(columns, values, none, none, False, False, len(values))
    by_size = isinstance(attribute, Ordinal | Numeric)
    if short or not isinstance(attribute, Ordinal | Numeric):
        values = attribute.level_values()
        # Codes may be listed in any order; "missing" sorts to the end.
        values = values[np.argsort(values[:, 0], kind="stable")]
        low = high = values[:, 0]
    else:
        low, high = _ends(attribute, values, sizes, facts)
        values = np.where(np.isnan(low), np.nan, _middle(attribute, low, high))[:, None]
    n_numbers = int((~np.isnan(values[:, 0])).sum())
    seen = [_as_seen(end, facts.precision) for end in (low, high)]
    return Axis(columns, values, seen[0], seen[1], True, by_size, n_numbers)


def _ends(
    attribute: Ordinal | Numeric,
    values: FloatArray,
    sizes: tuple[int, ...] | None,
    facts: Published,
) -> tuple[FloatArray, FloatArray]:
    """Smallest and largest number of every class of levels."""
    absent = np.isnan(values[:, 0])
    low, high = np.full(len(values), np.nan), np.full(len(values), np.nan)
    if sizes is None:
        cuts = facts.thresholds.get(attribute.columns[0], np.empty(0))
        inside = cuts[(cuts > attribute.low) & (cuts < attribute.high)]
        edges = np.array([attribute.low, *inside, attribute.high], dtype=np.float64)
        low[~absent], high[~absent] = edges[:-1], edges[1:]
        return low, high
    step = 1.0 if isinstance(attribute, Ordinal) else float(attribute.resolution or 0)
    own = np.array([float(s) for s in sizes])[~absent]
    stop = np.cumsum(own)
    low[~absent] = attribute.low + step * (stop - own)
    high[~absent] = attribute.low + step * (stop - 1)
    return low, high


def _middle(attribute: Ordinal | Numeric, low: FloatArray, high: FloatArray) -> FloatArray:
    """A number in the middle that the attribute can have."""
    step = 1.0 if isinstance(attribute, Ordinal) else attribute.resolution
    if step is None:
        return low / 2 + high / 2
    steps = np.floor((high - low) / step / 2 + 1e-9)
    return low + step * steps


def _as_seen(values: FloatArray, precision: str) -> FloatArray:
    with np.errstate(over="ignore"):
        return values.astype(np.float32).astype(np.float64) if precision == "float32" else values
