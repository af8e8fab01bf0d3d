"""The linear facts a model states about the histogram of its training set.

Unknown: how many rows of each class lie in each cell, a non-negative whole number per allowed
(cell, class).  Known: one equation per group and class, "the cells inside add up to the count".
Further knowledge (some columns known, some rows known) adds rows of the same form.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from glassleak.errors import InconsistentModelError
from glassleak.knowledge._cells import Cells
from glassleak.knowledge._parts import Published


@dataclass(frozen=True)
class System:
    """``matrix @ x == target`` over whole numbers ``lower <= x <= upper``.

    Attributes
    ----------
    cell, label : int arrays
        Which cell and class each unknown stands for.
    matrix : CSR matrix of zeros and ones
    target : int64 array
    names : list of (part, group, class)
        Where each equation comes from; part -1 marks knowledge from elsewhere.
    lower, upper : int64 arrays
    """

    cell: npt.NDArray[np.int64]
    label: npt.NDArray[np.int64]
    matrix: sp.csr_array
    target: npt.NDArray[np.int64]
    names: npt.NDArray[np.int64]
    lower: npt.NDArray[np.int64]
    upper: npt.NDArray[np.int64]

    @property
    def n_unknowns(self) -> int:
        return len(self.cell)


def linear_system(facts: Published, cells: Cells) -> System:
    """All equations, with duplicates merged.

    Raises
    ------
    InconsistentModelError
        Two groups hold the same cells but publish different counts, or a group with rows holds no
        possible cell.
    """
    cell, label = np.nonzero(cells.allowed)
    n_classes = len(facts.classes)
    offsets = np.cumsum([0, *[part.n_groups * n_classes for part in facts.parts]])
    # Every unknown stands in exactly one equation of every part.
    equation = cells.groups[cell].astype(np.int64) * n_classes + label[:, None] + offsets[:-1]
    target = np.concatenate([part.counts.reshape(-1) for part in facts.parts])
    names = np.column_stack(
        [
            np.repeat(np.arange(len(facts.parts)), np.diff(offsets)),
            np.concatenate([np.repeat(np.arange(p.n_groups), n_classes) for p in facts.parts]),
            np.concatenate([np.tile(np.arange(n_classes), p.n_groups) for p in facts.parts]),
        ]
    )
    used = np.bincount(equation.reshape(-1), minlength=len(target))
    for row in np.flatnonzero((used == 0) & (target > 0)):
        raise InconsistentModelError(
            f"{target[row]} rows of class {facts.classes[names[row, 2]]!r}, but no possible "
            "profile reaches it with that class",
            where(facts, names[row]),
        )
    keep = _distinct_equations(facts, equation, used, target, names)
    renumber = np.full(len(target), -1, dtype=np.int64)
    renumber[keep] = np.arange(len(keep))
    columns = np.repeat(np.arange(len(cell)), equation.shape[1])
    rows = renumber[equation.reshape(-1)]
    real = rows >= 0
    matrix = sp.csr_array(
        (np.ones(int(real.sum()), dtype=np.int64), (rows[real], columns[real])),
        shape=(len(keep), len(cell)),
    )
    upper = target[equation].min(axis=1) if len(cell) else np.empty(0, np.int64)
    return System(
        cell, label, matrix, target[keep], names[keep], np.zeros(len(cell), np.int64), upper
    )


def where(facts: Published, name: npt.NDArray[np.int64]) -> str:
    """An equation's origin in words: ``tree 3, leaf 17``."""
    part = facts.parts[int(name[0])]
    return f"{part.name}, {part.groups[int(name[1])]}"


def _distinct_equations(
    facts: Published,
    equation: npt.NDArray[np.int64],
    used: npt.NDArray[np.int64],
    target: npt.NDArray[np.int64],
    names: npt.NDArray[np.int64],
) -> npt.NDArray[np.int64]:
    """One representative of each set of equations over the same unknowns."""
    rng = np.random.default_rng(7)
    marks = rng.integers(0, 2**62, size=len(equation), dtype=np.int64)
    flat = equation.reshape(-1)
    order = np.argsort(flat, kind="stable")
    sums = np.zeros(len(target), dtype=np.int64)
    np.add.at(sums, flat[order], np.repeat(marks, equation.shape[1])[order])
    live = np.flatnonzero(used > 0)
    key = np.column_stack([sums[live], used[live]])
    _, first, inverse = np.unique(key, axis=0, return_index=True, return_inverse=True)
    inverse = inverse.reshape(-1)
    conflict = np.flatnonzero(target[live] != target[live[first[inverse]]])
    for i in conflict:
        one, other = live[i], live[first[inverse[i]]]
        raise InconsistentModelError(
            f"the same profiles reach {where(facts, names[one])} ({target[one]} rows of class "
            f"{facts.classes[names[one, 2]]!r}) and {where(facts, names[other])} "
            f"({target[other]} rows): the counts contradict each other",
            where(facts, names[one]),
        )
    return live[np.sort(first)]
