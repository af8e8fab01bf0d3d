"""The generalised probabilistic dataset: all tables a model leaves possible (Definition 3)."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from glassleak.counting import (
    TreeRegions,
    decimal_text,
    level_table,
    project,
    sample_box,
    sample_outside,
)
from glassleak.errors import BudgetExhaustedError, ModelTooLargeError, SchemaError
from glassleak.models import Label
from glassleak.uncertainty._groups import Groups
from glassleak.uncertainty._values import model_values

if TYPE_CHECKING:
    from glassleak.uncertainty._align import Alignment

# Drawing and throwing away is faster than counting unless nearly everything is thrown away.
_KEPT = 1000
_MAX_CELLS = 200_000_000


@dataclass(frozen=True)
class Line:
    """Rows that cannot be told apart: those of one class in one leaf or rule.

    Attributes
    ----------
    group : int
        Position of the leaf or rule.
    leaf : int
        Node of the leaf, or position of the rule in its list.
    label : Label or None
        The rows' class; ``None`` where it is not published.
    rows : int
    class_number : int or None
        Position of the class in the model's classes: 1 and 1.0 may both be classes.
    """

    group: int
    leaf: int
    label: Label | None
    rows: int
    class_number: int | None = None


@dataclass(frozen=True)
class World:
    """One possible training set: a table in the model's columns, and its classes if published."""

    table: pd.DataFrame
    labels: npt.NDArray[Any] | None


