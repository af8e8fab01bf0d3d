"""Regression models: which attack applies."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.errors import UnsupportedModelError
from glassleak.knowledge import Known
from glassleak.models import Forest, Tree
from glassleak.reconstruction._result import Reconstruction
from glassleak.reconstruction._survey import Progress
from glassleak.reconstruction.regression import attack_targets
from glassleak.schema import Schema


def attack_regression(
    model: Tree | Forest,
    schema: Schema | None,
    known: Known,
    multiplicities: Any,
    *,
    started: float,
    deadline: float,
    progress: Progress | None,
) -> Reconstruction:
    """Reconstruct a regression model; see `reconstruct` for the parameters."""
    if not known.nothing:
        raise UnsupportedModelError("regression with side knowledge is not assessed")
    if schema is None:
        schema = Schema.infer(model.split_evidence())
    draws = _draws(model, multiplicities)
    return attack_targets(
        model, schema, draws, started=started, deadline=deadline, progress=progress
    )


def _draws(model: Tree | Forest, multiplicities: Any) -> npt.NDArray[np.int32] | None:
    """How often each tree drew each row, where that is known and wanted."""
    if not isinstance(model, Forest) or model.bagging.kind == "none":
        if not (isinstance(multiplicities, str) and multiplicities == "auto"):
            raise UnsupportedModelError("every row counts once: the trees drew no samples")
        return None
    if not isinstance(multiplicities, str):
        given = np.asarray(multiplicities)
        if given.shape != (len(model.trees), model.n_rows) or given.dtype.kind not in "iu":
            raise ValueError(f"multiplicities of shape {given.shape} do not fit the forest")
        return given.astype(np.int32)
    if multiplicities not in ("auto", "known", "unknown"):
        raise ValueError(
            f"multiplicities must be 'auto', 'known', 'unknown' or an array, not {multiplicities!r}"
        )
    if multiplicities == "unknown" or (multiplicities == "auto" and model.bagging.kind != "known"):
        return None
    if model.bagging.kind != "known" or model.n_rows is None:
        raise UnsupportedModelError("which rows each tree drew is not stored in the model")
    return model.bagging.multiplicities(len(model.trees), model.n_rows)
