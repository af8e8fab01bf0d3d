"""The maximum-entropy estimate of a problem, by the cheapest method that is right for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glassleak.disclosure._candidates import Candidates
from glassleak.disclosure._certificate import Certificate
from glassleak.disclosure._closed import leaf_distributions
from glassleak.disclosure._gate import SplitFacts
from glassleak.disclosure._lazy import Progress, with_split_facts
from glassleak.disclosure._local import locally_with_split_facts
from glassleak.disclosure._measures import Floats
from glassleak.disclosure._problem import Problem
from glassleak.disclosure._scaling import scale_to_margin


@dataclass(frozen=True)
class Found:
    """P(class | QI) in the problem's order.

    Attributes
    ----------
    posterior : (QIs, classes) float array
    baseline : (QIs, classes) float array
        The same without split facts.
    certificate : Certificate
    notes : tuple of str
    """

    posterior: Floats
    baseline: Floats
    certificate: Certificate
    notes: tuple[str, ...] = ()


def estimate(
    problem: Problem,
    facts: SplitFacts | None = None,
    *,
    starts: int = 3,
    seed: int = 0,
    deadline: float = np.inf,
    progress: Progress | None = None,
) -> Found:
    """Maximise ``Σ n_q H(p_q)`` (Definition 1) over everything that is known.

    Leaves alone have closed forms; a published margin ties them together by scaling; split facts
    make a convex problem where all counts are known and otherwise one with local optima only.
    """
    baseline, without = _leaves_only(problem)
    if facts is None or not problem.nodes:
        return Found(baseline, baseline, without)
    candidates = Candidates(problem, facts)
    notes = _gaps(problem, candidates)
    if problem.complete:
        found = with_split_facts(problem, candidates, baseline, deadline, progress)
    else:
        found = locally_with_split_facts(
            problem, candidates, baseline,
            starts=starts, seed=seed, deadline=deadline, progress=progress,
        )  # fmt: skip
    # An optimum without facts that breaks none of them is also one with them.
    kind = without.kind
    if found.active:
        kind = "convex optimum" if problem.complete else "local"
    certificate = Certificate(
        kind,
        without.gap + found.gap,
        max(found.violation, without.violation),
        found.candidates,
        tuple(candidates.describe(c) for c in found.active),
        problem.total,
        found.finished,
    )
    return Found(found.posterior, baseline, certificate, notes)


def _leaves_only(problem: Problem) -> tuple[Floats, Certificate]:
    if problem.margin is not None and not problem.complete:
        scaled = scale_to_margin(problem)
        certificate = Certificate(
            "convex optimum", scaled.gap, scaled.violation, people=problem.total
        )
        return scaled.leaves[problem.leaf], certificate
    return leaf_distributions(problem)[problem.leaf], Certificate(
        "closed form", people=problem.total
    )


def _gaps(problem: Problem, candidates: Candidates) -> tuple[str, ...]:
    names = [problem.model.columns[c] for c in candidates.columns_with_gaps]
    if not names:
        return ()
    shown = ", ".join(names[:3]) + (" and others" if len(names) > 3 else "")
    return (f"splits on columns with missing values were not compared where they are: {shown}",)
