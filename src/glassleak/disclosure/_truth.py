"""The real values, as positions among the model's classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.errors import SchemaError
from glassleak.models import Label


def class_positions(classes: tuple[Label, ...], truth: Any, n_lines: int) -> npt.NDArray[np.int64]:
    """Position of every value; text and numbers match when they read the same.

    A table from a CSV file may hold 1 where the model says "1", or the other way round.
    """
    values = np.asarray(truth, dtype=object).tolist()
    if np.ndim(values) != 1 or len(values) != n_lines:
        raise SchemaError(f"expected {n_lines} true values, one per line")
    exact = {value: i for i, value in enumerate(classes)}
    spelled: dict[str, int] = {}
    for i, value in enumerate(classes):
        spelled[str(value)] = -1 if str(value) in spelled else i
    known: dict[Any, int] = {}
    out = np.empty(n_lines, dtype=np.int64)
    for line, value in enumerate(values):
        try:
            at = known.get(value)
            if at is None:
                at = exact.get(value, spelled.get(str(value), -1))
                known[value] = at
        except TypeError:  # a list, say
            at = -1
        if at < 0:
            raise SchemaError(f"line {line}: {value!r} is no class of the model")
        out[line] = at
    return out
