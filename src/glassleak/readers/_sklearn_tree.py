"""scikit-learn's decision trees: from the saved node array to the IR."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.errors import MalformedModelError, ModelError, UnsupportedModelError
from glassleak.models import Label, Provenance, Tree
from glassleak.readers._limits import Limits
from glassleak.readers._sklearn_counts import (
    Weighted,
    explicit_class_weights,
    people_per_class,
)
from glassleak.readers._state import State

_NODE_FIELDS = {
    "left_child": "iu",
    "right_child": "iu",
    "feature": "iu",
    "threshold": "f",
    "n_node_samples": "iu",
    "weighted_n_node_samples": "f",
}
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
    class_weight : object
        The `class_weight` setting that shaped the counts.
    limits : Limits
    """

    columns: tuple[str, ...]
    classes: tuple[Label, ...]
    limits: Limits
    column_map: npt.NDArray[np.int64] | None = None
    draws: int | None = None
    class_weight: Any = None


def read_tree_classifier(state: State, limits: Limits) -> Tree:
    """A DecisionTreeClassifier or ExtraTreeClassifier on its own."""
    context = Context(
        column_names(state), class_labels(state), limits, class_weight=state.get("class_weight")
    )
    tree, notes = tree_from_state(state, context, state.name)
    return replace(tree, provenance=provenance(state, notes))


def tree_from_state(state: State, context: Context, place: str) -> tuple[Tree, tuple[str, ...]]:
    """The IR of one fitted tree estimator, and notes on how its counts were obtained."""
    cython = state.get("tree_")
    if not isinstance(cython, State):
        raise MalformedModelError("no fitted tree in it; was the model trained?", f"{place}.tree_")
    place = f"{place}.tree_"
    nodes = _nodes(cython, place)
    context.limits.check_nodes(len(nodes))
    internal = nodes["left_child"] != -1
    feature = nodes["feature"]
    if context.column_map is not None:
        inside = internal & (feature >= 0) & (feature < len(context.column_map))
        if (internal & ~inside).any():
            raise MalformedModelError("splits on a column it did not see", f"{place}.feature")
        feature = np.where(inside, context.column_map[np.where(inside, feature, 0)], feature)
    counts, note = people_per_class(
        Weighted(
            values=_values(cython, len(nodes), len(context.classes), place),
            weighted_rows=nodes["weighted_n_node_samples"].astype(np.float64),
            distinct=nodes["n_node_samples"].astype(np.int64),
            leaves=~internal,
            total=context.draws if context.draws is not None else int(nodes["n_node_samples"][0]),
            bagged=context.draws is not None,
            class_weights=explicit_class_weights(context.class_weight, context.classes),
            place=place,
        )
    )
    names = nodes.dtype.names or ()
    try:
        tree = Tree(
            columns=context.columns,
            classes=context.classes,
            feature=np.where(internal, feature, -1),
            threshold=np.where(internal, nodes["threshold"], np.nan),
            left=nodes["left_child"],
            right=np.where(internal, nodes["right_child"], -1),
            counts=counts,
            distinct_rows=nodes["n_node_samples"],
            missing_left=nodes["missing_go_to_left"].astype(bool)
            if "missing_go_to_left" in names
            else None,
        )
    except ModelError as error:
        raise type(error)(error.message, f"{place}.{error.place}") from None
    return tree, (note,) if note else ()


def _nodes(cython: State, place: str) -> npt.NDArray[Any]:
    nodes = cython.need("nodes", np.ndarray, place)
    if nodes.ndim != 1 or nodes.dtype.names is None or not len(nodes):
        raise MalformedModelError("not an array of nodes", f"{place}.nodes")
    for name, kinds in _NODE_FIELDS.items():
        if name not in nodes.dtype.names or nodes.dtype[name].kind not in kinds:
            raise MalformedModelError(f"no usable field {name!r}", f"{place}.nodes")
    return nodes


def _values(cython: State, n_nodes: int, n_classes: int, place: str) -> npt.NDArray[np.float64]:
    values = cython.need("values", np.ndarray, place)
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


def column_names(state: State) -> tuple[str, ...]:
    """``feature_names_in_``, or x0, x1, … for models trained on plain arrays."""
    names = state.get("feature_names_in_")
    width = state.get("n_features_in_")
    if isinstance(names, np.ndarray | list):
        found = tuple(str(n) for n in (names.tolist() if isinstance(names, np.ndarray) else names))
        if isinstance(width, int) and width != len(found):
            raise MalformedModelError(
                f"{len(found)} names for {width} columns", f"{state.name}.feature_names_in_"
            )
        return found
    if not isinstance(width, int) or not 0 < width <= 10_000_000:
        raise MalformedModelError(
            "the number of columns is not recorded; was the model trained?",
            f"{state.name}.n_features_in_",
        )
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
        settings=settings | more,
        notes=tuple(dict.fromkeys(notes)),
    )


def _plain(value: Any) -> Any:
    """Settings travel in JSON, so whatever is not a plain value is named and not kept."""
    if isinstance(value, float):
        return value if np.isfinite(value) else str(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, dict) and len(value) <= 1000:
        return {str(k): _plain(v) for k, v in value.items()}
    return f"<{type(value).__name__}>"
