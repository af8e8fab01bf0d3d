"""Split facts where leaves publish less than their counts: a local optimum, and called so."""

from __future__ import annotations

import time

import numpy as np

from glassleak.disclosure._blocks import Blocks
from glassleak.disclosure._candidates import Candidate, Candidates
from glassleak.disclosure._lazy import ACCEPTED, TOLERANCE, Estimate, Progress, Slack, topmost
from glassleak.disclosure._measures import Floats, entropy
from glassleak.disclosure._nlp import Comparison, LocalSolver, Program
from glassleak.disclosure._problem import Problem

_ROUNDS = 12


def locally_with_split_facts(
    problem: Problem,
    candidates: Candidates,
    start: Floats,
    *,
    starts: int = 3,
    seed: int = 0,
    deadline: float = np.inf,
    progress: Progress | None = None,
) -> Estimate:
    """Bring in violated facts and re-solve from several starting points until none is violated.

    Parameters
    ----------
    start : (QIs, classes) array
        The estimate without split facts; its entropy bounds that of every answer.
    starts : int
        Starting points per round: where the last round ended (at first, `start`), and mixtures of
        it with random ones.  The true data are never among them.

    Returns
    -------
    Estimate
        Whose gap is the distance to `start`, which no answer can exceed.
    """
    number = problem.number[:, None]
    rng = np.random.default_rng(seed)
    posterior, blocks = start.copy(), Blocks(problem)
    slack = Slack(problem, candidates, deadline, progress, fixed=False)
    seen = slack.update(posterior * number, range(len(problem.nodes)))
    active: dict[Candidate, None] = {}
    rounds, finished = 0, seen and slack.worst <= TOLERANCE
    while seen and rounds < _ROUNDS and not finished:
        added = [c for c in slack.violated() if c not in active]
        if not added or time.monotonic() > deadline:
            break
        rounds += 1
        if progress is not None:
            progress(f"round {rounds}: {len(active) + len(added)} split facts", 0.0)
        active |= dict.fromkeys(added)
        blocks.refine(candidates, added)
        tops = topmost(problem, active)
        groups: dict[int, list[Candidate]] = {}
        for candidate in active:
            # A margin ties everything together.
            key = tops[candidate.node] if problem.margin is None else -1
            groups.setdefault(key, []).append(candidate)
        for top, inside in groups.items():
            if not any(c in inside for c in added):
                continue
            span = (
                (0, len(problem.number))
                if top < 0
                else (problem.nodes[top].start, problem.nodes[top].stop)
            )
            found = _solve(
                problem, candidates, blocks, span, inside, posterior, starts, rng, deadline
            )
            if found is not None:
                posterior[slice(*span)] = found
        seen = slack.update(posterior * number, range(len(problem.nodes)))
        finished = seen and slack.worst <= ACCEPTED
    bound = float(problem.number @ entropy(start))
    reached = float(problem.number @ entropy(posterior))
    return Estimate(
        posterior, max(0.0, bound - reached), slack.worst, slack.number, tuple(active), rounds,
        finished,
    )  # fmt: skip


def _solve(
    problem: Problem,
    candidates: Candidates,
    blocks: Blocks,
    span: tuple[int, int],
    inside: list[Candidate],
    current: Floats,
    starts: int,
    rng: np.random.Generator,
    deadline: float,
) -> Floats | None:
    """The best feasible answer from several starts; ``None`` if no start led to one."""
    of, leaf, number = blocks.within(*span)
    leaves, leaf = np.unique(leaf, return_inverse=True)
    comparisons = []
    for candidate in inside:
        node = problem.nodes[candidate.node]
        here = of[node.start - span[0] : node.stop - span[0]]
        members, first = np.unique(here, return_index=True)
        chosen = np.zeros(node.stop - node.start, dtype=np.int64)
        for i, (a, b) in enumerate(node.branches):
            chosen[a - node.start : b - node.start] = i
        groups = candidates.groups(candidate)
        comparisons.append(Comparison(members, groups[first], chosen[first]))
    program = Program(
        leaf.reshape(-1), number, problem.leaf_counts[leaves], problem.leaf_label[leaves],
        problem.margin, comparisons, candidates.facts.measure,
    )  # fmt: skip
    seconds = (deadline - time.monotonic()) / max(1, starts)
    solver = LocalSolver(program, seconds)
    _, first = np.unique(of, return_index=True)
    nearest = current[span[0] : span[1]][first]
    best, most = None, -np.inf
    for i in range(max(1, starts)):
        if i and time.monotonic() > deadline:
            break
        point = nearest
        if i:
            mixed = rng.dirichlet(np.ones(nearest.shape[1]), size=len(nearest))
            point = 0.6 * nearest + 0.4 * mixed
        answer = solver.solve(point)
        reached = float(number @ entropy(answer))
        if reached > most and solver.violation(answer) <= ACCEPTED:
            best, most = answer[of], reached
    return best
