"""The mixed-integer linear program of the paper's Appendix B."""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from glassleak.errors import ModelTooLargeError
from glassleak.models import Forest
from glassleak.models._check import node_depths
from glassleak.reconstruction.published._instance import (
    Instance,
    Progress,
    RowsSolution,
    instance_of,
)
from glassleak.schema import Schema

# Entries of the constraint matrix; HiGHS keeps several copies of it.
MAX_ENTRIES = 50_000_000
# Powers of two up to 2**23 as coefficients: beyond, HiGHS' tolerances are wider than the steps.
MAX_ORDERED_COLUMNS = 24


def solve_rows_milp(
    forest: Forest,
    schema: Schema,
    *,
    budget_seconds: float,
    seed: int = 0,
    workers: int = 2,  # noqa: ARG001 - the same signature as solve_rows_cp
    progress: Progress | None = None,
) -> RowsSolution:
    r"""Find a training set by the published linear program, with HiGHS (the paper used Gurobi).

    Appendix B, for forests without bagging.  Variables: :math:`x_{ki}` and :math:`\lambda_{tdk}`
    binary, :math:`y_{tvk} \in [0, 1]` for every node.  Constraints: one-hot groups; one unit of
    flow per row and tree (2, as bounds) that splits at every node (3) to the side
    :math:`\lambda_{tdk}` says (4, 5) and the value of the column says (6, 7); the counts of every
    node and class (8); rows of a class in ascending order (9).

    Two departures, neither of which changes the set of solutions up to the order of rows: the
    schema may allow an absent level (at most 1 instead of exactly 1), and (9) compares the last 24
    columns only, whose powers of two floating-point arithmetic can tell apart.

    Parameters
    ----------
    forest, schema, progress
        As for `solve_rows_cp`.
    budget_seconds : float
        For building and solving together; HiGHS may overrun it while it presolves.
    seed : int
        SciPy hands no seed to HiGHS.  Any other than 0 shuffles the order of the variables, which
        moves the search just as well.
    workers : int
        Not used: SciPy gives no say in HiGHS' threads.

    Notes
    -----
    HiGHS works in floating point: ``"infeasible"`` is its verdict within tolerances, not a proof.
    A table is returned only after it was rounded and reproduced every count; where it did not, the
    status is ``"unknown"``.
    """
    started = time.monotonic()
    deadline = started + budget_seconds
    instance = instance_of(forest, schema)
    if not instance.n_rows:
        return instance.answer("found", started, (0, 0), np.empty((0, instance.n_columns)))
    _check_size(instance)
    if progress is not None:
        progress("build", 0.0)
    matrix, low, high, binary, fixed = _program(instance)
    size = (matrix.shape[1], matrix.shape[0])
    remaining = deadline - time.monotonic()
    if remaining <= 0:
        return instance.answer("unknown", started, size)
    if progress is not None:
        progress("solve", 0.0)
    order = np.arange(size[0]) if not seed else np.random.default_rng(seed).permutation(size[0])
    status, point = _highs(
        matrix[:, order], low, high, binary[order], fixed[order], time_limit=remaining
    )
    if status == 2:
        return instance.answer("infeasible", started, size)
    if point is not None:
        values = np.empty(size[0])
        values[order] = point
        flat = np.rint(values[: instance.n_columns * instance.n_rows])
        table = np.ascontiguousarray(flat.reshape(instance.n_columns, instance.n_rows).T)
        if instance.reproduces(table):
            return instance.answer("found", started, size, table)
    return instance.answer("unknown", started, size)


def _check_size(instance: Instance) -> None:
    n_nodes = sum(tree.n_nodes for tree in instance.trees)
    n_classes = instance.counts[0].shape[1]
    entries = instance.n_rows * (12 * n_nodes + 3 * instance.n_columns) + n_nodes * n_classes
    if entries > MAX_ENTRIES:
        raise ModelTooLargeError(
            f"{instance.n_rows:,} rows and {n_nodes:,} nodes make a linear program of about "
            f"{entries:,} entries"
        )


Vector = npt.NDArray[np.float64]


