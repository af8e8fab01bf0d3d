"""One LightGBM tree, in LightGBM's own numbering, to the IR.

LightGBM numbers splits and leaves apart: a child ``c >= 0`` is split ``c``, a child ``c < 0`` is
leaf ``-c - 1``.  In the IR leaves follow the splits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.errors import MalformedModelError, UnsupportedModelError
from glassleak.models import Label, Missing, Tree

NO_COUNTS = "LightGBM publishes rows per node, not per class"
NO_CLASSES = "a boosted regression model: rows per node are published, and no targets"
NONE, ZERO, NAN = 0, 1, 2
"""What LightGBM takes for missing at a split: nothing, zeros (and NaN), or NaN."""


@dataclass(frozen=True)
class Splits:
    """Splits and leaves as the library numbers them.

    Attributes
    ----------
    feature, threshold, left, right : array
        One entry per split.
    default_left, missing : array
        Where missing values go, and what counts as missing (`NONE`, `ZERO`, `NAN`).
    split_rows, leaf_rows : int64 array or None
        Training rows; ``None`` when not published.
    n_leaves : int
    """

    feature: npt.NDArray[np.int64]
    threshold: npt.NDArray[np.float64]
    left: npt.NDArray[np.int64]
    right: npt.NDArray[np.int64]
    default_left: npt.NDArray[np.bool_]
    missing: npt.NDArray[np.int64]
    split_rows: npt.NDArray[np.int64] | None
    leaf_rows: npt.NDArray[np.int64] | None
    n_leaves: int


def tree_of(splits: Splits, columns: tuple[str, ...], classes: tuple[Label, ...]) -> Tree:
    """The tree in the IR, checked."""
    n_splits, n_leaves = len(splits.feature), splits.n_leaves
    for name in ("threshold", "left", "right", "default_left", "missing", "split_rows"):
        value = getattr(splits, name)
        if value is not None and len(value) != n_splits:
            raise MalformedModelError(f"{len(value)} entries for {n_splits} splits", name)
    if n_leaves != n_splits + 1 or (
        splits.leaf_rows is not None and len(splits.leaf_rows) != n_leaves
    ):
        raise MalformedModelError(f"{n_leaves} leaves for {n_splits} splits", "num_leaves")
    none = np.full(n_leaves, -1, dtype=np.int64)
    return Tree(
        columns=columns,
        classes=classes,
        feature=np.concatenate([_columns(splits, len(columns)), none]),
        threshold=np.concatenate([_thresholds(splits), np.full(n_leaves, np.nan)]),
        left=np.concatenate([_children(splits.left, n_splits, "left_child"), none]),
        right=np.concatenate([_children(splits.right, n_splits, "right_child"), none]),
        counts=Missing(NO_COUNTS if classes else NO_CLASSES),
        rows=_rows(splits),
        missing_left=np.concatenate([_missing_left(splits), np.zeros(n_leaves, dtype=bool)]),
        comparison="<=",
        precision="float64",
    )


def _columns(splits: Splits, n_columns: int) -> npt.NDArray[np.int64]:
    wrong = np.flatnonzero((splits.feature < 0) | (splits.feature >= n_columns))
    if wrong.size:
        at = int(wrong[0])
        raise MalformedModelError(
            f"column {splits.feature[at]} of {n_columns}", f"split_feature[{at}]"
        )
    return splits.feature


def _thresholds(splits: Splits) -> npt.NDArray[np.float64]:
    # "<= inf" sends every number left and NaN right; so does the largest number there is.
    return np.where(splits.threshold == np.inf, np.finfo(np.float64).max, splits.threshold)


def _children(child: npt.NDArray[np.int64], n_splits: int, name: str) -> npt.NDArray[np.int64]:
    # Before the shift, because shifting a hostile number could bring it into range.
    wrong = np.flatnonzero((child >= n_splits) | (child < -n_splits - 1))
    if wrong.size:
        raise MalformedModelError(f"child {child[wrong[0]]} does not exist", f"{name}[{wrong[0]}]")
    return np.where(child >= 0, child, n_splits - child - 1)


def _missing_left(splits: Splits) -> npt.NDArray[Any]:
    """Where NaN goes: the default side, or where 0 goes when NaN is read as 0."""
    zero_left = splits.threshold >= 0
    elsewhere = np.flatnonzero((splits.missing == ZERO) & (splits.default_left != zero_left))
    if elsewhere.size:
        raise UnsupportedModelError(
            "zeros are treated as missing and sent to a side of their own (zero_as_missing), which "
            "no threshold can express",
            f"decision_type[{elsewhere[0]}]",
        )
    return np.where(splits.missing == NONE, zero_left, splits.default_left)


def _rows(splits: Splits) -> npt.NDArray[np.int64] | None:
    if splits.leaf_rows is None or splits.split_rows is None:
        return None
    # A tree that never split is written with no rows or none at all by some versions.
    if splits.n_leaves == 1 and splits.leaf_rows[0] == 0:
        return None
    return np.concatenate([splits.split_rows, splits.leaf_rows])
