"""Which profiles to take as possible where the model is all there is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from glassleak.models import Forest, Model, Tree
from glassleak.schema import Attribute, Binary, Numeric, Ordinal, Schema, widened


def assumed_schema(model: Model) -> Schema:
    """What `Schema.infer` makes of the model, where in doubt with more profiles and not fewer.

    Numbers get room beyond the outermost thresholds, and columns that show it may be missing.
    """
    schema = widened(Schema.infer(model.split_evidence()))
    absent = _with_missing(model)
    if not absent:
        return schema
    return Schema([_or_missing(attribute, absent) for attribute in schema], schema.guesses)


def _with_missing(model: Model) -> set[str]:
    """Columns of scikit-learn's trees that provably had missing values.

    At a node no missing value has reached, scikit-learn sends those to come where most rows went.
    Where it does otherwise some were there.
    """
    if model.provenance.library not in ("sklearn", "scikit-learn"):
        return set()
    trees: Sequence[Tree] = ()
    if isinstance(model, Forest):
        trees = model.trees
    elif isinstance(model, Tree):
        trees = (model,)
    # Splitters that know no missing values never say where they go.
    if not any(tree.missing_left is not None and tree.missing_left.any() for tree in trees):
        return set()
    found: set[str] = set()
    for tree in trees:
        people = tree.distinct_rows
        if tree.missing_left is None or people is None or not people[0]:
            continue
        split = np.flatnonzero(tree.feature >= 0)
        most_left = people[tree.left[split]] > people[tree.right[split]]
        against = split[tree.missing_left[split] != most_left]
        found |= {model.columns[c] for c in np.unique(tree.feature[against]).tolist()}
    return found


def _or_missing(attribute: Attribute, absent: set[str]) -> Attribute:
    if not absent.intersection(attribute.columns):
        return attribute
    if isinstance(attribute, Ordinal | Numeric):
        return replace(attribute, missing=True)
    if isinstance(attribute, Binary):
        return Ordinal(attribute.name, 0, 1, column=attribute.columns[0], missing=True)
    return attribute
