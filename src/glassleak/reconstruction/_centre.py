"""Among many consistent tables, one with the smallest expected error.

Any sampled table could be the true one.  The error of an answer is its distance to the truth after
matching rows, so the best answer is a *median* of the samples: a consistent table whose mean
distance to them is smallest.  The search alternates, as in k-means: match every sample's rows to
the rows of the present table; then move rows, within the consistent tables, towards their partners.
Neither step can raise the mean distance.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from glassleak.knowledge import Cells, System
from glassleak.reconstruction._components import Component
from glassleak.reconstruction._distance import Distances, Profiles
from glassleak.reconstruction._fill import draw_rows, fill_rows

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
# Comparing tables means matching their rows; beyond this many the gain is not worth the time.
_COMPARED_ROWS = 2_000
# Matching takes time that grows faster than the rows: the more rows, the fewer samples.
_MATCHED_ROWS, _FEWEST_SAMPLES = 12_000, 8
_FIRST_TRIED = 6
_ROUNDS = 12
_STEPS_PER_ROW = 20
_STEPS_AT_ONCE = 200
# Rows times columns of a piece whose rows are moved.
_MOST_ENERGIES = 20_000_000


def central_table(
    cells: Cells,
    system: System,
    samples: IntArray,
    pieces: tuple[Component, ...],
    deadline: float,
    seed: int = 0,
    told: Callable[[], None] = lambda: None,
) -> tuple[IntArray, Profiles]:
    """A histogram and a profile for each of its rows, in the order of the unknowns.

    Parameters
    ----------
    samples : (k, unknowns) int array
        Consistent histograms.
    pieces : tuple of Component
        What is open, and so where rows can be moved.
    deadline : float
        After which the best so far is returned: at worst the first sample.
    told : callable
        Called several times a second; may raise to cancel.
    """
    first = np.repeat(np.arange(samples.shape[1]), samples[0])
    start = fill_rows(cells, system.cell[first])
    still = bool((samples == samples[0]).all()) and not _has_open_values(cells, system.cell[first])
    if still or not 0 < len(first) <= _COMPARED_ROWS or time.monotonic() > deadline:
        return samples[0], start
    affordable = max(_FEWEST_SAMPLES, _MATCHED_ROWS // len(first))
    chosen = np.linspace(0, len(samples) - 1, min(len(samples), affordable)).round().astype(int)
    search = _Search(cells, system, samples[chosen], pieces, deadline, seed, told)
    return search.median(first, start)


def _has_open_values(cells: Cells, chosen: IntArray) -> bool:
    return any(
        bool((cells.levels(chosen, b).sum(axis=1) > 1).any())
        for b in range(len(cells.space.blocks))
    )


class _Search:
    """The alternation, and what it needs to look up."""

    def __init__(
        self, cells: Cells, system: System, samples: IntArray, pieces: tuple[Component, ...],
        deadline: float, seed: int, told: Callable[[], None],
    ) -> None:  # fmt: skip
        self.cells, self.system = cells, system
        self.pieces, self.deadline, self.told = pieces, deadline, told
        self.rng = np.random.default_rng(seed)
        self.distances = Distances(cells.space)
        self.unknowns = [np.repeat(np.arange(samples.shape[1]), x) for x in samples]
        self.tables = [draw_rows(cells, system.cell[u], self.rng) for u in self.unknowns]

    def median(self, unknown: IntArray, table: Profiles) -> tuple[IntArray, Profiles]:
        """The best table found, from the best of some samples and of `table`."""
        best, partners = np.inf, None
        for own, rows in [(unknown, table), *self._some_samples()]:
            cost, paired = self._compare(rows, best)
            if paired is not None and cost < best:
                best, partners, unknown, table = cost, paired, own, rows
        for _ in range(_ROUNDS):
            if partners is None or time.monotonic() > self.deadline:
                break
            moved, rows = self._towards(unknown, table, partners)
            cost, paired = self._compare(rows, np.inf)
            if paired is None or cost >= best - 1e-9:
                break
            best, partners, unknown, table = cost, paired, moved, rows
        order = np.argsort(unknown, kind="stable")
        return np.bincount(unknown, minlength=self.system.n_unknowns), table[order]

    def _some_samples(self) -> list[tuple[IntArray, Profiles]]:
        n = len(self.tables)
        chosen = np.linspace(0, n - 1, min(n, _FIRST_TRIED)).round().astype(int)
        found = []
        for i in dict.fromkeys(chosen.tolist()):
            own = self.unknowns[i]
            found.append((own, fill_rows(self.cells, self.system.cell[own], seed=i)))
        return found

    def _compare(self, table: Profiles, limit: float) -> tuple[float, Profiles | None]:
        """Mean distance to the samples, and each row's partners: (samples, rows, blocks).

        ``None`` when it exceeds `limit` or the time is over before all samples are matched.
        """
        total, partners = 0.0, []
        for sample in self.tables:
            self.told()
            if time.monotonic() > self.deadline or total > limit * len(self.tables):
                return np.inf, None
            pair, cost = self.distances.match(table, sample)
            total += cost
            partners.append(sample[pair])
        return total / len(self.tables), np.stack(partners)

    def _towards(
        self, unknown: IntArray, table: Profiles, partners: Profiles
    ) -> tuple[IntArray, Profiles]:
        """Rows moved towards their partners, and open values set to what most partners have."""
        energy = self.distances.to_partners(partners)
        unknown = unknown.copy()
        for piece in self.pieces:
            self._move(unknown, piece, energy)
        table = table.copy()
        for b, own in enumerate(energy):
            possible = self.cells.levels(self.system.cell[unknown], b)
            table[:, b] = np.argmin(np.where(possible, own, np.inf), axis=1)
        return unknown, table

    def _move(self, unknown: IntArray, piece: Component, energy: list[FloatArray]) -> None:
        """Exchange places among the rows of one piece as long as that brings them closer."""
        from glassleak.reconstruction.residual._problem import problem
        from glassleak.reconstruction.residual._sampling import compiled_code
        from glassleak.reconstruction.residual._walk import Walk, Walker

        place = np.full(self.system.n_unknowns, -1, dtype=np.int64)
        place[piece.unknowns] = np.arange(len(piece.unknowns))
        own = np.flatnonzero(place[unknown] >= 0)
        own = own[np.argsort(place[unknown[own]], kind="stable")]
        column = place[unknown[own]]
        # Rows that are certainly there stay: as many of each column as its lower bound.
        rank = np.arange(len(own)) - np.searchsorted(column, column)
        free = own[rank >= piece.lower[column]]
        if len(free) < 2 or len(free) * len(piece.unknowns) > _MOST_ENERGIES:
            return
        while not compiled_code().wait(0.05):
            if time.monotonic() > self.deadline:
                return
            self.told()
        task = problem(piece.matrix, piece.target, piece.lower, piece.upper)
        start = np.bincount(place[unknown[free]], minlength=len(piece.unknowns))
        walk = Walk(Walker(task, np.ones(task.n_unknowns)), start, int(self.rng.integers(2**31)))
        # `free` is sorted by column, as the rows of the walk are.
        own_energy = self._energies(piece, [e[free] for e in energy])
        for _ in range(1 + _STEPS_PER_ROW * len(free) // _STEPS_AT_ONCE):
            if time.monotonic() > self.deadline:
                break
            self.told()
            walk.descend(_STEPS_AT_ONCE, own_energy)
        if task.solved_by(walk.z):
            unknown[free] = piece.unknowns[walk.rows]

    def _energies(self, piece: Component, energy: list[FloatArray]) -> npt.NDArray[np.float32]:
        """(rows, columns): mean distance to its partners if the row were in the column's cell."""
        cells = self.system.cell[piece.unknowns]
        total = np.zeros((len(energy[0]), len(cells)), dtype=np.float32)
        for b, own in enumerate(energy):
            possible = self.cells.levels(cells, b)
            cheapest = np.full(total.shape, np.inf, dtype=np.float32)
            for level in np.flatnonzero(possible.any(axis=0)).tolist():
                inside = np.flatnonzero(possible[:, level])
                cheapest[:, inside] = np.minimum(
                    cheapest[:, inside], own[:, level, None].astype(np.float32)
                )
            total += cheapest
        return total
