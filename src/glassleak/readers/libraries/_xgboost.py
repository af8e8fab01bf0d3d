"""XGBoost classifiers: ``model.json`` and fitted objects.

Rows per node are not published; `_xgboost_rows` works them out for the first round.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from glassleak.errors import InconsistentModelError, MalformedModelError, UnsupportedModelError
from glassleak.models import Forest, Label, Model, Provenance, Tree
from glassleak.readers._limits import Limits
from glassleak.readers._state import State
from glassleak.readers.files._json_text import parse_json
from glassleak.readers.libraries._typed import (
    check_width,
    integer,
    integers,
    located,
    mapping,
    number,
    sequence,
    shown,
    text,
    texts,
)
from glassleak.readers.libraries._xgboost_rows import Intercept, rows_from_cover
from glassleak.readers.libraries._xgboost_training import (
    Training,
    config_settings,
    missing_note,
    notes_on,
    sampling,
)
from glassleak.readers.libraries._xgboost_trees import tree_of

_BINARY = ("binary:logistic", "binary:logitraw", "binary:hinge")
_MULTI = ("multi:softprob", "multi:softmax")


def read_xgboost_json(document: Any, limits: Limits) -> Model:
    """A model saved with ``Booster.save_model("….json")``."""
    return _read(document, limits, Training())


def read_xgboost_state(state: State, limits: Limits) -> Model:
    """A fitted ``XGBClassifier`` or ``Booster``; pickled ones are binary and refused."""
    inner = state if state.name == "Booster" else state.get("_Booster")
    if not isinstance(inner, State):
        raise MalformedModelError("no trained model in it", f"{state.name}._Booster")
    raw = inner.get("handle")
    if not isinstance(raw, bytes | bytearray | str) or not raw:
        raise MalformedModelError("the model is not in it", f"{inner.name}.handle")
    if raw[:2] not in (b'{"', '{"'):
        raise UnsupportedModelError(
            "the pickle holds XGBoost's binary form (UBJSON); save it as JSON with "
            'Booster.save_model("model.json")',
            f"{inner.name}.handle",
        )
    config, settings = inner.get("config"), {}
    if config is not None:
        settings = config_settings(parse_json(text(config, "config"), limits, "config"))
    with located(state.name):
        document = parse_json(bytes(raw) if isinstance(raw, bytearray) else raw, limits, "handle")
        return _read(document, limits, Training(state.name, settings, missing_note(state)))


def _read(document: Any, limits: Limits, training: Training) -> Forest:
    top = mapping(document, "document")
    learner = mapping(top.get("learner"), "learner")
    objective = mapping(learner.get("objective"), "learner.objective")
    name = text(objective.get("name"), "learner.objective.name")
    parameters = mapping(learner.get("learner_model_param"), "learner.learner_model_param")
    model, booster = _gbtree(learner)
    raw_trees = sequence(model.get("trees"), "trees")
    if not raw_trees:
        raise MalformedModelError("the model has no trees", "trees")
    limits.check_nodes(len(raw_trees))
    classes = _classes(name, parameters, len(raw_trees))
    columns = _columns(learner, parameters, limits)
    check_width(len(raw_trees), len(columns), limits)
    class_of = integers(model.get("tree_info"), "tree_info").tolist()
    if len(class_of) != len(raw_trees) or not all(0 <= c < len(classes) for c in class_of):
        raise InconsistentModelError("not one class per tree", "tree_info")
    intercept = _intercept(name, parameters, len(classes))
    weighted = not _unweighted(objective)
    first_round = 0 if weighted else _first_round(model, name, len(classes), len(raw_trees))
    trees: list[Tree] = []
    nodes = pruned = 0
    for t, raw in enumerate(raw_trees):
        with located(f"trees[{t}]"):
            tree, cover, deleted = tree_of(raw, columns, classes)
            nodes += tree.n_nodes + deleted
            limits.check_nodes(nodes)
            hessian = intercept.hessian(class_of[t]) if t < first_round else None
            if hessian is not None:
                tree = replace(tree, rows=rows_from_cover(tree, cover, hessian), n_rows=None)
        trees.append(tree)
        pruned += deleted
    bagging, notes = sampling(training, intercept, trees)
    notes = notes_on(trees, first_round, pruned, weighted, name in _MULTI) + notes
    settings = {"objective": name, "booster": booster, **training.settings}
    return Forest(
        tuple(trees), bagging, None, "sum",
        Provenance("xgboost", _version(top), training.estimator, settings, training.notes + notes),
    )  # fmt: skip


def _gbtree(learner: Mapping[Any, Any]) -> tuple[Mapping[Any, Any], str]:
    booster = mapping(learner.get("gradient_booster"), "learner.gradient_booster")
    place = "learner.gradient_booster.name"
    name = text(booster.get("name"), place)
    if name == "gblinear":
        raise UnsupportedModelError("a linear model (gblinear); it has no trees", place)
    if name == "dart":
        booster = mapping(booster.get("gbtree"), "learner.gradient_booster.gbtree")
    elif name != "gbtree":
        raise UnsupportedModelError(f"unknown booster {shown(name)}", place)
    return mapping(booster.get("model"), "learner.gradient_booster.model"), name


def _classes(objective: str, parameters: Mapping[Any, Any], n_trees: int) -> tuple[Label, ...]:
    if objective in _BINARY:
        return (0, 1)
    if objective in _MULTI:
        n = integer(parameters.get("num_class"), "learner.learner_model_param.num_class")
        # Every round adds a tree per class; checked before a list of that length is made.
        if not 2 <= n <= n_trees:
            raise InconsistentModelError(f"{n} classes for {n_trees} trees", "num_class")
        return tuple(range(n))
    kind, place = objective.partition(":")[0], "learner.objective.name"
    if kind in ("reg", "count", "survival", "quantile"):
        raise UnsupportedModelError(
            f"regression ({shown(objective)}): leaves hold values, not classes", place
        )
    if kind == "rank":
        raise UnsupportedModelError(f"ranking ({shown(objective)}): there are no classes", place)
    raise UnsupportedModelError(f"{shown(objective)} is not known to train a classifier", place)


def _columns(
    learner: Mapping[Any, Any], parameters: Mapping[Any, Any], limits: Limits
) -> tuple[str, ...]:
    n = integer(parameters.get("num_feature"), "learner.learner_model_param.num_feature")
    names = texts(learner.get("feature_names", []), "learner.feature_names")
    if names and len(names) != n:
        raise InconsistentModelError(f"{len(names)} names for {n} columns", "learner.feature_names")
    if not 0 <= n <= limits.values:
        raise MalformedModelError(f"{n} columns", "learner.learner_model_param.num_feature")
    return names or tuple(f"f{i}" for i in range(n))


def _intercept(objective: str, parameters: Mapping[Any, Any], n_classes: int) -> Intercept:
    place = "learner.learner_model_param.base_score"
    # "[4.1E-1,-4.2E-2]" since XGBoost 3.1, "5E-1" before.
    words = text(parameters.get("base_score"), place).strip().removeprefix("[").removesuffix("]")
    scores = tuple(number(word, place) for word in words.split(","))
    if len(scores) != 1 and (objective not in _MULTI or len(scores) != n_classes):
        raise InconsistentModelError(f"{len(scores)} scores for {n_classes} classes", place)
    estimated = parameters.get("boost_from_average") == "1"
    return Intercept(objective, scores, n_classes, estimated)


def _unweighted(objective: Mapping[Any, Any]) -> bool:
    loss = mapping(objective.get("reg_loss_param", {}), "learner.objective.reg_loss_param")
    place = "learner.objective.reg_loss_param.scale_pos_weight"
    return number(loss.get("scale_pos_weight", "1"), place) == 1


def _first_round(model: Mapping[Any, Any], objective: str, n_classes: int, n_trees: int) -> int:
    """How many trees were trained before any prediction was updated."""
    starts = model.get("iteration_indptr")
    if starts is not None:
        bounds = integers(starts, "iteration_indptr").tolist()
        if bounds != sorted(bounds) or bounds[:1] != [0] or bounds[-1:] != [n_trees]:
            raise InconsistentModelError(f"does not end at {n_trees} trees", "iteration_indptr")
        return int(bounds[1]) if len(bounds) > 1 else 0
    parameters = mapping(model.get("gbtree_model_param", {}), "gbtree_model_param")
    parallel = integer(parameters.get("num_parallel_tree", "1"), "num_parallel_tree")
    return max(parallel, 1) * (n_classes if objective in _MULTI else 1)


def _version(top: Mapping[Any, Any]) -> str:
    version = top.get("version")
    if not isinstance(version, list) or not all(type(v) is int for v in version[:3]):
        return ""
    return ".".join(str(v)[:10] for v in version[:3])
