"""How plausible a profile is, judged by the people who are certainly there.

Where a few tables fit, they usually differ by an exchange of values between two people, and the
counts cannot say who has which.  People resemble each other: a profile close to profiles that are
certainly present is more likely than one that resembles nobody.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from glassleak.knowledge import Cells, System

IntArray = npt.NDArray[np.int64]

# Every attribute in which two profiles differ makes them this many times less alike.
_PER_DIFFERENCE = 4.0
# A profile that resembles nobody remains possible.
_FLOOR = 1e-3
_FEWEST = 10


def plausibility(
    cells: Cells, system: System, lower: IntArray, upper: IntArray
) -> npt.NDArray[np.float64]:
    """A weight per unknown: profiles it stands for, times resemblance to certain people.

    Cost: O(open unknowns x distinct certain cells x attributes).

    Parameters
    ----------
    lower, upper : int arrays
        Proved bounds; `lower` says who is certainly there.
    """
    weight: npt.NDArray[np.float64] = cells.n_told_apart[system.cell].astype(np.float64)
    certain = np.flatnonzero(lower > 0)
    is_open = np.flatnonzero(lower < upper)
    if int(lower[certain].sum()) < _FEWEST or not is_open.size:
        return weight
    people = cells.profiles[system.cell[certain]]
    count = lower[certain].astype(np.float64)
    for start in range(0, len(is_open), 4096):
        some = is_open[start : start + 4096]
        profiles = cells.profiles[system.cell[some]]
        differences = np.zeros((len(some), len(people)), dtype=np.float32)
        for b in range(people.shape[1]):
            differences += profiles[:, b, None] != people[None, :, b]
        alike = (_PER_DIFFERENCE**-differences) @ count / count.sum()
        weight[some] *= alike + _FLOOR
    return weight