class ProbabilisticDataset:
    """All tables the model leaves possible, each as probable as the others.

    Rows are described in groups: for the rows of one class in one leaf or rule, what every
    attribute can still be (Table II).  The people of a rule also satisfy a joint condition, "none
    of the rules before", which no attribute shows alone (Table IV).
    """

    def __init__(self, groups: Groups) -> None:
        self._groups = groups

    def __repr__(self) -> str:
        return (
            f"<ProbabilisticDataset: {self.n_rows:,} rows in {len(self.lines):,} groups, "
            f"{len(self._groups.schema)} attributes>"
        )

    def __str__(self) -> str:
        from glassleak.uncertainty._export import dataset_text

        return dataset_text(self)

    @property
    def groups(self) -> Groups:
        """The leaves or rules the rows are grouped by."""
        return self._groups

    @property
    def n_rows(self) -> int:
        """Rows of every possible table."""
        return int(self._groups.rows.sum())

    @property
    def lines(self) -> tuple[Line, ...]:
        """The groups of rows, leaf by leaf and class by class; empty ones are left out."""
        return tuple(self._lines())

    def _lines(self) -> Iterator[Line]:
        groups = self._groups
        classes = groups.class_rows
        for group, leaf in enumerate(groups.numbers.tolist()):
            if classes is None:
                if groups.rows[group]:
                    yield Line(group, leaf, None, int(groups.rows[group]))
                continue
            for c, rows in enumerate(classes[group].tolist()):
                if rows:
                    yield Line(group, leaf, groups.model.classes[c], rows, c)

    def remaining(self, group: int) -> tuple[int, ...]:
        """What each attribute can still be for the rows of a leaf or rule, as sets of levels."""
        groups, regions = self._groups, self._groups.regions
        if isinstance(regions, TreeRegions):
            box = regions.region(group).box
            return tuple(box.get(a, d.everything) for a, d in enumerate(regions.domains))
        assert groups.counter is not None
        return project(groups.counter.formula, regions.boxes[group], (1 << group) - 1).levels

    @property
    def table(self) -> pd.DataFrame:
        """One line per group of rows: what each attribute can still be, in words (Table II)."""
        from glassleak.uncertainty._export import dataset_table

        return dataset_table(self)

    def contains(self, table: pd.DataFrame, labels: Any = None) -> bool:
        """Whether `table` is one of the possible tables, in any order of rows.

        Parameters
        ----------
        table : DataFrame
            With the model's columns.
        labels : sequence, optional
            The class of each row; without it only the rows' values are checked.
        """
        return self.why_not(table, labels) is None

    def why_not(self, table: pd.DataFrame, labels: Any = None) -> str | None:
        """Why `table` is not a possible table, in words; ``None`` if it is one."""
        groups = self._groups
        if len(table) != self.n_rows:
            return f"{len(table):,} rows, not {self.n_rows:,}"
        values, valid = model_values(table, groups.model.columns, groups.schema)
        if not valid.all():
            return f"row {int(np.argmin(valid))} is no valid profile"
        group = self.group_of(values)
        if labels is None or groups.class_rows is None:
            held, published = np.bincount(group, minlength=len(groups)), groups.rows
            wrong = np.flatnonzero(held != published)
            if not wrong.size:
                return None
            at = int(wrong[0])
            return (
                f"{groups.noun} {groups.numbers[at]} holds {held[at]:,} rows, not {published[at]:,}"
            )
        number = self.class_numbers(labels, len(table))
        counts = np.zeros_like(groups.class_rows)
        np.add.at(counts, (group, number), 1)
        different = np.argwhere(counts != groups.class_rows)
        if not len(different):
            return None
        at, c = different[0].tolist()
        return (
            f"{groups.noun} {groups.numbers[at]} holds {counts[at, c]:,} rows of class "
            f"{groups.model.classes[c]!r}, not {groups.class_rows[at, c]:,}"
        )

    def group_of(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        """The leaf or rule (as a position) each row of model values falls into."""
        groups = self._groups
        number = np.full(int(groups.numbers.max()) + 1, -1, dtype=np.int64)
        number[groups.numbers] = np.arange(len(groups))
        try:
            return number[groups.model.apply(values)]
        except ValueError as error:
            raise SchemaError(str(error)) from None

    def class_numbers(self, labels: Any, n_rows: int) -> npt.NDArray[np.int64]:
        """Labels as positions in the model's classes."""
        classes = self._groups.model.classes
        # 1, 1.0 and True may be different classes; a table's 1 may also stand for 1.0.
        equal = {label: i for i, label in reversed(list(enumerate(classes)))}
        same = {(type(label), label): i for i, label in enumerate(classes)}
        given = np.asarray(labels).tolist()
        if len(given) != n_rows:
            raise SchemaError(f"{len(given)} labels for {n_rows} rows")
        found = [same.get((type(label), label), equal.get(label, -1)) for label in given]
        if -1 in found:
            raise SchemaError(f"the model has no class {given[found.index(-1)]!r}")
        return np.array(found, dtype=np.int64)

    def sample(
        self, n: int = 1, seed: int = 0, *, budget_seconds: float = 60, shuffle: bool = True
    ) -> list[World]:
        """Possible tables, drawn uniformly: rows in their places, every table alike.

        Parameters
        ----------
        n : int
            How many tables.
        seed : int
        budget_seconds : float
        shuffle : bool
            Put rows in random order, so that the order shows nothing of the model; otherwise they
            come leaf by leaf and class by class, as in `lines`.

        Raises
        ------
        BudgetExhaustedError
            The profiles of a rule could not be counted, so none can be drawn uniformly.
        ModelTooLargeError
            The tables would not fit into memory.
        """
        cells = n * self.n_rows * len(self._groups.model.columns)
        if cells > _MAX_CELLS:
            raise ModelTooLargeError(f"{n:,} tables of {self.n_rows:,} rows are {cells:,} values")
        rng = np.random.default_rng(seed)
        deadline = time.monotonic() + budget_seconds
        drawn = {
            group: self._draw(group, n * rows, rng, deadline)
            for group, rows in enumerate(self._groups.rows.tolist())
            if rows
        }
        return [self._world(drawn, i, rng if shuffle else None) for i in range(n)]

    def _world(
        self,
        drawn: dict[int, npt.NDArray[np.float64]],
        number: int,
        rng: np.random.Generator | None,
    ) -> World:
        groups = self._groups
        parts = [
            drawn[group][number * rows : (number + 1) * rows]
            for group, rows in enumerate(groups.rows.tolist())
            if rows
        ]
        n_columns = len(groups.model.columns)
        values = np.concatenate(parts) if parts else np.empty((0, n_columns))
        labels = None
        if groups.class_rows is not None:
            names = np.array(groups.model.classes, dtype=object)
            labels = np.concatenate([np.repeat(names, rows) for rows in groups.class_rows.tolist()])
        if rng is not None:
            order = rng.permutation(len(values))
            values, labels = values[order], None if labels is None else labels[order]
        return World(pd.DataFrame(values, columns=list(groups.model.columns)), labels)

    def _draw(
        self, group: int, size: int, rng: np.random.Generator, deadline: float
    ) -> npt.NDArray[np.float64]:
        groups, regions = self._groups, self._groups.regions
        region = regions.region(group)
        box = [region.box.get(a, d.everything) for a, d in enumerate(regions.domains)]
        if isinstance(regions, TreeRegions):
            return level_table(regions.domains, sample_box(regions.domains, box, size, rng))
        counter, count = groups.counter, groups.counts[group]
        assert counter is not None
        whole = math.prod(d.size(m) for d, m in zip(regions.domains, box, strict=True))
        # Throwing away needs no count, so it is what is left when there is none.
        if count.exact and count.low * _KEPT < whole:
            drawn = sample_outside(
                counter, region.box, (1 << group) - 1, size, rng, deadline=deadline
            )
            return level_table(regions.domains, drawn)
        kept: list[npt.NDArray[np.float64]] = []
        missing = size
        while missing:
            batch = min(1 << 16, 64 + 2 * int(missing / max(count.low / whole, 1 / _KEPT)))
            values = level_table(regions.domains, sample_box(regions.domains, box, batch, rng))
            own = values[self.group_of(values) == group][:missing]
            kept.append(own)
            missing -= len(own)
            if time.monotonic() > deadline:
                raise BudgetExhaustedError("the budget ended before all rows were drawn")
        return np.concatenate(kept)

    def align(self, table: pd.DataFrame, labels: Any = None) -> Alignment:
        """Pair the rows of a real table with the groups of rows at minimum cost.

        The cost of a pair is the number of attributes whose value the group rules out, plus one if
        the class differs; a possible table costs nothing.
        """
        from glassleak.uncertainty._align import align

        return align(self, table, labels)

    def to_csv(self, path: str | Path) -> None:
        """Write `table`; numbers of profiles are exact."""
        table = self.table
        for name in table.columns[-2:]:
            table[name] = table[name].map(decimal_text)
        table.to_csv(path, index=False)

    def to_json(self, path: str | Path | None = None) -> str:
        """Everything as JSON text, also written to `path`; large integers are strings."""
        from glassleak.uncertainty._export import dataset_json

        text = dataset_json(self)
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text
