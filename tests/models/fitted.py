"""scikit-learn models as IR, straight from their arrays: what readers are not needed for here."""

from __future__ import annotations

import numpy as np

from glassleak.models import Bagging, Exact, Forest, Missing, Tree
from glassleak.schema._evidence import ONLY_MISSING


def tree_of(estimator, columns=None, weighted=False) -> Tree:
    """A fitted tree; ``weighted`` leaves the counts out."""
    state = estimator.tree_
    leaf = state.children_left < 0
    columns = columns or tuple(f"x{i}" for i in range(estimator.n_features_in_))
    share = state.value[:, 0, :]
    counts = np.rint(share * state.weighted_n_node_samples[:, None]).astype(np.int64)
    return Tree(
        tuple(columns), tuple(range(counts.shape[1])),
        np.where(leaf, -1, state.feature).astype(np.int32),
        # Where only missing values are told from others the library writes infinity.
        np.where(leaf, np.nan, np.minimum(state.threshold, ONLY_MISSING)),
        state.children_left.astype(np.int32), state.children_right.astype(np.int32),
        Missing("weights") if weighted else Exact(counts),
        distinct_rows=state.n_node_samples.astype(np.int64),
        missing_left=state.missing_go_to_left.astype(bool),
    )  # fmt: skip


def forest_of(estimator, columns=None) -> Forest:
    """A fitted forest, its draws taken as unknown."""
    members = tuple(tree_of(member, columns) for member in estimator.estimators_)
    return Forest(members, Bagging("unknown"))
