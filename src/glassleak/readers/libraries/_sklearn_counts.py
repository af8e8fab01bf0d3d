"""Whole numbers of people from scikit-learn's weighted node values.

``tree_.value`` holds class *fractions* (counts before 1.3) of the weighted rows in a node.  With
class weights the numbers are ``w_c * count``: the weights cancel when each class is rescaled so
that its counts are whole and the totals fit what else is published.  Arbitrary row weights do not
cancel; then there are no counts, and that is said.

A guess that merely fits is not enough: ``class_weight="balanced"`` gives every class the same
share of a node that was never split, which looks like whole numbers of people and is not.  So
which factors are tried depends on what the model says about its weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from glassleak.errors import InconsistentModelError
from glassleak.models import Exact, Missing
from glassleak.readers.libraries._sklearn_shares import totals_from_shares

_TOLERANCE = 1e-6
_MAX_MASS = 1e100
_MAX_WORK = 5_000_000_000
# Row weights that the model does not mention are believed to cancel only when this many groups
# confirm it: a few small ones would fit by chance.
_CONFIRMED = 6
_WEIGHTED = (
    "rows carry weights that do not cancel, so the published values are not numbers of people"
)
_AMBIGUOUS = (
    "classes carry weights the model does not state, and several numbers of people fit its values"
)


@dataclass(frozen=True)
class ClassWeights:
    """What the model says about the weight of each class in its node values.

    Attributes
    ----------
    given : bool
        Whether the values are weighted by class at all.
    values : array, optional
        The weights in class order, where the model states them.
    """

    given: bool = False
    values: npt.NDArray[np.float64] | None = None


UNWEIGHTED = ClassWeights()


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
    class_weights : ClassWeights
    place : str
    """

    values: npt.NDArray[np.float64]
    weighted_rows: npt.NDArray[np.float64]
    distinct: npt.NDArray[np.int64]
    leaves: npt.NDArray[np.bool_]
    total: int
    bagged: bool
    class_weights: ClassWeights
    place: str


def people_per_class(
    tree: Weighted, masses: npt.NDArray[np.float64]
) -> tuple[Exact | Missing, str | None]:
    """Exact counts per node and class, and a note when weights had to be removed.

    When the values are not whole numbers of people under any class weights the counts are
    `Missing`; the rows per node, which weights do not touch, remain.

    Parameters
    ----------
    masses : (nodes, classes) float array
        Weighted rows, from `masses_of`.
    """
    reason = _AMBIGUOUS
    for scale, how in _scales(tree, masses):
        with np.errstate(over="ignore", invalid="ignore"):
            counts = _whole(masses * scale)
        if counts is not None and _fits(counts, tree):
            return Exact(counts), how and f"weights were removed from the counts ({how})"
        reason = _WEIGHTED
    return Missing(reason), reason


def masses_of(tree: Weighted) -> npt.NDArray[np.float64]:
    """Weighted rows per node and class, whichever way the version stores them."""
    finite = np.isfinite(tree.values).all(axis=1) & np.isfinite(tree.weighted_rows)
    if not finite.all():
        _refuse("a node's value is not a finite number", ~finite, tree)
    with np.errstate(over="ignore", invalid="ignore"):
        sums = tree.values.sum(axis=1)
        fractions = np.abs(sums - 1.0) <= _TOLERANCE
        counts = np.abs(sums - tree.weighted_rows) <= _TOLERANCE * np.maximum(1.0, np.abs(sums))
        masses = tree.values * tree.weighted_rows[:, None] if fractions.all() else tree.values
    if not fractions.all() and not counts.all():
        wrong = ~counts if counts[0] and not fractions[0] else ~fractions
        _refuse("the class values of a node add up neither to 1 nor to its rows", wrong, tree)
    possible = (np.abs(masses) <= _MAX_MASS).all(axis=1)
    if not possible.all():
        _refuse("a node's value is impossibly large", ~possible, tree)
    return masses


