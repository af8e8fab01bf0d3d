"""Search for a table when the possibilities of its rows are too many to list.

Simulated annealing with exact moves (see `_heat`).  A short scan finds the temperatures between
which the table forms; the budget is then spent on cooling slowly through them, in longer and
longer rounds, until a table reproduces every published figure.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from glassleak.reconstruction._side_by_side import side_by_side
from glassleak.reconstruction._survey import Progress
from glassleak.reconstruction.replayed._heat import Table, energy_of, put, stir
from glassleak.reconstruction.replayed._levels import BLOCK, HIGH, LOW, Levels
from glassleak.reconstruction.replayed._problem import IntArray, Problem
from glassleak.reconstruction.replayed._settle import Settled

# Walks from different starts, side by side.
_AT_ONCE = 2
_HOT, _COLD, _FROZEN = 8.0, 0.1, 0.02
_SCAN_SHARE, _SCAN_STEPS = 0.06, 60
_FIRST_ROUND_SHARE, _LONGER = 0.15, 6.0
_QUENCH_SWEEPS = 6
# Cooled in a hurry, a table has this share of a random table's energy where it forms (measured);
# rounds begin and end at these multiples of that temperature.
_FORMING, _START, _END = 0.45, 1.4, 0.15
# Where there is no time to look: this much per tree that drew a row (measured).
_USUAL = 0.025
# Half of a round is spent evenly over temperatures, half where the energy falls.
_EVENLY = 0.5
# Quenched only where this share of the random energy is left.
_NEARLY = 0.04
_SAMPLES = 20
# Moves between two looks at the clock; share of the time for samples.
_CHUNK, _SAMPLING_SHARE = 5_000, 0.15
# Melting in parts: sweeps of the first attempt, attempts in vain, the largest share of wrong rows
# with which it is tried, and the share of right rows that are melted along.
_FIRST_SWEEPS, _FAILURES, _MOST_MELTED, _OTHERS = 150, 5, 0.7, 0.1


@dataclass(frozen=True)
class Searched:
    """The best table met.

    Attributes
    ----------
    level : (rows, attributes) int array
    label : (rows,) int array
    leaf : int array
        As in `Table`.
    energy : float
        0 if every published figure is reproduced.
    belief : (rows,) float array
        Share of tables met near the end that have the row in the same leaves.
    rounds, sweeps : int
    forming : float
        Temperature around which the table forms.
    """

    level: IntArray
    label: IntArray
    leaf: IntArray
    energy: float
    belief: npt.NDArray[np.float64]
    rounds: int
    sweeps: int
    forming: float


def search(
    problem: Problem,
    levels: Levels,
    settled: Settled,
    deadline: float,
    seed: int,
    tell: Callable[[float], None],
    polish: Callable[[Walk, float], None] | None = None,
) -> Searched:
    """Anneal until a table is exact or time is up.

    Parameters
    ----------
    polish : callable, optional
        Given an exact table and the temperature around which tables form, may move rows.
    """
    began = time.monotonic()
    # Time to see how far rows move is kept back, or nothing could be said about any of them.
    ends, deadline = deadline, deadline - _SAMPLING_SHARE * max(0.0, deadline - began)
    enough = threading.Event()

    def annealed(number: int, told: Progress) -> _Annealed:
        walk = Walk(problem, levels, settled, _AT_ONCE * seed + number, deadline)
        return _anneal(walk, began, enough, lambda share: told("searching", share))

    jobs = [partial(annealed, number) for number in range(_AT_ONCE)]
    found = side_by_side(jobs, lambda _step, share: tell(share))
    best = min(found, key=lambda one: one.walk.best_energy)
    walk = best.walk
    walk.sweeps = sum(one.walk.sweeps for one in found)
    if walk.best_energy == 0 and polish is not None:
        polish(walk, best.forming)
    walk.deadline = ends
    return walk.answer(_END * best.forming, best.rounds, best.forming)


@dataclass(frozen=True)
class _Annealed:
    """A walk at its end, its number of rounds, and the temperature around which tables form."""

    walk: Walk
    rounds: int
    forming: float


def _anneal(
    walk: Walk, began: float, enough: threading.Event, tell: Callable[[float], None]
) -> _Annealed:
    """Cool in longer and longer rounds until a table is exact, here or elsewhere."""
    deadline = walk.deadline
    tell(0.0)
    walk.sweep(_HOT)
    forming = _scan(walk, _SCAN_SHARE * (deadline - time.monotonic()))
    cooling = _Cooling.evenly(_START * forming, _END * forming)
    span = _FIRST_ROUND_SHARE * (deadline - time.monotonic())
    rounds = 0
    while walk.best_energy > 0 and time.monotonic() < deadline and not enough.is_set():
        rounds += 1
        start = time.monotonic()
        end = min(start + span, deadline)
        if deadline - end < 0.5 * span:  # too little left for another round: use it in this one
            end = deadline
        checks = 0
        seen: list[tuple[float, float]] = []
        while (now := time.monotonic()) < end and walk.best_energy > 0 and not enough.is_set():
            share = (now - start) / max(end - start, 1e-9)
            walk.sweep(cooling.at(share))
            seen.append((cooling.at(share), walk.energy))
            tell(min(1.0, (now - began) / max(deadline - began, 1e-9)))
            if share > 0.05 * checks:
                checks += 1
                if walk.energy < _NEARLY * walk.random_energy:
                    walk.quench(_QUENCH_SWEEPS)
        walk.quench(4 * _QUENCH_SWEEPS)
        _melt_in_parts(walk, forming, deadline, enough)
        cooling = cooling.slower_where_it_falls(seen)
        span *= _LONGER
    if walk.best_energy == 0:
        enough.set()
    return _Annealed(walk, rounds, forming)


def _melt_in_parts(walk: Walk, forming: float, deadline: float, enough: threading.Event) -> None:
    """Anneal only the rows that stand in leaves with wrong figures, and some others.

    Rows that are right hold the rest in place, so a small part of a table forms much faster than
    the whole.  Ends when longer and longer attempts do not help any more.
    """
    sweeps, failed = _FIRST_SWEEPS, 0
    while (
        walk.best_energy > 0
        and failed < _FAILURES
        and time.monotonic() < deadline
        and not enough.is_set()
    ):
        before = walk.best_energy
        walk.table = walk.copy(walk.best)
        wrong = walk.rows[walk.misfit()[walk.rows] > 0]
        if len(wrong) > _MOST_MELTED * len(walk.rows):
            return
        others = walk.rng.permutation(np.setdiff1d(walk.rows, wrong))
        some = np.concatenate([wrong, others[: max(2, int(_OTHERS * len(walk.rows)))]])
        for temperature in np.linspace(_START, _END, sweeps).tolist():
            walk.sweep(forming * temperature, some)
            if time.monotonic() > deadline:
                break
        walk.quench(_QUENCH_SWEEPS)
        if walk.best_energy < before:
            failed = 0
        else:
            sweeps, failed = 2 * sweeps, failed + 1


@dataclass(frozen=True)
class _Cooling:
    """Temperatures over the course of a round."""

    share: npt.NDArray[np.float64]
    temperature: npt.NDArray[np.float64]

    @classmethod
    def evenly(cls, hot: float, cold: float) -> _Cooling:
        return cls(np.linspace(0, 1, 41), np.linspace(hot, cold, 41))

    def at(self, share: float) -> float:
        return float(np.interp(share, self.share, self.temperature))

    def slower_where_it_falls(self, seen: list[tuple[float, float]]) -> _Cooling:
        """More time at temperatures where the energy was seen to fall: there the table forms."""
        if len(seen) < 10:
            return self
        grid = np.linspace(self.temperature[0], self.temperature[-1], 41)
        at, energy = np.array(seen).T
        order = np.argsort(at, kind="stable")
        falls = -np.diff(np.interp(grid, at[order], energy[order]))
        falls = np.maximum(np.convolve(falls, np.ones(5) / 5, mode="same"), 0.0)
        evenly = np.full(len(falls), 1.0 / len(falls))
        weight = _EVENLY * evenly + (1 - _EVENLY) * falls / max(float(falls.sum()), 1e-300)
        share = np.concatenate([[0.0], np.cumsum(weight / weight.sum())])
        return _Cooling(share, grid)


def _scan(walk: Walk, seconds: float) -> float:
    """The temperature around which the table forms, from one quick pass over all."""
    start = time.monotonic()
    scale: list[float] = []
    energies: list[float] = []
    while len(scale) < _SCAN_STEPS:
        share = max(len(scale) / _SCAN_STEPS, (time.monotonic() - start) / max(seconds, 1e-9))
        if share >= 1:
            break
        # As many sweeps at each temperature as time allows.
        temperature = _HOT * (_COLD / _HOT) ** share
        walk.sweep(temperature)
        scale.append(temperature)
        energies.append(walk.energy)
    walk.quench(_QUENCH_SWEEPS)
    usual = _USUAL * float(np.diff(walk.levels.first).mean())
    if not energies or min(energies) > _FORMING * walk.random_energy:
        return usual  # too little time to see it
    return max(
        min(
            (t for t, e in zip(scale, energies, strict=True) if e > _FORMING * walk.random_energy),
            default=usual,
        ),
        0.3 * usual,
    )


class Walk:
    """A table under way, the best one met, and the source of randomness."""

    def __init__(
        self, problem: Problem, levels: Levels, settled: Settled, seed: int, deadline: float
    ) -> None:
        self.levels, self.deadline = levels, deadline
        self.rng = np.random.default_rng(seed)
        n_rows = problem.n_rows
        level = np.empty((n_rows, len(levels.n_levels)), dtype=np.int64)
        for b in range(level.shape[1]):
            chance = self.rng.random((n_rows, int(levels.n_levels[b])))
            level[:, b] = np.argmax(np.where(problem.layout.bits(settled.box, b), chance, -1), 1)
        chance = np.where(settled.allowed, self.rng.random(settled.allowed.shape), -1.0)
        leaves = problem.leaves
        self.table = Table(
            level, np.argmax(chance, axis=1), settled.allowed,
            np.zeros(len(levels.tree), dtype=np.int64),
            np.zeros(len(levels.tree), dtype=np.uint64), -np.maximum(leaves.draws, 0),
            -np.maximum(leaves.distinct, 0), (leaves.draws >= 0).all(axis=1), leaves.distinct >= 0,
        )  # fmt: skip
        for i in range(n_rows):
            put(levels, self.table, i)
        self.rows = np.flatnonzero(~settled.certain & (np.diff(levels.first) > 0))
        self.blocks = np.flatnonzero(levels.n_levels > 1)
        self.ranges = np.empty((len(levels.node) + 2, 3), dtype=np.int64)
        self.sweeps = 0
        self.random_energy = self.best_energy = self.energy
        self.best = self.copy(self.table)

    @property
    def energy(self) -> float:
        return float(energy_of(self.table))

    @staticmethod
    def copy(table: Table) -> Table:
        return Table(*[part.copy() for part in table])

    def sweep(self, temperature: float, rows: npt.NDArray[np.intp] | None = None) -> None:
        """As many moves as there are cells, of all rows or of some."""
        rows = self.rows if rows is None else rows
        count = len(rows) * max(len(self.blocks), 1)
        # In parts, so that large tables look at the clock.
        for start in range(0, count, _CHUNK):
            size = min(_CHUNK, count - start)
            blocks = self.blocks if len(self.blocks) else np.zeros(1, dtype=np.int64)
            stir(
                self.levels, self.table, temperature,
                rows[self.rng.integers(len(rows), size=size)],
                blocks[self.rng.integers(len(blocks), size=size)], self.rng.random(size),
                self.ranges,
            )  # fmt: skip
            if time.monotonic() > self.deadline:
                return
        self.sweeps += 1

    def misfit(self) -> IntArray:
        """Per row: in how many trees it stands in a leaf with a wrong figure."""
        table, levels = self.table, self.levels
        wrong = (table.distinct != 0) & table.says_distinct
        row = np.repeat(np.arange(len(table.label)), np.diff(levels.first))
        own = table.draws[table.leaf, table.label[row]] != 0
        off = wrong[table.leaf] | (own & table.says_draws[table.leaf])
        return np.bincount(row[off], minlength=len(table.label))

    def quench(self, sweeps: int) -> None:
        """Cool a copy at once, and keep it if it is the best so far."""
        kept = self.table
        self.table = self.copy(self.table)
        for _ in range(sweeps):
            self.sweep(_FROZEN)
            if self.energy < self.best_energy:
                self.best_energy, self.best = self.energy, self.copy(self.table)
            if self.best_energy == 0 or time.monotonic() > self.deadline:
                break
        self.table = kept

    def answer(self, temperature: float, rounds: int, forming: float) -> Searched:
        best = self.best
        self.table = self.copy(best)
        alike = np.zeros(len(best.label))
        for _ in range(_SAMPLES):
            done = self.sweeps
            self.sweep(temperature)
            if self.sweeps == done:  # cut short: samples that are lacking speak for no row
                break
            same = np.add.reduceat(
                np.append(self.table.leaf != best.leaf, False), self.levels.first[:-1]
            )
            alike += (same == 0) & (self.table.label == best.label)
        return Searched(
            best.level, best.label, best.leaf, self.best_energy, alike / _SAMPLES, rounds,
            self.sweeps, forming,
        )  # fmt: skip


def boxes_of(problem: Problem, levels: Levels, found: Searched) -> npt.NDArray[np.uint64]:
    """The profiles each row can have without leaving its leaves: a box per row."""
    everything = problem.layout.everything()
    of_leaf = _leaf_boxes(problem, levels, everything[0])
    box = np.repeat(everything, problem.n_rows, axis=0)
    for i in range(problem.n_rows):
        own = found.leaf[int(levels.first[i]) : int(levels.first[i + 1])]
        box[i] &= np.bitwise_and.reduce(of_leaf[own], axis=0)
    return box


def _leaf_boxes(
    problem: Problem, levels: Levels, everything: npt.NDArray[np.uint64]
) -> npt.NDArray[np.uint64]:
    """For every leaf of every tree, the profiles that reach it."""
    tests = problem.tests
    out = np.empty((len(problem.leaves.tree), len(everything)), dtype=np.uint64)
    for root in levels.root.tolist():
        stack = [(root, everything)]
        while stack:
            node, box = stack.pop()
            if levels.node[node, BLOCK] < 0:
                out[levels.node[node, LOW]] = box
                continue
            low, high = box.copy(), box.copy()
            for k in np.flatnonzero(tests.all_bits[node]).tolist():
                word, goes = tests.word[node, k], tests.low_bits[node, k]
                low[word] &= goes | ~tests.all_bits[node, k]
                high[word] &= ~goes
            stack += [(int(levels.node[node, LOW]), low), (int(levels.node[node, HIGH]), high)]
    return out
