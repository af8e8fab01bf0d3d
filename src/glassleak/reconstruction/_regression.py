"""Regression models: which attack applies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.errors import UnsupportedModelError
from glassleak.knowledge import Known
from glassleak.models import Forest, Tree
from glassleak.reconstruction._result import Reconstruction
from glassleak.reconstruction._rows_only import rows_as_counts
from glassleak.reconstruction._survey import Progress
from glassleak.reconstruction.regression import attack_targets, with_estimates
from glassleak.schema import Schema

# With fewer rows named by their targets, all rows are placed by the counts alone.
_LEAST_NAMED = 0.9


def attack_regression(
    model: Tree | Forest,
    schema: Schema,
    known: Known,
    multiplicities: Any,
    by_counts: Callable[..., Reconstruction],
    *,
    started: float,
    deadline: float,
    seed: int,
    progress: Progress | None,
) -> Reconstruction:
    """Reconstruct a regression model; see `reconstruct` for the other parameters.

    Parameters
    ----------
    by_counts : callable
        Reconstructs the same trees from counts of classes, where targets do not name the rows; for
        bagged forests with the draws as second argument.
    """
    if not known.nothing:
        raise UnsupportedModelError("regression with side knowledge is not assessed")
    trees = model.trees if isinstance(model, Forest) else (model,)
    if any(tree.people is None for tree in trees):
        raise UnsupportedModelError(
            "leaves publish what they predict, but not for how many rows: targets of single rows "
            "cannot be told from means"
        )
    draws = _draws(model, multiplicities)
    bagged = isinstance(model, Forest) and model.bagging.kind != "none"
    found = attack_targets(
        model, schema, draws, started=started, deadline=deadline, progress=progress,
        least_named=0.0 if bagged else _LEAST_NAMED, seed=seed,
        by_classes=lambda forest: by_counts(forest, multiplicities),
    )  # fmt: skip
    if found is not None:
        return found
    return with_estimates(model, by_counts(rows_as_counts(model)))


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
