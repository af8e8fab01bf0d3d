"""Forests, and several models of the same people: the joint cell system.

Every tree is a partition of the people; those who share a leaf in *every* tree cannot be told
apart and form one cell.  The unknown is how many people of each class a cell holds.  Each leaf of
each tree gives one equation per class, and the known quasi-identifiers one per cell: its size.
The maximum-entropy point of that system is the estimate, its extremes are what is certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from glassleak.disclosure._people import People
from glassleak.errors import SchemaError
from glassleak.knowledge import Published, System, published
from glassleak.models import Label, Model

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class JointProblem:
    """People in the cells of several partitions.

    Attributes
    ----------
    people : People
    facts : Published
        The partitions and their counts.
    cell : (QIs,) int array
        The cell of every QI, in the order of `people`.
    size : (cells,) int array
        People of every cell.
    groups : (cells, partitions) int array
        The leaf of every partition the cell lies in.
    system : System
        Equations over (cell, class); the last partition is the cells themselves, whose equations
        say how many people each cell has.
    """

    people: People
    facts: Published
    cell: IntArray
    size: IntArray
    groups: IntArray
    system: System

    @property
    def classes(self) -> tuple[Label, ...]:
        return self.facts.classes

    @property
    def n_classes(self) -> int:
        return len(self.facts.classes)

    @property
    def number(self) -> IntArray:
        return self.people.number

    @property
    def total(self) -> int:
        return self.people.total

    @property
    def level(self) -> str:
        return "counts"

    def in_given_order(self, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """QIs are kept in the order of `people`."""
        return rows

    def table(self, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Values of the unknowns as an array of cells and classes."""
        out = np.zeros((len(self.size), self.n_classes), dtype=x.dtype)
        out[self.system.cell, self.system.label] = x
        return out


def joint_problem(model: Model | Sequence[Model], people: People) -> JointProblem:
    """Send the people through every tree.

    Raises
    ------
    UnsupportedModelError
        Trees were trained on bootstrap samples (their counts do not describe the same people), or
        counts are noisy or missing.
    SchemaError
        The people are not the training set: some leaf has another size.
    """
    facts = published(model)
    if people.total != facts.n_rows:
        raise SchemaError(
            f"{people.total:,} people given, but the model was trained on {facts.n_rows:,}"
        )
    assigned = [part.assign(people.values).astype(np.int64) for part in facts.parts]
    groups = np.column_stack(assigned)
    for p, part in enumerate(facts.parts):
        size = np.zeros(part.n_groups, dtype=np.int64)
        np.add.at(size, groups[:, p], people.number)
        wrong = np.flatnonzero(size != part.counts.sum(axis=1))
        if wrong.size:
            at = int(wrong[0])
            raise SchemaError(
                f"{part.name}, {part.groups[at]} holds {int(part.counts[at].sum()):,} people, the "
                f"table puts {size[at]:,} there: it is not (all of) the training set"
            )
    distinct, cell = np.unique(groups, axis=0, return_inverse=True)
    cell = cell.reshape(-1)
    size = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(size, cell, people.number)
    return JointProblem(people, facts, cell, size, distinct, _system(facts, distinct, size))


def _system(facts: Published, groups: IntArray, size: IntArray) -> System:
    """One equation per partition, leaf and class, and one per cell."""
    m = len(facts.classes)
    most = np.repeat(size[:, None], m, axis=1)
    for p, part in enumerate(facts.parts):
        most = np.minimum(most, part.counts[groups[:, p]])
    cell, label = np.nonzero(most > 0)
    rows, names, target = [], [], []
    offset = 0
    for p, part in enumerate(facts.parts):
        rows.append(groups[cell, p] * m + label + offset)
        group, own = np.divmod(np.arange(part.n_groups * m), m)
        names.append(np.column_stack([np.full(len(group), p), group, own]))
        target.append(part.counts.reshape(-1))
        offset += part.n_groups * m
    rows.append(cell + offset)
    names.append(
        np.column_stack([np.full(len(size), -1), np.arange(len(size)), np.full(len(size), -1)])
    )
    target.append(size)
    equation = np.column_stack(rows)
    everything = np.concatenate(target)
    # Equations no unknown is in say 0 = 0; where they do not, propagation would have no place to
    # see it, so they are kept.
    used = np.bincount(equation.reshape(-1), minlength=len(everything)) > 0
    keep = np.flatnonzero(used | (everything != 0))
    renumber = np.full(len(everything), -1, dtype=np.int64)
    renumber[keep] = np.arange(len(keep))
    starts = np.arange(0, equation.size + 1, equation.shape[1])
    matrix = sp.csc_array(
        (np.ones(equation.size, np.int64), renumber[equation].reshape(-1), starts),
        shape=(len(keep), len(cell)),
    )
    upper = most[cell, label]
    return System(
        cell, label, matrix, everything[keep], np.vstack(names)[keep],
        np.zeros(len(cell), np.int64), upper,
    )  # fmt: skip
