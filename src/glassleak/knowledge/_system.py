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
    matrix : CSC matrix of zeros and ones
    target : int64 array
    names : list of (part, group, class)
        Where each equation comes from; part -1 marks knowledge from elsewhere.
    lower, upper : int64 arrays
    """

    cell: npt.NDArray[np.int64]
    label: npt.NDArray[np.int64]
    matrix: sp.csc_array
    target: npt.NDArray[np.int64]
    names: npt.NDArray[np.int64]
    lower: npt.NDArray[np.int64]
    upper: npt.NDArray[np.int64]

    @property
    def n_unknowns(self) -> int:
        return len(self.cell)


def linear_system(facts: Published, cells: Cells) -> System:
    """All equations: one per part, group and class that some unknown can reach.

    Raises
    ------
    InconsistentModelError
        A group with rows holds no possible cell.
    """
    cell, label = np.nonzero(cells.allowed)
    widths = [part.counts.shape[1] for part in facts.parts]
    offsets = np.cumsum([0, *[part.counts.size for part in facts.parts]])
    # Every unknown stands in exactly one equation of every part.
    equation = cells.groups[cell].astype(np.int64) * widths + offsets[:-1]
    for p, width in enumerate(widths):
        if width > 1:
            equation[:, p] += label
    target = np.concatenate([part.counts.reshape(-1) for part in facts.parts])
    names = np.concatenate([_names(p, part.counts.shape) for p, part in enumerate(facts.parts)])
    used = np.bincount(equation.reshape(-1), minlength=len(target))
    for row in np.flatnonzero((used == 0) & (target > 0)):
        raise InconsistentModelError(
            f"{target[row]} rows{_of_class(facts, names[row])}, but no possible profile reaches it",
            where(facts, names[row]),
        )
    # Groups no unknown reaches say 0 = 0, and groups without a published count say nothing.
    keep = np.flatnonzero((used > 0) & (target >= 0))
    renumber = np.full(len(target), -1, dtype=np.int64)
    renumber[keep] = np.arange(len(keep))
    rows = renumber[equation]
    stated = rows >= 0
    by_unknown = sp.csc_array(
        (
            np.ones(int(stated.sum()), dtype=np.int64),
            rows[stated],
            np.concatenate([[0], np.cumsum(stated.sum(axis=1))]),
        ),
        shape=(len(keep), len(cell)),
    )
    ceiling = np.where(target < 0, facts.n_rows, target)
    upper = ceiling[equation].min(axis=1) if len(cell) else np.empty(0, np.int64)
    return System(
        cell, label, by_unknown, target[keep], names[keep], np.zeros(len(cell), np.int64), upper
    )


def _names(part: int, shape: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """Part, group and class (-1: all classes together) of every equation of a part."""
    group, label = np.divmod(np.arange(shape[0] * shape[1]), shape[1])
    label = label if shape[1] > 1 else np.full(len(label), -1)
    return np.column_stack([np.full(len(group), part), group, label])


def _of_class(facts: Published, name: npt.NDArray[np.int64]) -> str:
    return f" of class {facts.classes[int(name[2])]!r}" if name[2] >= 0 else ""


def where(facts: Published, name: npt.NDArray[np.int64]) -> str:
    """An equation's origin in words: ``tree 3, leaf 17``."""
    part = facts.parts[int(name[0])]
    return f"{part.name}, {part.groups[int(name[1])]}"
