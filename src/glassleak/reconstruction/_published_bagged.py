"""Run the published formulation with bagging and return its answer in the common form."""

from __future__ import annotations

import numpy as np
import pandas as pd

from glassleak.errors import BudgetExhaustedError, InconsistentModelError, UnsupportedModelError
from glassleak.knowledge import Known
from glassleak.models import Forest
from glassleak.reconstruction._result import Certificate, Reconstruction
from glassleak.reconstruction._survey import Progress
from glassleak.reconstruction.bagged._evidence import Evidence, evidence_of
from glassleak.schema import Schema


def attack_bagged_as_published(
    forest: Forest,
    schema: Schema,
    known: Known,
    formulation: str,
    *,
    n_rows: int | None,
    budget_seconds: float,
    seed: int,
    progress: Progress | None,
) -> Reconstruction:
    """`solve_rows_cp_bagged`, checked: every class drawn in a leaf has a row there."""
    from glassleak.reconstruction.published import solve_rows_cp_bagged

    if formulation != "rows-cp":
        raise UnsupportedModelError(
            "this published formulation has no version for resampled rows", "formulation"
        )
    if known.columns is not None or known.rows is not None or known.nodes or known.labels_only:
        raise UnsupportedModelError("the published formulations take a forest and nothing else")
    evidence = evidence_of(forest, n_rows)
    found = solve_rows_cp_bagged(
        forest, schema, evidence.n_rows, budget_seconds=budget_seconds, seed=seed,
        progress=progress,
    )  # fmt: skip
    if found.status == "infeasible":
        raise InconsistentModelError("no table has these counts, says the published formulation")
    if found.status == "unknown":
        raise BudgetExhaustedError(
            f"the published formulation found no table in {budget_seconds:g} s"
        )
    _check(forest, evidence, found.table, found.labels)
    names = np.array(
        forest.classes, dtype=object if any(isinstance(c, str) for c in forest.classes) else None
    )
    pairs = np.column_stack([found.table, found.labels])
    _, inverse, counts = np.unique(pairs, axis=0, return_inverse=True, return_counts=True)
    return Reconstruction(
        table=pd.DataFrame(found.table, columns=list(forest.columns)).astype(np.int64),
        labels=names[found.labels],
        status="likely",
        exact=False,
        seconds=found.seconds,
        certificate=Certificate(
            replayed=True,
            unique=None,
            proof="the published formulations do not decide uniqueness",
            certain_rows=0,
            complete=False,
            certain_in_part=0,
            bounds=pd.DataFrame(),
            statements=("every class drawn in a leaf has a row of this table there",),
        ),
        confidence=np.full(len(found.table), np.nan),
        alike=counts[inverse.reshape(-1)],
        formulation=formulation,
        details={"variables": found.n_variables, "constraints": found.n_constraints},
    )


def _check(forest: Forest, evidence: Evidence, table: np.ndarray, labels: np.ndarray) -> None:
    for t, tree in enumerate(forest.trees):
        held = np.zeros((tree.n_nodes, len(forest.classes)), dtype=np.int64)
        np.add.at(held, (tree.apply(table), labels), 1)
        own = evidence.draws[evidence.first_leaf[t] : evidence.first_leaf[t + 1]]
        if ((own > 0) & (held[tree.leaves] == 0)).any():
            raise AssertionError(f"the reconstruction cannot have been drawn for tree {t}")
