"""Maximum entropy as one nonlinear program, the way it was published: for comparison only.

One variable per quasi-identifier and class, and every candidate split of every node written down
from the start; no merging, no elimination, no lazy facts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glassleak.disclosure import Candidates, Problem
from glassleak.disclosure._candidates import Candidate
from glassleak.disclosure._measures import entropy, impurity


def every_fact(problem: Problem, candidates: Candidates) -> list[tuple[Any, Any, float]]:
    """For each candidate: the QIs of its node, their groups, and the least impurity."""
    means = problem.leaf_counts / problem.leaf_size[:, None]
    masses = means[problem.leaf] * problem.number[:, None]
    facts = []
    for i, node in enumerate(problem.nodes):
        scan = candidates.scan(i, masses)
        required = candidates.required(i, masses)
        for column, cut in zip(scan.columns.tolist(), scan.cuts.tolist(), strict=True):
            groups = candidates.groups(Candidate(i, column, cut))
            least = candidates.least(groups, problem.number[node.start : node.stop], required)
            facts.append((slice(node.start, node.stop), groups, least))
    return facts


def by_slsqp(problem: Problem, candidates: Candidates) -> tuple[np.ndarray, bool]:
    """SciPy's SLSQP; also whether it calls itself successful."""
    from scipy.optimize import minimize

    shape = (len(problem.number), problem.n_classes)
    number = problem.number[:, None]
    facts = every_fact(problem, candidates)
    gini = candidates.facts.measure == "gini"
    matrix, right = _equations(problem)

    def cost(x: np.ndarray) -> tuple[float, np.ndarray]:
        p = np.clip(x.reshape(shape), 1e-12, None)
        return float((number * p * np.log(p)).sum()), (number * (np.log(p) + 1)).ravel()

    def slack(x: np.ndarray) -> np.ndarray:
        masses = np.clip(x.reshape(shape), 1e-12, None) * number
        out = []
        for where, groups, least in facts:
            sums = np.zeros((groups.max() + 1, shape[1]))
            np.add.at(sums, groups, masses[where])
            out.append(impurity(sums, "gini" if gini else "entropy").sum() - least)
        return np.array(out)

    means = (problem.leaf_counts / problem.leaf_size[:, None])[problem.leaf]
    found = minimize(
        cost, means.ravel(), jac=True, method="SLSQP", bounds=[(0, 1)] * means.size,
        constraints=[
            {"type": "eq", "fun": lambda x: matrix @ x - right, "jac": lambda _: matrix},
            {"type": "ineq", "fun": slack},
        ],
        options={"maxiter": 1000, "ftol": 1e-10},
    )  # fmt: skip
    return found.x.reshape(shape), bool(found.success)


def by_cvxpy(problem: Problem, candidates: Candidates) -> tuple[np.ndarray, bool]:
    """A cvxpy model of the whole, with whichever solver it picks."""
    import cvxpy as cp

    shape = (len(problem.number), problem.n_classes)
    weight = np.repeat(problem.number[:, None], shape[1], axis=1)
    x = cp.Variable(shape, nonneg=True)
    matrix, right = _equations(problem)
    facts = [matrix @ cp.vec(x, order="C") == right]
    for where, groups, least in every_fact(problem, candidates):
        terms = []
        for group in range(groups.max() + 1):
            own = problem.number[where] * (groups == group)
            h, n = own @ x[where], own.sum()
            terms.append(
                n - cp.sum_squares(h) / n
                if candidates.facts.measure == "gini"
                else n * cp.sum(cp.entr(h / n))
            )
        facts.append(sum(terms) >= least - 1e-9)
    goal = cp.Maximize(cp.sum(cp.multiply(weight, cp.entr(x))))
    task = cp.Problem(goal, facts)
    try:
        task.solve()
    except cp.SolverError:
        return np.full(shape, np.nan), False
    value = np.full(shape, np.nan) if x.value is None else x.value
    return value, task.status == "optimal"


def _equations(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities add up to one, leaves to their counts."""
    q, m = len(problem.number), problem.n_classes
    ones = np.kron(np.eye(q), np.ones((1, m)))
    member = np.zeros((len(problem.leaf_size), q))
    member[problem.leaf, np.arange(q)] = problem.number
    leaves = np.kron(member, np.eye(m))
    return np.vstack([ones, leaves]), np.concatenate([np.ones(q), problem.leaf_counts.ravel()])


def judge(problem: Problem, candidates: Candidates, posterior: np.ndarray) -> tuple[float, float]:
    """Entropy (nats) and the largest violation over all candidates, of anybody's answer."""
    masses = posterior * problem.number[:, None]
    worst = 0.0
    for i, node in enumerate(problem.nodes):
        size = problem.number[node.start : node.stop].sum()
        worst = max(worst, -float(candidates.scan(i, masses).slack.min(initial=0.0)) / size)
    leaves = np.zeros(problem.leaf_counts.shape)
    np.add.at(leaves, problem.leaf, masses)
    missed = np.abs(leaves - problem.leaf_counts).max() / problem.total
    return float(problem.number @ entropy(np.clip(posterior, 0, 1))), max(worst, float(missed))
