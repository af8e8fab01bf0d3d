"""Bounds of a `Problem`: which facts the level publishes, and what they make certain."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from glassleak.disclosure._bounds import CountBounds, bounds_with_split_facts
from glassleak.disclosure._bounds_facts import Measure, Nodes, Question
from glassleak.disclosure._bounds_leaf import (
    bounds_from_counts,
    bounds_from_labels,
    bounds_from_rates,
)
from glassleak.disclosure._bounds_margin import with_margin
from glassleak.disclosure._bounds_swaps import first_table
from glassleak.disclosure._candidates import Candidate, Candidates
from glassleak.disclosure._gate import SplitFacts
from glassleak.disclosure._measures import split_information
from glassleak.disclosure._problem import Problem

IntArray = npt.NDArray[np.int64]


def count_bounds(
    problem: Problem,
    facts: SplitFacts | None = None,
    *,
    budget_seconds: float = 60,
    seed: int = 0,
    progress: Callable[[str, float], None] | None = None,
) -> CountBounds:
    """The smallest and largest count of every class for every QI, over all integer tables.

    Parameters
    ----------
    problem : Problem
        QIs are in the problem's order in the result, too.
    facts : SplitFacts, optional
        Used where every leaf's class counts are known: only then is the chosen split's impurity
        a number.
    budget_seconds : float
        Closed forms always finish; ranges that the solver could not decide in time keep valid
        bounds and are marked as not exact.
    seed : int
        Of the search for tables that attain a bound; decides speed and not results.

    Returns
    -------
    CountBounds
        Whose bounds hold for the true table whatever the time allowed.

    Raises
    ------
    InconsistentModelError
        No table of these people satisfies the split facts.
    """
    if not budget_seconds > 0:
        raise ValueError(f"budget_seconds must be positive, got {budget_seconds!r}")
    started = time.monotonic()
    deadline = started + budget_seconds
    if problem.complete:
        leaf, counts = problem.leaf.astype(np.int64), problem.leaf_counts
        if facts is None or not problem.nodes:
            lower, upper = bounds_from_counts(problem.number, leaf, counts)
            return _closed(problem, lower, upper, started, ())
        nodes = nodes_of(problem, Candidates(problem, facts))
        found = bounds_with_split_facts(
            problem.number, leaf, counts, nodes, deadline=deadline, seed=seed, progress=progress
        )
        return replace(found, seconds=time.monotonic() - started)
    left_out = (
        f"split facts are not used: at level {problem.level!r} the chosen split's own impurity is "
        "not known"
    )
    notes = () if facts is None else (left_out,)
    lower, upper = _without_counts(problem)
    if problem.margin is None:
        return _closed(problem, lower, upper, started, notes)
    lower, upper, exact = with_margin(problem, lower, upper, deadline)
    found = _closed(problem, lower, upper, started, notes)
    return replace(found, exact=exact)


def _closed(
    problem: Problem, lower: IntArray, upper: IntArray, started: float, notes: tuple[str, ...]
) -> CountBounds:
    exact = np.ones(lower.shape, dtype=bool)
    return CountBounds(problem.number, lower, upper, exact, time.monotonic() - started, notes)


def _without_counts(problem: Problem) -> tuple[IntArray, IntArray]:
    """Closed forms where some leaves publish less than their counts."""
    leaf, label = problem.leaf.astype(np.int64), problem.leaf_label
    here = np.arange(len(label))
    known = problem.leaf_counts >= 0
    lower, upper = bounds_from_labels(problem.number, leaf, label, problem.n_classes)
    right = problem.leaf_counts[here, label]
    rated = known[here, label][leaf]
    by_rate = bounds_from_rates(
        problem.number, leaf, label, np.maximum(right, 0), problem.n_classes
    )
    whole = np.asarray(known.all(axis=1))[leaf]
    by_count = bounds_from_counts(problem.number, leaf, np.maximum(problem.leaf_counts, 0))
    for some, (low, high) in ((rated, by_rate), (whole, by_count)):
        lower[some], upper[some] = low[some], high[some]
    return lower, upper


def nodes_of(problem: Problem, candidates: Candidates) -> Nodes:
    """Split facts of every node as inequalities over integer tables."""
    facts = candidates.facts
    leaf = problem.leaf.astype(np.int64)
    # The chosen split's impurity is the same for every table that fits the leaves.
    table = first_table(problem.number, leaf, problem.leaf_counts).astype(np.float64)
    flat = problem.number[:, None].astype(np.float64)
    above: list[list[int]] = [[] for _ in problem.leaf_number]
    members: dict[int, IntArray] = {}
    questions: dict[int, list[Question]] = {}
    for i, node in enumerate(problem.nodes):
        own = np.arange(node.start, node.stop)
        members[i] = own
        for one in range(int(leaf[node.start]), int(leaf[node.stop - 1]) + 1):
            above[one].append(i)
        level, ratio = candidates.required(i, table)
        columns = np.unique(candidates.scan(i, flat).columns).tolist()
        questions[i] = []
        for column in columns:
            code = candidates.groups(Candidate(i, column))
            size = np.zeros(int(code.max()) + 1, dtype=np.int64)
            np.add.at(size, code, problem.number[own])
            limit = _limits(size, level, ratio, facts)
            if np.isfinite(limit).any():
                measure: Measure = "gini" if facts.measure == "gini" else "entropy"
                cuts = facts.kind == "thresholds"
                questions[i].append(Question(i, own, code, size, cuts, limit, measure))
    # Parents come first in the problem; a leaf's path starts with the nearest.
    paths = [tuple(reversed(nodes)) for nodes in above]
    return Nodes(paths, members, questions)


def _limits(
    size: IntArray, level: float, ratio: float, facts: SplitFacts
) -> npt.NDArray[np.float64]:
    """``Σ f <= limit`` for ``E(W) >= level - ratio * split information of W``."""
    whole = int(size.sum())
    if facts.kind == "levels":
        sides = size[None, :].astype(np.float64)
        fits = np.ones(1, dtype=bool)
    else:
        low = np.cumsum(size)[:-1]
        sides = np.stack([low, whole - low], axis=-1).astype(np.float64)
        fits = (low >= facts.min_leaf) & (whole - low >= facts.min_leaf)
    if facts.measure == "gini":
        limit = np.full(len(sides), whole - level)
    else:
        spread = (sides * np.log(np.maximum(sides, 1.0))).sum(axis=-1)
        limit = spread - level + ratio * split_information(sides)
    return np.where(fits, limit, np.inf)
