"""A table of people as the numbers a model compares."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from glassleak.errors import SchemaError
from glassleak.schema import Categorical, Schema


def model_values(
    table: pd.DataFrame, columns: tuple[str, ...], schema: Schema
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """The model's columns of `table` as numbers, and which rows are valid profiles.

    Categories may be given by name or by the code that models see.

    Raises
    ------
    SchemaError
        A column is missing or holds something that is no number.
    """
    named = {str(c): c for c in table.columns}
    if len(named) != len(table.columns):
        raise SchemaError("the table has two columns of the same name")
    missing = [c for c in columns if c not in named]
    if missing:
        raise SchemaError(f"the table lacks column {missing[0]!r}")
    position = {column: i for i, column in enumerate(columns)}
    out = np.empty((len(table), len(columns)))
    valid = np.ones(len(table), dtype=bool)
    for attribute in schema:
        where = [position[c] for c in attribute.columns]
        if isinstance(attribute, Categorical) and not attribute.one_hot:
            out[:, where[0]] = _codes(table[named[attribute.columns[0]]], attribute)
            known = np.isin(out[:, where[0]], attribute.level_values()[: len(attribute.levels), 0])
            valid &= known | (np.isnan(out[:, where[0]]) & attribute.missing)
            continue
        for column, at in zip(attribute.columns, where, strict=True):
            try:
                numbers = pd.to_numeric(table[named[column]])
                out[:, at] = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
            except (TypeError, ValueError) as error:
                raise SchemaError(f"column {column!r} is not numeric: {error}") from None
        valid &= attribute.allows(out[:, where])
    return out, valid


def _codes(values: pd.Series, attribute: Categorical) -> npt.NDArray[np.float64]:
    codes = attribute.level_values()[: len(attribute.levels), 0].tolist()
    code = dict(zip(attribute.levels, codes, strict=True))
    seen = set(codes)

    def one(value: object) -> float:
        found = code.get(value)  # type: ignore[call-overload]
        if found is not None:
            return float(found)
        if isinstance(value, int | float) and value in seen:
            return float(value)
        return np.nan if value is None or value != value or value is pd.NA else np.inf

    return np.array([one(value) for value in values.tolist()], dtype=np.float64)
