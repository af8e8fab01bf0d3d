"""LightGBM's own text format (``Booster.save_model``): sections of ``key=value`` lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from glassleak.errors import MalformedModelError, UnsupportedModelError
from glassleak.readers._limits import Limits
from glassleak.readers.libraries._lightgbm_trees import NAN, NONE, ZERO, Splits
from glassleak.readers.libraries._typed import integer, located, shown

_CATEGORICAL_BIT, _LEFT_BIT = 1, 2


@dataclass(frozen=True)
class Saved:
    """A model file taken apart.

    Attributes
    ----------
    header : mapping of str to str
        What stands before the first tree.
    trees : list of Splits
    parameters : mapping of str to str, or None
        Training parameters, where the file has them.
    linear : bool
        Whether leaves hold linear models.
    """

    header: Mapping[str, str]
    trees: list[Splits]
    parameters: Mapping[str, str] | None
    linear: bool


def parse_text(text: str, limits: Limits) -> Saved:
    """Take a model file apart; errors name the section."""
    # Not splitlines(): it also splits at characters that may be part of a column's name.
    lines = [line.rstrip("\r") for line in text.split("\n")]
    if lines[0] != "tree":
        raise MalformedModelError("does not start with the line 'tree'", "line 1")
    starts = [i for i, line in enumerate(lines) if line.startswith("Tree=")]
    end = next((i for i, line in enumerate(lines) if line == "end of trees"), None)
    if end is None:
        raise MalformedModelError("'end of trees' is missing: the file is cut short", "file")
    starts = [i for i in starts if i < end]
    if not starts:
        raise MalformedModelError("there are no trees before 'end of trees'", "file")
    header = _section(lines, 1, starts[0])
    limits.check_nodes(2 * len(starts))
    trees, linear, nodes = [], False, 0
    for t, (start, stop) in enumerate(zip(starts, [*starts[1:], end], strict=True)):
        with located(f"Tree={t}"):
            if lines[start] != f"Tree={t}":
                raise MalformedModelError(f"out of order: {shown(lines[start])}")
            section = _section(lines, start + 1, stop)
            splits = _splits(section)
        nodes += len(splits.feature) + splits.n_leaves
        limits.check_nodes(nodes)
        linear |= section.get("is_linear", "0") != "0"
        trees.append(splits)
    return Saved(header, trees, _parameters(lines, end), linear)


def _section(lines: list[str], start: int, stop: int) -> dict[str, str]:
    found: dict[str, str] = {}
    for i in range(start, stop):
        key, _, value = lines[i].partition("=")
        if key and key in found:
            raise MalformedModelError(f"{shown(key)} is given twice", f"line {i + 1}")
        if key:
            found[key] = value
    return found


def _parameters(lines: list[str], end: int) -> dict[str, str] | None:
    try:
        start = lines.index("parameters:", end)
    except ValueError:
        return None
    try:
        stop = lines.index("end of parameters", start)
    except ValueError:
        raise MalformedModelError(
            "'end of parameters' is missing: the file is cut short", "parameters"
        ) from None
    found = {}
    for line in lines[start + 1 : stop]:
        key, separator, value = line.removeprefix("[").removesuffix("]").partition(":")
        if separator:
            found[key.strip()] = value.strip()
    return found


def _splits(section: Mapping[str, str]) -> Splits:
    n_leaves = integer(section.get("num_leaves"), "num_leaves")
    if section.get("num_cat", "0") != "0":
        raise UnsupportedModelError(
            "splits on categories (one side is a set of values), and not only on thresholds",
            "num_cat",
        )
    decision = _array(section, "decision_type", int, np.int64)
    if (decision & _CATEGORICAL_BIT).any():
        raise UnsupportedModelError("splits on categories, and not only on thresholds", "num_cat")
    missing = decision >> 2
    if ((missing != NONE) & (missing != ZERO) & (missing != NAN)).any():
        raise MalformedModelError("unknown kind of missing value", "decision_type")
    return Splits(
        feature=_array(section, "split_feature", int, np.int64),
        threshold=_array(section, "threshold", float, np.float64),
        left=_array(section, "left_child", int, np.int64),
        right=_array(section, "right_child", int, np.int64),
        default_left=(decision & _LEFT_BIT) != 0,
        missing=missing,
        split_rows=_array(section, "internal_count", int, np.int64),
        leaf_rows=_optional_rows(section, n_leaves),
        n_leaves=n_leaves,
    )


def _optional_rows(section: Mapping[str, str], n_leaves: int) -> Any:
    if n_leaves == 1 and not section.get("leaf_count", "").strip():
        return None
    if "leaf_count" not in section:
        raise MalformedModelError("missing", "leaf_count")
    return _array(section, "leaf_count", int, np.int64)


def _array(section: Mapping[str, str], key: str, convert: Callable[[str], Any], dtype: Any) -> Any:
    try:
        # One value at a time: numpy would reserve the longest word's length for every word.
        return np.array([convert(word) for word in section.get(key, "").split()], dtype=dtype)
    except (ValueError, OverflowError) as error:
        raise MalformedModelError(f"not numbers: {str(error)[:100]}", key) from None
