"""Reconstruct the training rows of regression trees: a target is the name of its row."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.errors import (
    BudgetExhaustedError,
    InconsistentModelError,
    ModelTooLargeError,
    UnsupportedModelError,
)
from glassleak.models import Forest, Tree
from glassleak.reconstruction._result import Reconstruction
from glassleak.reconstruction._survey import Progress
from glassleak.reconstruction.regression._answer import answer
from glassleak.reconstruction.regression._classes import as_classes
from glassleak.reconstruction.regression._complete import complete
from glassleak.reconstruction.regression._facts import Facts, facts_of
from glassleak.reconstruction.regression._people import anonymous, people_of
from glassleak.reconstruction.regression._place import (
    MOST_ALIKE,
    groups_alike,
    place_alike,
    place_named,
)
from glassleak.reconstruction.regression._rest import place_rest
from glassleak.reconstruction.regression._values import Shares, shares_of
from glassleak.schema import Schema

# Classification trees hold a count for every node and class.
_MOST_CLASSES = 64


def attack_targets(
    model: Tree | Forest,
    schema: Schema,
    draws: npt.NDArray[np.int32] | None,
    *,
    started: float,
    deadline: float,
    progress: Progress | None = None,
    seed: int = 0,
    least_named: float = 0.0,
    by_classes: Callable[[Forest], Reconstruction] | None = None,
) -> Reconstruction | None:
    """Reconstruct a regression model; see `reconstruct` for the parameters.

    Parameters
    ----------
    least_named : float
        If leaves tell the targets of a smaller share of rows than this: ``None``.
    by_classes : callable, optional
        Reconstructs a bagged forest with targets for classes: tried where so many rows share few
        targets that targets do not name them.

    Raises
    ------
    UnsupportedModelError
        No leaf tells a target, and nothing else can be tried (`least_named` is 0).
    """
    tell = progress or (lambda _step, _share: None)
    tell("reading the leaves", 0.0)
    facts = facts_of(model, schema, draws)
    shares = shares_of(facts)
    if not len(shares.values):
        if least_named > 0:
            return None
        raise UnsupportedModelError("every leaf holds several rows, and none tells a target")
    tell("naming the rows", 0.1)
    people = people_of(facts, shares, deadline, seed)
    few = len(shares.values) <= _MOST_CLASSES and bool(shares.told.all())
    if people.growing and few and isinstance(model, Forest) and by_classes is not None:
        found = _with_classes(model, facts, shares, by_classes)
        if found is not None:
            return found
    if float((people.value >= 0).mean()) < least_named:
        return None
    details: dict[str, Any] = {
        "different_targets": len(shares.values),
        "leaves_that_tell": int(shares.told.sum()),
        "leaves": facts.n_leaves,
    }
    tell("placing the rows", 0.3)
    try:
        facts = facts if people.located else replace(facts, draws=None)
        places = place_named(facts, shares, people)
    except InconsistentModelError:
        if people.complete:
            raise
        # An assignment of targets that fits all draws need not be the right one.
        facts, people = replace(facts, draws=None), anonymous(facts, shares)
        places = place_named(facts, shares, people)
    groups = groups_alike(facts, shares, people)
    skipped, value = 0, people.value.copy()
    for i, group in enumerate(groups):
        tell("telling rows with equal targets apart", 0.3 + 0.4 * i / len(groups))
        if len(group.rows) > MOST_ALIKE or time.monotonic() > deadline:
            skipped += 1
            places.certain[group.rows] = False
            continue
        if not place_alike(facts, places, group, deadline):
            complete(facts, places, group, deadline)
        value[group.rows] = value[group.rows[0]]
    if people.growing:
        people = replace(people, value=value)
    details |= {"targets_shared": len(groups), "targets_not_told_apart": skipped}
    details["leaves_open"] = place_rest(facts, shares, people, places, deadline)
    tell("recovering values", 0.8)
    return answer(model, facts, shares, people, places, schema, details, started)


def _with_classes(
    model: Forest, facts: Facts, shares: Shares,
    by_classes: Callable[[Forest], Reconstruction],
) -> Reconstruction | None:  # fmt: skip
    """What the attack on classification forests finds, if that is a table that fits."""
    try:
        found = by_classes(as_classes(model, facts, shares))
    except (BudgetExhaustedError, ModelTooLargeError, UnsupportedModelError):
        return None
    if found.status == "partial":
        return None
    told = {"different_targets": len(shares.values), "share_of_targets": 1.0, "as_classes": True}
    return replace(found, labels=found.labels.astype(np.float64), details=found.details | told)
