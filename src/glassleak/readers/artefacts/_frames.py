"""Data frames, series, indexes and sparse matrices kept in a fitted object."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from glassleak.readers._state import State
from glassleak.readers.artefacts._artefact import Json, Severity
from glassleak.readers.artefacts._finding import Finding, tidy
from glassleak.readers.artefacts._names import is_table, is_target
from glassleak.readers.artefacts._rows import Rows
from glassleak.readers.artefacts._structure import structure_reason
from glassleak.readers.artefacts._survey import Survey, Table
from glassleak.readers.artefacts._tables import DELETE, KEEPS_ROWS, MANY_VALUES, row_keeper, whose


def frames(survey: Survey, rows: Rows) -> Iterator[Finding]:
    """Every container of another library that holds rows."""
    for table in survey.tables:
        name, owner = survey.attribute(table.visited), table.visited.owner
        n_rows = _length(table, rows)
        index, column = _is_index(table), _is_column(table)
        fits = n_rows is not None and n_rows in rows.counts
        if index and not fits:
            # An index is as often the list of column names; only one that fits the rows counts.
            continue
        if table.sparse and structure_reason(name, owner, n_rows or 0) is not None:
            continue
        keeper = row_keeper(name, owner)
        texts = _one_text_per_row(table, n_rows)
        sure = fits or keeper is not None or is_table(name, owner) or is_target(name, owner)
        whole_rows = not (index or column)
        severity: Severity = "refer" if sure and (whole_rows or texts) else "fix"
        yield Finding(
            _kind(whole_rows, sure, texts),
            table.visited,
            severity,
            _words(table, name, n_rows, rows, keeper, texts),
            KEEPS_ROWS if keeper else DELETE,
            _evidence(table, n_rows, texts),
        )


def _kind(whole_rows: bool, sure: bool, texts: bool) -> str:
    if whole_rows:
        return "training-table" if sure else "retained-table"
    return "row-identifiers" if texts else "row-array"


def _words(
    table: Table, name: str, n_rows: int | None, rows: Rows, keeper: str | None, texts: bool
) -> str:
    kind = tidy(table.state.name, 40)
    what = "A sparse matrix" if table.sparse else f"A {table.state.package} {kind}"
    size = f"of {n_rows:,} rows" if n_rows is not None else "whose size could not be read"
    held = f" as `{tidy(name, 60)}`" if name else ""
    words = f"{what} {size} is stored in the object{held}"
    words += whose(n_rows, rows) if n_rows is not None else ""
    words += f": {keeper}." if keeper else ": its values can be read without any attack."
    if texts:
        words += " It has a different text for each row, which may be names or identifiers."
    return words


def _evidence(table: Table, n_rows: int | None, texts: bool) -> dict[str, Json]:
    evidence: dict[str, Json] = {"type": tidy(table.state.type_name, 80)}
    if n_rows is not None:
        evidence["rows"] = n_rows
    shape = _sparse_shape(table)
    if shape:
        evidence["shape"] = [*shape]
    if texts:
        evidence["different_text_for_each_row"] = True
    return evidence


def _is_index(table: Table) -> bool:
    return table.state.name.endswith("Index")


def _is_column(table: Table) -> bool:
    name = table.state.name
    return not table.sparse and (
        name in ("Series", "Categorical", "ChunkedArray") or name.endswith("Array")
    )


def _length(table: Table, rows: Rows) -> int | None:
    """Rows of a container: the training rows if a dimension inside fits them, else the longest."""
    shape = _sparse_shape(table)
    if shape:
        return shape[0]
    lengths: set[int] = set()
    for part in table.parts:
        value = part.value
        if isinstance(value, np.ndarray):
            lengths.update(value.shape)
        elif isinstance(value, State) and value.name == "range":
            lengths.add(_range_length(value))
        elif isinstance(value, list):
            lengths.add(len(value))
    fitting = [n for n in rows.counts if n in lengths]
    return fitting[0] if fitting else (max(lengths, default=0) or None)


def _sparse_shape(table: Table) -> tuple[int, ...]:
    shape = table.state.get("_shape")
    if not table.sparse or not isinstance(shape, tuple | list) or not 0 < len(shape) <= 2:
        return ()
    return tuple(shape) if all(isinstance(s, int) and 0 <= s < 2**40 for s in shape) else ()


def _range_length(state: State) -> int:
    bounds = state.args or state.get("__state__")
    if not isinstance(bounds, tuple | list) or len(bounds) != 3:
        return 0
    if not all(isinstance(b, int) and abs(b) < 2**40 for b in bounds) or not bounds[2]:
        return 0
    return len(range(*bounds))


def _one_text_per_row(table: Table, n_rows: int | None) -> bool:
    """Whether a column or index holds a different text for every row."""
    if n_rows is None or n_rows < MANY_VALUES:
        return False
    for part in table.parts:
        value = part.value
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "OU":
            continue
        if not value.ndim or not value.size:
            continue
        for column in value.reshape(-1, value.shape[-1]):
            if len(column) == n_rows:
                texts = {v for v in column.tolist() if isinstance(v, str)}
                if len(texts) == n_rows:
                    return True
    return False
