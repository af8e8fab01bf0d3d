"""Forests whose trees each drew their own sample of rows: which attack applies."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from glassleak.errors import BudgetExhaustedError, ModelTooLargeError, UnsupportedModelError
from glassleak.knowledge import Known
from glassleak.models import Forest
from glassleak.reconstruction._published_bagged import attack_bagged_as_published
from glassleak.reconstruction._result import Reconstruction
from glassleak.reconstruction._survey import Progress
from glassleak.reconstruction.bagged import attack_bagged
from glassleak.reconstruction.bagged._profiles import MAX_ENTRIES
from glassleak.reconstruction.bagged._rows_attack import attack_bagged_rows
from glassleak.reconstruction.replayed import reconstruct_replayed
from glassleak.schema import Schema


def attack_resampled(
    forest: Forest,
    schema: Schema,
    known: Known,
    multiplicities: Any,
    formulation: str,
    *,
    n_rows: int | None,
    budget_seconds: float,
    seed: int,
    progress: Progress | None,
    central: bool,
) -> Reconstruction:
    """Reconstruct a forest trained on bootstrap samples; see `reconstruct` for the parameters."""
    named = isinstance(multiplicities, str)
    if named and multiplicities not in ("auto", "known", "unknown"):
        raise ValueError(
            f"multiplicities must be 'auto', 'known', 'unknown' or an array, not {multiplicities!r}"
        )
    if formulation in ("rows-cp", "rows-milp"):
        return attack_bagged_as_published(
            forest, schema, known, formulation, n_rows=n_rows, budget_seconds=budget_seconds,
            seed=seed, progress=progress,
        )  # fmt: skip
    if formulation not in ("auto", "cells", "search"):
        raise ValueError(f"unknown formulation {formulation!r}")
    deadline = time.monotonic() + budget_seconds
    unused = ""
    if not named or multiplicities == "known" or (
        multiplicities == "auto" and forest.bagging.kind == "known"
    ):  # fmt: skip
        try:
            return reconstruct_replayed(
                forest, schema, known, None if named else multiplicities,
                deadline=deadline, seed=seed, progress=progress,
                enumerable_elsewhere=MAX_ENTRIES if named and multiplicities == "auto" else 0,
                may_give_up=named and multiplicities == "auto",
            )  # fmt: skip
        except (BudgetExhaustedError, ModelTooLargeError, UnsupportedModelError) as error:
            if not named or multiplicities == "known":
                raise
            unused = f"the stored seeds were not used: {error}"
    found = _draws_unknown(
        forest, schema, known, formulation, n_rows=n_rows, seed=seed, progress=progress,
        central=central, budget_seconds=max(deadline - time.monotonic(), 0.1 * budget_seconds),
    )  # fmt: skip
    if not unused:
        return found
    certificate = replace(found.certificate, statements=(*found.certificate.statements, unused))
    return replace(found, certificate=certificate, details=found.details | {"seeds_unused": unused})


def _draws_unknown(
    forest: Forest,
    schema: Schema,
    known: Known,
    formulation: str,
    *,
    n_rows: int | None,
    budget_seconds: float,
    seed: int,
    progress: Progress | None,
    central: bool,
) -> Reconstruction:
    """Over all profiles where they can be listed, over rows where not."""
    deadline = time.monotonic() + budget_seconds
    if formulation != "search":
        try:
            return attack_bagged(
                forest, schema, known, n_rows=n_rows, seed=seed, progress=progress,
                central=central, budget_seconds=budget_seconds,
            )  # fmt: skip
        except ModelTooLargeError:
            if formulation == "cells" or not known.nothing:
                raise
    return attack_bagged_rows(
        forest, schema, known, n_rows=n_rows, deadline=deadline, seed=seed, progress=progress
    )
