"""One decision tree as flat arrays: the form every analysis reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from glassleak.errors import InconsistentModelError, MalformedModelError
from glassleak.models._check import check_tree, node_depths, plain
from glassleak.models._counts import Counts, Exact, frozen_array
from glassleak.models._equality import ValueEquality
from glassleak.schema import SplitEvidence

Label: TypeAlias = str | int | float | bool


@dataclass(frozen=True)
class Provenance:
    """Where a model came from and how it was trained, as far as it says so itself.

    Attributes
    ----------
    library, library_version, estimator : str
        Empty when unknown.
    settings : mapping
        Training settings that decide which facts hold (criterion, splitter, max_features, …).
    notes : tuple of str
        What a reader had to assume or work out, in words for the report.
    """

    library: str = ""
    library_version: str = ""
    estimator: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Tree(ValueEquality):
    """A binary decision tree.  Node 0 is the root.

    Attributes
    ----------
    columns, classes : tuple
        Names of the table's columns; class labels in the order of the counts.
    feature : int32 array
        Column each node splits on; -1 at leaves.
    threshold : float64 array
        Rows with ``value <= threshold`` (or ``<``, see `comparison`) go left; NaN at leaves.  The
        largest float there is stands for libraries' infinity: every number goes
        left, so that the split tells missing values from the others.
    left, right : int32 array
        Children; -1 at leaves.
    counts : Exact, Noisy or Missing
        Training rows per node and class, *with* bootstrap multiplicity.
    rows : int64 array, optional
        Training rows per node where the library publishes only totals (LightGBM).
    distinct_rows : int64 array, optional
        Distinct training rows per node (scikit-learn's ``n_node_samples``); differs from the
        counts' total only under bagging.
    missing_left : bool array, optional
        Where missing values go; ``None`` if the model has no rule for them.
    comparison : "<=" or "<"
    precision : "float32" or "float64"
        Values are rounded to this before they are compared (scikit-learn: float32).
    n_rows : int, optional
        Rows the tree was trained on.
    provenance : Provenance
    shares : (nodes, classes) float64 array, optional
        Where no counts are published but leaves still say how likely each class is: that, and 0 at
        all other nodes.  They may have been rounded, or stand for the most frequent class only.
    targets : float64 array, optional
        Regression: what each node predicts, the mean of its rows' targets (the median where the
        criterion is the absolute error).  Such trees have no classes, `counts` are `Missing`, and
        `rows` counts draws: a row drawn twice counts twice.
    spread : float64 array, optional
        Regression: how unequal the targets in each node are, as the library measures it; their
        variance under squared error, and 0 (but for rounding) where all are equal.
    """

    columns: tuple[str, ...]
    classes: tuple[Label, ...]
    feature: npt.NDArray[np.int32]
    threshold: npt.NDArray[np.float64]
    left: npt.NDArray[np.int32]
    right: npt.NDArray[np.int32]
    counts: Counts
    rows: npt.NDArray[np.int64] | None = None
    distinct_rows: npt.NDArray[np.int64] | None = None
    missing_left: npt.NDArray[np.bool_] | None = None
    comparison: Literal["<=", "<"] = "<="
    precision: Literal["float32", "float64"] = "float32"
    n_rows: int | None = None
    provenance: Provenance = field(default_factory=Provenance)
    shares: npt.NDArray[np.float64] | None = None
    targets: npt.NDArray[np.float64] | None = None
    spread: npt.NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        convert = object.__setattr__
        convert(self, "columns", plain(self.columns))
        convert(self, "classes", plain(self.classes))
        for name, dtype in (
            ("feature", np.int32),
            ("threshold", np.float64),
            ("left", np.int32),
            ("right", np.int32),
        ):
            convert(self, name, frozen_array(getattr(self, name), dtype, name))
        for name, optional_dtype in (
            ("rows", np.int64),
            ("distinct_rows", np.int64),
            ("missing_left", np.bool_),
            ("targets", np.float64),
            ("spread", np.float64),
        ):
            value = getattr(self, name)
            if value is not None:
                convert(self, name, frozen_array(value, optional_dtype, name))
        if self.shares is not None:
            convert(self, "shares", frozen_array(self.shares, np.float64, "shares", ndim=2))
        if self.comparison not in ("<=", "<"):
            raise MalformedModelError(f"unknown comparison {self.comparison!r}", "comparison")
        if self.precision not in ("float32", "float64"):
            raise MalformedModelError(f"unknown precision {self.precision!r}", "precision")
        check_tree(self)
        at_root = self._rows_at_root()
        if self.n_rows is None:
            convert(self, "n_rows", at_root)
        elif self.distinct_rows is not None and self.n_rows < int(self.distinct_rows[0]):
            raise InconsistentModelError(
                f"{self.n_rows} rows, but {at_root} distinct ones at the root", "n_rows"
            )

    def _rows_at_root(self) -> int | None:
        for published in (self.distinct_rows, self.rows):
            if published is not None:
                return int(published[0])
        return int(self.counts.totals[0]) if isinstance(self.counts, Exact) else None

    def __repr__(self) -> str:
        what = "regression" if self.is_regression else f"{len(self.classes)} classes"
        return (
            f"<Tree: {self.n_leaves} leaves, {self.n_rows} rows, {len(self.columns)} columns, "
            f"{what}>"
        )

    @property
    def n_nodes(self) -> int:
        return len(self.feature)

    @property
    def leaves(self) -> npt.NDArray[np.intp]:
        """Indices of the leaves, in node order."""
        return np.flatnonzero(self.feature < 0)

    @property
    def n_leaves(self) -> int:
        return int(np.count_nonzero(self.feature < 0))

    @property
    def is_regression(self) -> bool:
        """Whether the tree predicts a number and publishes targets."""
        return self.targets is not None

    @property
    def depth(self) -> int:
        """Length of the longest path from the root."""
        return int(node_depths(self.left, self.right).max())

    @property
    def people(self) -> npt.NDArray[np.int64] | None:
        """Training rows per node, from whichever figure the model publishes.

        Distinct rows where they are published; otherwise, under bagging, a row drawn twice counts
        twice.
        """
        if self.distinct_rows is not None:
            return self.distinct_rows
        if self.rows is not None:
            return self.rows
        return self.counts.totals if isinstance(self.counts, Exact) else None

    def apply(self, table: npt.ArrayLike) -> npt.NDArray[np.int32]:
        """The leaf each row of `table` (columns in the model's order) falls into.

        Values are rounded to `precision` before comparison, exactly as the library does it.
        """
        values = np.asarray(table)
        if values.ndim != 2 or values.shape[1] != len(self.columns):
            raise ValueError(f"expected {len(self.columns)} columns, got shape {values.shape}")
        with np.errstate(over="ignore"):  # beyond float32 a value is infinite, as in the library
            values = values.astype(np.float32 if self.precision == "float32" else np.float64)
        node = np.zeros(len(values), dtype=np.int32)
        active = np.arange(len(values)) if self.feature[0] >= 0 else np.empty(0, np.intp)
        while active.size:
            here = node[active]
            value = values[active, self.feature[here]]
            threshold = self.threshold[here]
            goes_left = value <= threshold if self.comparison == "<=" else value < threshold
            absent = np.isnan(value)
            if absent.any():
                if self.missing_left is None:
                    raise ValueError("the table has missing values, the model no rule for them")
                goes_left = np.where(absent, self.missing_left[here], goes_left)
            node[active] = np.where(goes_left, self.left[here], self.right[here])
            active = active[self.feature[node[active]] >= 0]
        return node

    def split_evidence(self) -> SplitEvidence:
        """What the splits say about the columns (for `Schema.infer`)."""
        from glassleak.models._evidence import evidence_from_trees

        return evidence_from_trees(self.columns, (self,))

    def to_json(self, path: str | Path | None = None, *, packed: bool = False) -> str:
        """The model as versioned JSON text, also written to `path` when given.

        Parameters
        ----------
        packed : bool
            Arrays as base64 and not as lists: smaller and much faster for large forests.
        """
        from glassleak.models._json import dump_model

        return dump_model(self, path, packed=packed)
