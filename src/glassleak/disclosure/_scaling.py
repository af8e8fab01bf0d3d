"""Leaves tied together by the published distribution of the sensitive attribute.

SA-constraints fix how many people have each class in all leaves together.  Given one multiplier
per class, every leaf has a closed form: proportional to the multipliers, cut off where the leaf's
label would be outnumbered.  What is left is to find the multipliers, a smooth convex problem with
as many unknowns as classes, whose value bounds the maximum entropy from above at every point.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import optimize, sparse
from scipy.special import xlogy

from glassleak.disclosure._measures import Floats
from glassleak.disclosure._problem import Problem
from glassleak.errors import InconsistentModelError

# Multipliers beyond e**±60 are zeros and ones to any number of digits anybody prints.
_FURTHEST = 60.0
# Multipliers that miss the margin by more may be looking for what does not exist.
_SUSPICIOUS = 1e-7
_CONTRADICTION = "the margin of the sensitive attribute contradicts what the leaves publish"


@dataclass(frozen=True)
class Scaled:
    """Distributions of the leaves under the margin.

    Attributes
    ----------
    leaves : (leaves, classes) float array
        P(class | leaf).
    gap : float
        At most so far below the maximum entropy, in nats summed over people.
    violation : float
        Largest difference from the margin, as a share of all people.
    """

    leaves: Floats
    gap: float
    violation: float


def scale_to_margin(problem: Problem) -> Scaled:
    """The maximum-entropy distributions of leaves that add up to the margin.

    Raises
    ------
    InconsistentModelError
        The margin contradicts the leaves.
    """
    assert problem.margin is not None
    unknown = (problem.leaf_counts < 0) & (problem.margin > 0)
    known = np.where(problem.leaf_counts < 0, 0, problem.leaf_counts)
    _check_sums(problem, known, unknown)
    size = problem.leaf_size.astype(float)
    rest = (problem.leaf_size - known.sum(axis=1)) / size
    target = (problem.margin - known.sum(axis=0)).astype(float)
    leaves = np.arange(len(size))
    own = problem.leaf_counts[leaves, problem.leaf_label]
    open_leaf = unknown.any(axis=1)
    by_label = open_leaf & (own < 0)
    inner = _Leaves(
        unknown, rest, np.where(own < 0, np.inf, own / size), problem.leaf_label, by_label
    )
    active = np.flatnonzero(unknown.any(axis=0))
    total = float(problem.total)
    if not active.size:
        return Scaled(known / size[:, None], 0.0, 0.0)

    def dual(multipliers: Floats) -> tuple[float, Floats]:
        full = np.zeros(problem.n_classes)
        full[active] = multipliers
        shares = inner.best(full)
        value = -xlogy(shares, shares).sum(axis=1) + shares @ full
        gradient = size @ shares - target
        return float(size @ value - target @ full) / total, gradient[active] / total

    start = np.log(np.maximum(target[active], 0.5) / total)
    found = optimize.minimize(
        dual, start - start.mean(), jac=True, method="L-BFGS-B",
        bounds=[(-_FURTHEST, _FURTHEST)] * len(active),
        options={"maxiter": 20_000, "maxfun": 40_000, "ftol": 0.0, "gtol": 1e-13, "maxcor": 30},
    )  # fmt: skip
    full = np.zeros(problem.n_classes)
    full[active] = found.x
    free = inner.best(full)
    shares = known / size[:, None] + free
    missed = size @ free - target
    entropy = -float(size @ xlogy(free, free).sum(axis=1))
    gap = max(0.0, dual(found.x)[0] * total - entropy)
    violation = float(np.abs(missed).max()) / total
    if violation > _SUSPICIOUS:
        _check_feasible(problem, known, unknown)
    return Scaled(shares, gap, violation)


@dataclass(frozen=True)
class _Leaves:
    """``argmax H(p) + multipliers · p`` for every leaf at once.

    Attributes
    ----------
    free : (leaves, classes) bool array
        Classes whose share is to be found.
    rest : (leaves,) float array
        What they share.
    cap : (leaves,) float array
        The most one of them may have, where the label's own count is known.
    label : (leaves,) int array
    by_label : (leaves,) bool array
        Leaves whose label is itself to be found: no class may have more than it.
    """

    free: npt.NDArray[np.bool_]
    rest: Floats
    cap: Floats
    label: npt.NDArray[np.int64]
    by_label: npt.NDArray[np.bool_]

    def best(self, multipliers: Floats) -> Floats:
        order = np.argsort(-multipliers, kind="stable")
        out = np.zeros(self.free.shape)
        capped = ~self.by_label & self.free.any(axis=1)
        if capped.any():
            out[capped] = _capped(
                self.free[capped], self.rest[capped], self.cap[capped], multipliers, order
            )
        if self.by_label.any():
            some = self.by_label
            out[some] = _under_label(self.free[some], self.label[some], multipliers, order)
        return out


def _capped(
    free: npt.NDArray[np.bool_], rest: Floats, cap: Floats, multipliers: Floats,
    order: npt.NDArray[np.intp],
) -> Floats:  # fmt: skip
    """Proportional to the weights; who would exceed the cap gets the cap, largest first."""
    weight = np.where(free, np.exp(multipliers - multipliers.max()), 0.0)[:, order]
    sorted_free = free[:, order].astype(np.int64)
    before = np.cumsum(sorted_free, axis=1) - sorted_free
    remaining = np.cumsum(weight[:, ::-1], axis=1)[:, ::-1]
    # Someone is below the cap, and then all lighter ones, if the rest after everybody heavier got
    # the cap gives them no more than it.
    left = np.maximum(rest[:, None] - before * cap[:, None], 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.where(remaining > 0, left / remaining, 0.0)
    below = free[:, order] & (weight * factor <= cap[:, None])
    first = np.argmax(below, axis=1)
    some = below.any(axis=1)
    rows = np.arange(len(free))
    scale = np.where(some, factor[rows, first], np.inf)
    with np.errstate(invalid="ignore"):
        shares = np.where(free[:, order], np.minimum(weight * scale[:, None], cap[:, None]), 0.0)
    out = np.empty_like(shares)
    out[:, order] = shares
    return out


def _under_label(
    free: npt.NDArray[np.bool_], label: npt.NDArray[np.int64], multipliers: Floats,
    order: npt.NDArray[np.intp],
) -> Floats:  # fmt: skip
    """Proportional to the weights; who would outnumber the label shares evenly with it."""
    rows = np.arange(len(free))
    others = free.copy()
    others[rows, label] = False
    own = multipliers[label]
    sorted_free, sorted_multiplier = others[:, order], multipliers[order]
    # Heaviest first, classes join the label as long as they are heavier than the common weight.
    joined = np.zeros(len(free))
    level = own.copy()
    going = np.ones(len(free), dtype=bool)
    pooled = np.zeros_like(others)
    for at, klass in enumerate(order.tolist()):
        joins = going & sorted_free[:, at] & (sorted_multiplier[at] > level)
        going &= joins | ~sorted_free[:, at]
        level = np.where(
            joins, (level * (joined + 1) + sorted_multiplier[at]) / (joined + 2), level
        )
        joined += joins
        pooled[:, klass] = joins
    pooled[rows, label] = True
    exponent = np.where(pooled, level[:, None], multipliers)
    exponent = np.where(free, exponent, -np.inf)
    weight = np.exp(exponent - exponent.max(axis=1, keepdims=True))
    out: Floats = weight / weight.sum(axis=1, keepdims=True)
    return out


def _check_sums(
    problem: Problem, known: npt.NDArray[np.int64], unknown: npt.NDArray[np.bool_]
) -> None:
    assert problem.margin is not None
    here = np.arange(len(known))
    rest = problem.leaf_size - known.sum(axis=1)
    own = problem.leaf_counts[here, problem.leaf_label]
    nobody = (rest > 0) & (~unknown.any(axis=1) | ((own < 0) & ~unknown[here, problem.leaf_label]))
    left = problem.margin - known.sum(axis=0)
    if (left < 0).any() or nobody.any() or ((left > 0) & ~unknown.any(axis=0)).any():
        raise InconsistentModelError(_CONTRADICTION)


def _check_feasible(
    problem: Problem, known: npt.NDArray[np.int64], unknown: npt.NDArray[np.bool_]
) -> None:
    """Whether any table has this margin, these labels and rates: a linear program."""
    assert problem.margin is not None
    rows, columns = np.nonzero(unknown)
    n, label = len(rows), problem.leaf_label
    own = problem.leaf_counts[np.arange(len(known)), label]
    position = np.full(unknown.shape, -1)
    position[rows, columns] = np.arange(n)
    pairs = np.flatnonzero((own[rows] < 0) & (columns != label[rows]))
    labelled = position[rows[pairs], label[rows[pairs]]]
    k = np.arange(len(pairs))
    outnumbered = sparse.coo_array(
        (
            np.concatenate([np.ones(len(k)), -np.ones(len(k))]),
            (np.concatenate([k, k]), np.concatenate([pairs, labelled])),
        ),
        shape=(len(k), n),
    )
    ones, here = np.ones(n), np.arange(n)
    per_leaf = sparse.coo_array((ones, (rows, here)), shape=(len(known), n))
    per_class = sparse.coo_array((ones, (columns, here)), shape=(problem.n_classes, n))
    rest = problem.leaf_size - known.sum(axis=1)
    left = problem.margin - known.sum(axis=0)
    found = optimize.linprog(  # type: ignore[call-overload]
        np.zeros(n),
        A_ub=outnumbered if len(k) else None,
        b_ub=np.zeros(len(k)) if len(k) else None,
        A_eq=sparse.vstack([per_leaf, per_class]),
        b_eq=np.concatenate([rest, left]).astype(float),
        bounds=np.column_stack([np.zeros(n), np.where(own[rows] >= 0, own[rows], np.inf)]),
        method="highs",
    )
    if found.status == 2:
        raise InconsistentModelError(_CONTRADICTION)
