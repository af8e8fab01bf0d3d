"""Anything else with one entry per training row, whatever it is called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from glassleak.readers._state import Visited
from glassleak.readers.artefacts._artefact import SEVERITIES, Json, Severity
from glassleak.readers.artefacts._block import Block, block_of
from glassleak.readers.artefacts._describe import describe
from glassleak.readers.artefacts._finding import Finding, tidy
from glassleak.readers.artefacts._rows import Rows
from glassleak.readers.artefacts._structure import structure_reason
from glassleak.readers.artefacts._survey import Survey

_SHORT = 20
_PLACES = 2
_SHOWN_PLACES = 5
_LOOKED_INTO = 50
_DELETE = (
    "Remove it from the object before saving (set the attribute to None) and check that the object "
    "still predicts."
)


def row_arrays(survey: Survey, rows: Rows, claimed: set[int]) -> Iterator[Finding]:
    """Arrays, lists and mappings of as many entries as there are training rows."""
    if not rows.known:
        yield from _repeated_lengths(survey, rows, claimed)
        return
    seen: dict[tuple[object, ...], list[Finding]] = {}
    for visited in _candidates(survey, claimed):
        length = _matching_length(visited, rows)
        if length is None or _is_structure(survey, visited, length, rows):
            continue
        block = block_of(visited.value)
        if block is None:
            continue
        # Thousands of arrays at the same attribute are not looked into one by one; enough of
        # them are to notice that they are not all alike (the columns of a table, say).
        alike = seen.setdefault((*survey.place(visited), block.shape, block.dtype), [])
        if len(alike) < _LOOKED_INTO:
            name = survey.attribute(visited)
            alike.append(finding := describe(visited, name, block, length, rows))
            yield finding
            if len(alike) == _LOOKED_INTO:
                alike.sort(key=lambda f: SEVERITIES.index(f.severity))
        else:
            # For the rest the gravest of those looked into stands.
            yield replace(alike[-1], visited=visited)


def _candidates(survey: Survey, claimed: set[int]) -> Iterator[Visited]:
    for group in (survey.arrays, survey.sequences, survey.mappings):
        for visited in group:
            if id(visited.value) not in claimed:
                yield visited


def _matching_length(visited: Visited, rows: Rows) -> int | None:
    """The number of training rows the value's first or last dimension equals."""
    shape = _shape(visited.value)
    return next((n for n in (*shape[:1], *shape[-1:]) if n in rows.counts), None)


def _shape(value: Any) -> tuple[int, ...]:
    return tuple(value.shape) if isinstance(value, np.ndarray) else (len(value),)


def _is_structure(survey: Survey, visited: Visited, length: int, rows: Rows) -> bool:
    name = survey.attribute(visited)
    reason = structure_reason(name, visited.owner, length, rows.n_columns, rows.n_classes)
    return reason is not None


def _repeated_lengths(survey: Survey, rows: Rows, claimed: set[int]) -> Iterator[Finding]:
    """Without a number of rows: lengths that several arrays share for no other reason."""
    places: dict[int, dict[tuple[str, str], tuple[Visited, Block]]] = {}
    for visited in _candidates(survey, claimed):
        if isinstance(visited.value, dict):
            continue
        length = next(iter(_shape(visited.value)), 0)
        if length < _SHORT or length in rows.n_columns or length == rows.n_classes:
            continue
        if structure_reason(survey.attribute(visited), visited.owner, length):
            continue
        if survey.place(visited) in places.get(length, {}):
            continue
        block = block_of(visited.value)
        if block is not None:
            places.setdefault(length, {})[survey.place(visited)] = (visited, block)
    for length, found in places.items():
        if len(found) >= _PLACES:
            yield _repeated(length, list(found.values()))


def _repeated(length: int, found: list[tuple[Visited, Block]]) -> Finding:
    shapes = Counter("column" if block.is_column else "table" for _, block in found)
    # A table with columns of the same length beside it is how training data looks.
    severity: Severity = "fix" if shapes["table"] and shapes["column"] else "note"
    where: list[Json] = [tidy(visited.path, 100) for visited, _ in found[:_SHOWN_PLACES]]
    return Finding(
        "row-array",
        found[0][0],
        severity,
        f"{len(found)} arrays have the same length, {length:,}, which may be the number of "
        "training rows; the object does not say how many there were, so this is not certain.",
        f"Find out what these arrays are. If they have one entry per training row: {_DELETE}",
        {"length": length, "arrays": len(found), "places": where, "certain": False},
    )
