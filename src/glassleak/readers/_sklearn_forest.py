"""scikit-learn's forests and bags of trees, with what their seeds tell about the rows drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.errors import MalformedModelError, UnsupportedModelError
from glassleak.models import Bagging, Forest, Label, Tree
from glassleak.readers._limits import Limits
from glassleak.readers._sklearn_tree import (
    Context,
    class_labels,
    column_names,
    provenance,
    tree_from_state,
)
from glassleak.readers._state import State

TREE_NAMES = ("DecisionTreeClassifier", "ExtraTreeClassifier")
_CHECKED_TREES = 10


def read_forest_classifier(state: State, limits: Limits) -> Forest:
    """RandomForestClassifier or ExtraTreesClassifier."""
    members = _members(state)
    bootstrap = state.get("bootstrap") is True
    n_samples = _whole(state, "_n_samples")
    draws = _whole(state, "_n_samples_bootstrap") if bootstrap else None
    if bootstrap and (n_samples is None or draws is None):
        # Before 1.4 neither is stored; the root still says how many rows were drawn.
        draws = _drawn_at_root(members[0])
    context = Context(
        column_names(state), class_labels(state), limits, draws=draws,
        class_weight=state.get("class_weight"),
    )  # fmt: skip
    trees, notes = _trees(state, members, limits, lambda _: context)
    bagging = Bagging()
    if bootstrap:
        bagging, note = _verified(_forest_bagging(state, members, draws), trees, n_samples)
        notes = (*notes, note)
    n_rows = n_samples if bootstrap else trees[0].n_rows
    settings = {"splitter": members[0].get("splitter")}
    return Forest(trees, bagging, n_rows, "mean", provenance(state, notes, **settings))


def read_bagging_classifier(state: State, limits: Limits) -> Forest:
    """BaggingClassifier over trees."""
    members = _members(state)
    for i, member in enumerate(members):
        if member.name not in TREE_NAMES:
            raise UnsupportedModelError(
                f"a bag of {member.name}; only bags of trees are supported",
                f"{state.name}.estimators_[{i}]",
            )
    columns, classes = column_names(state), class_labels(state)
    n_samples, draws = _whole(state, "_n_samples"), _whole(state, "_max_samples")
    bootstrap = state.get("bootstrap") is True
    whole = not bootstrap and draws is not None and draws == n_samples
    maps = _column_maps(state, len(members), len(columns))
    total = None if whole else (draws or _drawn_at_root(members[0]))
    contexts = [
        Context(columns, classes, limits, column_map=maps[i], draws=total,
                class_weight=_relabelled(member.get("class_weight"), classes))
        for i, member in enumerate(members)
    ]  # fmt: skip
    trees, notes = _trees(state, members, limits, contexts.__getitem__)
    bagging = Bagging()
    if not whole:
        recipe = _bag_recipe(state, n_samples, draws, len(columns))
        bagging, note = _verified(recipe, trees, n_samples)
        notes = (*notes, note)
    settings = {"splitter": members[0].get("splitter")}
    n_rows = trees[0].n_rows if whole else n_samples
    return Forest(trees, bagging, n_rows, "mean", provenance(state, notes, **settings))


def _members(state: State) -> list[State]:
    members = state.get("estimators_")
    if not isinstance(members, list) or not members:
        raise MalformedModelError("no trained trees", f"{state.name}.estimators_")
    for i, member in enumerate(members):
        if not isinstance(member, State):
            raise MalformedModelError("not a tree", f"{state.name}.estimators_[{i}]")
    return members


def _trees(
    state: State, members: list[State], limits: Limits, context: Callable[[int], Context]
) -> tuple[tuple[Tree, ...], tuple[str, ...]]:
    trees: list[Tree] = []
    notes: list[str] = []
    nodes = 0
    for i, member in enumerate(members):
        tree, found = tree_from_state(member, context(i), f"{state.name}.estimators_[{i}]")
        nodes += tree.n_nodes
        limits.check_nodes(nodes)
        trees.append(tree)
        notes += found
    return tuple(trees), tuple(notes)


def _relabelled(class_weight: Any, classes: tuple[Label, ...]) -> Any:
    """Members of a bag are trained on class *numbers*; their weights are keyed by those."""
    if not isinstance(class_weight, dict):
        return class_weight
    return {label: class_weight.get(i, class_weight.get(str(i), 1.0))
            for i, label in enumerate(classes)}  # fmt: skip


def _whole(state: State, name: str) -> int | None:
    value = state.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 2**40:
        raise MalformedModelError(f"{value!r} is no number of rows", f"{state.name}.{name}")
    return value


def _drawn_at_root(member: State) -> int:
    cython = member.get("tree_")
    nodes = cython.get("nodes") if isinstance(cython, State) else None
    names = nodes.dtype.names if isinstance(nodes, np.ndarray) else None
    if not names or "weighted_n_node_samples" not in names or not len(nodes):
        raise MalformedModelError("no fitted tree in it", f"{member.name}.tree_")
    rows = float(nodes["weighted_n_node_samples"][0])
    if not rows.is_integer() or not 0 < rows < 2**40:
        raise UnsupportedModelError("rows carry weights and the number of draws is not stored")
    return int(rows)


def _forest_bagging(state: State, members: list[State], draws: int | None) -> Bagging:
    seeds = _seeds([member.get("random_state") for member in members])
    weights = state.get("_sample_weight")
    version = str(state.get("_sklearn_version", ""))
    # Since 1.9 weights steer the draw; a file stripped of them cannot repeat it.
    steered = "_sample_weight" not in state.attributes and not _older_than_1_9(version)
    if seeds is None or steered or state.get("_n_samples") is None:
        return Bagging("unknown", draws)
    if isinstance(weights, np.ndarray) and weights.ndim == 1 and weights.dtype.kind in "fiu":
        row_weights = weights.astype(np.float64)
        return Bagging("known", draws, seeds, "forest-weighted", row_weights)
    return Bagging("known", draws, seeds, "forest")


def _older_than_1_9(version: str) -> bool:
    parts = version.split(".")
    return len(parts) >= 2 and parts[0].isdigit() and parts[1].isdigit() and (
        (int(parts[0]), int(parts[1])) < (1, 9)
    )  # fmt: skip


def _bag_recipe(state: State, n: int | None, draws: int | None, n_columns: int) -> Bagging:
    seeds = state.get("_seeds")
    found = _seeds(seeds.tolist() if isinstance(seeds, np.ndarray) else seeds)
    drawn_columns = state.get("_max_features")
    weighted = isinstance(state.get("_sample_weight"), np.ndarray)
    if found is None or n is None or draws is None or not isinstance(drawn_columns, int) or weighted:
        return Bagging("unknown", draws)
    replacement = state.get("bootstrap") is True
    return Bagging(
        "known", draws, found,
        "bagging" if replacement else "bagging-without-replacement",
        features=(n_columns, drawn_columns, state.get("bootstrap_features") is True),
    )  # fmt: skip


def _seeds(values: Any) -> npt.NDArray[np.int64] | None:
    """One 32-bit seed per tree, or ``None`` when any is missing."""
    if not isinstance(values, list) or not all(
        isinstance(v, int) and not isinstance(v, bool) and 0 <= v < 2**32 for v in values
    ):
        return None
    return np.array(values, dtype=np.int64)


def _verified(
    bagging: Bagging, trees: tuple[Tree, ...], n_rows: int | None
) -> tuple[Bagging, str]:
    """Keep the recipe only if it reproduces what the trees publish: their distinct rows."""
    if bagging.kind != "known" or n_rows is None:
        return replace(bagging, kind="unknown", seeds=None, recipe="", row_weights=None), (
            "which rows each tree drew is not known"
        )
    if bagging.row_weights is not None and (
        len(bagging.row_weights) != n_rows or not bagging.row_weights.sum() > 0
    ):
        raise MalformedModelError("row weights do not fit the rows", "_sample_weight")
    for i, tree in enumerate(trees[:_CHECKED_TREES]):
        drawn = np.count_nonzero(bagging.multiplicities_of(i, n_rows))
        if drawn != tree.n_rows:
            return Bagging("unknown", bagging.draws), (
                f"stored seeds do not reproduce the draw of tree {i} "
                f"({drawn} distinct rows instead of {tree.n_rows}); treated as unknown"
            )
    return bagging, "which rows each tree drew was regenerated from stored seeds and checked"


def _column_maps(
    state: State, n_trees: int, n_columns: int
) -> list[npt.NDArray[np.int64] | None]:
    maps = state.get("estimators_features_")
    place = f"{state.name}.estimators_features_"
    if maps is None:
        return [None] * n_trees
    if not isinstance(maps, list) or len(maps) != n_trees:
        raise MalformedModelError("not one list of columns per tree", place)
    out: list[npt.NDArray[np.int64] | None] = []
    for i, entry in enumerate(maps):
        array = np.asarray(entry) if isinstance(entry, np.ndarray | list) else np.empty(0)
        if array.ndim != 1 or array.dtype.kind not in "iu" or not len(array):
            raise MalformedModelError("not a list of columns", f"{place}[{i}]")
        if int(array.min()) < 0 or int(array.max()) >= n_columns:
            raise MalformedModelError("a column that does not exist", f"{place}[{i}]")
        out.append(array.astype(np.int64))
    return out
