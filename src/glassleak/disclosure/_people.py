"""The people an adversary knows, grouped by what is known of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from glassleak.errors import SchemaError
from glassleak.models import Model, MultiwayTree

# Sums of so many people stay exact in floating point.
_MOST_PEOPLE = 2**50


@dataclass(frozen=True)
class People:
    """Distinct quasi-identifiers (QIs), and how many people have each.

    Attributes
    ----------
    table : DataFrame
        One line per distinct QI, in the model's columns and in order of first appearance.
    values : (QIs, columns) float array
        The same as the model compares them: numbers, or level codes of a multiway tree.
    number : (QIs,) int array
        People who have it.
    of_line : (lines,) int array
        The QI of every line given.
    in_line : (lines,) int array
        People every line stands for.
    index : Index
        That of the table given.
    """

    table: pd.DataFrame
    values: npt.NDArray[np.float64]
    number: npt.NDArray[np.int64]
    of_line: npt.NDArray[np.intp]
    in_line: npt.NDArray[np.int64]
    index: pd.Index

    def __len__(self) -> int:
        return len(self.table)

    @property
    def total(self) -> int:
        return int(self.number.sum())


def known_people(model: Model, table: Any, people: str | npt.ArrayLike | None = None) -> People:
    """`table` as `People`.

    Parameters
    ----------
    table : DataFrame, or array in the model's columns
        One line per person of the training set; other columns are ignored.
    people : str or array, optional
        How many people each line stands for, or the column that says so.
    """
    frame = table if isinstance(table, pd.DataFrame) else _frame(model, table)
    if people is None:
        in_line = np.ones(len(frame), dtype=np.int64)
    else:
        in_line = _multiplicities(frame, people)
    frame = _columns(model, frame)
    if not len(frame):
        raise SchemaError("the table of quasi-identifiers holds no people")
    if isinstance(model, MultiwayTree):
        values = model.encode(frame).astype(np.float64)
    else:
        values = _numbers(frame)
    if values.shape[1]:
        grouped = pd.DataFrame(values).groupby(
            list(range(values.shape[1])), sort=False, dropna=False
        )
        of_line = grouped.ngroup().to_numpy().astype(np.intp)
    else:
        of_line = np.zeros(len(frame), dtype=np.intp)
    _, first = np.unique(of_line, return_index=True)
    number = np.zeros(len(first), dtype=np.int64)
    np.add.at(number, of_line, in_line)
    distinct = frame.iloc[first].reset_index(drop=True)
    return People(distinct, values[first], number, of_line, in_line, frame.index)


def _frame(model: Model, table: Any) -> pd.DataFrame:
    values = np.asarray(table)
    if values.ndim != 2 or values.shape[1] != len(model.columns):
        raise SchemaError(
            f"expected a table of {len(model.columns)} columns, got shape {values.shape}"
        )
    return pd.DataFrame(values, columns=list(model.columns))


def _columns(model: Model, frame: pd.DataFrame) -> pd.DataFrame:
    position = {str(c): i for i, c in enumerate(frame.columns)}
    if len(position) != len(frame.columns):
        raise SchemaError("the table of quasi-identifiers has two columns of one name")
    absent = [c for c in model.columns if c not in position]
    if absent:
        raise SchemaError(
            f"the table of quasi-identifiers has no column {absent[0]!r} "
            f"({len(absent)} of the model's {len(model.columns)} columns are not there)"
        )
    out = frame.iloc[:, [position[c] for c in model.columns]]
    out.columns = pd.Index(model.columns)
    return out


def _multiplicities(frame: pd.DataFrame, people: str | npt.ArrayLike) -> npt.NDArray[np.int64]:
    if isinstance(people, str):
        if people not in frame.columns:
            raise SchemaError(f"the table of quasi-identifiers has no column {people!r}")
        given = frame[people].to_numpy()
    else:
        given = np.asarray(people)
    if given.shape != (len(frame),):
        raise SchemaError(f"numbers of people for {given.shape} lines, the table has {len(frame)}")
    try:
        numbers = given.astype(np.float64)
    except (TypeError, ValueError):
        raise SchemaError("numbers of people must be whole numbers") from None
    whole = np.isfinite(numbers) & (numbers == np.rint(numbers)) & (numbers >= 1)
    if not whole.all() or numbers.sum() > _MOST_PEOPLE:
        raise SchemaError("numbers of people must be whole numbers from 1 on")
    return numbers.astype(np.int64)


def _numbers(frame: pd.DataFrame) -> npt.NDArray[np.float64]:
    out = np.empty(frame.shape)
    for i, column in enumerate(frame.columns):
        try:
            out[:, i] = frame[column].to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError):
            raise SchemaError(
                f"column {column!r} of the quasi-identifiers is not numeric; encode the table as "
                "it was for training"
            ) from None
    if np.isinf(out).any():
        raise SchemaError("the table of quasi-identifiers holds infinite values")
    return out
