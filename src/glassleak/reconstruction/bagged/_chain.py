"""One random walk through tables: cooled down first, then sampled."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from glassleak.reconstruction.bagged._leaf_terms import Leaves, memory_for
from glassleak.reconstruction.bagged._moves import (
    Places,
    Table,
    exchange,
    redraw,
    redraw_some,
    total_value,
)
from glassleak.reconstruction.bagged._prior import Kinds

IntArray = npt.NDArray[np.int64]
# Per row the table lacks in a leaf: mild while searching, next to forbidden while sampling.
SEARCH_PENALTY, SAMPLE_PENALTY = 6.0, 15.0
_HOT = 0.1
_TRIED = 500
_MOST_EXCHANGES = 50_000
# Moves between two looks at the clock, when tables are large.
_ROWS_AT_ONCE, _STEPS_AT_ONCE = 1000, 200_000
# Beyond this many rows the relaxation is a good start, and each round takes long.
_MANY_ROWS = 500


@dataclass
class Chain:
    """A table and everything that moves it.

    Attributes
    ----------
    chance : float array
        Running sum of each place's chance to be tried; empty: all places are tried each time.
    samples : list of int arrays
        The place of every row, once per sample.
    log_likelihoods, log_posteriors : list of float
        Of the samples, up to a constant.
    """

    leaves: Leaves
    places: Places
    table: Table
    moving: IntArray
    kinds: Kinds
    chance: npt.NDArray[np.float64]
    seed: int
    samples: list[IntArray] = field(default_factory=list)
    log_likelihoods: list[float] = field(default_factory=list)
    log_posteriors: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)
        # When to leave a round in the middle: the table is whole after every move.
        self.deadline = np.inf
        self.memory = memory_for(self.leaves)
        self.kinds.fit(self._levels(), 20)
        self.log_prior = self.kinds.log_density(self.places.levels)

    def cool(self, n_levels: int, deadline: float, told: Callable[[float], None]) -> None:
        """Go from hot to cold; when time is short in fewer steps."""
        started, done = time.monotonic(), 0.0
        while done < 1.0:
            self._round(_HOT ** (1.0 - done), sweeps=2 if len(self.moving) <= _MANY_ROWS else 1)
            done += 1.0 / n_levels
            told(min(done, 1.0))
            now = time.monotonic()
            if deadline < np.inf:
                # Where the clock says more of the way should be behind us, skip to there.
                done = max(done, (now - started) / max(deadline - started, 1e-9))

    def sample(self, n_samples: int, deadline: float, told: Callable[[float], None]) -> None:
        """Collect tables from the posterior; at least one, even after the deadline."""
        self.leaves = self.leaves._replace(penalty=SAMPLE_PENALTY)
        self.memory = memory_for(self.leaves)
        for k in range(n_samples):
            self._round(1.0, sweeps=1)
            self.samples.append(self.table.at.copy())
            value = float(total_value(self.leaves, self.memory, self.table.held))
            self.log_likelihoods.append(value)
            self.log_posteriors.append(value + float(self.log_prior[self.table.at].sum()))
            told((k + 1) / n_samples)
            if time.monotonic() > deadline:
                break

    def _round(self, beta: float, sweeps: int) -> None:
        for _ in range(sweeps):
            self.kinds.draw(self._levels(), self.rng)
            self.log_prior = self.kinds.log_density(self.places.levels)
            if len(self.moving):
                order = self.rng.permutation(self.moving)
                for start in range(0, len(order), _ROWS_AT_ONCE):
                    if time.monotonic() > self.deadline:
                        return
                    self._redraw(order[start : start + _ROWS_AT_ONCE], beta)
            if len(self.moving) > 1:
                steps = min(self._exchanges_per_row() * len(self.moving), _MOST_EXCHANGES)
                for start in range(0, steps, _STEPS_AT_ONCE):
                    if time.monotonic() > self.deadline:
                        return
                    exchange(
                        self.leaves, self.memory, self.places, self.log_prior, self.table,
                        self.moving, beta, min(_STEPS_AT_ONCE, steps - start),
                        3 * len(self.moving), self._seed(),
                    )  # fmt: skip

    def _redraw(self, order: IntArray, beta: float) -> None:
        if len(self.chance):
            redraw_some(
                self.leaves, self.memory, self.places, self.log_prior, self.table, order,
                self.chance, _TRIED, beta, self._seed(),
            )  # fmt: skip
            return
        redraw(
            self.leaves, self.memory, self.places, self.log_prior, self.table, order, beta,
            self._seed(),
        )  # fmt: skip

    def _exchanges_per_row(self) -> int:
        # About as much time as drawing the row anew from all places takes.
        return int(np.clip(len(self.places.label) // 20, 20, 150))

    def _levels(self) -> IntArray:
        levels: IntArray = self.places.levels[self.table.at]
        return levels

    def _seed(self) -> int:
        return int(self.rng.integers(2**31))
