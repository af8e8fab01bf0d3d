"""The attack on histograms over cells: enumerate, propagate, solve what is left, certify.

Where the published attack has one variable per row, tree and leaf, this has one per cell and
class, whatever the number of rows; for deep forests arithmetic alone (`propagate`) determines
every one of them, which is at the same time the proof that the table is unique.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.errors import BudgetExhaustedError, InconsistentModelError, ModelTooLargeError
from glassleak.knowledge import (
    Cells,
    Known,
    Published,
    System,
    class_numbers,
    enumerate_cells,
    linear_system,
    profile_space,
    with_known_columns,
)
from glassleak.reconstruction._components import Component, components
from glassleak.reconstruction._conflict import explain_conflict, explain_unreachable
from glassleak.reconstruction._fill import draw_rows
from glassleak.reconstruction._plausible import plausibility
from glassleak.reconstruction._propagate import propagate
from glassleak.reconstruction._survey import Progress, Survey, survey
from glassleak.reconstruction.residual._residual import sample_solutions
from glassleak.schema import Schema

IntArray = npt.NDArray[np.int64]
# Of the time left after the proofs; the rest is for choosing the table.
_RESAMPLING_SHARE = 0.7


@dataclass(frozen=True)
class Histograms:
    """Everything the attack found out, in terms of unknowns (cell, class).

    Attributes
    ----------
    first : int array
        The consistent histogram found first.
    samples : (k, unknowns) int array
        Consistent histograms, to judge how sure each row is.
    lower, upper : int arrays
        Proved ranges.
    exact : bool array
        Ranges whose ends are attained.
    unique : bool or None
        Whether the histogram over cells is unique.
    proof : str
    complete : bool
        Whether it was decided for every cell how many people are certainly there.
    details : dict
    pieces : tuple of Component
        What propagation left open.
    """

    cells: Cells
    system: System
    first: IntArray
    samples: IntArray
    lower: IntArray
    upper: IntArray
    exact: npt.NDArray[np.bool_]
    unique: bool | None
    proof: str
    complete: bool = True
    details: dict[str, Any] = field(default_factory=dict)
    pieces: tuple[Component, ...] = ()


def attack(
    facts: Published,
    schema: Schema,
    known: Known,
    *,
    deadline: float,
    seed: int,
    n_samples: int = 40,
    all_bounds: bool = False,
    progress: Progress | None = None,
    cells_deadline: float = math.inf,
) -> Histograms:
    """Find a consistent histogram and what all of them have in common.

    Parameters
    ----------
    cells_deadline : float
        When to give up enumerating cells, if that is before `deadline`; then they are too many.

    Raises
    ------
    InconsistentModelError
        No table is consistent with the counts; the message names a minimal conflicting set.
    BudgetExhaustedError
        None was found in time.
    """
    tell = progress or (lambda _step, _share: None)
    clock = _Clock()
    tell("enumerating cells", 0.0)
    facts = with_known_columns(facts, known)
    space = profile_space(
        schema, facts.columns, facts.thresholds, facts.precision, facts.comparison
    )
    try:
        cells = enumerate_cells(facts, space, deadline=min(deadline, cells_deadline))
        system = linear_system(facts, cells)
    except BudgetExhaustedError as error:
        if cells_deadline >= deadline:
            raise
        raise ModelTooLargeError(str(error)) from None
    except InconsistentModelError as error:
        raise explain_unreachable(facts, space, error, deadline) from None
    lower = _known_rows(facts, cells, system, known)
    clock.lap("cells")
    tell("propagating", 0.2)
    bounds = propagate(system.matrix, system.target, lower, system.upper, deadline=deadline)
    clock.lap("propagation")
    details = clock.details | {
        "profiles": space.size,
        "cells": len(cells),
        "unknowns": system.n_unknowns,
        "equations": len(system.target),
        "open_unknowns": int((~bounds.fixed).sum()),
    }
    if bounds.conflict is not None:
        raise explain_conflict(facts, space, replace(system, lower=lower), deadline)
    samples = np.repeat(np.where(bounds.fixed, bounds.lower, 0)[None, :], n_samples, axis=0)
    first = samples[0].copy()
    low, high, exact = bounds.lower.copy(), bounds.upper.copy(), bounds.fixed.copy()
    unique: bool | None = True
    proofs = ["bound propagation determines every count"]
    system = replace(system, lower=lower)
    found = survey(
        facts, space, system, components(system, bounds), cells.n_told_apart[system.cell],
        n_samples=n_samples, all_bounds=all_bounds, deadline=deadline, seed=seed, tell=tell,
    )  # fmt: skip
    for one in found:
        where = one.component.unknowns
        low[where], high[where] = one.ranges.lower, one.ranges.upper
        exact[where] = one.ranges.exact
        first[where] = one.first
        samples[:, where] = one.samples[np.arange(n_samples) % len(one.samples)]
        unique = _and(unique, one.ranges.unique)
        proofs.append(one.ranges.proof)
    if found:
        proofs.pop(0)
        _resample(found, cells, system, samples, deadline, seed, tell)
    clock.lap("solving")
    details |= clock.details | {
        "components": len(found),
        "methods": [one.method for one in found],
    }
    proof = "; ".join(dict.fromkeys(proofs))
    complete = all(one.ranges.complete for one in found)
    return Histograms(
        cells, system, first, samples, low, high, exact, unique, proof, complete, details,
        tuple(one.component for one in found if not one.ranges.unique),
    )  # fmt: skip


def _resample(
    found: list[Survey],
    cells: Cells,
    system: System,
    samples: IntArray,
    deadline: float,
    seed: int,
    tell: Progress,
) -> None:
    """Draw again, now that samples have shown what people are like."""
    left = deadline - time.monotonic()
    if left <= 0 or all(one.ranges.unique for one in found):
        return
    rng = np.random.default_rng(seed)
    tables = [draw_rows(cells, np.repeat(system.cell, x), rng) for x in samples]
    weight = plausibility(cells, system, tables)
    for i, one in enumerate(found):
        piece = one.component
        own = weight[piece.unknowns]
        left = deadline - time.monotonic()
        if left <= 0 or one.ranges.unique or np.ptp(own) == 0:
            continue
        share = len(piece.unknowns) / sum(len(o.component.unknowns) for o in found[i:])
        drawn = sample_solutions(
            piece.matrix, piece.target, system.lower[piece.unknowns], piece.upper, len(samples),
            deadline=time.monotonic() + _RESAMPLING_SHARE * left * share, seed=seed + 1,
            start=one.samples[-1], weight=own,
            progress=lambda step, done: tell(step, 0.8 + 0.1 * done),
        )  # fmt: skip
        if drawn:
            samples[:, piece.unknowns] = np.vstack(drawn)[np.arange(len(samples)) % len(drawn)]


def _and(one: bool | None, other: bool | None) -> bool | None:
    """Three-valued "both unique"."""
    if one is False or other is False:
        return False
    return None if one is None or other is None else True


def _known_rows(facts: Published, cells: Cells, system: System, known: Known) -> IntArray:
    """Lower bounds from rows known completely."""
    lower = system.lower.copy()
    if known.rows is None:
        return lower
    values = known.rows.loc[:, list(facts.columns)].to_numpy(dtype=np.float64)
    label = class_numbers(facts, known.row_labels, len(values))
    groups = np.column_stack([part.assign(values) for part in facts.parts])
    index = {tuple(row): i for i, row in enumerate(cells.groups.tolist())}
    unknown = {
        (c, k): u
        for u, (c, k) in enumerate(zip(system.cell.tolist(), system.label.tolist(), strict=True))
    }
    for i, row in enumerate(groups.tolist()):
        cell = index.get(tuple(row))
        at = None if cell is None else unknown.get((cell, int(label[i])))
        if at is None:
            raise InconsistentModelError(
                "this row cannot be in the training set of the model", f"known row {i}"
            )
        lower[at] += 1
    return lower


class _Clock:
    """Seconds per step."""

    def __init__(self) -> None:
        self.details: dict[str, Any] = {}
        self.last = time.monotonic()

    def lap(self, name: str) -> None:
        now = time.monotonic()
        self.details[f"seconds_{name}"] = round(now - self.last, 4)
        self.last = now
