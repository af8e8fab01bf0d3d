"""The constraint-programming model of the paper's Section 6 with bagging, and its objective."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from glassleak.errors import ModelTooLargeError, UnsupportedModelError
from glassleak.models import Exact, Forest
from glassleak.reconstruction.published._instance import (
    Progress,
    RowsSolution,
    _check_splits,
    _groups,
)
from glassleak.reconstruction.published._rows_cp import _paths
from glassleak.schema import Schema

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

# A row is drawn more often than this with a probability of about 1e-5 (Section 6).
MOST_DRAWS = 7
# Building takes microseconds and hundreds of bytes for each.
MAX_VARIABLES = 4_000_000


def solve_rows_cp_bagged(
    forest: Forest,
    schema: Schema,
    n_rows: int,
    *,
    budget_seconds: float,
    seed: int = 0,
    workers: int = 2,
    progress: Progress | None = None,
) -> RowsSolution:
    r"""Find a likely training set by the published model with bagging.

    Section 6 and Appendix C of the paper, variable by variable:

    - :math:`x_{ki}` and the one-hot constraints; :math:`z_{kc}` with :math:`\sum_c z_{kc} = 1`;
    - :math:`y_{tvkc} \in \{0..7\}`, zero unless :math:`z_{kc} = 1`, with
      :math:`\sum_k y_{tvkc} = n_{tvc}`;
    - :math:`w_{tvk}`: zero forces the :math:`y_{tvkc}` to zero, one makes them add up to 1 or more
      and fixes :math:`x_k` on the leaf's path;
    - :math:`\eta_{tk} = \sum_{v,c} y_{tvkc}` and :math:`q_{tkb} = 1` exactly if
      :math:`\eta_{tk} = b`;
    - maximise :math:`\sum_{t,k,b} \log(p_b)\, q_{tkb}`, with :math:`p_b` the probability that a
      row is drawn b times.

    Numbers of distinct rows are not part of the published model.

    Parameters
    ----------
    forest : Forest
    schema : Schema
        Yes/no columns and one-hot groups.
    n_rows : int
        Rows of the training set.
    budget_seconds, seed, workers, progress
        As for `solve_rows_cp`.

    Raises
    ------
    UnsupportedModelError, ModelTooLargeError, SchemaError
    """
    started = time.monotonic()
    deadline = started + budget_seconds
    schema.check_columns(forest.columns)
    for i, tree in enumerate(forest):
        if not isinstance(tree.counts, Exact):
            raise UnsupportedModelError("exact counts per class are needed", f"trees[{i}].counts")
        _check_splits(tree, f"trees[{i}]")
    size = sum(tree.n_leaves for tree in forest) * n_rows * (len(forest.classes) + 4)
    if size > MAX_VARIABLES:
        raise ModelTooLargeError(
            f"{n_rows:,} rows and {len(forest)} trees make a model of {size:,} variables and more"
        )
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    builder = _Builder(model, cp_model.LinearExpr.sum, n_rows, len(forest.classes))
    builder.add_rows(len(forest.columns), _groups(forest, schema))
    objective: list[tuple[Any, float]] = []
    for t, tree in enumerate(forest):
        if progress is not None:
            progress("build", t / len(forest))
        if time.monotonic() > deadline:
            return _answer("unknown", started, (0, 0), forest)
        assert isinstance(tree.counts, Exact)
        draws = int(tree.counts.totals[0])
        objective += builder.add_tree(tree, tree.counts.values, _log_draws(draws, n_rows))
    model.maximize(
        cp_model.LinearExpr.weighted_sum([q for q, _ in objective], [w for _, w in objective])
    )
    sizes = (len(model.proto.variables), len(model.proto.constraints))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = max(deadline - time.monotonic(), 0.0)
    solver.parameters.num_workers = workers
    solver.parameters.random_seed = seed
    if progress is not None:
        progress("solve", 0.0)
    status = solver.solve(model)
    if status == cp_model.INFEASIBLE:
        return _answer("infeasible", started, sizes, forest)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return _answer("unknown", started, sizes, forest)
    table = np.array([[solver.value(v) for v in row] for row in builder.x], dtype=np.float64)
    labels = np.array([[solver.value(v) for v in row] for row in builder.z]).argmax(axis=1)
    table = table.reshape(n_rows, len(forest.columns))
    return RowsSolution(table, labels, "found", time.monotonic() - started, *sizes)


def _answer(status: Any, started: float, sizes: tuple[int, int], forest: Forest) -> RowsSolution:
    nothing = np.empty((0, len(forest.columns)))
    return RowsSolution(nothing, np.empty(0, np.int64), status, time.monotonic() - started, *sizes)


def _log_draws(draws: int, n_rows: int) -> list[float]:
    """Logarithm of the probability of being drawn b times, b = 0 .. 7."""
    if n_rows == 1:
        return [0.0 if b == draws else -1e3 for b in range(MOST_DRAWS + 1)]
    out = []
    for b in range(MOST_DRAWS + 1):
        ways = math.comb(draws, b)
        log = math.log(ways) if ways else -1e3
        out.append(log - b * math.log(n_rows) + (draws - b) * math.log(1 - 1 / n_rows))
    return out


class _Builder:
    """Adds the paper's variables and constraints, with bagging, to a CP-SAT model."""

    def __init__(self, model: cp_model.CpModel, sum_of: Any, n_rows: int, n_classes: int) -> None:
        self.model, self.sum_of = model, sum_of
        self.n_rows, self.n_classes = n_rows, n_classes
        self.x: list[list[cp_model.IntVar]] = []
        self.z: list[list[cp_model.IntVar]] = []

    def add_rows(self, n_columns: int, groups: tuple[tuple[tuple[int, ...], bool], ...]) -> None:
        """The x_ki, the z_kc, one-hot groups, one class per row."""
        for k in range(self.n_rows):
            row = [self.model.new_bool_var(f"x_{k}_{i}") for i in range(n_columns)]
            for columns, absent in groups:
                members = [row[i] for i in columns]
                if absent:
                    self.model.add_at_most_one(members)
                else:
                    self.model.add_exactly_one(members)
            self.x.append(row)
            label = [self.model.new_bool_var(f"z_{k}_{c}") for c in range(self.n_classes)]
            self.model.add_exactly_one(label)
            self.z.append(label)

    def add_tree(self, tree: Any, counts: Any, log_draws: list[float]) -> list[tuple[Any, float]]:
        """The y, w, eta and q of one tree; returns its terms of the objective."""
        draws_of: list[list[Any]] = [[] for _ in range(self.n_rows)]
        for leaf, ones, zeros in _paths(tree, counts):
            held: list[list[Any]] = [[] for _ in range(self.n_classes)]
            for k in range(self.n_rows):
                captured = self.model.new_bool_var("")
                own = []
                for c in np.flatnonzero(counts[leaf]).tolist():
                    y = self.model.new_int_var(0, min(MOST_DRAWS, int(counts[leaf, c])), "")
                    self.model.add(y == 0).only_enforce_if(~captured)
                    self.model.add(y == 0).only_enforce_if(~self.z[k][c])
                    own.append(y)
                    held[c].append(y)
                self.model.add(self.sum_of(own) >= 1).only_enforce_if(captured)
                path = [self.x[k][i] for i in ones] + [~self.x[k][i] for i in zeros]
                if path:
                    self.model.add_bool_and(path).only_enforce_if(captured)
                draws_of[k] += own
            for c, inside in enumerate(held):
                if inside:
                    self.model.add(self.sum_of(inside) == int(counts[leaf, c]))
        terms: list[tuple[Any, float]] = []
        for own in draws_of:
            times = self.model.new_int_var(0, MOST_DRAWS, "")
            self.model.add(times == self.sum_of(own))
            chosen = [self.model.new_bool_var("") for _ in range(MOST_DRAWS + 1)]
            self.model.add_map_domain(times, chosen)
            terms += zip(chosen, log_draws, strict=True)
        return terms
