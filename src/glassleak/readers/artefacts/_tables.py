"""Training rows kept verbatim in arrays: tables, targets, support vectors, search trees."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from glassleak.readers._state import State, Visited
from glassleak.readers.artefacts._artefact import Json, Severity
from glassleak.readers.artefacts._block import Block, block_of
from glassleak.readers.artefacts._finding import Finding
from glassleak.readers.artefacts._names import is_table, is_target
from glassleak.readers.artefacts._rows import Rows
from glassleak.readers.artefacts._survey import Survey
from glassleak.readers.artefacts._words import columns

MANY_VALUES = 20
"""A target with more distinct values than this is a measurement and not a class."""

_SEARCH_TREE = re.compile(r"^(c?KDTree|BallTree)(32|64)?$")
_COPIED = "are training rows, copied unchanged"
_ROW_KEEPERS = {
    ("support_vectors_", None): f"the support vectors {_COPIED}",
    ("components_", "Nystroem"): f"the components {_COPIED}",
    ("components_", "DBSCAN"): f"the components {_COPIED}",
}
# Tables that predictions are made from (nearest neighbours, Gaussian processes, kernel methods).
_NEEDED = {"_fit_X", "X_train_", "X_fit_"}
# What goes with such rows and is explained by them.
_BESIDE = ("support_", "dual_coef_", "_dual_coef_", "normalization_", "component_indices_")
KEEPS_ROWS = (
    "This kind of model works by comparing with stored rows, so they cannot be taken out. Release "
    "predictions and not the model, or train another kind of model."
)
DELETE = (
    "Remove it from the object before saving (set the attribute to None) and check that the object "
    "still predicts. If it does not, this kind of model cannot be released without rows."
)


def training_tables(survey: Survey, rows: Rows) -> Iterator[Finding]:
    """Arrays and lists whose name says that they are rows or targets."""
    for visited in (*survey.arrays, *survey.sequences):
        name, owner = survey.attribute(visited), visited.owner
        keeper = row_keeper(name, owner)
        table, target = is_table(name, owner), is_target(name, owner)
        if not (keeper or table or target) or not survey.is_direct(visited):
            continue
        block = block_of(visited.value)
        if block is None or block.length < 2:
            continue
        if keeper and len(block.shape) == 2:
            yield _kept_rows(visited, block, keeper, rows)
        elif table and len(block.shape) == 2:
            yield _table(visited, block, name, rows)
        elif target:
            yield _target(visited, block, name, rows)


def search_trees(survey: Survey) -> Iterator[Finding]:
    """Search trees over the training rows, as nearest-neighbour models keep them."""
    for visited in survey.states:
        state: State = visited.value
        if not _is_search_tree(state):
            continue
        inside = survey.arrays_of(state)
        yield Finding(
            "training-table",
            visited,
            "refer",
            "A search tree over the training rows: it holds the rows themselves, with the order "
            "they came in.",
            KEEPS_ROWS,
            {"type": state.type_name, "arrays_inside": len(inside)},
            tuple(inside),
        )


def _is_search_tree(state: State) -> bool:
    if state.package not in ("sklearn", "scipy"):
        return False
    # scikit-learn pickles its search trees as a call of newObj in their module.
    made = state.name == "newObj" and state.module.endswith(("_kd_tree", "_ball_tree"))
    return made or _SEARCH_TREE.match(state.name) is not None


def row_keeper(name: str, owner: State | None) -> str | None:
    """Why an attribute of this name holds training rows, if it does."""
    kind = owner.name if owner is not None else None
    return _ROW_KEEPERS.get((name, None)) or _ROW_KEEPERS.get((name, kind))


def whose(n: int, rows: Rows) -> str:
    """How `n` rows compare with the training rows, in words."""
    if n in rows.counts:
        return f" ({n:,} is the number of training rows)"
    return f" (the object was trained on {rows.listed()})" if rows.known else ""


def figures(block: Block, rows: Rows) -> dict[str, Json]:
    """Shape and type, and who says that the length is the number of training rows."""
    out: dict[str, Json] = {"shape": list(block.shape), "dtype": block.dtype}
    if block.length in rows.counts:
        out["rows_according_to"] = rows.counts[block.length]
    return out


def _kept_rows(visited: Visited, block: Block, keeper: str, rows: Rows) -> Finding:
    owner = visited.owner
    beside: tuple[Any, ...] = ()
    if owner is not None:
        beside = tuple(owner.get(n) for n in _BESIDE)
    return Finding(
        "training-table",
        visited,
        "refer",
        f"{block.length:,} rows{whose(block.length, rows)} of {columns(block.shape[1])}: {keeper}.",
        KEEPS_ROWS,
        figures(block, rows),
        beside,
    )


def _table(visited: Visited, block: Block, name: str, rows: Rows) -> Finding:
    return Finding(
        "training-table",
        visited,
        "refer",
        f"A table of {block.length:,} rows and {columns(block.shape[1])} is stored in the object "
        f"as `{name}`{whose(block.length, rows)}: the rows can be read without any attack.",
        KEEPS_ROWS if name in _NEEDED else DELETE,
        figures(block, rows),
    )


def _target(visited: Visited, block: Block, name: str, rows: Rows) -> Finding:
    evidence = figures(block, rows)
    numbers = block.values is not None and block.values.dtype.kind in "biuf"
    distinct = len(np.unique(block.values)) if numbers and block.values is not None else None
    if distinct is not None:
        evidence["distinct_values"] = distinct
    measured = distinct is not None and distinct > MANY_VALUES
    severity: Severity = "refer" if measured else "fix"
    what = "the target value" if measured else "the label"
    return Finding(
        "label-column",
        visited,
        severity,
        f"`{name}` holds {what} of {block.length:,} rows, in row order{whose(block.length, rows)}.",
        DELETE,
        evidence,
    )
