"""Run a published row formulation and return its answer in the common form."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from glassleak.errors import BudgetExhaustedError, InconsistentModelError
from glassleak.knowledge import Published
from glassleak.models import Forest
from glassleak.reconstruction._assemble import as_frame, class_labels, replay
from glassleak.reconstruction._result import Certificate, Reconstruction
from glassleak.reconstruction._survey import Progress
from glassleak.schema import Schema


def attack_as_published(
    forest: Forest,
    facts: Published,
    schema: Schema,
    formulation: str,
    budget_seconds: float,
    seed: int,
    progress: Progress | None,
) -> Reconstruction:
    """`solve_rows_cp` or `solve_rows_milp`, replayed; they prove nothing about other tables."""
    from glassleak.reconstruction.published import solve_rows_cp, solve_rows_milp

    solve = solve_rows_cp if formulation == "rows-cp" else solve_rows_milp
    found = solve(forest, schema, budget_seconds=budget_seconds, seed=seed, progress=progress)
    if found.status == "infeasible":
        raise InconsistentModelError("no table has these counts, says the published formulation")
    if found.status == "unknown":
        raise BudgetExhaustedError(
            f"the published formulation found no table in {budget_seconds:g} s"
        )
    replay(facts, found.table, found.labels)
    certificate = Certificate(
        replayed=True,
        unique=None,
        proof="the published formulations do not decide uniqueness",
        certain_rows=0,
        complete=False,
        certain_in_part=0,
        bounds=pd.DataFrame(),
        statements=("sent through the model, the table reproduces every published count",),
    )
    return Reconstruction(
        table=as_frame(facts, found.table),
        labels=class_labels(facts, found.labels),
        status="consistent",
        exact=True,
        seconds=found.seconds,
        certificate=certificate,
        confidence=np.full(len(found.table), np.nan),
        alike=_alike(found.table, found.labels),
        formulation=formulation,
        details={"variables": found.n_variables, "constraints": found.n_constraints},
    )


def _alike(values: npt.NDArray[np.float64], labels: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """How many rows equal each row, itself included."""
    _, inverse, counts = np.unique(
        np.column_stack([values, labels]), axis=0, return_inverse=True, return_counts=True
    )
    return counts[inverse.reshape(-1)]
