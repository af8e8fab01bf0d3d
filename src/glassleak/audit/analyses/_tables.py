"""Tables the user supplied, in the form a model can be asked about."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from glassleak.errors import AuditError
from glassleak.models import Label, Model, MultiwayTree


class TableError(AuditError):
    """A table does not fit the model; the analysis that needs it is not carried out."""


def class_column(data: pd.DataFrame, model: Model) -> str | None:
    """The one column besides the model's that holds its classes and nothing else."""
    classes: set[Label] = set(model.classes)
    fits = []
    for column in (c for c in map(str, data.columns) if c not in model.columns):
        try:
            if column in data and set(pd.unique(data[column]).tolist()) <= classes:
                fits.append(column)
        except TypeError:  # lists, say
            continue
    return fits[0] if len(fits) == 1 else None


def model_table(table: pd.DataFrame, model: Model, name: str) -> pd.DataFrame:
    """The model's columns, as numbers (or as the levels a multiway tree names).

    Raises
    ------
    TableError
    """
    absent = [c for c in model.columns if c not in table.columns]
    if absent:
        raise TableError(f"the {name} have no column {absent[0]!r} of the model")
    if not len(table):
        raise TableError(f"the {name} have no rows")
    chosen = table.loc[:, list(model.columns)]
    if isinstance(model, MultiwayTree):
        return chosen
    try:
        return chosen.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise TableError(
            f"the {name} are not in the form the model was trained on: {error}"
        ) from None


def labels_of(table: pd.DataFrame, target: str, model: Model, name: str) -> npt.NDArray[Any]:
    """The class of every row as the model spells it (a file may hold ``1`` for ``"1"``).

    Raises
    ------
    TableError
    """
    if target not in table.columns:
        raise TableError(f"the {name} have no column {target!r}")
    given = table[target].tolist()
    spelled = {_spelling(label): label for label in model.classes}
    try:
        found = [spelled[_spelling(value)] for value in given]
    except KeyError as error:
        raise TableError(
            f"column {target!r} of the {name} holds {error.args[0]!r}, which is no class of the "
            "model"
        ) from None
    text = any(isinstance(label, str) for label in model.classes)
    return np.array(found, dtype=object if text else None)


def _spelling(value: object) -> str:
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, int | float | np.number) and float(value).is_integer():
        return str(int(value))
    return str(value)
