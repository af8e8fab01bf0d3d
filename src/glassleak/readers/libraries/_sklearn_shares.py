"""How many people a class has when only the shares of it that fall into each node are known."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

_TOLERANCE = 1e-6
_MAX_TOTAL = 10_000_000
# Ways to split a total are tried one by one; beyond this the answer is "cannot tell".
_MAX_TRIES = 100_000
_MAX_CLASSES = 100


def totals_from_shares(masses: npt.NDArray[np.float64], total: int) -> npt.NDArray[np.int64] | None:
    """People per class if only one answer is possible, else ``None``.

    Parameters
    ----------
    masses : (nodes, classes) float array
        Per class a multiple, unknown but the same in every node, of its people.  Node 0 is the
        root, where no class is empty.
    total : int
        People of all classes together.

    Notes
    -----
    The people of a class in a node are whole, so their number at the root is a multiple of the
    common denominator of the shares.  Where these steps add up to `total` in one way only, that
    way is the truth.
    """
    if not 0 < total <= _MAX_TOTAL or not 0 < masses.shape[1] <= _MAX_CLASSES:
        return None
    steps = []
    for c in range(masses.shape[1]):
        step = _common_denominator(masses[:, c] / masses[0, c], total)
        if step is None:
            return None
        steps.append(step)
    return _only_split(total, steps)


def _common_denominator(shares: npt.NDArray[np.float64], largest: int) -> int | None:
    """The smallest number up to `largest` whose product with every share is whole."""
    shares = np.unique(shares)
    step = 1
    while True:
        product = shares * step
        broken = np.flatnonzero(np.abs(product - np.rint(product)) > _TOLERANCE)
        if not broken.size:
            return step
        share = Fraction(float(shares[broken[0]])).limit_denominator(largest)
        # Every round at least doubles the step, so there are few.
        larger = math.lcm(step, share.denominator)
        if larger == step or larger > largest:
            return None
        step = larger


def _only_split(total: int, steps: list[int]) -> npt.NDArray[np.int64] | None:
    """The one way to write `total` as a sum of positive multiples of each step."""
    # Largest steps first: they leave the fewest choices.
    order = sorted(range(len(steps)), key=lambda c: -steps[c])
    search = _Search([steps[c] for c in order])
    search.run(total, 0, [])
    if len(search.found) != 1 or search.tries > _MAX_TRIES:
        return None
    out = np.empty(len(steps), dtype=np.int64)
    out[order] = search.found[0]
    return out


class _Search:
    """Depth first over the multiples of each step; stops at the second answer."""

    def __init__(self, steps: list[int]) -> None:
        self.steps = steps
        self.found: list[list[int]] = []
        self.tries = 0

    def run(self, rest: int, at: int, chosen: list[int]) -> None:
        step = self.steps[at]
        if at == len(self.steps) - 1:
            self.tries += 1
            if rest > 0 and rest % step == 0:
                self.found.append([*chosen, rest])
            return
        # Every later class needs one step at least.
        for head in range(step, rest - sum(self.steps[at + 1 :]) + 1, step):
            self.run(rest - head, at + 1, [*chosen, head])
            if len(self.found) > 1 or self.tries > _MAX_TRIES:
                return
