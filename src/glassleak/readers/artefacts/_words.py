"""Small helpers of the detectors: counting columns, naming them, looking into containers."""

from __future__ import annotations

from typing import Any

import numpy as np

from glassleak.readers._state import State
from glassleak.readers.artefacts._artefact import Json
from glassleak.readers.artefacts._finding import tidy

_SHOWN_COLUMNS = 50


def columns(n: int) -> str:
    """``1 column``, ``5 columns``."""
    return "1 column" if n == 1 else f"{n:,} columns"


def column_names(state: State) -> dict[str, Json]:
    """Evidence that names the columns a state was fitted on, where it knows them."""
    return named_columns([n for n in items(state.get("feature_names_in_")) if isinstance(n, str)])


def named_columns(names: list[str]) -> dict[str, Json]:
    """Evidence that lists `names`, the first few of them."""
    return {"column_names": [tidy(n, 60) for n in names[:_SHOWN_COLUMNS]]} if names else {}


def items(value: Any) -> list[Any]:
    """The entries of a list or one-dimensional array; nothing for any other value."""
    if isinstance(value, np.ndarray):
        return list(value.tolist()) if value.ndim == 1 else []
    return list(value) if isinstance(value, list | tuple) else []


def is_sized(value: Any) -> bool:
    """Whether `value` is a list, tuple, dict or array with a length."""
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, list | tuple | dict)
