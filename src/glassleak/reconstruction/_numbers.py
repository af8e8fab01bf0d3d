"""Values for the numbers of a table whose rows are placed, without changing a count."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from glassleak.models import Forest, Model, Tree
from glassleak.reconstruction.values import Values, recover_values
from glassleak.reconstruction.values._lattice import lattice_of
from glassleak.reconstruction.values._told import value_details, value_statements
from glassleak.schema import Schema

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Numbers:
    """A table with values instead of intervals.

    Attributes
    ----------
    table : (rows, columns) float array
    exact : (rows, columns) bool array
        Values that are proved.
    details, statements
        As `value_details` and `value_statements` say it; empty without numbers.
    """

    table: FloatArray
    exact: BoolArray
    details: dict[str, Any] = field(default_factory=dict)
    statements: tuple[str, ...] = ()


def with_values(
    model: Model | Sequence[Model],
    schema: Schema,
    table: FloatArray,
    *,
    certain: BoolArray,
    draws: Literal["unknown"] | None = None,
    given: Collection[str] = (),
    fits: bool = True,
) -> Numbers:
    """`table` with the values that the thresholds give, every row in the leaves it was in.

    Parameters
    ----------
    certain : (rows, columns) bool array
        Cells that certainly lie between the right thresholds.
    draws : "unknown", optional
        Nobody knows which rows each tree drew.
    given : collection of str
        Columns whose values are known and are left alone.
    fits : bool
        Whether the table agrees with every count.
    """
    nothing = Numbers(table, np.zeros(table.shape, dtype=bool))
    if all(lattice_of(attribute) is None for attribute in schema):
        return nothing
    if not isinstance(model, Tree | Forest) or not _as_scikit_learn(model) or not len(table):
        return nothing
    found = recover_values(model, schema, table, draws, certain=certain)
    refined = found.table.to_numpy(dtype=np.float64, copy=True)
    untouched = [c in given for c in model.columns]
    refined[:, untouched] = table[:, untouched]
    moved = _moved(model, table, refined)
    refined[moved] = table[moved]
    exact = _exact(found, model.columns)
    exact[:, untouched] = False
    details = value_details(found, fits=fits, proved=bool(certain.any()), kept=int(moved.sum()))
    return Numbers(refined, exact & ~moved[:, None], details, value_statements(details))


def _as_scikit_learn(model: Tree | Forest) -> bool:
    """Whether values are compared as `recover_values` does: at most, in single precision."""
    trees = model.trees if isinstance(model, Forest) else (model,)
    return all(tree.precision == "float32" and tree.comparison == "<=" for tree in trees)


def _moved(model: Tree | Forest, table: FloatArray, refined: FloatArray) -> BoolArray:
    """Rows that would end in another leaf of some tree."""
    moved = np.zeros(len(table), dtype=bool)
    for tree in model.trees if isinstance(model, Forest) else (model,):
        moved |= tree.apply(table) != tree.apply(refined)
    return moved


def _exact(found: Values, columns: Sequence[str]) -> BoolArray:
    out = np.zeros((len(found.table), len(columns)), dtype=bool)
    for name in found.exact:
        out[:, columns.index(str(name))] = found.exact[name].to_numpy()
    return out
