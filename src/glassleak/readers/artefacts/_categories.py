"""Lists of all categories that occur; a category can be one person."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from glassleak.readers._state import State, Visited
from glassleak.readers.artefacts._finding import Finding
from glassleak.readers.artefacts._rows import Rows
from glassleak.readers.artefacts._survey import Survey
from glassleak.readers.artefacts._words import column_names, columns, is_sized, items

_LABEL_ENCODERS = ("LabelEncoder", "LabelBinarizer", "MultiLabelBinarizer")
_FEW = 20
_MANY_CLASSES = 1000


def categories(survey: Survey, rows: Rows) -> Iterator[Finding]:
    """Categories of encoders, and classes of label encoders that look like identifiers."""
    classes = _class_lists(survey)
    for attribute in ("categories_", "pandas_categorical"):
        for visited, state in survey.held_by(attribute):
            lists = [
                c
                for c in items(state.attributes[attribute])
                if is_sized(c) and len(c) and not _is_numbering(c) and _key(c) not in classes
            ]
            if lists:
                yield category_finding(_at(visited, attribute), lists, rows, state)
    for visited, state in survey.held_by("classes_"):
        found = state.attributes["classes_"]
        if state.name in _LABEL_ENCODERS and is_sized(found) and is_like_people(len(found), rows):
            yield category_finding(_at(visited, "classes_"), [found], rows, state)


def category_finding(
    visited: Visited, lists: list[Any], rows: Rows, state: State | None = None
) -> Finding:
    """What `lists`, one of categories for each column, give away."""
    sizes = [len(c) for c in lists]
    like_people = sum(is_like_people(size, rows) for size in sizes)
    rare = 0
    if state is not None:
        rare = sum(len(i) for i in items(state.get("_infrequent_indices")) if is_sized(i))
    reveals = f"Every category of {columns(len(sizes))} that occurs, {sum(sizes):,} in all"
    reveals += (
        f"; {rare:,} of them are marked as rare." if rare else ". A rare one may be one person."
    )
    if like_people:
        reveals += (
            f" Columns with at least half as many categories as there are training rows: "
            f"{like_people:,}. Their categories may be names or numbers of people."
        )
    evidence = {
        "columns": len(sizes),
        "categories": sum(sizes),
        "rare_categories": rare,
        "columns_like_identifiers": like_people,
    }
    return Finding(
        "category-lists",
        visited,
        "fix" if like_people else "note",
        reveals,
        "Drop columns that identify people, and merge rare categories, before fitting."
        if like_people
        else "Check that no category names a person or a very small group; merge rare ones before "
        "fitting.",
        evidence | (column_names(state) if state is not None else {}),
        tuple(lists),
    )


def is_like_people(size: int, rows: Rows) -> bool:
    """Whether there are so many categories that they may tell people apart."""
    return size >= _FEW and any(size >= n / 2 for n in rows.counts)


def _at(visited: Visited, attribute: str) -> Visited:
    state: State = visited.value
    return Visited(f"{visited.path}.{attribute}", state.attributes[attribute], state)


def _is_numbering(values: Any) -> bool:
    """0, 1, 2, …: numbers of bins, which say nothing."""
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "iuf" or values.ndim != 1:
        return False
    return bool((values == np.arange(len(values))).all())


def _class_lists(survey: Survey) -> set[tuple[Any, ...]]:
    """The models' own class labels: they are published on purpose."""
    held = (state.attributes["classes_"] for _, state in survey.held_by("classes_"))
    return {key for key in map(_key, held) if key}


def _key(values: Any) -> tuple[Any, ...]:
    listed = items(values)
    if not 0 < len(listed) <= _MANY_CLASSES:
        return ()
    return tuple(v for v in listed if isinstance(v, str | int | float | bool))
