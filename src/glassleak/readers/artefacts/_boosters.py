"""LightGBM model text and JSON: minimum and maximum of every column, and all categories."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from glassleak.errors import ModelError
from glassleak.readers._limits import DEFAULT_LIMITS
from glassleak.readers._state import Visited
from glassleak.readers.artefacts._categories import category_finding
from glassleak.readers.artefacts._finding import Finding
from glassleak.readers.artefacts._rows import Rows
from glassleak.readers.artefacts._survey import Survey
from glassleak.readers.artefacts._words import columns, is_sized, named_columns
from glassleak.readers.files._json_text import parse_json

_RANGE = re.compile(r"\[[^\[\]:]+:[^\[\]:]+\]")
# The range of a yes/no column is nobody's value.
_YES_NO = "[0:1]"
_REMEDY = (
    "Replace the values in `feature_infos` by round limits, or clip the columns before training. "
    "LightGBM does not need them to predict."
)


def lightgbm_texts(survey: Survey, rows: Rows) -> Iterator[Finding]:
    """Model texts, in a file of their own or inside a fitted object."""
    for visited in survey.texts:
        text: str = visited.value
        infos = _line(text, "feature_infos=")
        if infos is None:
            continue
        entries = infos.split(" ")
        names = (_line(text, "feature_names=") or "").split(" ")
        ranged = [
            i for i, entry in enumerate(entries) if _RANGE.fullmatch(entry) and entry != _YES_NO
        ]
        if ranged:
            known = [names[i] for i in ranged] if len(names) == len(entries) else []
            yield _ranges(visited, len(ranged), known)
        yield from _categories_in_text(visited, text, rows)


def lightgbm_documents(survey: Survey, rows: Rows) -> Iterator[Finding]:
    """The same in LightGBM's JSON form."""
    for visited in survey.mappings:
        infos = visited.value.get("feature_infos")
        if isinstance(infos, dict):
            ranged = [k for k, v in infos.items() if _is_range(v)]
            if ranged:
                at = Visited(f"{visited.path}['feature_infos']", infos, visited.owner)
                yield _ranges(at, len(ranged), [k for k in ranged if isinstance(k, str)])
        lists = visited.value.get("pandas_categorical")
        if isinstance(lists, list) and (sized := [c for c in lists if is_sized(c) and len(c)]):
            at = Visited(f"{visited.path}['pandas_categorical']", lists, visited.owner)
            yield category_finding(at, sized, rows)


def _is_range(info: Any) -> bool:
    if not isinstance(info, dict) or "max_value" not in info:
        return False
    if (info.get("min_value"), info["max_value"]) == (0, 1):
        return False
    # Categorical columns list their codes instead.
    codes: Any = info.get("values")
    return not (is_sized(codes) and len(codes))


def _ranges(visited: Visited, n: int, names: list[str]) -> Finding:
    return Finding(
        "extreme-values",
        visited,
        "fix",
        f"The smallest and largest training value of {columns(n)} (`feature_infos`). An extreme "
        "value usually belongs to one person.",
        _REMEDY,
        {"columns": n, **named_columns(names)},
    )


def _categories_in_text(visited: Visited, text: str, rows: Rows) -> Iterator[Finding]:
    line = _line(text, "pandas_categorical:")
    reported = visited.owner is not None and "pandas_categorical" in visited.owner.attributes
    if line is None or reported:
        return
    try:
        lists: Any = parse_json(line, DEFAULT_LIMITS, visited.path)
    except ModelError:
        # The reader of the model complains about damaged text; here there is nothing to report.
        return
    sized = [c for c in lists if is_sized(c) and len(c)] if isinstance(lists, list) else []
    if sized:
        yield category_finding(visited, sized, rows)


def _line(text: str, start: str) -> str | None:
    """What follows `start` at the beginning of a line, to its end."""
    at = text.find(f"\n{start}")
    if at < 0:
        return None
    begin = at + 1 + len(start)
    end = text.find("\n", begin)
    return text[begin : len(text) if end < 0 else end].rstrip("\r")
