"""XGBoost: leaves must be the library's, and rows only where the file proves them."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb

from glassleak.errors import (
    InconsistentModelError,
    MalformedModelError,
    ModelTooLargeError,
    UnsupportedModelError,
)
from glassleak.models import Forest, Missing, Tree, model_document, model_from_document
from glassleak.readers._limits import Limits
from glassleak.readers._live import state_of
from glassleak.readers._state import State
from glassleak.readers.libraries._xgboost import read_xgboost_json, read_xgboost_state

LIMITS = Limits()


def table(seed: int, n: int = 501, classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, 4)).astype(np.float32)
    values[:, 1] = rng.integers(0, 2, n)
    score = values[:, 0] + values[:, 1] * values[:, 3] + rng.normal(size=n)
    values[rng.random((n, 4)) < 0.1] = np.nan
    return values, np.digitize(score, np.linspace(0.2, 1.5, classes - 1))


def train(values: np.ndarray, labels: np.ndarray, rounds: int = 3, **parameters: Any) -> Any:
    given: dict[str, Any] = {"objective": "binary:logistic", "max_depth": 4, "nthread": 1}
    data = xgb.DMatrix(values, labels, weight=parameters.pop("weight", None))
    chosen = {k: v for k, v in (given | parameters).items() if v is not None}
    return xgb.train(chosen, data, rounds)


def document(fitted: Any) -> dict[str, Any]:
    return json.loads(bytes(fitted.save_raw("json")))


def read(fitted: Any) -> Forest:
    found = read_xgboost_json(document(fitted), LIMITS)
    assert isinstance(found, Forest)
    return found


def replayed(tree: Tree, values: np.ndarray) -> np.ndarray:
    rows = np.bincount(tree.apply(values), minlength=tree.n_nodes)
    for _ in range(tree.depth):
        inner = tree.feature >= 0
        rows[inner] = rows[tree.left[inner]] + rows[tree.right[inner]]
    return rows


@pytest.mark.parametrize("method", ["hist", "exact", "approx"])
def test_leaves_are_the_librarys(method):
    values, labels = table(0)
    fitted = train(values, labels, tree_method=method)
    model = read(fitted)
    new = np.vstack([table(7)[0], values])
    for node in np.flatnonzero(model.trees[0].feature >= 0):  # exactly at every threshold
        row = np.zeros((1, 4), dtype=np.float32)
        row[0, model.trees[0].feature[node]] = model.trees[0].threshold[node]
        new = np.vstack([new, row])
    np.testing.assert_array_equal(
        model.apply(new), fitted.predict(xgb.DMatrix(new), pred_leaf=True)
    )
    assert model.trees[0].comparison == "<"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"tree_method": "exact"},
        {"booster": "dart", "rate_drop": 0.5},
        {"num_parallel_tree": 2},
        {"objective": "binary:logitraw"},
        {"max_depth": 12, "min_child_weight": 0, "lambda": 0},
    ],
)
def test_first_round_rows_are_those_of_the_training_table(parameters, seed):
    values, labels = table(seed)
    model = read(train(values, labels, **parameters))
    first = parameters.get("num_parallel_tree", 1)
    for tree in model.trees[:first]:
        assert tree.n_nodes > 3
        np.testing.assert_array_equal(replayed(tree, values), tree.rows)
    for tree in model.trees[first:]:
        assert tree.rows is None
        assert isinstance(tree.counts, Missing)
        assert "cover" in tree.counts.reason
    assert model.bagging.kind == "none"
    assert model.n_rows == len(values)
    assert model.classes == (0, 1)


@pytest.mark.parametrize("objective", ["multi:softprob", "multi:softmax"])
@pytest.mark.parametrize(("classes", "n"), [(3, 501), (5, 501), (8, 20_001)])
def test_several_classes(classes, n, objective):
    values, labels = table(1, n, classes)
    model = read(train(values, labels, objective=objective, num_class=classes))
    assert model.classes == tuple(range(classes))
    assert len(model) == 3 * classes
    for tree in model.trees[:classes]:
        np.testing.assert_array_equal(replayed(tree, values), tree.rows)
    assert all(tree.rows is None for tree in model.trees[classes:])
    assert model.n_rows == len(values)


def test_hinge_has_rows_but_does_not_say_whether_they_are_all():
    values, labels = table(0)
    model = read(train(values, labels, objective="binary:hinge"))
    np.testing.assert_array_equal(replayed(model.trees[0], values), model.trees[0].rows)
    assert model.bagging.kind == "unknown"
    assert model.n_rows is None


def test_an_intercept_set_by_hand():
    values, labels = table(0)
    model = read(train(values, labels, base_score=0.3))
    np.testing.assert_array_equal(replayed(model.trees[0], values), model.trees[0].rows)
    assert model.bagging.kind == "unknown"


def test_large_nodes_beyond_float32():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 40, size=(300_001, 2)).astype(np.float32)
    labels = (rng.random(300_001) < 0.2 + values[:, 0] / 80).astype(int)
    tree = read(train(values, labels, rounds=1)).trees[0]
    np.testing.assert_array_equal(replayed(tree, values), tree.rows)


@pytest.mark.parametrize(
    "parameters",
    [
        {"scale_pos_weight": 3},
        {"scale_pos_weight": 0.7},
        {"weight": np.random.default_rng(1).random(501) + 0.5},
    ],
)
def test_weights_leave_rows_unknown(parameters):
    values, labels = table(0)
    model = read(train(values, labels, **parameters))
    assert all(tree.rows is None for tree in model.trees)
    assert any("weighted" in note for note in model.provenance.notes)
    assert model.n_rows is None


@pytest.mark.parametrize("seed", range(5))
def test_sampled_rows_are_not_taken_for_all_rows(seed):
    values, labels = table(seed)
    model = read(train(values, labels, subsample=0.6, seed=seed))
    assert model.bagging.kind == "unknown"
    assert model.n_rows is None
    tree = model.trees[0]
    assert 0 < tree.rows[0] < len(values)
    # The tree's own rows are a part of the table's.
    assert (tree.rows <= replayed(tree, values)).all()


def test_equal_shares_do_not_tell_a_sample_from_the_whole():
    values, _ = table(0, n=500)
    labels = np.arange(500) % 2
    kinds = set()
    for seed in range(6):
        model = read(train(values, labels, rounds=1, subsample=0.6, seed=seed))
        assert model.trees[0].rows is not None
        kinds.add((model.bagging.kind, int(model.trees[0].rows[0]) % 2))
    assert kinds == {("unknown", 0), ("unknown", 1)}


def test_pruned_nodes_are_skipped():
    values, labels = table(2)
    fitted = train(values, labels, tree_method="exact", gamma=2, max_depth=6)
    source = document(fitted)
    raw = source["learner"]["gradient_booster"]["model"]["trees"][0]
    deleted = int(raw["tree_param"]["num_deleted"])
    assert deleted > 0
    model = read(fitted)
    assert model.trees[0].n_nodes == len(raw["left_children"]) - deleted
    np.testing.assert_array_equal(replayed(model.trees[0], values), model.trees[0].rows)
    assert any("pruned" in note for note in model.provenance.notes)


def test_names_version_and_round_trip():
    values, labels = table(0)
    frame = pd.DataFrame(values, columns=["age", "sex", "grade", "income"])
    fitted = xgb.train(
        {"objective": "binary:logistic", "nthread": 1}, xgb.DMatrix(frame, labels), 2
    )
    model = read(fitted)
    assert model.columns == ("age", "sex", "grade", "income")
    assert model.provenance.library_version == xgb.__version__
    assert model_from_document(model_document(model)) == model
    assert read(train(values, labels)).columns == ("f0", "f1", "f2", "f3")


def test_fitted_objects():
    values, labels = table(3)
    fitted = xgb.XGBClassifier(n_estimators=3, max_depth=3, learning_rate=0.2, n_jobs=1)
    fitted.fit(values, labels)
    for obj, name in ((fitted, "XGBClassifier"), (fitted.get_booster(), "Booster")):
        model = read_xgboost_state(state_of(obj), LIMITS)
        assert isinstance(model, Forest)
        assert model.provenance.estimator == name
        assert model.provenance.settings["eta"] == pytest.approx(0.2)
        assert model.bagging.kind == "none"
        np.testing.assert_array_equal(replayed(model.trees[0], values), model.trees[0].rows)


def test_fitted_objects_that_sampled_or_marked_missing_values():
    values, labels = table(3)
    fitted = xgb.XGBClassifier(n_estimators=2, subsample=0.5, missing=-999.0, n_jobs=1)
    model = read_xgboost_state(state_of(fitted.fit(np.nan_to_num(values), labels)), LIMITS)
    assert model.bagging.kind == "unknown"
    assert any("-999.0" in note for note in model.provenance.notes)


def test_pickled_boosters_are_refused_with_advice():
    values, labels = table(0)
    held = train(values, labels).__getstate__()
    assert pickle.dumps(held)
    state = State("xgboost.core", "Booster", {"handle": held["handle"]})
    with pytest.raises(UnsupportedModelError, match=r"save it as JSON"):
        read_xgboost_state(state, LIMITS)
    outer = State("xgboost.sklearn", "XGBClassifier", {"_Booster": state})
    with pytest.raises(UnsupportedModelError, match=r"save it as JSON"):
        read_xgboost_state(outer, LIMITS)


def test_objects_without_a_model():
    with pytest.raises(MalformedModelError, match="no trained model"):
        read_xgboost_state(state_of(xgb.XGBClassifier()), LIMITS)
    with pytest.raises(MalformedModelError, match="handle"):
        read_xgboost_state(State("xgboost.core", "Booster", {"handle": 3}), LIMITS)


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"objective": "reg:squarederror"}, "regression"),
        ({"objective": "reg:logistic"}, "regression"),
        ({"objective": "count:poisson"}, "regression"),
        ({"objective": "rank:pairwise"}, "ranking"),
        ({"booster": "gblinear"}, "linear"),
        ({"objective": "multi:softprob", "num_class": 3, "multi_strategy": "multi_output_tree"},
         "one value per class"),
    ],
)  # fmt: skip
def test_other_models_are_refused(parameters, reason):
    values, labels = table(0, classes=3 if "num_class" in parameters else 2)
    if parameters.get("booster") == "gblinear":
        values, parameters = np.nan_to_num(values), parameters | {"max_depth": None}
    with pytest.raises(UnsupportedModelError, match=reason):
        read(train(values, labels, **parameters))


def test_categories_are_refused():
    codes = np.random.default_rng(0).integers(0, 8, 400)
    frame = pd.DataFrame({"a": pd.Categorical(codes), "b": np.arange(400.0)})
    data = xgb.DMatrix(frame, np.isin(codes, (1, 4, 6)), enable_categorical=True)
    fitted = xgb.train({"objective": "binary:logistic", "nthread": 1}, data, 1)
    with pytest.raises(UnsupportedModelError, match="categories"):
        read(fitted)


def test_files_of_older_versions():
    """A scalar intercept, no list of rounds, flags as true and false."""
    values, labels = table(0)
    source = document(train(values, labels))
    parameters = source["learner"]["learner_model_param"]
    parameters["base_score"] = parameters["base_score"].strip("[]")
    model = source["learner"]["gradient_booster"]["model"]
    del model["iteration_indptr"]
    for tree in model["trees"]:
        tree["default_left"] = [bool(flag) for flag in tree["default_left"]]
    assert read_xgboost_json(source, LIMITS) == read(train(values, labels))


SOURCE = document(train(*table(0), rounds=2))


def changed(path: str, value: Any) -> dict[str, Any]:
    """`SOURCE` with the entry at the dotted `path` replaced; "model." and "tree." are short."""
    path = path.replace("tree.", "model.trees.0.", 1) if path.startswith("tree.") else path
    path = path.replace("model.", "learner.gradient_booster.model.", 1)
    out = copy.deepcopy(SOURCE)
    *parents, last = [int(p) if p.isdigit() else p for p in path.split(".")]
    here: Any = out
    for part in parents:
        here = here[part]
    here[last] = value
    return out


@pytest.mark.parametrize(
    ("path", "value", "error", "place"),
    [
        ("learner", [], MalformedModelError, "learner"),
        ("learner.objective", {}, MalformedModelError, "learner.objective.name"),
        ("learner.objective.name", "other", UnsupportedModelError, "other"),
        ("learner.gradient_booster.name", "new", UnsupportedModelError, "new"),
        ("learner.learner_model_param.base_score", "x", MalformedModelError, "base_score"),
        ("learner.learner_model_param.base_score", "[1,2]", InconsistentModelError, "base_score"),
        ("learner.learner_model_param.num_feature", "3", MalformedModelError, "trees.0"),
        ("learner.learner_model_param.num_feature", "1" * 15, MalformedModelError, "num_feature"),
        ("learner.feature_names", ["a"], InconsistentModelError, "feature_names"),
        ("model.trees", [], MalformedModelError, "trees"),
        ("model.tree_info", [0], InconsistentModelError, "tree_info"),
        ("model.tree_info", [0, 5], InconsistentModelError, "tree_info"),
        ("model.iteration_indptr", [0, 1], InconsistentModelError, "iteration_indptr"),
        ("tree.left_children", [1], MalformedModelError, r"trees\[0\]"),
        ("tree.left_children.0", 0, MalformedModelError, r"trees\[0\].left\[0\]"),
        ("tree.left_children.0", 10**12, MalformedModelError, r"trees\[0\].left_children\[0\]"),
        ("tree.right_children.1", 1, MalformedModelError, r"trees\[0\]"),
        ("tree.split_conditions.0", 1e39, MalformedModelError, r"trees\[0\].threshold\[0\]"),
        ("tree.split_conditions.0", float("nan"), MalformedModelError, r"threshold\[0\]"),
        ("tree.split_conditions.0", "1", MalformedModelError, r"split_conditions\[0\]"),
        ("tree.split_indices.0", 9, MalformedModelError, r"trees\[0\].feature\[0\]"),
        ("tree.split_indices.0", 2**31 - 1, MalformedModelError, r"split_indices\[0\]"),
        ("tree.split_indices.1", 2**31 - 1, InconsistentModelError, "num_deleted"),
        ("tree.split_type.0", 1, UnsupportedModelError, "categories"),
        ("tree.default_left.0", 2, MalformedModelError, r"default_left\[0\]"),
        ("tree.tree_param", None, MalformedModelError, "tree_param"),
        ("tree.sum_hessian", None, MalformedModelError, "sum_hessian"),
    ],
)
def test_broken_documents_are_refused_and_the_place_is_named(path, value, error, place):
    with pytest.raises(error, match=place):
        read_xgboost_json(changed(path, value), LIMITS)


@pytest.mark.parametrize("value", [0.0, -1.0, 1e300, 17.123])
def test_covers_that_do_not_add_up_prove_nothing(value):
    model = read_xgboost_json(changed("tree.sum_hessian.1", value), LIMITS)
    assert model.trees[0].rows is None


def test_a_number_of_classes_that_cannot_be():
    source = changed("learner.objective.name", "multi:softprob")
    source["learner"]["learner_model_param"]["num_class"] = "1000000000"
    with pytest.raises(InconsistentModelError, match="num_class"):
        read_xgboost_json(source, LIMITS)


def test_limits():
    with pytest.raises(ModelTooLargeError):
        read_xgboost_json(SOURCE, Limits(nodes=20))
