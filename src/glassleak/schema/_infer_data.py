"""Guess a schema from a table.  Names are hints; every claim is checked against every row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.errors import SchemaError
from glassleak.schema._attributes import Attribute, Binary, Bins, Categorical
from glassleak.schema._infer_columns import Column, infer_column, read_column
from glassleak.schema._infer_groups import Group, Unsettled, by_names, without_names
from glassleak.schema._infer_names import free_name, hints
from glassleak.schema._schema import Guess, Schema


def infer_from_table(table: Any, columns: Sequence[str] | None = None) -> Schema:
    """See `Schema.infer`."""
    read, named = _read_table(table, columns)
    indicators = [i for i, column in enumerate(read) if column.is_indicator]
    groups, unsettled = _groups(read, indicators, named)
    in_group = {member: group for group in groups for member in group.members}
    doubts = {doubt.member: doubt for doubt in unsettled}

    taken = {column.name for column in read}
    attributes: list[Attribute] = []
    guesses: list[Guess] = []
    for i, column in enumerate(read):
        group = in_group.get(i)
        if group is not None:
            if group.members[0] == i:
                attribute, guess = _grouped(group, read, taken)
                taken.add(attribute.name)
                attributes.append(attribute)
                guesses.append(guess)
        elif column.is_indicator:
            attributes.append(Binary(column.name))
            guesses += _binary_guesses(column, doubts.get(i))
        else:
            attribute, guess = infer_column(column)
            attributes.append(attribute)
            guesses.append(guess)
    return Schema(attributes, guesses)


def _read_table(table: Any, columns: Sequence[str] | None) -> tuple[list[Column], bool]:
    """Columns of a frame or array, and whether their names mean anything."""
    if hasattr(table, "iloc") and hasattr(table, "columns"):
        if columns is not None:
            raise SchemaError("columns is for arrays; a frame has names of its own")
        names = [str(c) for c in table.columns]
        values = [np.asarray(table.iloc[:, i]) for i in range(len(names))]
        declared = [str(dtype) == "category" for dtype in table.dtypes]
        shape: tuple[int, ...] = (len(table), len(names))
    else:
        array = _as_array(table)
        shape = array.shape
        names = [f"x{i}" for i in range(shape[1])] if columns is None else [*columns]
        if len(names) != shape[1]:
            raise SchemaError(f"{len(names)} names for {shape[1]} columns")
        values, declared = list(array.T), [False] * shape[1]
    if 0 in shape:
        raise SchemaError(f"a table of {shape[0]} rows and {shape[1]} columns says nothing")
    if len(set(names)) != len(names):
        raise SchemaError("the table has two columns of the same name")
    read = [
        read_column(name, column, declared=is_declared)
        for name, column, is_declared in zip(names, values, declared, strict=True)
    ]
    return read, columns is not None or hasattr(table, "columns")


def _as_array(table: Any) -> npt.NDArray[Any]:
    try:
        array = np.asarray(table)
        if array.dtype.kind in "US" and not isinstance(table, np.ndarray):
            # numpy turns the numbers of a mixed list into text; keep them what they are.
            array = np.asarray(table, dtype=object)
    except ValueError as error:
        raise SchemaError(f"not a table: {error}") from None
    if array.ndim != 2:
        raise SchemaError(f"expected a table of two dimensions, got {array.ndim}")
    return array


def _groups(
    read: Sequence[Column], indicators: Sequence[int], named: bool
) -> tuple[list[Group], list[Unsettled]]:
    if len(indicators) < 2:
        return [], []
    # Columns that are not yes/no stay zero and unmentioned, so that positions are the table's.
    block = np.zeros((read[0].n_rows, len(read)), dtype=np.uint8, order="F")
    for i in indicators:
        numbers = read[i].numbers
        assert numbers is not None
        block[:, i] = numbers
    groups: list[Group] = []
    unsettled: list[Unsettled] = []
    if named:
        names = [column.name for column in read]
        groups, unsettled = by_names(block, hints(names, indicators), len(read))
    grouped = {member for group in groups for member in group.members}
    free = [column.is_indicator and i not in grouped for i, column in enumerate(read)]
    runs = without_names(block, free)
    in_run = {member for run in runs for member in run.members}
    return groups + runs, [doubt for doubt in unsettled if doubt.member not in in_run]


def _grouped(group: Group, read: Sequence[Column], taken: set[str]) -> tuple[Attribute, Guess]:
    columns = tuple(read[i].name for i in group.members)
    name = free_name(group.prefix or f"{columns[0]}…{columns[-1]}", taken)
    source = "column name" if group.prefix else "data"
    attribute: Attribute
    if group.patterns is None:
        attribute = Categorical(name, columns=columns, absent=group.absent)
        none = " or none of them" if group.absent else ""
        what = f"{len(columns)} one-hot columns: one{none} is 1"
    else:
        attribute = Bins(name, columns, group.patterns)
        what = f"{len(columns)} overlapping bins with {len(group.patterns)} combinations"
    return attribute, Guess(name, what, group.reason, source)


def _binary_guesses(column: Column, doubt: Unsettled | None) -> list[Guess]:
    assert column.numbers is not None
    constant = bool((column.numbers == column.numbers[0]).all())
    always = f"it is {int(column.numbers[0])} in all of {column.n_rows:,} rows: it never varies"
    seen = always if constant else f"only 0 and 1 occur in {column.n_rows:,} rows"
    guesses = [Guess(column.name, "yes or no (0 or 1)", seen, "data")]
    if doubt is not None:
        what = f"independent of the other {doubt.prefix!r} columns"
        reason = f"names suggest otherwise, the data do not settle it: {doubt.reason}"
        guesses.append(Guess(column.name, what, reason, "column name"))
    return guesses
