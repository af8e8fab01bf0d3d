"""Rows the adversary knows completely: they are there, and they leave nothing open."""

from __future__ import annotations

import numpy as np

from glassleak.errors import InconsistentModelError, SchemaError
from glassleak.knowledge import Cells, Known, Published, System, class_numbers
from glassleak.uncertainty.joint._piece import IntArray


def given_in_groups(facts: Published, known: Known) -> list[IntArray]:
    """Known rows per group and class, for every part."""
    shape = len(facts.classes)
    if known.rows is None:
        return [np.zeros((part.n_groups, shape), dtype=np.int64) for part in facts.parts]
    groups, label = _placed(facts, known)
    found = []
    for p, part in enumerate(facts.parts):
        taken = np.zeros((part.n_groups, shape), dtype=np.int64)
        np.add.at(taken, (groups[:, p], label), 1)
        found.append(taken)
    return found


def given_rows(facts: Published, cells: Cells, system: System, known: Known) -> IntArray:
    """Known rows per unknown."""
    given = np.zeros(system.n_unknowns, dtype=np.int64)
    if known.rows is None:
        return given
    groups, label = _placed(facts, known)
    cell_of = {tuple(row): i for i, row in enumerate(cells.groups.tolist())}
    pairs = zip(system.cell.tolist(), system.label.tolist(), strict=True)
    unknown_of = {pair: u for u, pair in enumerate(pairs)}
    for i, row in enumerate(groups.tolist()):
        at = unknown_of.get((cell_of.get(tuple(row), -1), int(label[i])))
        if at is None:
            raise InconsistentModelError(
                "this row cannot be in the training set of the model", f"known row {i}"
            )
        given[at] += 1
    return given


def _placed(facts: Published, known: Known) -> tuple[IntArray, IntArray]:
    """The group of every known row in every part, and its class."""
    assert known.rows is not None
    missing = [c for c in facts.columns if c not in known.rows.columns]
    if missing:
        raise SchemaError(f"the known rows have no column {missing[0]!r}")
    values = known.rows.loc[:, list(facts.columns)].to_numpy(dtype=np.float64)
    label = class_numbers(facts, known.row_labels, len(values))
    groups = np.column_stack([part.assign(values) for part in facts.parts])
    return groups.astype(np.int64), label
