"""From placed rows to exact values: thresholds are half way between training values."""

from __future__ import annotations

import time
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from glassleak.models import Forest, Tree
from glassleak.reconstruction.values._chains import Cells, unknown_cells
from glassleak.reconstruction.values._gate import thresholds_are_midpoints
from glassleak.reconstruction.values._guess import guess
from glassleak.reconstruction.values._lattice import Lattice, in_full_precision, lattice_of, step_of
from glassleak.reconstruction.values._narrow import reproduced, use_midpoints, use_sides
from glassleak.reconstruction.values._nodes import Splits, partly_drawn, splits_of
from glassleak.reconstruction.values._result import Values
from glassleak.schema import Categorical, Numeric, Ordinal, Schema


def recover_values(
    model: Tree | Forest,
    schema: Schema,
    table: pd.DataFrame | npt.ArrayLike,
    draws: npt.ArrayLike | Literal["unknown"] | None = None,
    *,
    certain: npt.NDArray[np.bool_] | None = None,
) -> Values:
    """The values of every row, as far as the thresholds determine them.

    Parameters
    ----------
    table : DataFrame or array in the model's columns
        One line per training row; every value lies between the right thresholds.
    draws : (trees, rows) array of whole numbers, or "unknown", optional
        How often each tree drew each row; by default every tree saw every row.  "unknown": only
        nodes are used in which, by the published number of distinct rows, every row was drawn.
    certain : (rows, columns) bool array, optional
        Cells of which it is certain that they lie between the right thresholds (or are missing
        where `table` says so), if not all do: nothing is called exact that depends on another.

    Notes
    -----
    A threshold t of scikit-learn's exhaustive splitter satisfies ``a + b = 2 t``, with a the
    largest value that went low in the node and b the smallest that went high.  Intervals for all
    cells are narrowed by these equations until nothing changes; columns do not interact.  Rows in
    the wrong place make equations contradict each other: such splits are left out and counted.
    """
    started = time.monotonic()
    trees = model.trees if isinstance(model, Forest) else (model,)
    values = _checked_table(model, table)
    unknown = isinstance(draws, str)
    drawn = None if unknown else _checked_draws(len(trees), len(values), draws)
    schema.check_columns(model.columns)
    midpoints, reason = thresholds_are_midpoints(model)
    splits = splits_of(trees, values, drawn)
    unused = partly_drawn(splits, trees) if unknown else np.zeros(len(splits.start), dtype=bool)
    out = values.copy()
    names: list[str] = []
    columns: list[tuple[npt.NDArray[Any], ...]] = []
    conflicts: list[tuple[int, int]] = []
    total = met = 0
    for attribute in schema:
        lattice = lattice_of(attribute)
        if lattice is None:
            continue
        at = model.columns.index(attribute.columns[0])
        which = splits.places(at)
        own, left_out = splits.take(which), unused[which]
        known = ~np.isnan(values[:, at])
        placed = None if certain is None or certain.all() else certain[:, at]
        sound, proved = None, known
        if placed is not None:
            sound, proved = _sound(own, lattice, known, placed, midpoints, left_out)
        cells, skipped = narrowed(own, lattice, known, midpoints, left_out, sound)
        codes = isinstance(attribute, Categorical)
        chosen = guess(
            own,
            lattice,
            midpoints,
            cells,
            skipped,
            known,
            values[:, at] if codes else None,
            step_of(attribute),
        )
        pinned = (cells.low == cells.high) | ~known
        sure = pinned & (not (skipped & ~left_out).any()) if placed is None else proved
        if midpoints:
            total += len(own.start)
            met += int(reproduced(own, chosen, known).sum())
        contradicts = skipped & ~left_out
        conflicts += zip(
            own.tree[contradicts].tolist(), own.node[contradicts].tolist(), strict=True
        )
        names.append(attribute.columns[0])
        ends = (in_full_precision(attribute, end) for end in (cells.low, cells.high))
        columns.append((*ends, pinned, sure))
        out[:, at] = np.where(known, in_full_precision(attribute, chosen), np.nan)
    parts = list(zip(*columns, strict=True)) if columns else [()] * 4
    frames = [pd.DataFrame(dict(zip(names, part, strict=True))) for part in parts]
    numbers = tuple(a.columns[0] for a in schema if isinstance(a, Ordinal | Numeric))
    return Values(
        _frame(model.columns, out), frames[0], frames[1], frames[2], frames[3], numbers, midpoints,
        reason, total, met, tuple(conflicts), time.monotonic() - started,
    )  # fmt: skip


def narrowed(
    own: Splits,
    lattice: Lattice,
    known: npt.NDArray[np.bool_],
    midpoints: bool,
    left_out: npt.NDArray[np.bool_],
    start: tuple[npt.NDArray[Any], npt.NDArray[Any]] | None = None,
) -> tuple[Cells, npt.NDArray[np.bool_]]:
    """The cells of one column, and the splits that were not used: left out, or contradicting.

    Parameters
    ----------
    start : pair of float arrays, optional
        Ends of intervals to begin with.
    """
    low, high = start or (np.full(len(known), lattice.low), np.full(len(known), lattice.high))
    cells = unknown_cells(np.where(known, low, np.nan), np.where(known, high, np.nan))
    skipped = np.zeros(len(own.start), dtype=bool)
    use_sides(own, lattice, cells, skipped, known)
    skipped |= left_out
    if midpoints:
        use_midpoints(own, lattice, cells, skipped, known, False)
    return cells, skipped


def _sound(
    own: Splits,
    lattice: Lattice,
    known: npt.NDArray[np.bool_],
    placed: npt.NDArray[np.bool_],
    midpoints: bool,
    left_out: npt.NDArray[np.bool_],
) -> tuple[tuple[npt.NDArray[Any], npt.NDArray[Any]], npt.NDArray[np.bool_]]:
    """Intervals by what the cells in `placed` alone say, and which of them have one value left."""
    doubtful = left_out | own.any_row(~placed)
    own_known = known & placed
    cells, skipped = narrowed(own, lattice, own_known, midpoints, doubtful)
    nothing = np.full(len(known), lattice.low), np.full(len(known), lattice.high)
    if (skipped & ~doubtful).any():
        return nothing, np.zeros(len(known), dtype=bool)
    ends = (
        np.where(own_known, cells.low, lattice.low),
        np.where(own_known, cells.high, lattice.high),
    )
    return ends, placed & ((cells.low == cells.high) | ~known)


def _checked_table(
    model: Tree | Forest, table: pd.DataFrame | npt.ArrayLike
) -> npt.NDArray[np.float64]:
    if isinstance(table, pd.DataFrame):
        table = table[list(model.columns)]
    values = np.array(table, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != len(model.columns):
        raise ValueError(f"expected {len(model.columns)} columns, got shape {values.shape}")
    return values


def _checked_draws(
    n_trees: int, n_rows: int, draws: npt.ArrayLike | None
) -> npt.NDArray[np.int32] | None:
    if draws is None:
        return None
    matrix = np.asarray(draws)
    if matrix.shape != (n_trees, n_rows):
        raise ValueError(f"draws of shape {matrix.shape}, not {(n_trees, n_rows)}")
    return matrix.astype(np.int32)


def _frame(columns: tuple[str, ...], values: npt.NDArray[np.float64]) -> pd.DataFrame:
    frame = pd.DataFrame(values, columns=list(columns))
    whole = [c for c in frame if (frame[c] == np.floor(frame[c])).all()]
    return frame.astype(dict.fromkeys(whole, np.int64))
