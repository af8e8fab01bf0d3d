"""What people in general look like, learnt from the table under search.

Where the counts leave rows open, people who resemble the others are likelier than a random
combination of levels.  The prior is a mixture of a few kinds of people; within a kind attributes
(the class among them) are independent.  Fitted by expectation maximisation, smoothed towards the
shares of all rows.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
_SMOOTHING = 3.0


class Kinds:
    """A mixture of `n_kinds` kinds of people over attributes with `sizes` levels.

    Parameters
    ----------
    sizes : int array
        Levels per attribute; the class counts as one.
    n_rows : int
    rng : Generator
    """

    def __init__(self, sizes: npt.NDArray[np.int64], n_rows: int, rng: np.random.Generator) -> None:
        self.sizes = sizes
        self.start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.n_kinds = int(np.clip(n_rows // 15, 1, 12))
        self.share = rng.dirichlet(np.ones(self.n_kinds), size=n_rows)
        self.log_weight = np.zeros(self.n_kinds)
        self.log_level = np.zeros((self.n_kinds, int(sizes.sum())))

    def fit(self, levels: npt.NDArray[np.int64], iterations: int = 5) -> None:
        """Adapt to the rows `levels` (rows, attributes), starting from the previous fit."""
        n_rows = len(levels)
        column = levels + self.start[:-1]
        spread = 1.0 / np.repeat(self.sizes, self.sizes)
        overall = np.bincount(column.reshape(-1), minlength=int(self.start[-1]))
        overall_share = (overall + spread) / (n_rows + 1.0)
        for _ in range(iterations):
            held, size = self._totals(column, self.share)
            smooth = (held + _SMOOTHING * overall_share) / (size[:, None] + _SMOOTHING)
            self.log_level = np.log(smooth)
            self.log_weight = np.log((size + 1.0) / (n_rows + self.n_kinds))
            self.share = self._shares(levels)

    def draw(self, levels: npt.NDArray[np.int64], rng: np.random.Generator) -> None:
        """One Gibbs step given the rows: their kinds, then every kind's levels, then its weight.

        Shares fitted to the table would make it look surer than it is: they would confirm it.
        """
        n_rows = len(levels)
        column = levels + self.start[:-1]
        steps = np.cumsum(self._shares(levels), axis=1)
        kind = (rng.random((n_rows, 1)) > steps[:, :-1]).sum(axis=1)
        member = np.zeros((n_rows, self.n_kinds))
        member[np.arange(n_rows), kind] = 1.0
        held, size = self._totals(column, member)
        spread = 1.0 / np.repeat(self.sizes, self.sizes)
        overall_share = (held.sum(axis=0) + spread) / (n_rows + 1.0)
        drawn = rng.standard_gamma(held + _SMOOTHING * overall_share) + 1e-300
        sums = np.add.reduceat(drawn, self.start[:-1], axis=1)
        self.log_level = np.log(drawn / np.repeat(sums, self.sizes, axis=1))
        self.log_weight = np.log(rng.dirichlet(size + 1.0) + 1e-300)

    def _totals(
        self, column: npt.NDArray[np.int64], share: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Rows per kind and level, and per kind, when rows belong to kinds by `share`."""
        held = np.empty((self.n_kinds, int(self.start[-1])))
        for k in range(self.n_kinds):
            weight = np.repeat(share[:, k], column.shape[1])
            held[k] = np.bincount(column.reshape(-1), weights=weight, minlength=held.shape[1])
        return held, share.sum(axis=0)

    def _shares(self, levels: npt.NDArray[np.int64]) -> FloatArray:
        """How probably each row is of each kind."""
        by_kind = self._by_kind(levels)
        out: FloatArray = np.exp(by_kind - by_kind.max(axis=1, keepdims=True))
        out /= out.sum(axis=1, keepdims=True)
        return out

    def log_density(self, levels: npt.NDArray[np.int64]) -> FloatArray:
        """Logarithm of the probability of each line of `levels`."""
        by_kind = self._by_kind(levels)
        top = by_kind.max(axis=1, keepdims=True)
        out: FloatArray = (np.log(np.exp(by_kind - top).sum(axis=1, keepdims=True)) + top).reshape(
            -1
        )
        return out

    def _by_kind(self, levels: npt.NDArray[np.int64]) -> FloatArray:
        column = levels + self.start[:-1]
        out: FloatArray = np.tile(self.log_weight, (len(levels), 1))
        for a in range(column.shape[1]):
            out += self.log_level[:, column[:, a]].T
        return out
