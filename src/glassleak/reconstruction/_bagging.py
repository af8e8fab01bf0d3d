"""Forests whose trees each drew their own sample of rows: which attack applies."""

from __future__ import annotations

from typing import Any

from glassleak.errors import UnsupportedModelError
from glassleak.knowledge import Known
from glassleak.models import Forest
from glassleak.reconstruction._result import Reconstruction
from glassleak.reconstruction._survey import Progress
from glassleak.reconstruction.bagged import attack_bagged
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
    if not (isinstance(multiplicities, str) and multiplicities in ("auto", "unknown")):
        raise UnsupportedModelError(
            "this version treats multiplicities as unknown: say 'auto' or 'unknown'"
        )
    if formulation not in ("auto", "cells"):
        raise UnsupportedModelError(
            "this published formulation has no version for resampled rows", "formulation"
        )
    return attack_bagged(
        forest, schema, known, n_rows=n_rows, budget_seconds=budget_seconds, seed=seed,
        progress=progress, central=central,
    )  # fmt: skip
