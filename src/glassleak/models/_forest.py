"""Several trees trained on the same rows, and what is known about how rows were drawn for each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from glassleak.errors import InconsistentModelError, MalformedModelError
from glassleak.models._check import check_labels
from glassleak.models._equality import ValueEquality
from glassleak.models._resampling import Bagging
from glassleak.models._tree import Label, Provenance, Tree
from glassleak.schema import SplitEvidence

Aggregation = Literal["mean", "sum"]


@dataclass(frozen=True, eq=False, repr=False)
class Forest(ValueEquality):
    """Trees over the same columns and classes.

    Attributes
    ----------
    trees : tuple of Tree
    bagging : Bagging
        Whether every tree saw every row, and if not, whether it can be known which it saw.
    n_rows : int, optional
        Rows of the training set (not of one tree's sample).
    aggregation : "mean" or "sum"
        Votes are averaged (forests) or added up (boosting).
    provenance : Provenance
    """

    trees: tuple[Tree, ...]
    bagging: Bagging = field(default_factory=Bagging)
    n_rows: int | None = None
    aggregation: Aggregation = "mean"
    provenance: Provenance = field(default_factory=Provenance)

    def __post_init__(self) -> None:
        object.__setattr__(self, "trees", tuple(self.trees))
        if not self.trees:
            raise MalformedModelError("the forest has no trees", "trees")
        head = self.trees[0]
        for i, tree in enumerate(self.trees):
            if tree.columns != head.columns or tree.classes != head.classes:
                raise MalformedModelError("columns or classes differ from tree 0", f"trees[{i}]")
            if tree.is_regression != head.is_regression:
                raise MalformedModelError("some trees publish targets, some do not", f"trees[{i}]")
        check_labels(head.columns, head.classes)
        if self.aggregation not in ("mean", "sum"):
            raise MalformedModelError("unknown aggregation", "aggregation")
        if self.n_rows is None and self.bagging.kind == "none":
            object.__setattr__(self, "n_rows", head.n_rows)
        self._check_rows()

    def _check_rows(self) -> None:
        self.bagging.check(len(self.trees), self.n_rows)
        for i, tree in enumerate(self.trees):
            if self.n_rows is None or tree.n_rows is None:
                continue
            if self.bagging.kind == "none" and tree.n_rows != self.n_rows:
                raise InconsistentModelError(
                    f"trained on {tree.n_rows} rows without bagging, the forest on {self.n_rows}",
                    f"trees[{i}]",
                )
            # Draws may outnumber rows (max_samples), distinct rows cannot.
            distinct = tree.distinct_rows
            if distinct is not None and int(distinct[0]) > self.n_rows:
                raise InconsistentModelError(
                    f"holds {distinct[0]} distinct rows of {self.n_rows}", f"trees[{i}]"
                )

    def __repr__(self) -> str:
        what = "regression" if self.is_regression else f"{len(self.classes)} classes"
        return (
            f"<Forest: {len(self.trees)} trees, {self.n_rows} rows, {len(self.columns)} columns, "
            f"{what}, bagging {self.bagging.kind}>"
        )

    def __len__(self) -> int:
        return len(self.trees)

    def __iter__(self) -> Iterator[Tree]:
        return iter(self.trees)

    @property
    def columns(self) -> tuple[str, ...]:
        return self.trees[0].columns

    @property
    def classes(self) -> tuple[Label, ...]:
        return self.trees[0].classes

    @property
    def is_regression(self) -> bool:
        """Whether the trees predict a number and publish targets."""
        return self.trees[0].is_regression

    def apply(self, table: npt.ArrayLike) -> npt.NDArray[np.int32]:
        """The leaf each row falls into, one column per tree."""
        return np.column_stack([tree.apply(table) for tree in self.trees])

    def split_evidence(self) -> SplitEvidence:
        """What the splits say about the columns (for `Schema.infer`)."""
        from glassleak.models._evidence import evidence_from_trees

        return evidence_from_trees(self.columns, self.trees)

    def to_json(self, path: str | Path | None = None, *, packed: bool = False) -> str:
        """The model as versioned JSON text; see `Tree.to_json`."""
        from glassleak.models._json import dump_model

        return dump_model(self, path, packed=packed)
