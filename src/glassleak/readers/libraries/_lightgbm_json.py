"""LightGBM's JSON dump (``Booster.dump_model``): trees as nested objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from glassleak.errors import InconsistentModelError, MalformedModelError, UnsupportedModelError
from glassleak.readers._limits import Limits
from glassleak.readers.libraries._lightgbm_trees import NAN, NONE, ZERO, Splits
from glassleak.readers.libraries._typed import (
    count,
    integer,
    located,
    mapping,
    number,
    sequence,
    shown,
    text,
    texts,
)

_MISSING = {"None": NONE, "Zero": ZERO, "NaN": NAN}


@dataclass(frozen=True)
class Dump:
    """A dump taken apart; see `Saved` for the text form."""

    columns: tuple[str, ...]
    objective: str
    n_classes: int
    per_round: int
    averaged: bool
    version: str
    trees: list[Splits]
    ranges: Mapping[str, list[float]]


def parse_dump(document: Any, limits: Limits) -> Dump:
    """Take a dump apart; errors name the tree."""
    top = mapping(document, "document")
    columns = texts(top.get("feature_names"), "feature_names")
    if integer(top.get("max_feature_idx"), "max_feature_idx") + 1 != len(columns):
        raise InconsistentModelError(f"{len(columns)} names", "feature_names")
    trees, nodes = [], 0
    for t, raw in enumerate(sequence(top.get("tree_info"), "tree_info")):
        with located(f"tree_info[{t}]"):
            info = mapping(raw, "tree")
            splits = _splits(info.get("tree_structure"), limits, nodes)
            stated = integer(info.get("num_leaves", splits.n_leaves), "num_leaves")
            if stated != splits.n_leaves:
                raise InconsistentModelError(f"{splits.n_leaves} leaves found", "num_leaves")
        nodes += len(splits.feature) + splits.n_leaves
        trees.append(splits)
    return Dump(
        columns=columns,
        objective=text(top.get("objective", ""), "objective"),
        n_classes=integer(top.get("num_class"), "num_class"),
        per_round=integer(top.get("num_tree_per_iteration"), "num_tree_per_iteration"),
        averaged=top.get("average_output") is True,
        version=text(top.get("version", ""), "version"),
        trees=trees,
        ranges=_ranges(top.get("feature_infos", {}), columns),
    )


def _splits(root: Any, limits: Limits, nodes: int) -> Splits:
    """Number splits and leaves in order of appearance; the stack is explicit, depth is free."""
    split_feature: list[int] = []
    threshold: list[float] = []
    default_left: list[bool] = []
    missing: list[int] = []
    rows: list[int] = []
    leaf_rows: list[int | None] = []
    children: list[list[int]] = []
    # Node, the split above it (-1 for the root), which side.
    stack: list[tuple[Any, int, int]] = [(root, -1, 0)]
    while stack:
        raw, parent, side = stack.pop()
        nodes += 1
        limits.check_nodes(nodes)
        place = "tree_structure" if parent < 0 else f"split {parent} side {side}"
        node = mapping(raw, place)
        if "split_feature" in node:
            number_here = len(split_feature)
            _check_numerical(node, place)
            split_feature.append(integer(node.get("split_feature"), f"{place}.split_feature"))
            threshold.append(number(node.get("threshold"), f"{place}.threshold"))
            default_left.append(_flag(node.get("default_left"), f"{place}.default_left"))
            missing.append(_missing(node.get("missing_type"), f"{place}.missing_type"))
            rows.append(count(node.get("internal_count"), f"{place}.internal_count"))
            children.append([0, 0])
            stack.append((node.get("right_child"), number_here, 1))
            stack.append((node.get("left_child"), number_here, 0))
        else:
            number_here = -len(leaf_rows) - 1
            if "leaf_value" not in node:
                raise MalformedModelError("neither a split nor a leaf", place)
            published = node.get("leaf_count")
            lone = parent < 0 and published is None
            leaf_rows.append(None if lone else count(published, f"{place}.leaf_count"))
        if parent >= 0:
            children[parent][side] = number_here
    known = [r for r in leaf_rows if r is not None]
    both = np.asarray(children, dtype=np.int64).reshape(-1, 2)
    return Splits(
        feature=np.asarray(split_feature, dtype=np.int64),
        threshold=np.asarray(threshold, dtype=np.float64),
        left=both[:, 0],
        right=both[:, 1],
        default_left=np.asarray(default_left, dtype=bool),
        missing=np.asarray(missing, dtype=np.int64),
        split_rows=np.asarray(rows, dtype=np.int64),
        leaf_rows=np.asarray(known, dtype=np.int64) if len(known) == len(leaf_rows) else None,
        n_leaves=len(leaf_rows),
    )


def _check_numerical(node: Mapping[Any, Any], place: str) -> None:
    kind = node.get("decision_type")
    if kind == "==":
        raise UnsupportedModelError("splits on categories, and not only on thresholds", place)
    if kind != "<=":
        raise MalformedModelError(f"unknown comparison {shown(kind)}", f"{place}.decision_type")


def _flag(value: Any, place: str) -> bool:
    if not isinstance(value, bool):
        raise MalformedModelError(f"expected true or false, got {shown(value)}", place)
    return value


def _missing(value: Any, place: str) -> int:
    if not isinstance(value, str) or value not in _MISSING:
        raise MalformedModelError(f"expected None, Zero or NaN, got {shown(value)}", place)
    return _MISSING[value]


def _ranges(infos: Any, columns: tuple[str, ...]) -> dict[str, list[float]]:
    found, known = {}, set(columns)
    for name, info in mapping(infos, "feature_infos").items():
        place = f"feature_infos.{str(name)[:60]}"
        entry = mapping(info, place)
        # Categorical columns have values; columns without any split have neither.
        if name in known and not entry.get("values") and "min_value" in entry:
            found[str(name)] = [
                number(entry["min_value"], f"{place}.min_value"),
                number(entry.get("max_value"), f"{place}.max_value"),
            ]
    return found
