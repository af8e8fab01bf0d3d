"""Models that say how many rows each leaf holds, but not of which class: one class for everybody.

LightGBM publishes exact numbers of rows.  Without sampling they describe the same rows in every
tree, so rows can be reconstructed from them; of which class a row is cannot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from glassleak.errors import UnsupportedModelError
from glassleak.models import Exact, Forest, Missing, Model, Tree
from glassleak.reconstruction._result import Reconstruction

# The search over rows tells classes apart, so there must be two; nobody is in the second.
_CLASSES = ("any", "none")
_UNKNOWN = "the model publishes numbers of rows and not of which class: labels are not known"


def tells_rows_only(model: Model | Sequence[Model]) -> bool:
    """Whether a model publishes rows per leaf, and none by class."""
    if not isinstance(model, Tree | Forest):
        return False
    trees = model.trees if isinstance(model, Forest) else (model,)
    return all(isinstance(tree.counts, Missing) for tree in trees) and any(
        tree.people is not None for tree in trees
    )


def rows_as_counts(model: Tree | Forest) -> Tree | Forest:
    """The same trees with one class for all rows.

    Trees that do not say how many rows their leaves hold are left out.

    Raises
    ------
    UnsupportedModelError
        Every tree saw a sample of its own.
    """
    if isinstance(model, Tree):
        return _one_class(model)
    if model.bagging.kind != "none":
        why = "; ".join(model.provenance.notes) or "every tree saw a sample of the rows"
        raise UnsupportedModelError(
            f"numbers of rows of different trees do not describe the same rows: {why}"
        )
    trees = tuple(_one_class(tree) for tree in model.trees if tree.people is not None)
    return replace(model, trees=trees)


def _one_class(tree: Tree) -> Tree:
    people = tree.people
    assert people is not None
    counts = np.column_stack([people, np.zeros_like(people)])
    return replace(
        tree, classes=_CLASSES, counts=Exact(counts), rows=None,
        distinct_rows=None, shares=None, targets=None, spread=None,
    )  # fmt: skip


def without_labels(found: Reconstruction) -> Reconstruction:
    """`found`, saying that labels are not known."""
    certificate = found.certificate
    bounds = certificate.bounds.assign(**{"class": None})
    return replace(
        found,
        labels=np.full(len(found.labels), None, dtype=object),
        certificate=replace(
            certificate, bounds=bounds, statements=(*certificate.statements, _UNKNOWN)
        ),
        details=found.details | {"labels": _UNKNOWN},
    )
