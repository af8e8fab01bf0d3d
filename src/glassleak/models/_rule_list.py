"""Ordered rules: the first whose conditions all hold decides; the last one always holds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from glassleak.errors import InconsistentModelError, MalformedModelError
from glassleak.models._check import check_classes, check_labels, first, plain
from glassleak.models._counts import MAX_COUNT, Counts, Exact, Missing, frozen_array
from glassleak.models._equality import ValueEquality
from glassleak.models._tree import Label, Provenance
from glassleak.schema import SplitEvidence


@dataclass(frozen=True)
class Condition:
    """``low < value <= high`` for one column; a yes/no column is 1 when ``low`` is 0.5."""

    column: int
    low: float = -math.inf
    high: float = math.inf

    def __post_init__(self) -> None:
        if math.isnan(self.low) or math.isnan(self.high) or not self.low < self.high:
            raise MalformedModelError(f"empty interval ({self.low}, {self.high}]", "condition")

    def holds(self, values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """For which rows of `values` (in the model's columns) the condition holds."""
        # Values may be float32; plain Python ends would be rounded to that before comparing.
        column, low, high = values[:, self.column], np.float64(self.low), np.float64(self.high)
        inside: npt.NDArray[np.bool_] = (column > low) & (column <= high)
        return inside


@dataclass(frozen=True)
class Rule:
    """All `conditions` must hold; no conditions means "everybody else"."""

    conditions: tuple[Condition, ...]
    prediction: Label | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "conditions", tuple(self.conditions))
        if isinstance(self.prediction, float) and not math.isfinite(self.prediction):
            raise MalformedModelError(f"{self.prediction} cannot be a class label", "prediction")


@dataclass(frozen=True, eq=False, repr=False)
class RuleList(ValueEquality):
    """An ordered list of rules that ends with a rule without conditions.

    Attributes
    ----------
    columns, classes : tuple
    rules : tuple of Rule
    counts : Exact, Noisy or Missing
        Training rows *captured* by each rule (first match), per class.
    rows : int64 array, optional
        Rows captured by each rule where only totals are published.
    precision : "float32" or "float64"
    n_rows : int, optional
    provenance : Provenance
    """

    columns: tuple[str, ...]
    classes: tuple[Label, ...]
    rules: tuple[Rule, ...]
    counts: Counts
    rows: npt.NDArray[np.int64] | None = None
    precision: Literal["float32", "float64"] = "float64"
    n_rows: int | None = None
    provenance: Provenance = field(default_factory=Provenance)

    def __post_init__(self) -> None:
        for name in ("columns", "classes", "rules"):
            object.__setattr__(self, name, plain(getattr(self, name)))
        check_labels(self.columns, self.classes)
        if not self.rules or self.rules[-1].conditions:
            raise MalformedModelError("the last rule must have no conditions", "rules")
        for i, rule in enumerate(self.rules):
            if i < len(self.rules) - 1 and not rule.conditions:
                raise MalformedModelError("hides every rule after it", f"rules[{i}]")
            for condition in rule.conditions:
                if not 0 <= condition.column < len(self.columns):
                    raise MalformedModelError(
                        f"column {condition.column} of {len(self.columns)}", f"rules[{i}]"
                    )
        if not isinstance(self.counts, Missing):
            check_classes(self.classes)
            shape = (len(self.rules), len(self.classes))
            if self.counts.values.shape != shape:
                raise MalformedModelError(
                    f"counts have shape {self.counts.values.shape}, expected {shape}", "counts"
                )
        if self.rows is not None:
            object.__setattr__(self, "rows", self._checked_rows(self.rows))
        if self.precision not in ("float32", "float64"):
            raise MalformedModelError(f"unknown precision {self.precision!r}", "precision")
        captured = None if self.people is None else int(self.people.sum())
        if self.n_rows is None:
            object.__setattr__(self, "n_rows", captured)
        elif captured is not None and captured != self.n_rows:
            raise InconsistentModelError(
                f"the rules capture {captured} rows of {self.n_rows}", "n_rows"
            )

    def _checked_rows(self, given: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        rows = frozen_array(given, np.int64, "rows")
        if len(rows) != len(self.rules):
            raise MalformedModelError(f"{len(rows)} entries for {len(self.rules)} rules", "rows")
        if (at := first((rows < 0) | (rows > MAX_COUNT))) is not None:
            raise InconsistentModelError(f"{rows[at]} rows", f"rows[{at}]")
        if isinstance(self.counts, Exact) and (
            (at := first(rows != self.counts.totals)) is not None
        ):
            raise InconsistentModelError(
                f"{rows[at]} rows, but {self.counts.totals[at]} in all classes together",
                f"rows[{at}]",
            )
        return rows

    def __repr__(self) -> str:
        return (
            f"<RuleList: {len(self.rules)} rules, {self.n_rows} rows, {len(self.columns)} columns, "
            f"{len(self.classes)} classes>"
        )

    def __len__(self) -> int:
        return len(self.rules)

    @property
    def people(self) -> npt.NDArray[np.int64] | None:
        """Training rows captured by each rule, where published."""
        if isinstance(self.counts, Exact):
            return self.counts.totals
        return self.rows

    def apply(self, table: npt.ArrayLike) -> npt.NDArray[np.int32]:
        """The rule that captures each row of `table` (columns in the model's order)."""
        values = np.asarray(table)
        if values.ndim != 2 or values.shape[1] != len(self.columns):
            raise ValueError(f"expected {len(self.columns)} columns, got shape {values.shape}")
        with np.errstate(over="ignore"):
            values = values.astype(np.float32 if self.precision == "float32" else np.float64)
        captured = np.full(len(values), len(self.rules) - 1, dtype=np.int32)
        free = np.ones(len(values), dtype=bool)
        for i, rule in enumerate(self.rules[:-1]):
            hit = free.copy()
            for condition in rule.conditions:
                hit &= condition.holds(values)
            captured[hit] = i
            free &= ~hit
        return captured

    def split_evidence(self) -> SplitEvidence:
        """What the conditions say about the columns (for `Schema.infer`): thresholds only."""
        found: dict[str, set[float]] = {}
        for rule in self.rules:
            for c in rule.conditions:
                ends = {end for end in (c.low, c.high) if math.isfinite(end)}
                if ends:
                    found.setdefault(self.columns[c.column], set()).update(ends)
        size = len(self.columns)
        # Rules name what holds, rarely what does not: exclusions are neither proved nor refuted.
        return SplitEvidence(
            columns=self.columns,
            thresholds={c: np.array(sorted(v)) for c, v in found.items()},
            comparisons=frozenset(["<="]),
            together=sparse.csr_array((size, size), dtype=np.int64),
            below=np.zeros(size, dtype=np.int64),
            splits=np.zeros(size, dtype=np.int64),
            again=np.zeros(size, dtype=np.int64),
            high_rows=np.zeros(size, dtype=np.int64),
            somebody_without=lambda _: False,
            splits_without=lambda _: 0,
            smallest_leaf=0,
            n_rows=0,
            n_nodes=len(self.rules),
        )

    def to_json(self, path: str | Path | None = None, *, packed: bool = False) -> str:
        """The model as versioned JSON text; see `Tree.to_json`."""
        from glassleak.models._json import dump_model

        return dump_model(self, path, packed=packed)
