"""The attack on histograms over cells: enumerate, propagate, solve what is left, certify.

Where the published attack has one variable per row, tree and leaf, this has one per cell and
class, whatever the number of rows; for deep forests arithmetic alone (`propagate`) determines
every one of them, which is at the same time the proof that the table is unique.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.errors import InconsistentModelError
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
from glassleak.reconstruction._conflict import explain_conflict
from glassleak.reconstruction._propagate import propagate
from glassleak.reconstruction._ranges import Ranges, ranges
from glassleak.reconstruction._residual import Infeasible, sample_solutions, solve_component
from glassleak.schema import Schema

IntArray = npt.NDArray[np.int64]
Progress = Callable[[str, float], None]
# Of the time left to a component, how much may go into sampling; the rest is for proofs.
_SAMPLING_SHARE = 0.5


@dataclass(frozen=True)
class Histograms:
    """Everything the attack found out, in terms of unknowns (cell, class).

    Attributes
    ----------
    x : int array or None
        The chosen histogram; ``None`` if none was found within the budget.
    samples : (k, unknowns) int array
        Consistent histograms, to judge how sure each row is.
    lower, upper : int arrays
        Proved ranges.
    exact : bool array
        Ranges whose ends are attained.
    unique : bool or None
        Whether the histogram over cells is unique.
    proof : str
    details : dict
    """

    cells: Cells
    system: System
    x: IntArray | None
    samples: IntArray
    lower: IntArray
    upper: IntArray
    exact: npt.NDArray[np.bool_]
    unique: bool | None
    proof: str
    details: dict[str, Any] = field(default_factory=dict)


def attack(
    facts: Published,
    schema: Schema,
    known: Known,
    *,
    deadline: float,
    seed: int,
    n_samples: int = 24,
    all_bounds: bool = False,
    progress: Progress | None = None,
) -> Histograms:
    """Find a consistent histogram and what all of them have in common.

    Raises
    ------
    InconsistentModelError
        No table is consistent with the counts; the message names a minimal conflicting set.
    """
    tell = progress or (lambda _step, _share: None)
    clock = _Clock()
    tell("enumerating cells", 0.0)
    facts = with_known_columns(facts, known)
    space = profile_space(
        schema, facts.columns, facts.thresholds, facts.precision, facts.comparison
    )
    cells = enumerate_cells(facts, space, deadline=deadline)
    system = linear_system(facts, cells)
    lower = _known_rows(facts, cells, system, known)
    clock.lap("cells")
    tell("propagating", 0.2)
    bounds = propagate(system.matrix, system.target, lower, system.upper)
    clock.lap("propagation")
    details = clock.details | {
        "profiles": space.size,
        "cells": len(cells),
        "unknowns": system.n_unknowns,
        "equations": len(system.target),
        "open_unknowns": int((~bounds.fixed).sum()),
    }
    if bounds.conflict is not None:
        raise explain_conflict(facts, system, None, deadline)
    pieces = components(system, bounds)
    if not pieces:
        everything = np.ones(system.n_unknowns, dtype=bool)
        return Histograms(
            cells, system, bounds.lower, bounds.lower[None, :], bounds.lower, bounds.upper,
            everything, True, "bound propagation determines every count", details,
        )  # fmt: skip
    return _open_pieces(
        facts, cells, system, bounds.lower, bounds.upper, pieces, deadline, seed, n_samples,
        all_bounds, tell, details, clock,
    )  # fmt: skip


def _open_pieces(
    facts: Published,
    cells: Cells,
    system: System,
    lower: IntArray,
    upper: IntArray,
    pieces: list[Component],
    deadline: float,
    seed: int,
    n_samples: int,
    all_bounds: bool,
    tell: Progress,
    details: dict[str, Any],
    clock: _Clock,
) -> Histograms:
    """Solve, sample and certify the components propagation left open."""
    lower, upper = lower.copy(), upper.copy()
    exact = lower == upper
    samples = np.repeat(np.where(exact, lower, 0)[None, :], n_samples, axis=0)
    found_all, proofs, methods = True, [], []
    unique: bool | None = True
    for i, piece in enumerate(pieces):
        tell("solving", 0.3 + 0.6 * i / len(pieces))
        share = 0.9 * (deadline - time.monotonic()) / (len(pieces) - i)
        piece_deadline = time.monotonic() + share
        solution = solve_component(
            piece.matrix, piece.target, piece.lower, piece.upper,
            deadline=time.monotonic() + 0.6 * share, seed=seed,
        )  # fmt: skip
        if isinstance(solution, Infeasible):
            raise explain_conflict(facts, system, piece, deadline)
        if solution is None:
            found_all, unique = False, False
            proofs.append("no consistent table was found within the budget")
            continue
        methods.append(solution.method)
        sampling = _SAMPLING_SHARE * max(0.0, piece_deadline - time.monotonic())
        drawn = sample_solutions(
            piece.matrix, piece.target, piece.lower, piece.upper, n_samples,
            deadline=time.monotonic() + sampling,
            seed=seed, start=solution.x, weight=cells.n_told_apart[system.cell[piece.unknowns]],
        )  # fmt: skip
        witnesses = np.vstack([*drawn, solution.x])
        result = ranges(piece, witnesses, piece_deadline, everything=all_bounds)
        _write(piece, result, lower, upper, exact)
        # The first solution is a corner of the set: the samples, where there are any, say more.
        typical = np.vstack(drawn) if drawn else witnesses
        samples[:, piece.unknowns] = typical[np.arange(n_samples) % len(typical)]
        unique = _and(unique, result.unique)
        proofs.append(result.proof)
    clock.lap("solving")
    details = details | clock.details | {"methods": methods, "components": len(pieces)}
    proof = "; ".join(dict.fromkeys(proofs))
    first = samples[0] if found_all else None
    return Histograms(cells, system, first, samples, lower, upper, exact, unique, proof, details)


def _write(
    piece: Component,
    result: Ranges,
    lower: IntArray,
    upper: IntArray,
    exact: npt.NDArray[np.bool_],
) -> None:
    lower[piece.unknowns] = result.lower
    upper[piece.unknowns] = result.upper
    exact[piece.unknowns] = result.exact


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