def check_additive(
    masses: npt.NDArray[np.float64],
    left: npt.NDArray[np.int32],
    right: npt.NDArray[np.int32],
    place: str,
) -> None:
    """Raise unless every node's weighted rows are those of its children together.

    Weights may hide the numbers of people, but they still add up.
    """
    internal = np.flatnonzero(left >= 0)
    children = masses[left[internal]] + masses[right[internal]]
    allowed = 1e-6 * np.maximum(1.0, np.abs(masses[internal]))
    wrong = (np.abs(masses[internal] - children) > allowed).any(axis=1)
    if wrong.any():
        node = int(internal[np.flatnonzero(wrong)[0]])
        raise InconsistentModelError(
            "the node's class values are not those of its children together",
            f"{place}.values[{node}]",
        )


def _refuse(why: str, wrong: Any, tree: Weighted) -> NoReturn:
    raise InconsistentModelError(why, f"{tree.place}.values[{int(np.flatnonzero(wrong)[0])}]")


def _whole(masses: npt.NDArray[np.float64]) -> npt.NDArray[np.int64] | None:
    if not np.isfinite(masses).all() or masses.min() < -_TOLERANCE or masses.max() > 2**40:
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


def _scales(
    tree: Weighted, masses: npt.NDArray[np.float64]
) -> Iterator[tuple[npt.NDArray[np.float64], str | None]]:
    """Factors 1 / w_c per class that would be right, given what the model says of its weights."""
    n_classes = masses.shape[1]
    weights = tree.class_weights
    if weights.values is not None:
        with np.errstate(divide="ignore"):
            # Rows of a class without weight were left out, so whatever the factor is: 0 people.
            scale = np.where(weights.values > 0, 1.0 / weights.values, 0.0)
        yield scale, "the weight of each class is stored in the model"
        return
    if not weights.given:
        yield np.ones(n_classes), None
        if tree.leaves.sum() >= _CONFIRMED and masses[0].sum() > 0:
            scale = np.full(n_classes, tree.total / masses[0].sum())
            yield scale, "all rows weigh the same"
    if not tree.bagged:
        yield from _scale_from_leaves(tree, masses)
    present = masses[0] > 0
    if weights.given and present.any():
        totals = totals_from_shares(masses[:, present], tree.total)
        if totals is not None:
            scale = np.zeros(n_classes)
            scale[present] = totals / masses[0, present]
            yield scale, "the weight of each class follows from the shares per node"


def _scale_from_leaves(
    tree: Weighted, masses: npt.NDArray[np.float64]
) -> Iterator[tuple[npt.NDArray[np.float64], str]]:
    """Without bagging every leaf says: sum over classes of mass / w_c = rows."""
    leaf_masses = masses[tree.leaves]
    rows = tree.distinct[tree.leaves].astype(np.float64)
    mixed = int(((leaf_masses > 0).sum(axis=1) > 1).sum())
    if not tree.class_weights.given and 0 < mixed < _CONFIRMED + masses.shape[1]:
        return
    if leaf_masses.size * masses.shape[1] > _MAX_WORK:
        return
    try:
        scale, _, rank, _ = np.linalg.lstsq(leaf_masses, rows, rcond=None)
    except np.linalg.LinAlgError:
        return
    if rank == masses.shape[1]:
        yield scale.astype(np.float64), "the weight of each class follows from the rows per leaf"


def stated_weights(class_weight: Any, classes: tuple[Any, ...]) -> ClassWeights:
    """What the setting `class_weight` says.

    Parameters
    ----------
    class_weight : object
        None, a mapping of class to weight, or anything else, such as ``"balanced"``.
    classes : tuple
    """
    if class_weight is None:
        return UNWEIGHTED
    if not isinstance(class_weight, Mapping):
        return ClassWeights(given=True)
    # Containers may turn keys into text but keep their printed form.
    by_text = {str(k): v for k, v in class_weight.items()}
    weights = [class_weight[c] if c in class_weight else by_text.get(str(c), 1.0) for c in classes]
    if not all(
        isinstance(w, int | float) and not isinstance(w, bool) and 0 <= w < 2**60 for w in weights
    ):
        return ClassWeights(given=True)
    return ClassWeights(True, np.array([float(w) for w in weights]))
