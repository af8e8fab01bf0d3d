"""One tree of an XGBoost JSON document to the IR."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.errors import InconsistentModelError, MalformedModelError, UnsupportedModelError
from glassleak.models import Label, Missing, Tree
from glassleak.readers.libraries._typed import integer, integers, mapping, numbers, sequence, shown

NO_COUNTS = (
    "XGBoost publishes sums of second derivatives (cover), not counts; rows per node follow from "
    "them in the first round only"
)
# Pruned nodes stay in the file and carry this instead of a column.
_DELETED = 2**31 - 1


def tree_of(
    raw: Any, columns: tuple[str, ...], classes: tuple[Label, ...]
) -> tuple[Tree, npt.NDArray[np.float64], int]:
    """The tree in the IR, its cover per node, and how many pruned nodes the file still holds."""
    node = mapping(raw, "tree")
    _check_kind(node)
    arrays: dict[str, npt.NDArray[Any]] = {
        "feature": integers(node.get("split_indices"), "split_indices"),
        "left": integers(node.get("left_children"), "left_children"),
        "right": integers(node.get("right_children"), "right_children"),
        "threshold": numbers(node.get("split_conditions"), "split_conditions"),
        "cover": numbers(node.get("sum_hessian"), "sum_hessian"),
        "missing_left": _flags(node.get("default_left"), "default_left"),
    }
    size = len(arrays["left"])
    for name, array in arrays.items():
        if len(array) != size:
            raise MalformedModelError(f"{len(array)} entries for {size} nodes", name)
    kept = arrays["feature"] != _DELETED
    if size and not kept[0]:
        raise MalformedModelError("the root is deleted", "split_indices[0]")
    stated = integer(mapping(node.get("tree_param"), "tree_param").get("num_deleted", "0"),
                     "tree_param.num_deleted")  # fmt: skip
    deleted = size - int(kept.sum())
    if stated != deleted:
        raise InconsistentModelError(
            f"{deleted} nodes are deleted, {stated} according to", "tree_param.num_deleted"
        )
    leaf = arrays["left"] == -1
    number_of = np.where(kept, np.cumsum(kept) - 1, -1)
    tree = Tree(
        columns=columns,
        classes=classes,
        feature=np.where(leaf, -1, arrays["feature"])[kept],
        # The library compares float32 with float32; the decimal text is only their shortest form.
        threshold=np.where(leaf, np.nan, _single(arrays["threshold"]))[kept],
        left=_renumbered(arrays["left"], leaf, number_of, "left_children")[kept],
        right=_renumbered(arrays["right"], leaf, number_of, "right_children")[kept],
        counts=Missing(NO_COUNTS),
        missing_left=(arrays["missing_left"] & ~leaf)[kept],
        comparison="<",
        precision="float32",
    )
    return tree, arrays["cover"][kept], deleted


def _check_kind(node: Mapping[Any, Any]) -> None:
    if any(kind != 0 for kind in sequence(node.get("split_type", []), "split_type")):
        raise UnsupportedModelError(
            "splits on categories (one side is a set of values), and not only on thresholds",
            "split_type",
        )
    parameters = mapping(node.get("tree_param"), "tree_param")
    if str(parameters.get("size_leaf_vector", "1")) not in ("0", "1"):
        raise UnsupportedModelError(
            "leaves hold one value per class (multi_output_tree)", "tree_param.size_leaf_vector"
        )


def _single(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    with np.errstate(over="ignore"):  # becomes infinite, which the tree's own check refuses
        return values.astype(np.float32).astype(np.float64)


def _renumbered(
    child: npt.NDArray[np.int64],
    leaf: npt.NDArray[np.bool_],
    number_of: npt.NDArray[np.int64],
    name: str,
) -> npt.NDArray[np.int64]:
    """Children among the nodes that are kept; -1 at leaves."""
    wrong = np.flatnonzero(np.where(leaf, child != -1, (child < 0) | (child >= len(child))))
    if wrong.size:
        at = int(wrong[0])
        raise MalformedModelError(f"child {child[at]} does not exist", f"{name}[{at}]")
    renumbered = number_of[np.where(leaf, 0, child)]
    gone = np.flatnonzero(~leaf & (renumbered < 0))
    if gone.size:
        raise MalformedModelError("the child is deleted", f"{name}[{gone[0]}]")
    return np.where(leaf, -1, renumbered)


def _flags(values: Any, place: str) -> npt.NDArray[np.bool_]:
    """0 and 1, or true and false in older files."""
    for i, value in enumerate(sequence(values, place)):
        if not isinstance(value, int) or value not in (0, 1):
            raise MalformedModelError(f"expected 0 or 1, got {shown(value)}", f"{place}[{i}]")
    return np.asarray(values, dtype=bool)
