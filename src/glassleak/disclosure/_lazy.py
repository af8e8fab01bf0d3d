"""Split facts brought in only where the estimate contradicts them, until none is contradicted.

Start from the closed form, look at *every* candidate split of every node, add the most violated
ones, solve the convex problem they make, and look again.  Most candidates never matter.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from glassleak.disclosure._blocks import Blocks
from glassleak.disclosure._candidates import Candidate, Candidates
from glassleak.disclosure._convex import Component, Fact, solve
from glassleak.disclosure._measures import Floats
from glassleak.disclosure._problem import Problem
from glassleak.errors import BudgetExhaustedError

# A candidate counts as violated when it is better by more than this per person of the node.
TOLERANCE = 1e-7
# What a solver may leave of a fact that was written down.
ACCEPTED = 1e-6
_ROUNDS = 100
# Nodes between two looks at the clock.
_OFTEN = 50
Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Estimate:
    """P(class | QI) in the problem's order, with what vouches for it.

    Attributes
    ----------
    posterior : (QIs, classes) float array
    gap : float
        At most so far below the maximum entropy, in nats summed over people.
    violation : float
        The most any candidate split is better than the chosen one, per person of its node.
    candidates : int
        Candidate splits looked at.
    active : tuple of Candidate
        Those that had to be written down.
    rounds : int
    finished : bool
        Whether no fact remains violated.
    """

    posterior: Floats
    gap: float
    violation: float
    candidates: int
    active: tuple[Candidate, ...]
    rounds: int
    finished: bool


def with_split_facts(
    problem: Problem,
    candidates: Candidates,
    start: Floats,
    deadline: float = np.inf,
    progress: Progress | None = None,
) -> Estimate:
    """The maximum-entropy estimate under all split facts, where every leaf's counts are known.

    Parameters
    ----------
    start : (QIs, classes) array
        The estimate without them.
    deadline : float
        ``time.monotonic()`` value; what is reached by then is returned unfinished.
    """
    number = problem.number[:, None]
    posterior, blocks = start.copy(), Blocks(problem)
    slack = Slack(problem, candidates, deadline, progress)
    seen = slack.update(posterior * number, range(len(problem.nodes)))
    active: dict[Candidate, None] = {}
    gaps: dict[int, float] = {}
    rounds, finished = 0, False
    while seen and rounds < _ROUNDS:
        added = [c for c in slack.violated() if c not in active]
        if not added:
            finished = slack.worst <= ACCEPTED
            break
        if time.monotonic() > deadline:
            break
        rounds += 1
        if progress is not None:
            progress(f"round {rounds}: {len(active) + len(added)} split facts", 0.0)
        active |= dict.fromkeys(added)
        blocks.refine(candidates, added)
        tops = topmost(problem, active)
        touched = {tops[c.node] for c in added}
        try:
            for top in touched:
                inside = [c for c in active if tops[c.node] == top]
                start_at, stop = problem.nodes[top].start, problem.nodes[top].stop
                for swallowed in [t for t in gaps if tops.get(t) == top]:
                    del gaps[swallowed]
                remaining = deadline - time.monotonic()
                posterior[start_at:stop], gaps[top] = _solve(
                    problem, candidates, blocks, top, inside, slack.required, remaining
                )
        except BudgetExhaustedError:
            break
        spans = [(problem.nodes[t].start, problem.nodes[t].stop) for t in touched]
        seen = slack.update(posterior * number, _meeting(problem, spans))
    return Estimate(
        posterior, sum(gaps.values()), slack.worst, slack.number, tuple(active), rounds, finished
    )


def _solve(
    problem: Problem,
    candidates: Candidates,
    blocks: Blocks,
    top: int,
    inside: list[Candidate],
    required: dict[int, tuple[float, float]],
    seconds: float,
) -> tuple[Floats, float]:
    node = problem.nodes[top]
    of, leaf, number = blocks.within(node.start, node.stop)
    leaves, leaf = np.unique(leaf, return_inverse=True)
    facts = []
    for candidate in inside:
        own = problem.nodes[candidate.node]
        groups = candidates.groups(candidate)
        here = of[own.start - node.start : own.stop - node.start]
        members, first = np.unique(here, return_index=True)
        people = problem.number[own.start : own.stop]
        least = candidates.least(groups, people, required[candidate.node])
        facts.append(Fact(members, groups[first], least))
    component = Component(
        leaf.reshape(-1), number, problem.leaf_counts[leaves], facts, candidates.facts.measure
    )
    solved = solve(component, seconds)
    return solved.posterior[of], solved.gap


def topmost(problem: Problem, active: Iterable[Candidate]) -> dict[int, int]:
    """For every node with an active candidate, the topmost such node above it (or itself)."""
    tops: dict[int, int] = {}
    last = -1
    for node in sorted({c.node for c in active}):
        # Parents come first, so whoever is not inside the last top is a new one.
        inside = last >= 0 and problem.nodes[node].stop <= problem.nodes[last].stop
        if not (inside and problem.nodes[node].start >= problem.nodes[last].start):
            last = node
        tops[node] = last
    return tops


def _meeting(problem: Problem, spans: list[tuple[int, int]]) -> list[int]:
    """Nodes that share people with one of `spans`."""
    return [
        i
        for i, node in enumerate(problem.nodes)
        if any(node.start < stop and start < node.stop for start, stop in spans)
    ]


class Slack:
    """How every candidate stands at the current estimate.

    Parameters
    ----------
    fixed : bool
        Whether the chosen splits' impurities are the same at every estimate.
    """

    def __init__(
        self,
        problem: Problem,
        candidates: Candidates,
        deadline: float = np.inf,
        progress: Progress | None = None,
        *,
        fixed: bool = True,
    ) -> None:
        self.problem, self.candidates, self._fixed = problem, candidates, fixed
        self._deadline, self._progress = deadline, progress
        self.required: dict[int, tuple[float, float]] = {}
        self._worst: dict[int, float] = {}
        self._found: dict[int, list[Candidate]] = {}
        self._number: dict[int, int] = {}

    def update(self, masses: Floats, nodes: Sequence[int]) -> bool:
        """Look at all candidates of `nodes` again; whether there was time for it."""
        for done, i in enumerate(nodes):
            if done % _OFTEN == _OFTEN - 1:
                if time.monotonic() > self._deadline:
                    return False
                if self._progress is not None:
                    self._progress("comparing splits", done / len(nodes))
            if i not in self.required or not self._fixed:
                self.required[i] = self.candidates.required(i, masses)
            scan = self.candidates.scan(i, masses, self.required[i])
            node = self.problem.nodes[i]
            people = float(self.problem.number[node.start : node.stop].sum())
            over = -scan.slack / people
            self._number[i] = len(over)
            self._worst[i] = max(0.0, float(over.max(initial=0.0)))
            self._found[i] = []
            for column in np.unique(scan.columns[over > TOLERANCE]).tolist():
                own = np.flatnonzero(scan.columns == column)
                at = own[np.argmax(over[own])]
                self._found[i].append(Candidate(i, column, int(scan.cuts[at])))
        return True

    def violated(self) -> list[Candidate]:
        """The worst violated candidate of every node and column."""
        return [c for found in self._found.values() for c in found]

    @property
    def worst(self) -> float:
        """The most any candidate is better than the chosen split, per person of its node."""
        return max(self._worst.values(), default=0.0)

    @property
    def number(self) -> int:
        """Candidates looked at."""
        return sum(self._number.values())
