"""Split facts about a training set of which only a superset is known.

The size of a candidate's branches is now unknown, too.  Impurity in people is concave in the class
masses *and* their sum together (Gini: ``k² / n`` is a quadratic over a linear; entropy:
``k ln(k / n)`` is a relative entropy), so "no candidate was better" stays a convex set.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import clarabel
import numpy as np
import numpy.typing as npt
from scipy import sparse

from glassleak.disclosure._blocks import Blocks
from glassleak.disclosure._candidates import Candidate, Candidates
from glassleak.disclosure._certificate import Certificate
from glassleak.disclosure._gate import SplitFacts
from glassleak.disclosure._lazy import ACCEPTED, Slack, topmost
from glassleak.disclosure._problem import Problem
from glassleak.errors import BudgetExhaustedError, InconsistentModelError

FloatArray = npt.NDArray[np.float64]
_ROUNDS = 50


def register_with_split_facts(
    problem: Problem, facts: SplitFacts, start: FloatArray, deadline: float
) -> tuple[FloatArray, Certificate]:
    """Expected people per QI and class under all split facts.

    Facts enter where the estimate without them breaks them, until none is broken.
    """
    candidates = Candidates(problem, facts)
    expected, blocks = start.copy(), Blocks(problem)
    slack = Slack(problem, candidates)
    slack.update(expected, range(len(problem.nodes)))
    active: dict[Candidate, None] = {}
    gaps: dict[int, float] = {}
    finished = False
    for _ in range(_ROUNDS):
        added = [c for c in slack.violated() if c not in active]
        if not added:
            finished = slack.worst <= ACCEPTED
            break
        if time.monotonic() > deadline:
            break
        active |= dict.fromkeys(added)
        blocks.refine(candidates, added)
        tops = topmost(problem, active)
        for top in {tops[c.node] for c in added}:
            gaps = {t: g for t, g in gaps.items() if tops.get(t) != top}
            inside = [c for c in active if tops[c.node] == top]
            node = problem.nodes[top]
            expected[node.start : node.stop], gaps[top] = _solve(
                problem, candidates, blocks, top, inside, slack, deadline - time.monotonic()
            )
        slack.update(expected, range(len(problem.nodes)))
    certificate = Certificate(
        "convex optimum" if active else "closed form",
        sum(gaps.values()),
        slack.worst,
        slack.number,
        tuple(candidates.describe(c) for c in active),
        problem.total,
        finished,
    )
    return expected, certificate


def _solve(
    problem: Problem, candidates: Candidates, blocks: Blocks, top: int,
    inside: Iterable[Candidate], slack: Slack, seconds: float,
) -> tuple[FloatArray, float]:  # fmt: skip
    node = problem.nodes[top]
    of, leaf, number = blocks.within(node.start, node.stop)
    program = _Program(number, leaf, problem.leaf_counts)
    for candidate in inside:
        own = problem.nodes[candidate.node]
        here = of[own.start - node.start : own.stop - node.start]
        members, first = np.unique(here, return_index=True)
        groups = candidates.groups(candidate)[first]
        program.fact(members, groups, slack.required[candidate.node][0], candidates.facts.measure)
    share, gap = program.solve(seconds)
    people = problem.number[node.start : node.stop, None]
    return share[of] * people, gap


class _Program:
    """Maximise entropy over shares ``p_bx`` in the training set and ``p_b`` out of it."""

    def __init__(
        self, number: npt.NDArray[np.int64], leaf: npt.NDArray[np.int64],
        counts: npt.NDArray[np.int64],
    ) -> None:  # fmt: skip
        self.number, self.m = number.astype(float), counts.shape[1]
        width = self.m + 1
        own = counts[leaf]
        self.allowed = np.column_stack([own > 0, np.ones(len(number), bool)])
        self.variable = np.full((len(number), width), -1)
        self.variable[self.allowed] = np.arange(int(self.allowed.sum()))
        self.n = int(self.allowed.sum())
        self.rows: dict[str, list[tuple[Any, FloatArray]]] = {"zero": [], "linear": []}
        self.cones: list[tuple[str, Any, FloatArray]] = []
        block, _ = np.nonzero(self.allowed)
        self.weight = self.number[block]
        self.total = float(self.number.sum())
        self.entropy = self._more(self.n)
        for i in range(len(number)):
            inside = self.variable[i][self.allowed[i]]
            self._linear("zero", inside, np.ones(len(inside)), 1.0)
        for one in np.unique(leaf).tolist():
            here = np.flatnonzero(leaf == one)
            for x in np.flatnonzero(counts[one]).tolist():
                size = self.number[here]
                self._linear(
                    "zero", self.variable[here, x], size / size.sum(),
                    float(counts[one, x]) / size.sum(),
                )  # fmt: skip
        for i in range(int(self.allowed.sum())):
            # entropy_i <= -p ln p, as (entropy_i, p, 1) in the exponential cone.
            self._cone("exp", [({int(self.entropy[i]): 1.0}, 0.0), ({i: 1.0}, 0.0), ({}, 1.0)])

    def _more(self, count: int) -> npt.NDArray[np.int64]:
        self.n += count
        return np.arange(self.n - count, self.n)

    def _linear(
        self, kind: str, columns: npt.NDArray[np.int64], values: FloatArray, right: float
    ) -> None:
        self.rows[kind].append(((columns, values), np.array([right])))

    def _cone(self, kind: str, rows: list[tuple[dict[int, float], float]]) -> None:
        self.cones.append((kind, [row for row, _ in rows], np.array([c for _, c in rows])))

    def fact(
        self, members: npt.NDArray[np.int64], groups: npt.NDArray[np.int64], least: float,
        measure: str,
    ) -> None:  # fmt: skip
        """``Σ impurity >= least``: ``Σ f <= everybody - least`` or ``<= -least`` (see above)."""
        people = float(self.number[members].sum())
        auxiliary: list[int] = []
        everybody: dict[int, float] = {}
        for g in np.unique(groups).tolist():
            own = members[groups == g]
            size = self._sum(own, range(self.m), people)
            for column, value in size.items():
                everybody[column] = everybody.get(column, 0.0) + value
            for x in range(self.m):
                mass = self._sum(own, [x], people)
                if not mass:
                    continue
                r = int(self._more(1)[0])
                auxiliary.append(r)
                if measure == "gini":
                    # mass² <= r size, as |(2 mass, r - size)| <= r + size.
                    low = {r: 1.0} | {c: -v for c, v in size.items()}
                    high = {r: 1.0} | size
                    twice = {c: 2 * v for c, v in mass.items()}
                    self._cone("soc", [(high, 0.0), (twice, 0.0), (low, 0.0)])
                else:
                    # r >= mass ln(mass / size), as (-r, mass, size).
                    self._cone("exp", [({r: -1.0}, 0.0), (mass, 0.0), (size, 0.0)])
        # Everybody of the node is a known number: its leaves publish how many they hold.
        bound = -least / people + 1e-9
        row = dict.fromkeys(auxiliary, 1.0)
        if measure == "gini":
            row |= {c: -v for c, v in everybody.items()}
        columns = np.array(list(row), dtype=np.int64)
        self._linear("linear", columns, np.array(list(row.values())), bound)

    def _sum(
        self, blocks: npt.NDArray[np.int64], classes: Iterable[int], people: float
    ) -> dict[int, float]:
        out: dict[int, float] = {}
        for x in classes:
            for b in blocks.tolist():
                if self.allowed[b, x]:
                    out[int(self.variable[b, x])] = float(self.number[b]) / people
        return out

    def solve(self, seconds: float) -> tuple[FloatArray, float]:
        """Shares per block and class, and the duality gap in nats over people."""
        rows, columns, values, right = [], [], [], []
        cones: list[Any] = []
        height = 0
        for kind, cone in (("zero", clarabel.ZeroConeT), ("linear", clarabel.NonnegativeConeT)):
            for (where, what), value in self.rows[kind]:
                rows.append(np.full(len(where), height))
                columns.append(where)
                values.append(what)
                right.append(value)
                height += 1
            if self.rows[kind]:
                cones.append(cone(len(self.rows[kind])))
        for kind in ("soc", "exp"):
            for own, inside, offset in self.cones:
                if own != kind:
                    continue
                for row in inside:
                    rows.append(np.full(len(row), height))
                    columns.append(np.array(list(row), dtype=np.int64))
                    values.append(-np.array(list(row.values()), dtype=float))
                    height += 1
                right.append(offset)
                cones.append(
                    clarabel.SecondOrderConeT(3) if kind == "soc" else clarabel.ExponentialConeT()
                )
        matrix = sparse.csc_matrix(
            (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))),
            shape=(height, self.n),
        )
        cost = np.zeros(self.n)
        cost[self.entropy] = -self.weight / self.total
        settings = clarabel.DefaultSettings()
        settings.verbose, settings.max_threads, settings.max_iter = False, 1, 300
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
        if np.isfinite(seconds):
            settings.time_limit = max(seconds, 0.01)
        found = clarabel.DefaultSolver(
            sparse.csc_matrix((self.n, self.n)), cost, matrix, np.concatenate(right), cones,
            settings,
        ).solve()  # fmt: skip
        status = clarabel.SolverStatus
        if found.status in (status.PrimalInfeasible, status.AlmostPrimalInfeasible):
            raise InconsistentModelError("no training set within the register fits these splits")
        if found.status == status.MaxTime:
            raise BudgetExhaustedError("the budget ended while the maximum entropy was computed")
        x = np.asarray(found.x)
        share = np.zeros(self.allowed.shape)
        share[self.allowed] = np.clip(x[: int(self.allowed.sum())], 0.0, 1.0)
        gap = abs(float(found.obj_val) - float(found.obj_val_dual)) * self.total
        return share[:, : self.m], gap
