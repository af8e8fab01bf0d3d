"""What the adversary knows besides the model (Appendix G of the forest paper).

Everything becomes facts of the same kind as the model's own: a table of known columns is one more
partition of the profiles with published counts, and rows known completely are lower bounds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from glassleak.errors import SchemaError
from glassleak.knowledge._parts import Decisions, Part, Published

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Known:
    """Side knowledge about the training set.

    Parameters
    ----------
    columns : DataFrame, optional
        Some of the model's columns for *every* training row, in any order of rows.
    labels : sequence, optional
        The class of each row of `columns`, in the same order.
    rows : DataFrame, optional
        Some training rows completely, in the model's columns.
    row_labels : sequence, optional
        Their classes; needed with `rows`.
    nodes : mapping of tree number to node numbers, optional
        The adversary sees the counts of these nodes only; trees not listed are seen completely.
    labels_only : bool
        The adversary sees which class most rows of every leaf have, and how many rows there are
        in all, but no counts.
    """

    columns: pd.DataFrame | None = None
    labels: Any = None
    rows: pd.DataFrame | None = None
    row_labels: Any = None
    nodes: Mapping[int, Sequence[int]] | None = None
    labels_only: bool = False

    def __post_init__(self) -> None:
        if self.labels is not None and self.columns is None:
            raise SchemaError("known labels come with the known columns they belong to")
        if (self.rows is None) != (self.row_labels is None):
            raise SchemaError("known rows need their labels, and labels their rows")
        others = (self.columns, self.rows, self.nodes)
        if self.labels_only and any(other is not None for other in others):
            raise SchemaError("labels_only cannot be combined with other knowledge yet")

    @property
    def nothing(self) -> bool:
        """Whether no side knowledge was given.  (Tables cannot be compared with ``==``.)"""
        given = (self.columns, self.labels, self.rows, self.row_labels, self.nodes)
        return not self.labels_only and all(value is None for value in given)


def with_known_columns(facts: Published, known: Known) -> Published:
    """`facts` with the table of known columns as one more part."""
    if known.columns is None:
        return facts
    table = known.columns
    missing = [c for c in table.columns if c not in facts.columns]
    if missing:
        raise SchemaError(f"the model has no column {missing[0]!r}")
    if len(table) != facts.n_rows:
        raise SchemaError(f"columns known for {len(table)} rows, the model has {facts.n_rows}")
    where = [facts.columns.index(c) for c in table.columns]
    values = table.to_numpy(dtype=np.float64)
    distinct, group = np.unique(values, axis=0, return_inverse=True)
    group = group.reshape(-1)
    if known.labels is None:
        counts = np.bincount(group, minlength=len(distinct) + 1)[:, None]
    else:
        label = class_numbers(facts, known.labels, len(table))
        counts = np.zeros((len(distinct) + 1, len(facts.classes)), dtype=np.int64)
        np.add.at(counts, (group, label), 1)
    gaps = [_half_gap(values[:, i]) for i in range(values.shape[1])]
    decisions = _lookup_decisions(distinct, where, gaps)
    lookup = {tuple(row): i for i, row in enumerate(distinct.tolist())}

    def assign(profiles: npt.NDArray[np.float64]) -> npt.NDArray[np.int32]:
        # The last group is "none of the known combinations": nobody is in it.
        seen, inverse = np.unique(profiles[:, where], axis=0, return_inverse=True)
        number = [lookup.get(tuple(row), len(distinct)) for row in seen.tolist()]
        return np.array(number, dtype=np.int32)[inverse.reshape(-1)]

    names = (*[f"combination {i}" for i in range(len(distinct))], "any other combination")
    part = Part("known columns", names, counts.astype(np.int64), decisions, assign)
    tested = decisions.column >= 0
    thresholds = dict(facts.thresholds)
    for position in where:
        own = thresholds.get(facts.columns[position], np.empty(0))
        cuts = decisions.threshold[tested & (decisions.column == position)]
        thresholds[facts.columns[position]] = np.unique(np.concatenate([own, cuts]))
    return replace(facts, parts=(*facts.parts, part), thresholds=thresholds)


def _half_gap(values: npt.NDArray[np.float64]) -> float:
    """Half the distance between neighbouring values, at most 1/2 (whole numbers are 1 apart)."""
    levels = np.unique(values)
    return min(1.0, float(np.diff(levels).min()) if len(levels) > 1 else 1.0) / 2


def _lookup_decisions(
    distinct: npt.NDArray[np.float64], where: list[int], gaps: list[float]
) -> Decisions:
    """Tests that find which line of `distinct` (sorted) a profile matches."""
    column: list[int] = []
    threshold: list[float] = []
    low: list[int] = []
    high: list[int] = []
    group: list[int] = []

    def new(at: int, cut: float, reached: int = -1) -> int:
        for target, value in ((column, at), (threshold, cut), (low, -1), (high, -1)):
            target.append(value)  # type: ignore[arg-type]
        group.append(reached)
        return len(column) - 1

    root = new(-1, np.nan)
    nobody = new(-1, np.nan, len(distinct))
    # Each task: the node to fill, the column to test next, and the lines that still match.
    tasks = [(root, 0, 0, len(distinct))]
    while tasks:
        node, i, start, stop = tasks.pop()
        if i == len(where):
            column[node], group[node] = -1, start
            continue
        values, first = np.unique(distinct[start:stop, i], return_index=True)
        ends = [*(start + first[1:]).tolist(), stop]
        for value, begin, end in zip(values.tolist(), (start + first).tolist(), ends, strict=True):
            column[node], threshold[node] = where[i], value - gaps[i]
            inside, child = new(where[i], value + gaps[i]), new(-1, np.nan)
            low[node], high[node] = nobody, inside
            low[inside] = child
            tasks.append((child, i + 1, begin, end))
            node = inside
            if end != stop:
                node = new(-1, np.nan)
                high[inside] = node
        high[node] = nobody
    return Decisions(
        np.array(column, np.int32), np.array(threshold), np.zeros(len(column), bool),
        np.array(low, np.int32), np.array(high, np.int32), np.array(group, np.int32),
    )  # fmt: skip


def class_numbers(facts: Published, labels: Any, n_rows: int) -> npt.NDArray[np.int64]:
    """Labels as positions in the model's classes."""
    position = {label: i for i, label in enumerate(facts.classes)}
    given = np.asarray(labels).tolist()
    if len(given) != n_rows:
        raise SchemaError(f"{len(given)} labels for {n_rows} rows")
    unknown = [label for label in given if label not in position]
    if unknown:
        raise SchemaError(f"the model has no class {unknown[0]!r}")
    return np.array([position[label] for label in given], dtype=np.int64)
