"""scikit-learn's gradient boosting: trees of what earlier trees left over.

Leaves hold sums of gradients and neither targets nor classes, but how many rows reached each node
is published, and without subsampling these are the same rows in every tree.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from glassleak.errors import MalformedModelError
from glassleak.models import Bagging, Forest, Missing, Tree
from glassleak.models._counts import REMOVED
from glassleak.readers._limits import Limits
from glassleak.readers._state import State
from glassleak.readers.libraries._sklearn_tree import (
    Context,
    class_labels,
    column_names,
    provenance,
    tree_from_state,
)
from glassleak.readers.libraries._typed import check_width

_NO_COUNTS = "a boosted model: rows per node are published, and neither classes nor targets"
_SAMPLED = "every tree saw a sample of the rows, drawn without replacement"
_IN_TURNS = "trees report different numbers of rows: trained in turns, on different rows"


def read_gradient_boosting(state: State, limits: Limits) -> Forest:
    """GradientBoostingClassifier or GradientBoostingRegressor: splits and numbers of rows."""
    place = f"{state.name}.estimators_"
    rounds = _rounds(state.get("estimators_"), place)
    members = [member for one in rounds for member in one]
    per_round = len(rounds[0])
    columns = column_names(state, limits)
    check_width(len(members), len(columns), limits)
    classes = class_labels(state) if state.name.endswith("Classifier") else ()
    # The trees are regression trees whatever they are used for.
    context = Context(columns, (), limits, regression=True)
    trees: list[Tree] = []
    notes: list[str] = []
    nodes = 0
    for i, member in enumerate(members):
        if not isinstance(member, State):
            raise MalformedModelError("not a tree", f"{place}[{i}]")
        tree, _ = tree_from_state(member, context, f"{place}[{i}]")
        nodes += tree.n_nodes
        limits.check_nodes(nodes)
        reason = REMOVED if tree.people is None else _NO_COUNTS
        trees.append(
            replace(
                tree, classes=classes, counts=Missing(reason), rows=None, targets=None, spread=None
            )
        )
    if per_round > 1:
        notes.append(f"every round adds one tree per class: tree t is for class t mod {per_round}")
    share = state.get("subsample", 1.0)
    bagging = Bagging()
    if not isinstance(share, int | float) or share < 1.0:
        bagging = Bagging("unknown")
        notes.append(_SAMPLED)
    elif len({tree.n_rows for tree in trees} - {None}) > 1:
        bagging = Bagging("unknown")
        notes.append(_IN_TURNS)
    settings = {"splitter": "best", "subsample": share, "loss": state.get("loss")}
    return Forest(tuple(trees), bagging, None, "sum", provenance(state, tuple(notes), **settings))


def _rounds(grid: Any, place: str) -> list[list[Any]]:
    """Rounds of trees, from the table of objects or from the lists some containers make of it."""
    rounds = grid.tolist() if isinstance(grid, np.ndarray) and grid.dtype == object else grid
    if not isinstance(rounds, list) or not rounds:
        raise MalformedModelError("no trained trees", place)
    for one in rounds:
        if not isinstance(one, list) or not one or len(one) != len(rounds[0]):
            raise MalformedModelError("not one tree per round and class", place)
    return rounds
