"""Noisy counts, and an adversary who knows everybody's quasi-identifiers.

How many people each leaf holds is then known without the model: everybody can be sent through it.
Only their classes are hidden by noise.  Of all class counts that add up to a leaf's people, those
closest to the published ones are the most likely.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from glassleak.disclosure._people import People
from glassleak.errors import SchemaError
from glassleak.knowledge import closest_counts, with_leaf_counts
from glassleak.models import Exact, Noisy, RuleList, Tree

NOTE = (
    "the counts carry {mechanism} noise of scale {scale:g}: the estimate takes the most likely "
    "ones for true, proves nothing, and no bounds are given"
)


def likely_for(model: Tree | RuleList, people: People) -> Tree | RuleList:
    """`model` with the most likely class counts for these people."""
    assert isinstance(model.counts, Noisy)
    try:
        place = model.apply(people.values)
    except ValueError as error:
        raise SchemaError(str(error)) from None
    noisy = model.counts.values
    size = np.bincount(place, weights=people.number, minlength=len(noisy)).astype(np.int64)
    exact = np.zeros(noisy.shape, dtype=np.int64)
    for group in np.unique(place).tolist():
        exact[group] = closest_counts(noisy[group], int(size[group]))
    if isinstance(model, RuleList):
        return replace(model, counts=Exact(exact), n_rows=None, rows=None)
    return with_leaf_counts(model, exact)
