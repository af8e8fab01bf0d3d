"""Reconstruction when leaves publish only their majority label, and no counts at all.

The setting the forest paper leaves open.  Every leaf says: somebody is here, and no class has more
people than this one.  These are inequalities, so the histogram is a point CP-SAT finds and not the
solution of equations; many tables fit, which is the point of publishing labels only.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.errors import BudgetExhaustedError, InconsistentModelError, ModelTooLargeError
from glassleak.knowledge import (
    Cells,
    Published,
    System,
    enumerate_cells,
    linear_system,
    profile_space,
)
from glassleak.reconstruction._cells_attack import Histograms
from glassleak.reconstruction._survey import Progress
from glassleak.schema import Schema

IntArray = npt.NDArray[np.int64]
# Nothing rules cells out here, and every one of them is a variable per class.
MAX_UNKNOWNS = 200_000


def attack_labels(
    facts: Published,
    schema: Schema,
    *,
    deadline: float,
    seed: int,
    n_samples: int = 8,
    progress: Progress | None = None,
) -> Histograms:
    """Tables that give every leaf its published label, spread by random preferences.

    Raises
    ------
    InconsistentModelError, BudgetExhaustedError, ModelTooLargeError
    """
    tell = progress or (lambda _step, _share: None)
    tell("enumerating cells", 0.0)
    space = profile_space(
        schema, facts.columns, facts.thresholds, facts.precision, facts.comparison
    )
    cells = enumerate_cells(facts, space, deadline=deadline)
    if len(cells) * len(facts.classes) > MAX_UNKNOWNS:
        raise ModelTooLargeError(f"{len(cells):,} cells are too many when no count rules any out")
    system = linear_system(facts, cells)
    model, x = _model(facts, cells, system)
    rng = np.random.default_rng(seed)
    samples: list[IntArray] = []
    for i in range(n_samples):
        tell("solving", 0.2 + 0.7 * i / n_samples)
        left = deadline - time.monotonic()
        if samples and left < 0.2 * (i + 1):
            break
        samples.append(_solve(model, x, rng, max(left, 0.1) / (n_samples - i), first=not samples))
    drawn = np.vstack(samples)
    nothing = np.zeros(system.n_unknowns, dtype=np.int64)
    distinct = len(np.unique(drawn, axis=0)) > 1
    return Histograms(
        cells,
        system,
        drawn[0],
        drawn,
        nothing,
        system.upper,
        np.zeros(system.n_unknowns, dtype=bool),
        False if distinct else None,
        "two different consistent tables were found" if distinct else "undecided",
        False,
        {"cells": len(cells), "unknowns": system.n_unknowns, "profiles": space.size},
    )


def _model(facts: Published, cells: Cells, system: System) -> tuple[Any, list[Any]]:
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    x = [model.new_int_var(0, facts.n_rows, "") for _ in range(system.n_unknowns)]
    total = cp_model.LinearExpr.sum
    model.add(total(x) == facts.n_rows)
    for p, part in enumerate(facts.parts):
        assert part.majority is not None
        group = cells.groups[system.cell, p]
        for g in range(part.n_groups):
            inside = np.flatnonzero(group == g)
            by_class = [
                total([x[j] for j in inside[system.label[inside] == k]])
                for k in range(len(facts.classes))
            ]
            winner = int(part.majority[g])
            model.add(by_class[winner] >= 1)
            for k, people in enumerate(by_class):
                # Ties go to the class listed first.
                if k != winner:
                    model.add(by_class[winner] >= people + int(k < winner))
    return model, x


def _solve(model: Any, x: list[Any], rng: Any, seconds: float, *, first: bool) -> IntArray:
    from ortools.sat.python import cp_model

    own = model.clone()
    variables = [own.get_int_var_from_proto_index(v.index) for v in x]
    if not first:
        liking = rng.integers(0, 100, len(x)).tolist()
        own.maximize(cp_model.LinearExpr.weighted_sum(variables, liking))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = 2
    status = solver.solve(own)
    if status == cp_model.INFEASIBLE:
        raise InconsistentModelError("no table gives every leaf its published label")
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        raise BudgetExhaustedError("no table with the published labels was found in time")
    return np.array([solver.value(v) for v in variables], dtype=np.int64)
