"""Settle open cells so that the published trees are what training on the table gives."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glassleak.models import Forest
from glassleak.reconstruction.training._gate import Settings
from glassleak.reconstruction.training._grove import grove_of
from glassleak.reconstruction.training._mirror import mirrored
from glassleak.reconstruction.training._options import Options
from glassleak.reconstruction.training._replay import BEATEN, MOVED, UNSEEN, UNSPLIT, Replay, replay
from glassleak.reconstruction.training._walk import Table, copied, reach_of, table_of, walk

# Minus the logarithm of how likely each finding is although the table is right: a split on a column
# that was not looked at says more than one that another value, not known exactly, would beat.
_PENALTIES = {BEATEN: 1.5, UNSEEN: 4.0, UNSPLIT: 4.0, MOVED: 1.5}
# What the value a cell starts with is worth by itself.
_LOYALTY = 0.3
_HOT, _COLD, _FROZEN, _QUENCH = 4.0, 0.3, 0.05, 0.85
_SWEEPS = 80
_CHUNK = 2_000


@dataclass(frozen=True)
class Refined:
    """A table whose open cells were settled.

    Attributes
    ----------
    values : (rows, columns) float array
    score_before, score_after : float
        Minus the penalties of all nodes at which training on the table would not give the
        published split; 0 at best.
    before, after : Replay
        What was found at every node.
    cells_open, cells_changed : int
    sweeps : int
    seconds : float
    """

    values: npt.NDArray[np.float64]
    score_before: float
    score_after: float
    before: Replay
    after: Replay
    cells_open: int
    cells_changed: int
    sweeps: int
    seconds: float

    @property
    def in_step_share(self) -> float:
        """Share of the nodes whose split is on a column that was looked at."""
        return self.after.in_step


def refine(
    forest: Forest,
    seeds: npt.NDArray[np.int64],
    settings: Settings,
    values: npt.NDArray[np.float64],
    labels: npt.NDArray[np.int64],
    draws: npt.NDArray[np.int32],
    options: Options,
    *,
    deadline: float,
    seed: int = 0,
    tell: Callable[[float], None] | None = None,
    sweeps: int = _SWEEPS,
) -> Refined:
    """Change open cells until the trees' splits follow from the table, as far as possible.

    Parameters
    ----------
    seeds : (trees,) int array
    values : (rows, columns) float array
        Every row in its leaves; open cells hold one of their options.
    labels : (rows,) int array
        Numbers of classes.
    draws : (trees, rows) int array
    options : Options
        All of them must leave the row in its leaves.
    deadline : float
        A ``time.monotonic()`` value.
    """
    started = time.monotonic()
    tell = tell or (lambda _share: None)
    penalty = np.zeros(6)
    for finding, cost in _PENALTIES.items():
        penalty[finding] = cost
    labels = np.ascontiguousarray(labels, dtype=np.int64)
    n_classes = len(forest.trees[0].classes)
    grove = grove_of(forest, seeds, settings, values, draws)
    single = np.asarray(values, dtype=np.float32)

    def rebuilt(cells: npt.NDArray[np.float32]) -> Table:
        return table_of(grove, settings, cells, labels, n_classes, options, penalty)

    table = rebuilt(single)
    before = replay(grove, settings, table.facts)
    at_first = table.choice.copy()
    score_before = -float(table.cost.sum())
    weight = np.zeros(len(options.value))
    weight[at_first] = _LOYALTY
    reach, rng, done = reach_of(grove, len(values)), np.random.default_rng(seed), 0
    best, best_cost = copied(table), float(table.cost.sum() - weight[table.choice].sum())
    quenched = False
    for sweep in range(sweeps if len(options) else 0):
        share = max(sweep / sweeps, (time.monotonic() - started) / max(deadline - started, 1e-9))
        if share >= 1:
            break
        tell(share)
        if share > _QUENCH and not quenched:
            quenched, table = True, mirrored(table, options, weight, rebuilt)
        cells = rng.permutation(len(options))
        for start in range(0, len(cells), _CHUNK):
            part = cells[start : start + _CHUNK]
            walk(grove, settings, reach, options, table, n_classes, penalty, weight,
                 _temperature(share), part, rng.random((len(part), 4)))  # fmt: skip
            if time.monotonic() > deadline:
                break
        done += 1
        cost = float(table.cost.sum() - weight[table.choice].sum())
        if cost < best_cost:
            best, best_cost = copied(table), cost
    after = replay(grove, settings, best.facts)
    return Refined(
        _values(values, best, options, at_first), score_before, -float(best.cost.sum()), before,
        after, len(options), int((best.choice != at_first).sum()), done, time.monotonic() - started,
    )  # fmt: skip


def _temperature(share: float) -> float:
    """Slowly down, and cold at the end, where cells nothing is said about fall back."""
    if share > _QUENCH:
        return _FROZEN
    return float(_HOT * (_COLD / _HOT) ** (share / _QUENCH))


def _values(
    values: npt.NDArray[np.float64],
    table: Table,
    options: Options,
    at_first: npt.NDArray[np.int64],
) -> npt.NDArray[np.float64]:
    """The table in full precision; cells that were not changed keep every digit."""
    out = np.array(values, dtype=np.float64)
    for k in np.flatnonzero(table.choice != at_first).tolist():
        own = options.columns[options.attribute[k]]
        own = own[own >= 0]
        out[options.row[k], own] = options.value[table.choice[k], : len(own)]
    return out
