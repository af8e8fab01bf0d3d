"""The cheapest way to send rows from some profiles to others, without looking at every pair twice.

A transportation problem between m and n profiles has m·n arcs, too many to hold.  Few of them
matter: start with the nearest neighbours, solve that as a minimum-cost flow, and use the flow's
node potentials to find every pair that would still improve it (its *reduced cost* is negative).
Add those and repeat.  When there is none left, the flow is optimal for all m·n arcs: that is the
duality theorem of linear programming, not a heuristic.  Pairs are looked at in blocks, so memory
stays bounded.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glassleak.errors import GlassleakError
from glassleak.reconstruction.evaluation._row_distance import IntArray, Profiles

# Pairs looked at at once: 8 bytes each, a few arrays of them.
_BLOCK = 4_000_000
_NEIGHBOURS = 8
# The flow solver works in whole numbers; distances that are none are rounded to 2**-30 of a unit.
_SCALE = 1 << 30


@dataclass(frozen=True)
class Flow:
    """How many rows go from which profile to which.

    Attributes
    ----------
    tail, head, amount : int arrays
    lower_bound : float
        No way of sending costs less, in units of distance.
    exact : bool
        Whether the flow is proved to be the cheapest.
    """

    tail: IntArray
    head: IntArray
    amount: IntArray
    lower_bound: float
    exact: bool


def transport(
    sources: Profiles,
    targets: Profiles,
    supply: IntArray,
    demand: IntArray,
    *,
    n_units: int,
    whole: bool,
    deadline: float,
) -> Flow:
    """Send `supply` from `sources` to `targets`; ends early, and says so, at `deadline`."""
    costs = _Costs(sources, targets, 1 if whole else _SCALE, deadline)
    wanted = _NEIGHBOURS + 2 * supply
    arcs = _distinct(
        _arcs(costs.nearest(wanted), len(targets)),
        _turned(costs.swapped().nearest(_NEIGHBOURS + 2 * demand), len(targets)),
    )
    best_bound = 0.0
    # Dearer than any pair: used only while the arcs are too few to carry everything.
    detour = n_units * costs.scale + 1
    while True:
        tail, head = np.divmod(arcs, len(targets))
        flow, detoured, potential = _cheapest(
            tail, head, costs.of(tail, head), supply, demand, detour
        )
        used = flow > 0
        found = costs.improving(potential, wanted)
        more = None
        if found is not None:
            total = float(demand @ potential[len(supply) :] - supply @ potential[: len(supply)])
            rounding = 0.0 if costs.scale == 1 else 0.5 * float(supply.sum())
            bound = (total + float(supply @ found.lowest) - rounding) / costs.scale
            best_bound = max(best_bound, bound)
            more = _distinct(arcs, found.arcs)
            if len(more) == len(arcs):
                return Flow(tail[used], head[used], flow[used], best_bound, True)
        if more is None or time.monotonic() > deadline:
            # Whoever took the detour is sent anywhere: a valid answer, if not the cheapest.
            rest_tail = np.repeat(np.arange(len(supply)), detoured[0])
            rest_head = np.repeat(np.arange(len(demand)), detoured[1])
            return Flow(
                np.concatenate([tail[used], rest_tail]),
                np.concatenate([head[used], rest_head]),
                np.concatenate([flow[used], np.ones(len(rest_tail), np.int64)]),
                best_bound,
                False,
            )
        arcs = more


@dataclass(frozen=True)
class _Improving:
    """Arcs that would improve the flow, and the most negative reduced cost of each source."""

    arcs: IntArray
    lowest: IntArray


@dataclass(frozen=True)
class _Costs:
    """Whole-numbered costs of all arcs, looked at block by block."""

    sources: Profiles
    targets: Profiles
    scale: int
    deadline: float

    def swapped(self) -> _Costs:
        return _Costs(self.targets, self.sources, self.scale, self.deadline)

    def of(self, tail: IntArray, head: IntArray) -> IntArray:
        return self._whole(self.sources.take(tail).to_each(self.targets.take(head)))

    def nearest(self, wanted: IntArray) -> list[tuple[IntArray, IntArray]]:
        """For each source the `wanted` cheapest targets (some get a few more)."""
        found = []
        for rows, cost in self._blocks(np.argsort(wanted, kind="stable")):
            if time.monotonic() > self.deadline:
                break
            take = min(int(wanted[rows].max()), cost.shape[1])
            picked = np.argpartition(cost, take - 1, axis=1)[:, :take]
            found.append((np.repeat(rows, take), picked.reshape(-1)))
        return found

    def improving(self, potential: IntArray, wanted: IntArray) -> _Improving | None:
        """Arcs of negative reduced cost: the best of each source and target.

        ``None`` if there was no time to look at all arcs.
        """
        n, n_targets = len(self.sources), len(self.targets)
        lowest = np.zeros(n, dtype=np.int64)
        best_cost = np.zeros(n_targets, dtype=np.int64)
        best_source = np.full(n_targets, -1, dtype=np.int64)
        everywhere = np.arange(n_targets)
        arcs = []
        for rows, cost in self._blocks(np.argsort(wanted, kind="stable")):
            if time.monotonic() > self.deadline:
                return None
            cost += potential[rows][:, None]
            cost -= potential[n:]
            at = cost.argmin(axis=0)
            least = cost[at, everywhere]
            better = least < best_cost
            best_cost[better], best_source[better] = least[better], rows[at[better]]
            lowest[rows] = np.minimum(cost.min(axis=1), 0)
            bad = np.flatnonzero(lowest[rows] < 0)
            if bad.size:
                take = min(int(wanted[rows].max()), n_targets)
                picked = np.argpartition(cost[bad], take - 1, axis=1)[:, :take]
                negative = np.take_along_axis(cost[bad], picked, axis=1) < 0
                arcs.append((rows[bad][:, None] * n_targets + picked)[negative])
        reached = np.flatnonzero(best_source >= 0)
        arcs.append(best_source[reached] * n_targets + reached)
        return _Improving(_distinct(*arcs), lowest)

    def _blocks(self, order: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
        size = max(1, _BLOCK // max(len(self.targets), 1))
        for start in range(0, len(order), size):
            rows = order[start : start + size]
            yield rows, self._whole(self.sources.take(rows).to_all(self.targets))

    def _whole(self, distance: npt.NDArray[np.floating]) -> IntArray:
        scaled = distance if self.scale == 1 else np.rint(distance * self.scale)
        whole: IntArray = scaled.astype(np.int64)
        return whole


def _distinct(*parts: IntArray) -> IntArray:
    """All values, sorted, each once (numpy's own is several times slower on as many integers)."""
    values = np.sort(np.concatenate(parts))
    distinct: IntArray = values[np.diff(values, prepend=-1) != 0]
    return distinct


def _arcs(found: list[tuple[IntArray, IntArray]], n_targets: int) -> IntArray:
    parts = [tail * n_targets + head for tail, head in found]
    return np.concatenate([np.empty(0, np.int64), *parts])


def _turned(found: list[tuple[IntArray, IntArray]], n_targets: int) -> IntArray:
    return _arcs([(head, tail) for tail, head in found], n_targets)


def _cheapest(
    tail: IntArray,
    head: IntArray,
    cost: IntArray,
    supply: IntArray,
    demand: IntArray,
    detour: int,
) -> tuple[IntArray, tuple[IntArray, IntArray], IntArray]:
    """Cheapest flow over the given arcs and a detour that is open to everybody.

    Returns
    -------
    flow : int array
    detoured : rows each source sends, and each target gets, by the detour
    potential : int array
        Of the sources, then of the targets: ``cost + potential[tail] - potential[head]`` is
        nowhere negative, and zero wherever something flows.
    """
    from ortools.graph.python import min_cost_flow  # type: ignore[import-untyped]

    n, m = len(supply), len(demand)
    hub = n + m
    tails = np.concatenate([tail, np.arange(n), np.full(m, hub)])
    heads = np.concatenate([head + n, np.full(n, hub), np.arange(n, hub)])
    costs = np.concatenate([cost, np.full(n, detour), np.zeros(m, np.int64)])
    room = np.concatenate([np.minimum(supply[tail], demand[head]), supply, demand])
    solver = min_cost_flow.SimpleMinCostFlow()
    arcs = solver.add_arcs_with_capacity_and_unit_cost(tails, heads, room, costs)
    solver.set_nodes_supplies(np.arange(hub + 1), np.concatenate([supply, -demand, [0]]))
    status = solver.solve()
    if status != solver.OPTIMAL:
        raise GlassleakError(f"the flow solver gave up on matching rows: {status}")
    flow = np.asarray(solver.flows(arcs), dtype=np.int64)
    potential = _potentials(tails, heads, costs, flow, hub + 1)
    direct = len(tail)
    return flow[:direct], (flow[direct : direct + n], flow[direct + n :]), potential[:hub]


def _potentials(
    tails: IntArray, heads: IntArray, costs: IntArray, flow: IntArray, n_nodes: int
) -> IntArray:
    """Shortest distances in the residual graph (Bellman-Ford, all nodes at once).

    An arc's room is never what stops more flow (supply and demand do), so every arc counts as
    open; arcs that carry flow are open backwards too.  The flow is optimal, so there is no
    negative cycle and the rounds end.
    """
    back = flow > 0
    start = np.concatenate([tails, heads[back]])
    end = np.concatenate([heads, tails[back]])
    step = np.concatenate([costs, -costs[back]])
    order = np.argsort(end, kind="stable")
    start, end, step = start[order], end[order], step[order]
    edges = np.flatnonzero(np.diff(end, prepend=-1))
    nodes = end[edges]
    potential = np.zeros(n_nodes, dtype=np.int64)
    for _ in range(n_nodes + 1):
        reached = np.minimum.reduceat(potential[start] + step, edges)
        if (reached >= potential[nodes]).all():
            return potential
        potential[nodes] = np.minimum(potential[nodes], reached)
    raise GlassleakError("the flow solver's answer is not optimal: a bug, please report")
