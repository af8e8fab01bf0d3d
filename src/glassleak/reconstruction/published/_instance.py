"""The dataset reconstruction problem of the paper's Section 5, read off a forest and a schema."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from glassleak.errors import ModelTooLargeError, UnsupportedModelError
from glassleak.models import Exact, Forest, Tree
from glassleak.schema import Binary, Categorical, Schema

IntArray: TypeAlias = npt.NDArray[np.int64]
Progress: TypeAlias = Callable[[str, float], None]
Status: TypeAlias = Literal["found", "infeasible", "unknown"]

# Every row becomes hundreds of variables; a file may claim 2**40 of them.
MAX_ROWS = 1_000_000


@dataclass(frozen=True)
class RowsSolution:
    """What a row formulation answered.

    Attributes
    ----------
    table : (rows, columns) float array
        One training set that reproduces every count, columns in the forest's order and rows
        sorted by class; no rows unless `status` is ``"found"``.
    labels : int array
        Each row's class, as an index into the forest's classes.
    status : "found", "infeasible" or "unknown"
        ``"unknown"``: the budget was used up.
    seconds : float
        From the call to the answer, the time to build the model included.
    n_variables, n_constraints : int
        Size of the model given to the solver; 0 if the budget ended before it was built.
    """

    table: npt.NDArray[np.float64]
    labels: IntArray
    status: Status
    seconds: float
    n_variables: int
    n_constraints: int


@dataclass(frozen=True)
class Instance:
    """The problem in the paper's terms, without bagging (``B = {1}``).

    Attributes
    ----------
    trees : tuple of Tree
    counts : tuple of (nodes, classes) int arrays
        The paper's n_tvc, one array per tree.
    labels : int array
        The class of every row.  The rows' order is free, so the z_kc are constants: class by class
        (Section 6, "Model simplifications when bagging is deactivated").
    n_columns : int
    groups : tuple of (columns, absent)
        The paper's *vects*: columns of which exactly one is 1, or at most one if `absent`.
    """

    trees: tuple[Tree, ...]
    counts: tuple[IntArray, ...]
    labels: IntArray
    n_columns: int
    groups: tuple[tuple[tuple[int, ...], bool], ...]

    @property
    def n_rows(self) -> int:
        return len(self.labels)

    @property
    def class_totals(self) -> IntArray:
        """Rows per class."""
        totals: IntArray = self.counts[0][0]
        return totals

    def reproduces(self, table: npt.NDArray[np.float64]) -> bool:
        """Whether `table`, with the instance's labels, gives every count and keeps every group."""
        for columns, absent in self.groups:
            ones = table[:, columns].sum(axis=1)
            if not ((ones == 1) | (absent & (ones == 0))).all():
                return False
        for tree, counts in zip(self.trees, self.counts, strict=True):
            reached = np.zeros_like(counts)
            np.add.at(reached, (tree.apply(table), self.labels), 1)
            if (reached[tree.leaves] != counts[tree.leaves]).any():
                return False
        return True

    def answer(
        self,
        status: Status,
        started: float,
        size: tuple[int, int],
        table: npt.NDArray[np.float64] | None = None,
    ) -> RowsSolution:
        """Wrap up a solver's answer; without a `table` there are no rows."""
        found = table if table is not None else np.empty((0, self.n_columns))
        labels = self.labels[: len(found)]
        return RowsSolution(found, labels, status, time.monotonic() - started, *size)


def instance_of(forest: Forest, schema: Schema) -> Instance:
    """The instance that `forest` publishes.

    Raises
    ------
    UnsupportedModelError
        Bagging, counts that are not exact numbers of rows, attributes other than yes/no columns
        and one-hot groups, or a split that does not separate 0 from 1.
    ModelTooLargeError
        More rows than any row formulation could hold.
    SchemaError
        The schema's columns are not the forest's.
    """
    if forest.bagging.kind != "none":
        raise UnsupportedModelError("the row formulations cover forests without bagging", "bagging")
    schema.check_columns(forest.columns)
    counts = tuple(_counts(tree, f"trees[{i}]") for i, tree in enumerate(forest))
    for i, tree in enumerate(forest):
        _check_splits(tree, f"trees[{i}]")
    totals = counts[0][0]
    if int(totals.sum()) > MAX_ROWS:
        raise ModelTooLargeError(f"{int(totals.sum()):,} rows, one set of variables each")
    labels = np.repeat(np.arange(len(totals)), totals)
    return Instance(forest.trees, counts, labels, len(forest.columns), _groups(forest, schema))


def _counts(tree: Tree, place: str) -> IntArray:
    if not isinstance(tree.counts, Exact):
        raise UnsupportedModelError("exact counts per class are needed", f"{place}.counts")
    for published in (tree.rows, tree.distinct_rows):
        if published is not None and (published != tree.counts.totals).any():
            raise UnsupportedModelError(
                "the counts are not numbers of rows: rows were weighted", f"{place}.counts"
            )
    return tree.counts.values


def _groups(forest: Forest, schema: Schema) -> tuple[tuple[tuple[int, ...], bool], ...]:
    position = {column: i for i, column in enumerate(forest.columns)}
    groups = []
    for attribute in schema:
        if isinstance(attribute, Binary):
            continue
        if not (isinstance(attribute, Categorical) and attribute.one_hot):
            raise UnsupportedModelError(
                f"attribute {attribute.name!r} is {attribute.kind}; the published formulations "
                "cover yes/no columns and one-hot groups"
            )
        groups.append((tuple(position[c] for c in attribute.columns), attribute.absent))
    return tuple(groups)


def _check_splits(tree: Tree, place: str) -> None:
    """The paper's left branch is "0" and its right branch "1"; other thresholds mean neither."""
    cut = tree.threshold
    separates = (cut >= 0) & (cut < 1) if tree.comparison == "<=" else (cut > 0) & (cut <= 1)
    wrong = np.flatnonzero((tree.feature >= 0) & ~separates)
    if wrong.size:
        raise UnsupportedModelError(
            f"a split at {cut[wrong[0]]} does not separate 0 from 1", f"{place}.nodes[{wrong[0]}]"
        )
