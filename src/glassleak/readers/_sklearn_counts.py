"""Whole numbers of people from scikit-learn's weighted node values.

``tree_.value`` holds class *fractions* (counts before 1.3) of the weighted rows in a node.  With
class weights the numbers are ``w_c * count``: the weights cancel when each class is rescaled so
that its counts are whole and the totals fit what else is published.  Arbitrary row weights do not
cancel; then there are no counts, and that is said.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.errors import InconsistentModelError
from glassleak.models import Exact, Missing

_TOLERANCE = 1e-6
_WEIGHTED = (
    "rows carry weights that do not cancel, so the published values are not numbers of people"
)


@dataclass(frozen=True)
class Weighted:
    """What a tree publishes about rows per node.

    Attributes
    ----------
    values : (nodes, classes) float array
        Fractions or weighted counts, as stored.
    weighted_rows : (nodes,) float array
    distinct : (nodes,) int array
        ``n_node_samples``.
    leaves : (nodes,) bool array
    total : int
        Rows the tree was trained on, with multiplicity.
    bagged : bool
    class_weights : array, optional
        Explicit weights in class order.
    place : str
    """

    values: npt.NDArray[np.float64]
    weighted_rows: npt.NDArray[np.float64]
    distinct: npt.NDArray[np.int64]
    leaves: npt.NDArray[np.bool_]
    total: int
    bagged: bool
    class_weights: npt.NDArray[np.float64] | None
    place: str


def people_per_class(tree: Weighted) -> tuple[Exact | Missing, str | None]:
    """Exact counts per node and class, and a note when weights had to be removed.

    When the values are not whole numbers of people under any class weights the counts are
    `Missing`; the rows per node, which weights do not touch, remain.
    """
    masses = _masses(tree)
    counts = _whole(masses)
    if counts is not None and _fits(counts, tree):
        return Exact(counts), None
    for scale, how in _class_scales(masses, tree):
        counts = _whole(masses * scale)
        if counts is not None and _fits(counts, tree):
            return Exact(counts), f"class weights were removed from the counts ({how})"
    return Missing(_WEIGHTED), _WEIGHTED


def _masses(tree: Weighted) -> npt.NDArray[np.float64]:
    """Weighted rows per node and class, whichever way the version stores them."""
    sums = tree.values.sum(axis=1)
    if not (np.isfinite(tree.values).all() and np.isfinite(tree.weighted_rows).all()):
        raise InconsistentModelError("a node value is not a finite number", f"{tree.place}.values")
    if np.allclose(sums, 1.0, rtol=0, atol=1e-6):
        return tree.values * tree.weighted_rows[:, None]
    if np.allclose(sums, tree.weighted_rows, rtol=1e-6, atol=1e-6):
        return tree.values
    raise InconsistentModelError(
        "the class values of a node add up neither to 1 nor to its rows", f"{tree.place}.values"
    )


def _whole(masses: npt.NDArray[np.float64]) -> npt.NDArray[np.int64] | None:
    if masses.size and (masses.min() < -_TOLERANCE or masses.max() > 2**40):
        return None
    rounded = np.rint(masses)
    # Fractions lose about 1e-16 of the count; 1e-6 is far above that and far below one person.
    if (np.abs(masses - rounded) > _TOLERANCE * np.maximum(1.0, rounded * 1e-3)).any():
        return None
    return rounded.astype(np.int64)


def _fits(counts: npt.NDArray[np.int64], tree: Weighted) -> bool:
    totals = counts.sum(axis=1)
    if int(totals[0]) != tree.total:
        return False
    if tree.bagged:
        return bool((totals >= tree.distinct).all())
    return bool((totals == tree.distinct).all())


def _class_scales(masses: npt.NDArray[np.float64], tree: Weighted) -> Any:
    """Candidate factors 1 / w_c per class, most certain first."""
    if tree.class_weights is not None and (tree.class_weights > 0).all():
        yield 1.0 / tree.class_weights, "the weights are stored in the model"
    if not tree.bagged:
        # Without bagging every leaf says: sum over classes of mass / w_c = rows.
        leaf_masses, rows = masses[tree.leaves], tree.distinct[tree.leaves]
        scale, _, rank, _ = np.linalg.lstsq(leaf_masses, rows.astype(np.float64), rcond=None)
        if rank == masses.shape[1]:
            yield scale, "they follow from the rows per leaf"
    yield from _scales_from_denominators(masses, tree.total)


def _scales_from_denominators(masses: npt.NDArray[np.float64], total: int) -> Any:
    """Class totals are multiples of the common denominator of the class's shares per node."""
    root = masses[0]
    if not (root > 0).all() or total > 10_000_000:
        return
    steps = []
    for c in range(masses.shape[1]):
        step = 1
        for share in np.unique(masses[:, c] / root[c]).tolist():
            step = math.lcm(step, Fraction(share).limit_denominator(total).denominator)
            if step > total:
                return
        steps.append(step)
    found = list(_splits(total, steps, limit=2))
    if len(found) == 1:
        yield np.array(found[0]) / root, "they follow from the shares per node"


def _splits(total: int, steps: list[int], limit: int) -> list[tuple[int, ...]]:
    """Up to `limit` ways to write `total` as a sum of positive multiples of each step."""
    if len(steps) == 1:
        return [(total,)] if total > 0 and total % steps[0] == 0 else []
    found: list[tuple[int, ...]] = []
    for head in range(steps[0], total, steps[0]):
        found += [(head, *rest) for rest in _splits(total - head, steps[1:], limit - len(found))]
        if len(found) >= limit:
            break
    return found


def explicit_class_weights(
    class_weight: Any, classes: tuple[Any, ...]
) -> npt.NDArray[np.float64] | None:
    """Weights in class order when the model was given a dict of them."""
    if not isinstance(class_weight, Mapping):
        return None
    # Containers that turn keys into text (JSON) keep the order and the printed form.
    by_text = {str(k): v for k, v in class_weight.items()}
    weights = [by_text.get(str(c), 1.0) for c in classes]
    if not all(isinstance(w, int | float) and math.isfinite(w) for w in weights):
        return None
    return np.array(weights, dtype=np.float64)