def _program(instance: Instance) -> tuple[sp.csc_array, Vector, Vector, Vector, Vector]:
    """The constraint matrix, its bounds, and which variables are binary or fixed at one.

    A variable's index is ``number * n_rows + k``: all constraints but (8) and (9) are the same for
    every row k, so they are one small matrix times the identity.
    """
    n_rows, n_columns = instance.n_rows, instance.n_columns
    node_offsets = np.cumsum([n_columns, *[tree.n_nodes for tree in instance.trees]])
    depths = [node_depths(tree.left, tree.right) for tree in instance.trees]
    levels = [int(d.max()) for d in depths]
    level_offsets = np.cumsum([node_offsets[-1], *levels])
    n_numbers = int(level_offsets[-1])

    small = _Rows(n_numbers)
    for columns, absent in instance.groups:
        small.add([(c, 1.0) for c in columns], 0.0 if absent else 1.0, 1.0)
    for t, tree in enumerate(instance.trees):
        y, lam = int(node_offsets[t]), int(level_offsets[t])
        goes_left: list[list[tuple[int, float]]] = [[] for _ in range(levels[t])]
        goes_right: list[list[tuple[int, float]]] = [[] for _ in range(levels[t])]
        for v in np.flatnonzero(tree.feature >= 0).tolist():
            left, right = y + int(tree.left[v]), y + int(tree.right[v])
            x = int(tree.feature[v])
            small.add([(y + v, 1.0), (left, -1.0), (right, -1.0)], 0.0, 0.0)  # (3)
            small.add([(x, 1.0), (left, 1.0)], -np.inf, 1.0)  # (6)
            small.add([(right, 1.0), (x, -1.0)], -np.inf, 0.0)  # (7)
            goes_left[depths[t][v]].append((left, 1.0))
            goes_right[depths[t][v]].append((right, 1.0))
        for d in range(levels[t]):
            small.add([*goes_left[d], (lam + d, -1.0)], -np.inf, 0.0)  # (4)
            small.add([*goes_right[d], (lam + d, 1.0)], -np.inf, 1.0)  # (5)
    every_row = sp.kron(small.matrix(), sp.eye_array(n_rows), format="csr")
    counted, totals = _node_counts(instance, int(node_offsets[0]), n_numbers)
    ordered = _ascending(instance, n_numbers)
    matrix = sp.csc_array(sp.vstack([every_row, counted, ordered]))
    none = np.full(ordered.shape[0], -np.inf)
    low = np.concatenate([np.repeat(small.low, n_rows), totals, none])
    high = np.concatenate([np.repeat(small.high, n_rows), totals, np.zeros(len(none))])

    binary = np.ones(n_numbers)
    binary[node_offsets[0] : node_offsets[-1]] = 0.0
    fixed = np.zeros(n_numbers)
    fixed[node_offsets[:-1]] = 1.0  # (2): all of a row's flow starts at the root
    return matrix, low, high, np.repeat(binary, n_rows), np.repeat(fixed, n_rows)


class _Rows:
    """Collects sparse rows with their bounds."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.low: list[float] = []
        self.high: list[float] = []
        self._entries: list[tuple[int, int, float]] = []

    def add(self, entries: list[tuple[int, float]], low: float, high: float) -> None:
        self._entries.extend((len(self.low), column, value) for column, value in entries)
        self.low.append(low)
        self.high.append(high)

    def matrix(self) -> sp.csr_array:
        rows, columns, values = zip(*self._entries, strict=True) if self._entries else ((), (), ())
        shape = (len(self.low), self.width)
        return sp.csr_array((np.array(values, float), (rows, columns)), shape=shape)


def _node_counts(
    instance: Instance, first: int, n_numbers: int
) -> tuple[sp.csr_array, npt.NDArray[np.float64]]:
    """Equation (8): rows of class c that reach node v of tree t."""
    n_rows, counts = instance.n_rows, np.concatenate(instance.counts)
    n_nodes, n_classes = counts.shape
    member = sp.csr_array(
        (np.ones(n_rows), (instance.labels, np.arange(n_rows))), shape=(n_classes, n_rows)
    )
    inner = sp.kron(sp.eye_array(n_nodes), member, format="coo")
    shape = (n_nodes * n_classes, n_numbers * n_rows)
    placed = sp.csr_array((inner.data, (inner.row, inner.col + first * n_rows)), shape=shape)
    return placed, counts.reshape(-1).astype(np.float64)


def _ascending(instance: Instance, n_numbers: int) -> sp.csr_array:
    """Equation (9): the rows of a class, read as binary numbers, ascend."""
    n_rows = instance.n_rows
    earlier = np.flatnonzero(instance.labels[:-1] == instance.labels[1:])
    used = np.arange(max(0, instance.n_columns - MAX_ORDERED_COLUMNS), instance.n_columns)
    weights = 2.0 ** np.arange(len(used))
    pair = np.repeat(np.arange(len(earlier)), len(used))
    column = np.tile(used, len(earlier)) * n_rows
    row = np.repeat(earlier, len(used))
    value = np.tile(weights, len(earlier))
    return sp.csr_array(
        (
            np.concatenate([value, -value]),
            (np.concatenate([pair, pair]), np.concatenate([column + row, column + row + 1])),
        ),
        shape=(len(earlier), n_numbers * n_rows),
    )


def _highs(
    matrix: sp.csc_array,
    low: Vector,
    high: Vector,
    binary: Vector,
    fixed: Vector,
    time_limit: float,
) -> tuple[int, Vector | None]:
    # Slow to load, and needed only here.
    from scipy.optimize import Bounds, LinearConstraint, milp

    answer = milp(
        c=np.zeros(matrix.shape[1]),
        integrality=binary.astype(np.int64),
        bounds=Bounds(fixed, np.ones(len(fixed))),
        constraints=[LinearConstraint(matrix, low, high)],
        options={"time_limit": time_limit},
    )
    return int(answer.status), answer.x
