"""A decision tree over categories, with one branch per level, as ID3 and C4.5 grow it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from glassleak.errors import InconsistentModelError, MalformedModelError, SchemaError
from glassleak.models._check import check_classes, check_labels, depths_below, first, plain
from glassleak.models._counts import MAX_COUNT, Counts, Exact, Missing, frozen_array
from glassleak.models._equality import ValueEquality
from glassleak.models._tree import Label, Provenance
from glassleak.schema import SplitEvidence

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class MultiwayTree(ValueEquality):
    """A tree whose internal nodes have one branch per level of a categorical column.

    Node 0 is the root.  Numeric tables hold *level codes*: the position of a value in `levels`.

    Attributes
    ----------
    columns, classes : tuple
        Names of the table's columns; class labels in the order of the counts.
    levels : tuple of tuples
        The values each column can take.
    feature : int32 array
        Column each node asks for; -1 at leaves.
    parent : int32 array
        The node above; -1 at the root.
    branch : int32 array
        Code of the level (of the parent's column) that leads here; -1 at the root.  A level that
        no node is the branch of leads nowhere: nobody in the training set had it there.
    counts : Exact, Noisy or Missing
        Training rows per node and class.
    label : int32 array, optional
        Class each leaf predicts, as a position in `classes`; -1 where not published.  Where counts
        are published it is one of the classes with the largest count, unless the leaf is empty.
    rows, errors : int64 array, optional
        Training rows per node, and how many of them a leaf misclassifies, where that is all the
        tree publishes (the ``(a/b)`` of C4.5); -1 for errors that are not published.
    n_rows : int, optional
    provenance : Provenance
        Split-optimality facts are used only if ``estimator`` is "ID3" or "C4.5" and
        ``settings["criterion"]`` says by which measure ("entropy", "gini" or "gain_ratio").
    """

    columns: tuple[str, ...]
    classes: tuple[Label, ...]
    levels: tuple[tuple[Label, ...], ...]
    feature: npt.NDArray[np.int32]
    parent: npt.NDArray[np.int32]
    branch: npt.NDArray[np.int32]
    counts: Counts
    label: npt.NDArray[np.int32] | None = None
    rows: npt.NDArray[np.int64] | None = None
    errors: npt.NDArray[np.int64] | None = None
    n_rows: int | None = None
    provenance: Provenance = field(default_factory=Provenance)

    # Level codes are small whole numbers, exact in either; what reads thresholds wants to know.
    precision = "float64"
    comparison = "<="

    def __post_init__(self) -> None:
        convert = object.__setattr__
        convert(self, "columns", plain(self.columns))
        convert(self, "classes", plain(self.classes))
        convert(self, "levels", tuple(plain(levels) for levels in self.levels))
        for name in ("feature", "parent", "branch"):
            convert(self, name, frozen_array(getattr(self, name), np.int32, name))
        for name, dtype in (("label", np.int32), ("rows", np.int64), ("errors", np.int64)):
            value = getattr(self, name)
            if value is not None:
                convert(self, name, frozen_array(value, dtype, name))
        self._check_levels()
        self._check_shape()
        self._check_counts()
        at_root = None if self.people is None else int(self.people[0])
        if self.n_rows is None:
            convert(self, "n_rows", at_root)
        elif at_root is not None and at_root != self.n_rows:
            raise InconsistentModelError(f"{at_root} rows at the root of {self.n_rows}", "n_rows")

    def _check_levels(self) -> None:
        check_labels(self.columns, self.classes)
        if len(self.levels) != len(self.columns):
            raise MalformedModelError(
                f"levels of {len(self.levels)} columns, but {len(self.columns)} columns", "levels"
            )
        for i, levels in enumerate(self.levels):
            known = all(isinstance(v, str | int | float | bool) for v in levels)
            if not known or any(isinstance(v, float) and not math.isfinite(v) for v in levels):
                raise MalformedModelError(
                    "levels are text, numbers or yes/no, not missing values", f"levels[{i}]"
                )
            # Values of a table are looked up by equality, where 1, 1.0 and True are the same.
            if len(set(levels)) != len(levels):
                raise MalformedModelError("a level is listed twice", f"levels[{i}]")

    def _check_shape(self) -> None:
        n = len(self.feature)
        if n == 0:
            raise MalformedModelError("the tree has no nodes", "feature")
        for name in ("parent", "branch", "label", "rows", "errors"):
            value = getattr(self, name)
            if value is not None and len(value) != n:
                raise MalformedModelError(f"{len(value)} entries for {n} nodes", name)
        outside = (self.feature < -1) | (self.feature >= len(self.columns))
        if (at := first(outside)) is not None:
            raise MalformedModelError(f"{self.feature[at]} is no column index", f"feature[{at}]")
        if self.parent[0] != -1 or self.branch[0] != -1:
            raise MalformedModelError("node 0 is the root and has nothing above it", "parent[0]")
        above, branch = self.parent[1:], self.branch[1:]
        if (at := first((above < 0) | (above >= n))) is not None:
            raise MalformedModelError(f"node {above[at]} does not exist", f"parent[{at + 1}]")
        asked = self.feature[above]
        if (at := first(asked < 0)) is not None:
            raise MalformedModelError("a leaf has a child", f"parent[{at + 1}]")
        sizes = np.array([len(levels) for levels in self.levels], dtype=np.int64)
        if (at := first((branch < 0) | (branch >= sizes[asked]))) is not None:
            raise MalformedModelError(f"{branch[at]} is no level", f"branch[{at + 1}]")
        key = above.astype(np.int64) * (2**31) + branch
        order = np.argsort(key, kind="stable")
        if (at := first(np.diff(key[order]) == 0)) is not None:
            raise MalformedModelError(
                "two branches of one level", f"branch[{int(order[at + 1]) + 1}]"
            )
        if (at := first((self.feature >= 0) & (np.bincount(above, minlength=n) == 0))) is not None:
            raise MalformedModelError("asks for a column, but has no branch", f"feature[{at}]")
        climb = self.parent.astype(np.int64)
        climb[0] = 0
        if (at := first(depths_below(climb) < 0)) is not None:
            raise MalformedModelError("the root does not reach this node", f"parent[{at}]")

    def _check_counts(self) -> None:
        n = len(self.feature)
        published: list[tuple[str, npt.NDArray[np.int64]]] = []
        if not isinstance(self.counts, Missing):
            check_classes(self.classes)
            shape = (n, len(self.classes))
            if self.counts.values.shape != shape:
                raise MalformedModelError(
                    f"counts have shape {self.counts.values.shape}, expected {shape}", "counts"
                )
        if isinstance(self.counts, Exact):
            published.append(("counts", self.counts.values))
        if self.rows is not None:
            if (at := first((self.rows < 0) | (self.rows > MAX_COUNT))) is not None:
                raise InconsistentModelError(f"{self.rows[at]} rows", f"rows[{at}]")
            published.append(("rows", self.rows[:, None]))
        for name, value in published:
            below = np.zeros_like(value)
            np.add.at(below, self.parent[1:], value[1:])
            wrong = (self.feature >= 0) & (below != value).any(axis=1)
            if (at := first(wrong)) is not None:
                raise InconsistentModelError(
                    f"the node has {value[at].tolist()} rows, its branches {below[at].tolist()}",
                    f"{name}[{at}]",
                )
        people = self.people
        if self.rows is not None and people is not None and (self.rows != people).any():
            at = int(np.flatnonzero(self.rows != people)[0])
            raise InconsistentModelError(
                f"{self.rows[at]} rows, but {people[at]} in all classes together", f"rows[{at}]"
            )
        self._check_labels()

    def _check_labels(self) -> None:
        people, leaf = self.people, self.feature < 0
        if self.errors is not None:
            if people is None:
                raise MalformedModelError("errors, but nowhere how many rows", "errors")
            if (at := first((self.errors < -1) | (self.errors > people))) is not None:
                raise InconsistentModelError(f"{self.errors[at]} errors", f"errors[{at}]")
        if self.label is None:
            return
        if (at := first((self.label < -1) | (self.label >= len(self.classes)))) is not None:
            raise MalformedModelError(f"{self.label[at]} is no class", f"label[{at}]")
        if not isinstance(self.counts, Exact):
            return
        values = self.counts.values
        own = values[np.arange(len(values)), np.maximum(self.label, 0)]
        told = leaf & (self.label >= 0)
        if (at := first(told & (own < values.max(axis=1)))) is not None:
            raise InconsistentModelError(
                f"predicts class {self.label[at]}, but another is more frequent", f"label[{at}]"
            )
        if self.errors is not None:
            wrong = told & (self.errors >= 0) & (self.errors != values.sum(axis=1) - own)
            if (at := first(wrong)) is not None:
                raise InconsistentModelError("does not follow from the counts", f"errors[{at}]")

    def __repr__(self) -> str:
        return (
            f"<MultiwayTree: {self.n_leaves} leaves, {self.n_rows} rows, {len(self.columns)} "
            f"columns, {len(self.classes)} classes>"
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
    def depth(self) -> int:
        """Length of the longest path from the root."""
        climb = self.parent.astype(np.int64)
        climb[0] = 0
        return int(depths_below(climb).max())

    @property
    def people(self) -> npt.NDArray[np.int64] | None:
        """Training rows per node, where published."""
        return self.counts.totals if isinstance(self.counts, Exact) else self.rows

    @cached_property
    def _lookup(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        """Sorted keys ``parent * 2**31 + branch``, and the node each leads to."""
        key = self.parent[1:].astype(np.int64) * (2**31) + self.branch[1:]
        order = np.argsort(key, kind="stable")
        return key[order], (order + 1).astype(np.int32)

    def child(self, nodes: npt.NDArray[Any], codes: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        """The node that each level (code) of a node's column leads to; -1 for nowhere."""
        keys, child = self._lookup
        wanted = np.asarray(nodes, dtype=np.int64) * (2**31) + np.asarray(codes, dtype=np.int64)
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[at] == wanted, child[at], np.int32(-1))

    def encode(self, table: pd.DataFrame) -> npt.NDArray[np.int64]:
        """The level codes of a table of values; raises `SchemaError` for a value without level."""
        import pandas as pd

        absent = [c for c in self.columns if c not in table.columns]
        if absent:
            raise SchemaError(f"the table has no column {absent[0]!r}")
        codes = np.empty((len(table), len(self.columns)), dtype=np.int64)
        for i, (column, levels) in enumerate(zip(self.columns, self.levels, strict=True)):
            position = {level: code for code, level in enumerate(levels)}
            try:
                found, values = pd.factorize(table[column], use_na_sentinel=False)
                known = np.array([position.get(v, -1) for v in plain(values)], dtype=np.int64)
            except TypeError:  # lists, say
                raise SchemaError(f"column {column!r} holds values that are no levels") from None
            if (at := first(known < 0)) is not None:
                raise SchemaError(
                    f"column {column!r} has {values[at]!r}, which is no level of the model"
                )
            codes[:, i] = known[found]
        return codes

    def apply(self, table: npt.ArrayLike) -> npt.NDArray[np.int32]:
        """The leaf each row of level codes falls into; -1 where a branch leads nowhere."""
        values = np.asarray(table)
        if values.ndim != 2 or values.shape[1] != len(self.columns):
            raise ValueError(f"expected {len(self.columns)} columns, got shape {values.shape}")
        codes = values.astype(np.int64) if np.isfinite(values).all() else None
        if codes is None or (codes != values).any():
            raise ValueError("the table does not hold level codes")
        node = np.zeros(len(values), dtype=np.int32)
        active = np.arange(len(values)) if self.feature[0] >= 0 else np.empty(0, np.intp)
        while active.size:
            here = node[active]
            own = codes[active, self.feature[here]]
            # A code beyond every level would run into the next node's keys.
            own = np.where((own >= 0) & (own < 2**31), own, 2**31 - 1)
            node[active] = self.child(here, own)
            below = node[active]
            active = active[(below >= 0) & (self.feature[below] >= 0)]
        return node

    def cuts(self) -> dict[str, npt.NDArray[np.float64]]:
        """Level codes between which some node tells apart, per column that is asked for."""
        found = {}
        asked = self.feature[self.parent[1:]]
        for column in np.unique(asked).tolist():
            codes = np.unique(self.branch[1:][asked == column])
            cuts = np.unique(np.concatenate([codes - 0.5, codes + 0.5]))
            inside = (cuts > 0) & (cuts < len(self.levels[column]) - 1)
            found[self.columns[column]] = cuts[inside]
        return found

    def split_evidence(self) -> SplitEvidence:
        """What the splits say about the columns (for `Schema.infer`): where codes are told apart.

        The model itself names every level, so a schema made with `Ordinal` codes is better.
        """
        size = len(self.columns)
        zeros = np.zeros(size, dtype=np.int64)
        return SplitEvidence(
            columns=self.columns,
            thresholds={c: cuts for c, cuts in self.cuts().items() if cuts.size},
            comparisons=frozenset(["<="]),
            together=sparse.csr_array((size, size), dtype=np.int64),
            below=zeros,
            splits=zeros,
            again=zeros,
            high_rows=zeros,
            somebody_without=lambda _: False,
            splits_without=lambda _: 0,
            smallest_leaf=0,
            n_rows=0,
            n_nodes=self.n_nodes,
        )

    def to_json(self, path: str | Path | None = None, *, packed: bool = False) -> str:
        """The model as versioned JSON text; see `Tree.to_json`."""
        from glassleak.models._json import dump_model

        return dump_model(self, path, packed=packed)
