"""What an array with one entry per training row probably is."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.readers._state import Visited
from glassleak.readers.artefacts._artefact import Json, Severity
from glassleak.readers.artefacts._block import Block
from glassleak.readers.artefacts._finding import Finding, tidy
from glassleak.readers.artefacts._rows import Rows

_FEW = 20
_SUMS_TO_ONE = 1e-6
_DELETE = (
    "Remove it from the object before saving (set the attribute to None) and check that the object "
    "still predicts."
)
# What well-known attributes are; anything else is described by its values.
_HINTS = {
    "_sample_weight": "the weights of the training rows",
    "sample_weight": "the weights of the training rows",
    "labels_": "the cluster each training row was put in",
    "transduction_": "the label given to each training row",
    "label_distributions_": "the class probabilities of each training row",
    "embedding_": "the position of each training row in the embedding",
    "inlier_mask_": "which training rows were taken for inliers",
    "test_fold": "the fold each training row was put in",
    "alpha_": "the weight of each training row in the fitted function",
    "f_cached": "the fitted value of each training row",
    "pi_": "the class probability of each training row",
    "negative_outlier_factor_": "how unusual each training row is",
    "_distances_fit_X_": "the distances of each training row to its neighbours",
    "_neighbors_indices_fit_X_": "the neighbours of each training row",
    "dist_": "how unusual each training row is",
}
_MASKS = {
    "idxs": "which of the {n:,} training rows reach a node",
    "RMatrix": "which rules each of the {n:,} training rows fulfils",
}

_WITH_CONDITIONS = (
    "Together with the conditions of the model this gives away the values of each single row, up "
    "to the thresholds."
)
_WIDE_TABLE = (
    "{k:,} values, as many as the model has columns, {order}: it may be the training table itself, "
    "turned on its side, which can then be read without any attack."
)
_MAY_BE_TABLE = "it may be the training table itself, which can then be read without any attack."


def describe(visited: Visited, name: str, block: Block, n: int, rows: Rows) -> Finding:
    """The finding for `block`, which has `n` training rows along its first or last dimension."""
    evidence: dict[str, Json] = {
        "shape": list(block.shape),
        "dtype": block.dtype,
        "rows_according_to": rows.counts[n],
    }
    shown = tidy(name, 60) or "the object"
    if n in rows.n_columns:
        evidence["certain"] = False
        return Finding(
            "row-array",
            visited,
            "note",
            f"`{shown}` has {n:,} entries. The model has {n:,} training rows and as many columns, "
            "so it may describe either.",
            f"Find out which. If it has one entry per training row: {_DELETE}",
            evidence,
        )
    kind, severity, what = _recognise(name, block, n, rows, evidence)
    return Finding(kind, visited, severity, what[0].upper() + what[1:], _DELETE, evidence)


def _recognise(
    name: str, block: Block, n: int, rows: Rows, evidence: dict[str, Json]
) -> tuple[str, Severity, str]:
    order = f"for each of the {n:,} training rows, in row order"
    if name in _MASKS:
        return (
            "row-masks",
            "fix",
            f"`{name}` says, in row order, {_MASKS[name].format(n=n)}. {_WITH_CONDITIONS}",
        )
    if _is_constant(block):
        return "row-array", "note", f"the same value {order}: only their number is told."
    if name in _HINTS:
        return "row-array", "fix", f"`{name}` holds {_HINTS[name]} ({n:,} rows, in row order)."
    if block.dtype == "mapping":
        return (
            "row-array",
            "fix",
            f"a mapping with one entry {order.removesuffix(', in row order')}.",
        )
    if block.is_column and block.length == n:
        return _column(block, order, rows, evidence)
    if len(block.shape) == 2 and block.shape == (n, n):
        return "row-array", "fix", f"one figure for each pair of the {n:,} training rows."
    if block.length != n:
        if len(block.shape) == 2 and block.length in rows.n_columns:
            return "training-table", "refer", _WIDE_TABLE.format(k=block.length, order=order)
        return "row-array", "fix", f"{block.length:,} figures {order}."
    if len(block.shape) == 2:
        return _matrix(block, order, rows)
    return "row-array", "fix", f"an array of shape {tuple(block.shape[1:])} {order}."


def _is_constant(block: Block) -> bool:
    values = block.values
    if values is None or not values.size or values.dtype.kind not in "biufcmMU":
        return False
    return bool((values == values.ravel()[0]).all())


def _column(
    block: Block, order: str, rows: Rows, evidence: dict[str, Json]
) -> tuple[str, Severity, str]:
    values = block.values.reshape(-1) if block.values is not None else None
    if values is None or values.dtype.kind not in "biufcmMOUS":
        return "row-array", "fix", f"one value {order}."
    if values.dtype.kind in "OUS":
        return _texts(values, order, rows, evidence)
    if values.dtype == bool:
        return "row-masks", "fix", f"a yes or no {order}: which rows belong to a part of the data."
    distinct, counts = np.unique(values, return_counts=True)
    evidence["distinct_values"] = len(distinct)
    if _fits_classes(counts, rows):
        return "label-column", "fix", _LABELS.format(order=order)
    if len(distinct) == len(values) and values.dtype.kind in "iu":
        if np.array_equal(distinct, np.arange(len(values))):
            return "row-array", "fix", f"an order of the rows: one position {order}."
        return (
            "row-identifiers",
            "fix",
            f"a different whole number {order}: these may be numbers that identify people.",
        )
    return "row-array", "fix", f"one number {order}."


_LABELS = (
    "a value {order}, that takes as many different values, equally often, as there are classes: "
    "this is the label column."
)


def _texts(
    values: npt.NDArray[Any], order: str, rows: Rows, evidence: dict[str, Json]
) -> tuple[str, Severity, str]:
    plain = [v for v in values.tolist() if isinstance(v, str | bytes | int | float)]
    sizes: dict[Any, int] = {}
    for value in plain:
        sizes[value] = sizes.get(value, 0) + 1
    evidence["distinct_values"] = len(sizes)
    if len(sizes) == len(values) >= _FEW:
        return (
            "row-identifiers",
            "refer",
            f"a different text {order}: these may be names or identifiers of people.",
        )
    if len(plain) == len(values) and _fits_classes(np.array(list(sizes.values())), rows):
        return "label-column", "fix", _LABELS.format(order=order)
    return "row-array", "fix", f"one text or value {order}."


def _matrix(block: Block, order: str, rows: Rows) -> tuple[str, Severity, str]:
    width, values = block.shape[1], block.values
    if values is not None and values.dtype == bool:
        return "row-masks", "fix", f"{width:,} times a yes or no {order}."
    numbers = values is not None and values.dtype.kind in "iuf" and values.size
    if numbers and values is not None and width > 1 and rows.n_classes in (width, None):
        with np.errstate(all="ignore"):
            sums = values.sum(axis=1, dtype=np.float64)
            inside = (values >= 0).all() and bool((np.abs(sums - 1) <= _SUMS_TO_ONE).all())
        if inside and bool(((values == 0) | (values == 1)).all()):
            return (
                "label-column",
                "fix",
                f"the label {order}, as zeros and ones for {width} classes.",
            )
        if inside:
            return "row-array", "fix", f"{width} class probabilities {order}."
    return (
        "training-table",
        "refer",
        f"a table of {width:,} columns {order}: {_MAY_BE_TABLE}",
    )


def _fits_classes(counts: npt.NDArray[Any], rows: Rows) -> bool:
    if rows.class_counts is None or len(counts) < 2:
        return False
    return tuple(sorted(int(c) for c in counts)) == rows.class_counts
