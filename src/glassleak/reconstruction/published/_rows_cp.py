"""The constraint-programming model of the paper's Section 6, simplified for "no bagging"."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from glassleak.errors import GlassleakError, ModelTooLargeError
from glassleak.models import Forest, Tree
from glassleak.models._check import node_depths
from glassleak.reconstruction.published._instance import (
    Instance,
    IntArray,
    Progress,
    RowsSolution,
    instance_of,
)
from glassleak.schema import Schema

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

# CP-SAT with two workers was seen to take about 200 bytes for each: 8 GB.
MAX_LITERALS = 40_000_000


def solve_rows_cp(
    forest: Forest,
    schema: Schema,
    *,
    budget_seconds: float,
    seed: int = 0,
    workers: int = 2,
    progress: Progress | None = None,
) -> RowsSolution:
    r"""Find a training set by the published constraint-programming model.

    Section 6 of the paper, with "Model simplifications when bagging is deactivated" and the
    implementation notes of Appendix C:

    - :math:`x_{ki} \in \{0, 1\}`, the value of column i in row k;
    - :math:`z_{kc}` are constants (rows are sorted by class), so :math:`y_{tvkc}` is zero unless c
      is the class of row k: one binary :math:`y_{tvk}` per tree, leaf and row remains, which is
      also the :math:`w_{tvk}` of Appendix C.  Leaves without rows of the class get no variable;
    - one-hot: :math:`\sum_{i \in w} x_{ki} = 1` for every group (at most 1 where the schema allows
      the absent level, which the paper does not have);
    - every leaf holds its rows: :math:`\sum_k y_{tvkc} = n_{tvc}`;
    - every row is in one leaf of every tree: :math:`\sum_v y_{tvk} = 1` (:math:`q_{tk1} = 1`);
    - if :math:`y_{tvk} = 1` then :math:`x_{ki} = 1` for i in :math:`\Phi_v^+` and
      :math:`x_{ki} = 0` for i in :math:`\Phi_v^-`.

    The paper breaks the rows' symmetry in its linear program only (equation 9), so nothing breaks
    it here.

    Parameters
    ----------
    forest : Forest
        Trained without bagging, with exact counts.
    schema : Schema
        Yes/no columns and one-hot groups.
    budget_seconds : float
        For building and solving together; CP-SAT may overrun it by seconds while it presolves.
    seed, workers : int
        Of OR-Tools CP-SAT.  With more than one worker runs are not repeatable.
    progress : callable, optional
        ``progress(step, share_done)`` with the steps ``"build"`` and ``"solve"``; raise from it
        to cancel.

    Raises
    ------
    UnsupportedModelError
        See `instance_of`.
    ModelTooLargeError
        The model would need more memory than there may be.
    """
    started = time.monotonic()
    deadline = started + budget_seconds
    instance = instance_of(forest, schema)
    sizes = [_literals(instance, t) for t in range(len(instance.trees))]
    if sum(sizes) > MAX_LITERALS:
        raise ModelTooLargeError(
            f"{instance.n_rows:,} rows and {len(forest)} trees make a model of {sum(sizes):,} "
            "literals"
        )
    # Slow to load, which users of everything else need not wait for.
    from ortools.sat.python import cp_model

    builder = _Builder(instance, cp_model.CpModel(), cp_model.LinearExpr.sum)
    builder.add_rows()
    for t in range(len(instance.trees)):
        if progress is not None:
            progress("build", t / len(instance.trees))
        if not builder.add_tree(t, deadline):
            return instance.answer("unknown", started, (0, 0))
    size = (builder.n_variables, builder.n_constraints)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = max(deadline - time.monotonic(), 0.0)
    solver.parameters.num_workers = workers
    solver.parameters.random_seed = seed
    if progress is not None:
        progress("solve", 0.0)
    status = solver.solve(builder.model)
    if status == cp_model.INFEASIBLE:
        return instance.answer("infeasible", started, size)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return instance.answer("unknown", started, size)
    table = np.array([[solver.value(v) for v in row] for row in builder.x], dtype=np.float64)
    table = table.reshape(instance.n_rows, instance.n_columns)
    if not instance.reproduces(table):
        raise GlassleakError("CP-SAT's answer does not reproduce the counts: a bug, please report")
    return instance.answer("found", started, size, table)


def _literals(instance: Instance, t: int) -> float:
    """Number of (variable, split) pairs that tree `t` brings into the model."""
    tree = instance.trees[t]
    depths = node_depths(tree.left, tree.right)[tree.leaves].astype(np.float64)
    rows = (instance.counts[t][tree.leaves] > 0) @ instance.class_totals.astype(np.float64)
    return float((depths + 1) @ rows)


@dataclass
class _Builder:
    """Adds the paper's variables and constraints to a CP-SAT model."""

    instance: Instance
    model: cp_model.CpModel
    sum_of: Callable[[list[cp_model.IntVar]], cp_model.LinearExpr]
    x: list[list[cp_model.IntVar]] = field(default_factory=list)
    n_variables: int = 0
    n_constraints: int = 0

    def add_rows(self) -> None:
        """The x_ki and the one-hot constraints."""
        for k in range(self.instance.n_rows):
            row = [self._variable(f"x_{k}_{i}") for i in range(self.instance.n_columns)]
            for columns, absent in self.instance.groups:
                members = [row[i] for i in columns]
                if absent:
                    self.model.add_at_most_one(members)
                else:
                    self.model.add_exactly_one(members)
                self.n_constraints += 1
            self.x.append(row)

    def add_tree(self, t: int, deadline: float) -> bool:
        """The y_tvk, the splits they imply, their sums; False if the deadline came first."""
        tree, counts = self.instance.trees[t], self.instance.counts[t]
        labels = self.instance.labels
        rows_of = [np.flatnonzero(labels == c).tolist() for c in range(counts.shape[1])]
        leaf_of_row: list[list[cp_model.IntVar]] = [[] for _ in labels]
        for leaf, ones, zeros in _paths(tree, counts):
            if time.monotonic() > deadline:
                return False
            for c in np.flatnonzero(counts[leaf]).tolist():
                inside = []
                for k in rows_of[c]:
                    y = self._captured(f"y_{t}_{leaf}_{k}", k, ones, zeros)
                    inside.append(y)
                    leaf_of_row[k].append(y)
                self._sum(inside, int(counts[leaf, c]))
        for choices in leaf_of_row:
            self._sum(choices, 1)
        return True

    def _captured(self, name: str, k: int, ones: list[int], zeros: list[int]) -> cp_model.IntVar:
        y = self._variable(name)
        row = self.x[k]
        conditions = [row[i] for i in ones] + [~row[i] for i in zeros]
        if conditions:
            self.model.add_bool_and(conditions).only_enforce_if(y)
            self.n_constraints += 1
        return y

    def _sum(self, variables: list[cp_model.IntVar], total: int) -> None:
        if variables:
            self.model.add(self.sum_of(variables) == total)
        else:
            # An empty sum cannot be anything but 0: the empty clause says "contradiction".
            self.model.add_bool_or([])
        self.n_constraints += 1

    def _variable(self, name: str) -> cp_model.IntVar:
        self.n_variables += 1
        return self.model.new_bool_var(name)


def _paths(tree: Tree, counts: IntArray) -> Iterator[tuple[int, list[int], list[int]]]:
    r"""Every leaf v that holds rows, with :math:`\Phi_v^+` and :math:`\Phi_v^-` (Section 5)."""
    parent = np.full(tree.n_nodes, -1, dtype=np.int64)
    internal = np.flatnonzero(tree.feature >= 0)
    parent[tree.left[internal]] = internal
    parent[tree.right[internal]] = internal
    for leaf in tree.leaves.tolist():
        if not counts[leaf].any():
            continue
        ones: set[int] = set()
        zeros: set[int] = set()
        child, node = leaf, int(parent[leaf])
        while node >= 0:
            (ones if tree.right[node] == child else zeros).add(int(tree.feature[node]))
            child, node = node, int(parent[node])
        yield leaf, sorted(ones), sorted(zeros)
