"""The estimate and the bounds for a forest, in the form single trees have them."""

from __future__ import annotations

import time
from collections.abc import Callable

from glassleak.disclosure._bounds import CountBounds
from glassleak.disclosure._certificate import Certificate
from glassleak.disclosure._estimate import Found
from glassleak.disclosure._joint import JointProblem
from glassleak.disclosure._joint_bounds import joint_bounds
from glassleak.disclosure._joint_entropy import maximum_entropy

# Of the budget, the estimate gets this share at most; proofs take what there is.
_ESTIMATE = 0.6


def disclose_jointly(
    problem: JointProblem,
    *,
    deadline: float,
    bounds_seconds: float | None,
    seed: int = 0,
    progress: Callable[[str, float], None] | None = None,
) -> tuple[Found, CountBounds | None]:
    """Maximum entropy over the joint cells, and what is certain.

    Parameters
    ----------
    bounds_seconds : float, optional
        Time for bounds; ``None`` for no bounds.
    """
    now = time.monotonic()
    found = maximum_entropy(problem, now + _ESTIMATE * (deadline - now))
    # The solver's own error is in the certificate; shares add up to one.
    posterior = (found.expected / found.expected.sum(axis=1, keepdims=True))[problem.cell]
    certificate = Certificate(
        "convex optimum",
        found.gap,
        found.violation / problem.total,
        people=problem.total,
        finished=found.finished,
    )
    proved = None
    if bounds_seconds is not None:
        left = max(0.1, min(bounds_seconds, deadline - time.monotonic()))
        proved = joint_bounds(problem, budget_seconds=left, seed=seed, progress=progress)
    note = "split facts are left out: trees of a forest do not compare all splits of a node"
    return Found(posterior, posterior, certificate, (note,)), proved
