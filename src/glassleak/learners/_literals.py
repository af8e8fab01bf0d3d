"""Yes/no conditions on single columns: the material rules are made of.

A column of zeros and ones gives "is 1" and "is not 1".  Any other column is cut at a few values
between its observed ones and gives "above the cut" and "at or below the cut".
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Bools: TypeAlias = npt.NDArray[np.bool_]
# (column, low, high) means low < value <= high: what the published form of a rule says.
Interval: TypeAlias = tuple[int, float, float]
# Given by the user: column name or number -> cuts.
Cuts: TypeAlias = Mapping[str | int, Sequence[float]]


@dataclass(frozen=True)
class Literals:
    """All conditions on single columns, in the order in which ties are broken.

    Attributes
    ----------
    column : int array
    cut : float array
    above : bool array
        Whether the condition is ``value > cut`` (otherwise ``value <= cut``).
    """

    column: npt.NDArray[np.int64]
    cut: Floats
    above: Bools

    def __len__(self) -> int:
        return len(self.column)

    def holds(self, values: Floats) -> Bools:
        """(rows, literals): where each condition holds."""
        holds: Bools = (values[:, self.column] > self.cut) == self.above
        return holds

    def compatible(self) -> Bools:
        """(literals, literals): pairs that say more together than apart and can both hold.

        Two conditions on one column only make sense as an interval: above one cut and at or below
        a larger one.
        """
        same = self.column[:, None] == self.column
        opposite = self.above[:, None] & ~self.above & (self.cut[:, None] < self.cut)
        compatible: Bools = ~same | opposite | opposite.T
        return compatible

    def intervals(self, members: Sequence[int]) -> list[Interval]:
        """The conjunction of `members`, one interval for each column it speaks of."""
        found: dict[int, tuple[float, float]] = {}
        for i in members:
            low, high = found.get(int(self.column[i]), (-math.inf, math.inf))
            cut = float(self.cut[i])
            found[int(self.column[i])] = (
                (max(low, cut), high) if self.above[i] else (low, min(high, cut))
            )
        return [(column, low, high) for column, (low, high) in sorted(found.items())]


def literals_of(
    values: Floats, n_thresholds: int, given: Cuts | None, names: Sequence[str], negations: bool
) -> Literals:
    """The conditions a table offers.

    Parameters
    ----------
    values : (rows, columns) array
    n_thresholds : int
        Most cuts in a column with more than two values; they are put at its quantiles.
    given : mapping, optional
        Cuts for some columns, by name or number, instead of those found in the data.  Cuts that
        come from the data tell something about it; cuts that were fixed beforehand do not.
    names : sequence of str
    negations : bool
        Whether "at or below" is offered beside "above".
    """
    chosen = _by_column(given, names)
    entries = [
        (j, cut, above)
        for j in range(values.shape[1])
        for cut in _cuts(values[:, j], n_thresholds, chosen.get(j))
        for above in ((True, False) if negations else (True,))
    ]
    columns, cuts, above = zip(*entries, strict=True) if entries else ((), (), ())
    return Literals(
        np.array(columns, dtype=np.int64), np.array(cuts, dtype=np.float64), np.array(above, bool)
    )


def _cuts(column: Floats, n_thresholds: int, given: Floats | None) -> Floats:
    levels = np.unique(column)
    if given is not None:
        # A cut that everybody is on one side of separates nobody.
        inside: Floats = given[(given >= levels[0]) & (given < levels[-1])]
        return inside
    if len(levels) - 1 <= n_thresholds:
        below = levels[:-1]
    else:
        ordered = np.sort(column)
        shares = np.arange(1, n_thresholds + 1) / (n_thresholds + 1)
        below = np.unique(ordered[(shares * (len(ordered) - 1)).astype(np.int64)])
        below = below[below < levels[-1]]
    over = levels[np.searchsorted(levels, below) + 1]
    middle = below / 2 + over / 2
    # Halfway between two neighbouring floats there is none.
    cuts: Floats = np.where((middle >= below) & (middle < over), middle, below)
    return cuts


def _by_column(given: Cuts | None, names: Sequence[str]) -> dict[int, Floats]:
    where = {name: i for i, name in enumerate(names)}
    found: dict[int, Floats] = {}
    for key, cuts in (given or {}).items():
        at: Any = where.get(key) if isinstance(key, str) else key
        if isinstance(at, bool) or not isinstance(at, int | np.integer) or not 0 <= at < len(names):
            raise ValueError(f"thresholds: there is no column {key!r}")
        listed = np.unique(np.asarray(cuts, dtype=np.float64).ravel())
        if not np.isfinite(listed).all():
            raise ValueError(f"thresholds of column {key!r} must be finite numbers")
        found[int(at)] = listed
    return found
