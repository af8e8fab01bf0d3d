"""scikit-learn's decision trees: from the saved node array to the IR."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.errors import (
    InconsistentModelError,
    MalformedModelError,
    ModelTooLargeError,
    UnsupportedModelError,
)
from glassleak.models import Counts, Label, Missing, Provenance, Tree
from glassleak.models._counts import REMOVED
from glassleak.readers._limits import Limits
from glassleak.readers._state import State
from glassleak.readers.libraries._sklearn_counts import (
    UNWEIGHTED,
    ClassWeights,
    Weighted,
    check_additive,
    masses_of,
    people_per_class,
    stated_weights,
)
from glassleak.readers.libraries._sklearn_targets import REGRESSION, with_targets
from glassleak.readers.libraries._typed import located

_NODE_FIELDS = {
    "left_child": "i",
    "right_child": "i",
    "feature": "i",
    "threshold": "f",
    "n_node_samples": "i",
    "weighted_n_node_samples": "f",
}
# Above every number a tree can be asked about; the IR wants thresholds finite.
EVERY_VALUE = float(np.finfo(np.float64).max)
_VERSION = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})(?:\.|$)")
_MISCOUNTED = (
    "scikit-learn before 1.9 counted some rows on the wrong side of a split where training values "
    "were missing"
)
_MONOTONIC = "monotonic constraints moved the published values away from the numbers of people"
_SETTINGS = ("criterion", "splitter", "max_depth", "min_samples_split", "min_samples_leaf",
             "min_weight_fraction_leaf", "max_features", "max_leaf_nodes", "min_impurity_decrease",
             "ccp_alpha", "class_weight", "bootstrap", "max_samples", "n_estimators",
             "bootstrap_features", "monotonic_cst", "oob_score", "warm_start")  # fmt: skip


@dataclass(frozen=True)
class Context:
    """What a tree inherits from the estimator it belongs to.

    Attributes
    ----------
    columns, classes : tuple
        Of the whole model.
    column_map : int array, optional
        Columns this tree saw, when not all.
    draws : int, optional
        Rows drawn for the tree under bagging.
    class_weights : ClassWeights
        What is known about class weights in the node values.
    regression : bool
        The tree predicts a number and has no classes.
    limits : Limits
    """

    columns: tuple[str, ...]
    classes: tuple[Label, ...]
    limits: Limits
    column_map: npt.NDArray[np.int64] | None = None
    draws: int | None = None
    class_weights: ClassWeights = UNWEIGHTED
    regression: bool = False


def read_tree_regressor(state: State, limits: Limits) -> Tree:
    """A DecisionTreeRegressor or ExtraTreeRegressor on its own."""
    context = Context(column_names(state, limits), (), limits, regression=True)
    tree, notes = tree_from_state(state, context, state.name)
    return replace(tree, provenance=provenance(state, notes))


def read_tree_classifier(state: State, limits: Limits) -> Tree:
    """A DecisionTreeClassifier or ExtraTreeClassifier on its own."""
    columns, classes = column_names(state, limits), class_labels(state)
    context = Context(
        columns, classes, limits, class_weights=stated_weights(state.get("class_weight"), classes)
    )
    tree, notes = tree_from_state(state, context, state.name)
    return replace(tree, provenance=provenance(state, notes))


def tree_from_state(state: State, context: Context, place: str) -> tuple[Tree, tuple[str, ...]]:
    """The IR of one fitted tree estimator, and notes on how its counts were obtained."""
    cython = state.get("tree_")
    if not isinstance(cython, State):
        raise MalformedModelError("no fitted tree in it; was the model trained?", f"{place}.tree_")
    place = f"{place}.tree_"
    nodes = nodes_of(cython, place)
    context.limits.check_nodes(len(nodes))
    internal = nodes["left_child"] != -1
    feature = nodes["feature"]
    if context.column_map is not None:
        inside = internal & (feature >= 0) & (feature < len(context.column_map))
        if (internal & ~inside).any():
            raise MalformedModelError("splits on a column it did not see", f"{place}.feature")
        feature = np.where(inside, context.column_map[np.where(inside, feature, 0)], feature)
    if context.regression:
        values = _values(cython, len(nodes), 1, place)[:, 0]
        bare = _tree(context, nodes, feature, Missing(REGRESSION), None, place)
        monotonic = _is_constrained(state.get("monotonic_cst"))
        return with_targets(bare, nodes, values, place, bagged=context.draws is not None,
                            monotonic=monotonic)  # fmt: skip
    values = _values(cython, len(nodes), len(context.classes), place)
    if is_emptied(nodes):
        return _without_counts(context, nodes, feature, values, place), (REMOVED,)
    weighted = Weighted(
        values=values,
        weighted_rows=nodes["weighted_n_node_samples"].astype(np.float64),
        distinct=nodes["n_node_samples"].astype(np.int64),
        leaves=~internal,
        total=context.draws if context.draws is not None else int(nodes["n_node_samples"][0]),
        bagged=context.draws is not None,
        class_weights=context.class_weights,
        place=place,
    )
    masses = masses_of(weighted)
    monotonic = _is_constrained(state.get("monotonic_cst"))
    counts, note = (
        (Missing(_MONOTONIC), _MONOTONIC) if monotonic else people_per_class(weighted, masses)
    )
    tree = _tree(context, nodes, feature, counts, nodes["n_node_samples"], place)
    if isinstance(counts, Missing) and not monotonic:
        check_additive(masses, tree.left, tree.right, place)
    doubt = tree.missing_left is not None and tree.missing_left.any() and older_than(state, (1, 9))
    return tree, tuple(n for n in (note, _MISCOUNTED if doubt else None) if n)


def is_emptied(nodes: npt.NDArray[Any]) -> bool:
    """Whether the numbers of rows were taken out (`glassleak.sanitise`): a root without anybody.

    scikit-learn grows no tree from no rows.  Rows in some nodes only are no such mark but an error.
    """
    if nodes["n_node_samples"].any():
        return False
    weighted = nodes["weighted_n_node_samples"]
    # As good as the numbers themselves, unless they went, too.
    if (np.isfinite(weighted) & (weighted != 0)).any():
        raise InconsistentModelError(
            "numbers of rows were removed from the nodes, but weighted numbers were not", "nodes"
        )
    return True


def _without_counts(
    context: Context,
    nodes: npt.NDArray[Any],
    feature: npt.NDArray[Any],
    values: npt.NDArray[np.float64],
    place: str,
) -> Tree:
    """A tree of which only splits and the values of leaves are left."""
    shares = np.where((nodes["left_child"] == -1)[:, None], values, 0.0)
    return _tree(context, nodes, feature, Missing(REMOVED), None, place, shares)


def _tree(
    context: Context,
    nodes: npt.NDArray[Any],
    feature: npt.NDArray[Any],
    counts: Counts,
    distinct: npt.NDArray[Any] | None,
    place: str,
    shares: npt.NDArray[np.float64] | None = None,
) -> Tree:
    internal = nodes["left_child"] != -1
    missing_left = _missing_left(nodes, place)
    thresholds = nodes["threshold"].astype(np.float64)
    if missing_left is not None:
        # "Is the value missing?" is stored as "is it at most infinity?"; all values are finite.
        thresholds[thresholds == np.inf] = EVERY_VALUE
    with located(place):
        return Tree(
            columns=context.columns,
            classes=context.classes,
            feature=np.where(internal, feature, -1),
            threshold=np.where(internal, thresholds, np.nan),
            left=nodes["left_child"],
            right=np.where(internal, nodes["right_child"], -1),
            counts=counts,
            distinct_rows=distinct,
            missing_left=missing_left,
            shares=shares,
        )


def older_than(state: State, version: tuple[int, int]) -> bool:
    """Whether the object says it was saved by a scikit-learn before `version`."""
    own = _VERSION.match(str(state.get("_sklearn_version", "")))
    return own is not None and (int(own[1]), int(own[2])) < version


def _is_constrained(setting: Any) -> bool:
    """Whether splits had to respect an order; scikit-learn then clips the values of nodes."""
    if isinstance(setting, np.ndarray) and setting.dtype.kind in "iub":
        return bool(setting.any())
    if isinstance(setting, list | tuple) and all(isinstance(v, int) for v in setting):
        return any(setting)
    return setting is not None


def _missing_left(nodes: npt.NDArray[Any], place: str) -> npt.NDArray[np.bool_] | None:
    """Where missing values go; scikit-learn before 1.3 has no such field."""
    if "missing_go_to_left" not in (nodes.dtype.names or ()):
        return None
    if nodes.dtype["missing_go_to_left"].kind not in "biu":
        raise MalformedModelError("no usable field 'missing_go_to_left'", f"{place}.nodes")
    return nodes["missing_go_to_left"].astype(np.bool_)


def nodes_of(cython: State, place: str) -> npt.NDArray[Any]:
    """The structured array of nodes, with the fields a tree needs."""
    nodes: npt.NDArray[Any] = cython.need("nodes", np.ndarray, place)
    if nodes.ndim != 1 or nodes.dtype.names is None or not len(nodes):
        raise MalformedModelError("not an array of nodes", f"{place}.nodes")
    for name, kinds in _NODE_FIELDS.items():
        if name not in nodes.dtype.names or nodes.dtype[name].kind not in kinds:
            raise MalformedModelError(f"no usable field {name!r}", f"{place}.nodes")
    return nodes


def _values(cython: State, n_nodes: int, n_classes: int, place: str) -> npt.NDArray[np.float64]:
    values: npt.NDArray[Any] = cython.need("values", np.ndarray, place)
    if values.dtype.kind != "f" or values.ndim != 3 or len(values) != n_nodes:
        raise MalformedModelError("not one table of numbers per node", f"{place}.values")
    if values.shape[1] != 1:
        raise UnsupportedModelError(
            f"predicts {values.shape[1]} targets at once; only one is supported", place
        )
    if values.shape[2] != n_classes:
        raise MalformedModelError(
            f"{values.shape[2]} classes, the model has {n_classes}", f"{place}.values"
        )
    return values[:, 0, :].astype(np.float64)


def column_names(state: State, limits: Limits) -> tuple[str, ...]:
    """``feature_names_in_``, or x0, x1, … for models trained on plain arrays."""
    names = state.get("feature_names_in_")
    width = state.get("n_features_in_")
    if isinstance(names, np.ndarray | list):
        found = tuple(names.tolist() if isinstance(names, np.ndarray) else names)
        place = f"{state.name}.feature_names_in_"
        if not all(isinstance(name, str) for name in found):
            raise MalformedModelError("a column's name is not text", place)
        if isinstance(width, int) and width != len(found):
            raise MalformedModelError(f"{len(found)} names for {width} columns", place)
        return found
    if not isinstance(width, int) or width <= 0:
        raise MalformedModelError(
            "the number of columns is not recorded; was the model trained?",
            f"{state.name}.n_features_in_",
        )
    # Names take memory the file did not have to spend.
    if width > limits.values:
        raise ModelTooLargeError(f"{width:,} columns", f"{state.name}.n_features_in_")
    return tuple(f"x{i}" for i in range(width))


def class_labels(state: State) -> tuple[Label, ...]:
    """``classes_`` as plain labels."""
    classes = state.get("classes_")
    if isinstance(classes, list) and classes and isinstance(classes[0], np.ndarray | list):
        raise UnsupportedModelError("predicts several targets at once", state.name)
    if not isinstance(classes, np.ndarray) or classes.ndim != 1 or not len(classes):
        raise MalformedModelError("no class labels; was it trained?", f"{state.name}.classes_")
    labels: list[Any] = classes.tolist()
    for label in labels:
        if not isinstance(label, str | int | float | bool):
            raise UnsupportedModelError(
                f"class labels of type {type(label).__name__}", f"{state.name}.classes_"
            )
    return tuple(labels)


def provenance(state: State, notes: tuple[str, ...] = (), **more: Any) -> Provenance:
    """What the estimator says about itself."""
    settings = {k: _plain(state.get(k)) for k in _SETTINGS if k in state.attributes}
    version = state.get("_sklearn_version", "")
    return Provenance(
        library=state.package,
        library_version=version if isinstance(version, str) else "",
        estimator=state.name,
        settings=settings | {k: _plain(v) for k, v in more.items()},
        notes=tuple(dict.fromkeys(notes)),
    )


def _plain(value: Any, levels: int = 3) -> Any:
    """Settings travel in JSON, so whatever is not a plain value is named and not kept."""
    if isinstance(value, float):
        return value if np.isfinite(value) else str(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, dict) and len(value) <= 1000 and levels:
        return {str(k): _plain(v, levels - 1) for k, v in value.items()}
    return f"<{type(value).__name__}>"
