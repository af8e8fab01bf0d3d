"""The people of the paper, and its trees grown on them."""

from __future__ import annotations

import functools

import pandas as pd

from glassleak import datasets
from glassleak.errors import DatasetUnavailableError
from glassleak.models import MultiwayTree
from glassleak.papers.maxent._setting import QUASI_IDENTIFIERS, SENSITIVE, STOPS, Measure, Size
from glassleak.readers import read

# The training half of Adult, without anybody of whom something is unknown.
_TRAINING_ROWS = 32_561
PEOPLE = 30_162


@functools.cache
def people() -> pd.DataFrame:
    """Quasi-identifiers and education of the paper's 30,162 people."""
    frame = datasets.load("adult", variant="raw").frame.iloc[:_TRAINING_ROWS]
    complete = (frame.astype(str) != "?").all(axis=1)
    chosen = frame.loc[complete, [*QUASI_IDENTIFIERS, SENSITIVE]].reset_index(drop=True)
    if len(chosen) != PEOPLE:
        raise DatasetUnavailableError(
            f"the Adult table has {len(chosen):,} complete training records, not {PEOPLE:,}"
        )
    return chosen


@functools.cache
def tree(measure: Measure, size: Size = "paper") -> MultiwayTree:
    """The tree that predicts education from the quasi-identifiers."""
    # Listing the papers must not load scikit-learn.
    from glassleak.learners import ID3Classifier

    stops = STOPS[measure] if size == "paper" else {}
    table = people()
    learner = ID3Classifier(measure, **stops)  # type: ignore[arg-type]
    model = read(learner.fit(table[list(QUASI_IDENTIFIERS)], table[SENSITIVE]))
    assert isinstance(model, MultiwayTree)
    return model


def numbers(model: MultiwayTree) -> dict[str, int]:
    """How many constraints of each kind the paper counts for a tree.

    One rate-constraint per leaf, one label-constraint per leaf and other class, one
    internal-constraint per internal node and other column left to choose from.
    """
    used = [0] * model.n_nodes
    internal = 0
    for node in range(model.n_nodes):
        above = int(model.parent[node])
        used[node] = 0 if above < 0 else used[above] + 1
        if model.feature[node] >= 0:
            internal += len(model.columns) - used[node] - 1
    return {
        "leaves": model.n_leaves,
        "rate": model.n_leaves,
        "label": model.n_leaves * (len(model.classes) - 1),
        "internal": internal,
    }
