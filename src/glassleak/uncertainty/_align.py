"""Which row of a real table stands for which row of the probabilistic dataset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from glassleak.counting import Domain, bits
from glassleak.errors import InconsistentModelError, ModelTooLargeError, SchemaError
from glassleak.uncertainty._values import model_values

if TYPE_CHECKING:
    from glassleak.uncertainty._dataset import ProbabilisticDataset

_MAX_ARCS = 20_000_000


@dataclass(frozen=True)
class Alignment:
    """A pairing of the rows of a table with groups of rows.

    Attributes
    ----------
    line : int array
        For every row of the table, its line in `ProbabilisticDataset.lines`.
    costs : int array
        Attributes whose value the line rules out, plus one if the class differs.
    """

    line: npt.NDArray[np.int64]
    costs: npt.NDArray[np.int64]

    @property
    def cost(self) -> int:
        """Sum of `costs`: 0 exactly for possible tables (of a tree)."""
        return int(self.costs.sum())


def align(dataset: ProbabilisticDataset, table: pd.DataFrame, labels: Any) -> Alignment:
    """Pair at minimum total cost, as a flow from distinct rows to lines.

    Rows with the same costs towards every line are one source; lines take as many rows as they
    have.  The minimum is exact.
    """
    groups = dataset.groups
    if len(table) != dataset.n_rows:
        raise SchemaError(f"{len(table)} rows cannot be paired with {dataset.n_rows}")
    values, _ = model_values(table, groups.model.columns, groups.schema)
    lines = dataset.lines
    if dataset.why_not(table, labels) is None:
        return _in_place(dataset, values, labels)
    which = sorted({line.group for line in lines})
    position = {group: i for i, group in enumerate(which)}
    if len(values) * len(which) > _MAX_ARCS:
        raise ModelTooLargeError(f"{len(values):,} rows times {len(which):,} groups")
    apart = np.zeros((len(values), len(which)), dtype=np.int64)
    sets = [dataset.remaining(group) for group in which]
    for a, domain in enumerate(groups.regions.domains):
        classes = _classes(domain, values)
        allowed = np.zeros((len(which), len(domain.sizes) + 1), dtype=bool)
        for i, levels in enumerate(sets):
            allowed[i, list(bits(levels[a]))] = True
        apart += ~allowed[:, classes].T
    # A rule also excludes what earlier rules capture: a row elsewhere differs in at least that.
    elsewhere = dataset.group_of(values)[:, None] != np.array(which)[None, :]
    apart = np.maximum(apart, elsewhere)
    columns = np.array([position[line.group] for line in lines], dtype=np.int64)
    cost = apart[:, columns]
    if labels is not None and groups.class_rows is not None:
        own = dataset.class_numbers(labels, len(table))
        theirs = np.array([line.class_number for line in lines])
        cost = cost + (own[:, None] != theirs[None, :])
    chosen = _flow(cost, np.array([line.rows for line in lines]))
    return Alignment(chosen, cost[np.arange(len(cost)), chosen])


def _in_place(
    dataset: ProbabilisticDataset, values: npt.NDArray[np.float64], labels: Any
) -> Alignment:
    """A possible table: every row goes where it is, at no cost."""
    groups = dataset.groups
    group = dataset.group_of(values)
    if labels is not None and groups.class_rows is not None:
        number = dataset.class_numbers(labels, len(values))
        at = {(line.group, line.class_number): i for i, line in enumerate(dataset.lines)}
        chosen = [at[pair] for pair in zip(group.tolist(), number.tolist(), strict=True)]
    else:
        own: dict[int, list[int]] = {}
        for i, line in enumerate(dataset.lines):
            own.setdefault(line.group, []).extend([i] * line.rows)
        chosen = [own[g].pop() for g in group.tolist()]
    return Alignment(np.array(chosen, dtype=np.int64), np.zeros(len(values), dtype=np.int64))


def _classes(domain: Domain, values: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """The class of levels of each row's value; the last number stands for "none"."""
    ranks = [
        domain.ranks_of_values(position, values[:, column])
        for position, column in enumerate(domain.columns.tolist())
    ]
    own = [
        domain.ranks_of_values(position, domain.values[:, position])
        for position in range(len(ranks))
    ]
    number = {key: i for i, key in enumerate(zip(*[o.tolist() for o in own], strict=True))}
    keys = zip(*[r.tolist() for r in ranks], strict=True)
    return np.array([number.get(key, len(number)) for key in keys], dtype=np.int64)


def _flow(cost: npt.NDArray[np.int64], capacity: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    from ortools.graph.python import min_cost_flow  # type: ignore[import-untyped]

    distinct, source, supply = np.unique(cost, axis=0, return_inverse=True, return_counts=True)
    source = source.reshape(-1)
    n_sources, n_lines = distinct.shape
    if distinct.size > _MAX_ARCS:
        raise ModelTooLargeError(f"{n_sources:,} kinds of rows times {n_lines:,} groups")
    solver = min_cost_flow.SimpleMinCostFlow()
    tail = np.repeat(np.arange(n_sources), n_lines)
    head = np.tile(np.arange(n_lines), n_sources) + n_sources
    arcs = solver.add_arcs_with_capacity_and_unit_cost(
        tail, head, np.minimum(supply[tail], capacity[head - n_sources]), distinct.reshape(-1)
    )
    nodes = np.arange(n_sources + n_lines)
    solver.set_nodes_supplies(nodes, np.concatenate([supply, -capacity]))
    if solver.solve() != solver.OPTIMAL:
        raise InconsistentModelError("the rows cannot be paired with the groups")
    amounts = solver.flows(arcs)
    used = np.flatnonzero(amounts)
    order = np.argsort(source, kind="stable")
    filled = np.repeat(head[used] - n_sources, amounts[used])
    chosen = np.empty(len(cost), dtype=np.int64)
    # Arcs are listed source by source, as are the rows in `order`.
    chosen[order] = filled
    return chosen
