"""scikit-learn's forests and bags of trees, with what their seeds tell about the rows drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from glassleak.errors import MalformedModelError, UnsupportedModelError
from glassleak.models import Bagging, Forest, Label, Tree
from glassleak.models._resampling import Recipe
from glassleak.readers._limits import Limits
from glassleak.readers._state import State
from glassleak.readers.libraries._sklearn_counts import UNWEIGHTED, ClassWeights, stated_weights
from glassleak.readers.libraries._sklearn_tree import (
    Context,
    class_labels,
    column_names,
    is_emptied,
    nodes_of,
    older_than,
    provenance,
    tree_from_state,
)
from glassleak.readers.libraries._typed import check_width

_CLASSIFIERS = ("DecisionTreeClassifier", "ExtraTreeClassifier")
_REGRESSORS = ("DecisionTreeRegressor", "ExtraTreeRegressor")
# Rows drawn again to check the seeds: of one tree at most, and of all checked trees together.
_MAX_DRAWN = 50_000_000
_MAX_CHECKED = 3_000_000


def read_forest_classifier(state: State, limits: Limits) -> Forest:
    """RandomForestClassifier or ExtraTreesClassifier."""
    return _read_forest(state, limits, regression=False)


def read_forest_regressor(state: State, limits: Limits) -> Forest:
    """RandomForestRegressor or ExtraTreesRegressor."""
    return _read_forest(state, limits, regression=True)


def read_bagging_classifier(state: State, limits: Limits) -> Forest:
    """BaggingClassifier over trees."""
    return _read_bag(state, limits, regression=False)


def read_bagging_regressor(state: State, limits: Limits) -> Forest:
    """BaggingRegressor over trees."""
    return _read_bag(state, limits, regression=True)


def _read_forest(state: State, limits: Limits, *, regression: bool) -> Forest:
    members = _members(state)
    bootstrap = state.get("bootstrap") is True
    n_samples = _whole(state, "_n_samples")
    draws = _whole(state, "_n_samples_bootstrap") if bootstrap else None
    if bootstrap and (n_samples is None or draws is None):
        # Before 1.4 neither is stored; the root still says how many rows were drawn.
        draws = _drawn_at_root(members[0])
    columns = column_names(state, limits)
    classes = () if regression else class_labels(state)
    check_width(len(members), len(columns), limits)
    setting = state.get("class_weight")
    weights = stated_weights(setting, classes)
    per_tree = isinstance(setting, str) and setting == "balanced_subsample"
    if bootstrap and _weights_steer(state) and not per_tree:
        weights = UNWEIGHTED  # they decided which rows were drawn and are not in the counts
    context = Context(
        columns, classes, limits, draws=draws, class_weights=weights, regression=regression
    )
    trees, notes = _trees(state, members, limits, lambda _: context)
    bagging = Bagging()
    if bootstrap:
        bagging, note = _verified(_forest_bagging(state, members, draws), trees, n_samples)
        notes = (*notes, note)
    n_rows = n_samples if bootstrap else trees[0].n_rows
    settings = {"splitter": members[0].get("splitter")}
    return Forest(trees, bagging, n_rows, "mean", provenance(state, notes, **settings))


def _read_bag(state: State, limits: Limits, *, regression: bool) -> Forest:
    members = _members(state)
    for i, member in enumerate(members):
        if member.name not in (_REGRESSORS if regression else _CLASSIFIERS):
            raise UnsupportedModelError(
                f"a bag of {member.name}; only bags of trees are supported",
                f"{state.name}.estimators_[{i}]",
            )
    columns = column_names(state, limits)
    classes = () if regression else class_labels(state)
    check_width(len(members), len(columns), limits)
    n_samples, draws = _whole(state, "_n_samples"), _whole(state, "_max_samples")
    bootstrap = state.get("bootstrap") is True
    whole = not bootstrap and draws is not None and draws == n_samples
    maps = _column_maps(state, len(members), len(columns))
    total = None if whole else (draws or _drawn_at_root(members[0]))
    contexts = [
        Context(columns, classes, limits, column_map=maps[i], draws=total,
                class_weights=_stated_by_number(member.get("class_weight"), classes),
                regression=regression)
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


def _stated_by_number(class_weight: Any, classes: tuple[Label, ...]) -> ClassWeights:
    """Members of a bag are trained on class *numbers*; their weights are keyed by those."""
    return stated_weights(class_weight, tuple(range(len(classes))))


def _whole(state: State, name: str) -> int | None:
    value = state.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 2**40:
        raise MalformedModelError(f"{value!r} is no number of rows", f"{state.name}.{name}")
    return value


def _drawn_at_root(member: State) -> int | None:
    cython = member.get("tree_")
    if not isinstance(cython, State):
        raise MalformedModelError("no fitted tree in it", f"{member.name}.tree_")
    nodes = nodes_of(cython, f"{member.name}.tree_")
    if is_emptied(nodes):
        return None
    rows = float(nodes["weighted_n_node_samples"][0])
    if not rows.is_integer() or not 0 < rows < 2**40:
        raise UnsupportedModelError("rows carry weights and the number of draws is not stored")
    return int(rows)


def _weights_steer(state: State) -> bool:
    """Whether weights decide which rows a forest draws (since 1.9) and not how much they count."""
    return "_sample_weight" in state.attributes or not older_than(state, (1, 9))


def _forest_bagging(state: State, members: list[State], draws: int | None) -> Bagging:
    seeds = _seeds([member.get("random_state") for member in members])
    # A file stripped of the weights that steered the draw cannot repeat it.
    stripped = _weights_steer(state) and "_sample_weight" not in state.attributes
    if seeds is None or stripped or state.get("_n_samples") is None:
        return Bagging("unknown", draws)
    weights = _row_weights(state)
    recipe: Recipe = "forest" if weights is None else "forest-weighted"
    return Bagging("known", draws, seeds, recipe, weights)


def _bag_recipe(state: State, n: int | None, draws: int | None, n_columns: int) -> Bagging:
    seeds = state.get("_seeds")
    found = _seeds(seeds.tolist() if isinstance(seeds, np.ndarray) else seeds)
    drawn_columns = state.get("_max_features")
    members = state.get("estimators_")
    if found is not None and isinstance(members, list) and len(found) != len(members):
        # After warm_start only the seeds of the last batch of trees are kept.
        found = None
    if found is None or n is None or draws is None or not isinstance(drawn_columns, int):
        return Bagging("unknown", draws)
    weights = _row_weights(state)
    recipe = "bagging" if weights is None else "bagging-weighted"
    if state.get("bootstrap") is not True:
        recipe += "-without-replacement"
    return Bagging(
        "known", draws, found, cast("Recipe", recipe), weights,
        features=(n_columns, drawn_columns, state.get("bootstrap_features") is True),
    )  # fmt: skip


def _row_weights(state: State) -> npt.NDArray[np.float64] | None:
    """The shares by which rows were drawn, computed in the precision the library used."""
    weights = state.get("_sample_weight")
    if weights is None:
        return None
    place = f"{state.name}._sample_weight"
    if not isinstance(weights, np.ndarray) or weights.ndim != 1 or weights.dtype.kind not in "fiu":
        raise MalformedModelError("not one number per row", place)
    with np.errstate(all="ignore"):
        shares: npt.NDArray[np.float64] = (weights / np.sum(weights)).astype(np.float64)
    if not np.isfinite(shares).all() or not shares.sum() > 0:
        raise MalformedModelError("weights that cannot be shares", place)
    return shares


def _seeds(values: Any) -> npt.NDArray[np.int64] | None:
    """One 32-bit seed per tree, or ``None`` when any is missing."""
    if not isinstance(values, list) or not all(
        isinstance(v, int) and not isinstance(v, bool) and 0 <= v < 2**32 for v in values
    ):
        return None
    return np.array(values, dtype=np.int64)


def _verified(bagging: Bagging, trees: tuple[Tree, ...], n_rows: int | None) -> tuple[Bagging, str]:
    """Keep the recipe only if it reproduces what the trees publish: their distinct rows."""
    unknown = Bagging("unknown", bagging.draws)
    if bagging.kind != "known" or n_rows is None:
        return unknown, "which rows each tree drew is not known"
    assert bagging.draws is not None
    size = max(n_rows, bagging.draws)
    if size > _MAX_DRAWN:
        return unknown, f"draws from more than {_MAX_DRAWN:,} rows are not repeated"
    bagging.check(len(trees), n_rows)
    # Spread over the forest: trees added later (warm start) may have drawn from other rows.
    checked = min(len(trees), max(2, _MAX_CHECKED // size))
    for i in np.unique(np.linspace(0, len(trees) - 1, checked).astype(int)).tolist():
        drawn = np.count_nonzero(bagging.multiplicities_of(i, n_rows))
        if drawn != trees[i].n_rows:
            return unknown, (
                f"stored seeds do not reproduce the draw of tree {i} "
                f"({drawn} distinct rows instead of {trees[i].n_rows}); treated as unknown"
            )
    return bagging, "which rows each tree drew was regenerated from stored seeds and checked"


def _column_maps(state: State, n_trees: int, n_columns: int) -> list[npt.NDArray[np.int64] | None]:
    maps = state.get("estimators_features_")
    place = f"{state.name}.estimators_features_"
    if maps is None:
        return [None] * n_trees
    if not isinstance(maps, list) or len(maps) != n_trees:
        raise MalformedModelError("not one list of columns per tree", place)
    out: list[npt.NDArray[np.int64] | None] = []
    for i, entry in enumerate(maps):
        array = entry if isinstance(entry, np.ndarray) else _index_array(entry)
        if array.ndim != 1 or array.dtype.kind not in "iu" or not len(array):
            raise MalformedModelError("not a list of columns", f"{place}[{i}]")
        if int(array.min()) < 0 or int(array.max()) >= n_columns:
            raise MalformedModelError("a column that does not exist", f"{place}[{i}]")
        out.append(array.astype(np.int64))
    return out


def _index_array(entry: Any) -> npt.NDArray[np.int64]:
    if isinstance(entry, list) and all(type(v) is int and 0 <= v < 2**31 for v in entry):
        return np.array(entry, dtype=np.int64)
    return np.empty(0, dtype=np.int64)
