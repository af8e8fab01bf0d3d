"""LightGBM: rows per node must be what the training table gives when it is sent down the trees."""

from __future__ import annotations

import pickle
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest

from glassleak.errors import (
    InconsistentModelError,
    MalformedModelError,
    ModelError,
    ModelTooLargeError,
    UnsupportedModelError,
)
from glassleak.models import Forest, Missing, Tree, model_document, model_from_document
from glassleak.readers._limits import Limits
from glassleak.readers._live import state_of
from glassleak.readers._state import State
from glassleak.readers.libraries._lightgbm import (
    read_lightgbm_json,
    read_lightgbm_state,
    read_lightgbm_text,
)

LIMITS = Limits()


def table(seed: int, n: int = 400, missing: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, 4))
    values[:, 1] = rng.integers(0, 2, n)
    values[:, 2] = values[:, 2].round()
    score = values[:, 0] + values[:, 1] * values[:, 3] + rng.normal(size=n)
    values[rng.random((n, 4)) < missing] = np.nan
    return values, (score > 0.3).astype(int)


def booster(values: np.ndarray, labels: np.ndarray, rounds: int = 5, **parameters: Any) -> Any:
    given = {"objective": "binary", "verbose": -1, "num_threads": 1, "min_data_in_leaf": 5}
    weight = parameters.pop("weight", None)
    return lgb.train(
        given | parameters, lgb.Dataset(values, labels, weight=weight), num_boost_round=rounds
    )


def read(model: Any) -> Forest:
    found = read_lightgbm_text(model.model_to_string(), LIMITS)
    assert isinstance(found, Forest)
    return found


def replayed(tree: Tree, values: np.ndarray) -> np.ndarray:
    rows = np.bincount(tree.apply(values), minlength=tree.n_nodes)
    # Children come after their parents only among splits; sum up by repeated passes.
    for _ in range(tree.depth):
        inner = tree.feature >= 0
        rows[inner] = rows[tree.left[inner]] + rows[tree.right[inner]]
    return rows


@pytest.mark.parametrize(
    ("missing", "parameters"),
    [
        (0.0, {}),
        (0.15, {}),
        (0.15, {"use_missing": False}),
        (0.0, {"max_depth": 2}),
        (0.1, {"num_leaves": 60, "min_data_in_leaf": 1, "max_bin": 15}),
        (0.1, {"extra_trees": True}),
        (0.1, {"boosting": "dart"}),
        (0.0, {"linear_tree": True}),
        (0.1, {"is_unbalance": True}),
        (0.1, {"weight": np.random.default_rng(5).random(400) * 3}),
        (0.1, {"bagging_fraction": 0.5, "bagging_freq": 0}),
    ],
)
@pytest.mark.parametrize("seed", range(2))
def test_rows_are_those_of_the_training_table(missing, parameters, seed):
    values, labels = table(seed, missing=missing)
    model = read(booster(values, labels, **parameters))
    assert model.bagging.kind == "none"
    assert model.n_rows == len(values)
    assert model.classes == (0, 1)
    assert model.aggregation == "sum"
    assert max(tree.n_nodes for tree in model.trees) > 3
    for tree in model.trees:
        assert isinstance(tree.counts, Missing)
        assert (tree.comparison, tree.precision) == ("<=", "float64")
        np.testing.assert_array_equal(replayed(tree, values), tree.rows)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_leaves_are_the_librarys(missing):
    """Not only as many rows per leaf, but the same ones, also on new data with values at cuts."""
    values, labels = table(3, missing=missing)
    fitted = booster(values, labels)
    model = read(fitted)
    new, _ = table(9, missing=missing)
    tree = model.trees[0]
    for node in np.flatnonzero(tree.feature >= 0):
        extra = np.zeros((2, 4))
        extra[:, tree.feature[node]] = tree.threshold[node], np.nextafter(tree.threshold[node], 9e9)
        new = np.vstack([new, extra])
    theirs = fitted.predict(new, pred_leaf=True).reshape(len(new), -1)
    n_splits = np.array([(t.feature >= 0).sum() for t in model.trees])
    np.testing.assert_array_equal(model.apply(new) - n_splits, theirs)


def test_missing_values_against_all_others():
    """A split that only parts NaN from numbers is written as an infinite threshold."""
    values, labels = table(2, missing=0.2)
    fitted = booster(values, labels)
    assert " inf " in fitted.model_to_string()
    model = read(fitted)
    alone = [t for t in model.trees if (t.threshold == np.finfo(float).max).any()]
    assert alone
    np.testing.assert_array_equal(replayed(alone[0], values), alone[0].rows)


def test_zero_as_missing_is_read_only_where_thresholds_can_express_it():
    values, labels = table(0)
    text = booster(values, labels, rounds=1).model_to_string()
    line = next(x for x in text.split("\n") if x.startswith("decision_type="))
    thresholds = next(x for x in text.split("\n") if x.startswith("threshold=")).split("=")[1]
    agreeing = " ".join("6" if float(t) >= 0 else "4" for t in thresholds.split())
    opposed = " ".join("4" if float(t) >= 0 else "6" for t in thresholds.split())
    same = read_lightgbm_text(text.replace(line, f"decision_type={agreeing}"), LIMITS)
    np.testing.assert_array_equal(replayed(same.trees[0], values), same.trees[0].rows)
    with pytest.raises(UnsupportedModelError, match="zero_as_missing"):
        read_lightgbm_text(text.replace(line, f"decision_type={opposed}"), LIMITS)


def test_zero_as_missing_from_the_library_is_exact_or_refused():
    outcomes = set()
    for seed in range(8):
        values, labels = table(seed)
        fitted = booster(values, labels, rounds=1, zero_as_missing=True, max_depth=2)
        try:
            tree = read(fitted).trees[0]
        except UnsupportedModelError:
            outcomes.add("refused")
            continue
        outcomes.add("read")
        np.testing.assert_array_equal(replayed(tree, values), tree.rows)
    assert outcomes == {"read", "refused"}


@pytest.mark.parametrize("objective", ["multiclass", "multiclassova"])
def test_several_classes(objective):
    values, _ = table(1, missing=0.1)
    labels = np.random.default_rng(0).integers(0, 3, len(values))
    model = read(booster(values, labels, rounds=3, objective=objective, num_class=3))
    assert len(model) == 9
    assert model.classes == (0, 1, 2)
    assert any("class t mod 3" in note for note in model.provenance.notes)
    for tree in model.trees:
        np.testing.assert_array_equal(replayed(tree, values), tree.rows)


def test_a_model_that_never_splits():
    values, labels = table(0)
    model = read(booster(values, labels, min_data_in_leaf=300))
    assert model.trees[0].n_nodes == 1
    assert model.n_rows == len(values)


@pytest.mark.parametrize(
    "parameters",
    [
        {"bagging_fraction": 0.5, "bagging_freq": 1},
        {"pos_bagging_fraction": 0.5, "bagging_freq": 2},
        {"boosting": "rf", "bagging_fraction": 0.6, "bagging_freq": 1},
    ],
)
def test_sampled_rows(parameters):
    values, labels = table(0)
    model = read(booster(values, labels, **parameters))
    assert model.bagging.kind == "unknown"
    assert model.n_rows is None
    assert all(0 < tree.n_rows < len(values) for tree in model.trees)
    assert model.aggregation == ("mean" if parameters.get("boosting") == "rf" else "sum")


def test_goss_starts_with_every_row():
    values, labels = table(0)
    model = read(booster(values, labels, rounds=14, data_sample_strategy="goss"))
    assert model.bagging.kind == "unknown"
    assert model.n_rows == len(values) == model.trees[0].n_rows
    assert model.trees[-1].n_rows < len(values)


def test_training_in_turns_on_different_rows():
    values, labels = table(0)
    first = booster(values, labels, rounds=2)
    more = lgb.train(
        {"objective": "binary", "verbose": -1},
        lgb.Dataset(values[:200], labels[:200]), 2, init_model=first,
    )  # fmt: skip
    model = read(more)
    assert model.bagging.kind == "unknown"
    assert [tree.n_rows for tree in model.trees] == [400, 400, 200, 200]


def test_estimated_counts_are_left_out():
    values, labels = table(0)
    text = booster(values, labels).model_to_string()
    text = text.replace("[tree_learner: serial]", "[tree_learner: data]")
    model = read_lightgbm_text(text, LIMITS)
    assert all(tree.rows is None for tree in model.trees)
    assert any("several machines" in note for note in model.provenance.notes)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_json_dump_is_the_same_model(missing):
    values, labels = table(2, missing=missing)
    fitted = booster(values, labels)
    from_text = read(fitted)
    from_json = read_lightgbm_json(fitted.dump_model(), LIMITS)
    assert isinstance(from_json, Forest)
    assert from_json.n_rows == len(values)
    for one, other in zip(from_text.trees, from_json.trees, strict=True):
        # Numbered differently; the same partition and the same rows.
        np.testing.assert_array_equal(one.rows[one.apply(values)], other.rows[other.apply(values)])
        np.testing.assert_array_equal(replayed(other, values), other.rows)
    ranges = [m.provenance.settings["feature_ranges"] for m in (from_text, from_json)]
    assert ranges[0].keys() == ranges[1].keys()
    np.testing.assert_allclose(*[list(r.values()) for r in ranges], rtol=1e-15)
    assert any("does not say" in note for note in from_json.provenance.notes)


def test_fitted_and_unpickled_objects():
    values, labels = table(4, missing=0.1)
    frame = pd.DataFrame(values, columns=["age", "sex", "grade", "income"])
    words = np.array(["no", "yes"])[labels]
    fitted = lgb.LGBMClassifier(n_estimators=4, verbose=-1, n_jobs=1).fit(frame, words)
    for state in (state_of(fitted), state_of(pickle.loads(pickle.dumps(fitted)))):
        model = read_lightgbm_state(state, LIMITS)
        assert isinstance(model, Forest)
        assert model.classes == ("no", "yes")
        assert model.columns == ("age", "sex", "grade", "income")
        assert model.provenance.estimator == "LGBMClassifier"
        np.testing.assert_array_equal(replayed(model.trees[3], values), model.trees[3].rows)
    bare = read_lightgbm_state(state_of(fitted.booster_), LIMITS)
    assert bare.classes == (0, 1)
    assert bare.trees[0].rows.tolist() == model.trees[0].rows.tolist()


def test_an_object_that_was_never_fitted():
    with pytest.raises(MalformedModelError, match="no trained model"):
        read_lightgbm_state(state_of(lgb.LGBMClassifier()), LIMITS)


def test_what_the_file_says_about_training_is_kept():
    values, labels = table(0)
    model = read(booster(values, labels, learning_rate=0.25, max_bin=31))
    settings = model.provenance.settings
    assert (settings["learning_rate"], settings["max_bin"]) == (0.25, 31)
    assert settings["feature_ranges"]["Column_0"] == [values[:, 0].min(), values[:, 0].max()]
    assert model_from_document(model_document(model)) == model


@pytest.mark.parametrize("objective", ["regression", "poisson", "regression_l1"])
def test_regressors_are_read_with_exact_numbers_of_rows(objective):
    values, _ = table(0)
    made = booster(values, values[:, 0] - values[:, 0].min() + 1.0, objective=objective)
    model = read(made)
    assert model.classes == ()
    assert isinstance(model.trees[0].counts, Missing)
    assert "no targets" in model.trees[0].counts.reason
    for tree in model.trees:
        held = np.bincount(tree.apply(values), minlength=tree.n_nodes)
        assert np.array_equal(held[tree.leaves], tree.rows[tree.leaves])
    assert model_from_document(model_document(model)) == model


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"objective": "cross_entropy"}, "not known to train a classifier"),
    ],
)
def test_other_objectives_are_refused(parameters, reason):
    values, labels = table(0)
    with pytest.raises(UnsupportedModelError, match=reason):
        read(booster(values, labels, **parameters))


def test_custom_objectives_and_categories_are_refused():
    values, labels = table(0)

    def loss(scores: np.ndarray, data: Any) -> tuple[np.ndarray, np.ndarray]:
        share = 1 / (1 + np.exp(-scores))
        return share - data.get_label(), share * (1 - share)

    with pytest.raises(UnsupportedModelError, match="custom"):
        read(booster(values, labels, objective=loss))
    values[:, 2] = np.random.default_rng(0).integers(0, 8, len(values))
    data = lgb.Dataset(values, np.isin(values[:, 2], (1, 4, 6)), categorical_feature=[2])
    fitted = lgb.train(
        {"objective": "binary", "verbose": -1, "min_data_per_group": 1, "cat_smooth": 1}, data, 1
    )
    with pytest.raises(UnsupportedModelError, match="categories"):
        read(fitted)
    with pytest.raises(UnsupportedModelError, match="categories"):
        read_lightgbm_json(fitted.dump_model(), LIMITS)


TEXT = booster(*table(0), rounds=2).model_to_string()


def line(key: str) -> str:
    return next(x for x in TEXT.split("\n") if x.startswith(f"{key}="))


@pytest.mark.parametrize(
    ("old", "new", "error", "place"),
    [
        ("end of trees", "", MalformedModelError, "cut short"),
        ("end of parameters", "", MalformedModelError, "cut short"),
        ("Tree=1", "Tree=7", MalformedModelError, "Tree=1"),
        (line("internal_count"), "internal_count=1", MalformedModelError, "Tree=0"),
        (line("leaf_count"), line("leaf_count").replace("=", "=9", 1), InconsistentModelError,
         r"Tree=0.rows\[\d+\]"),
        (line("leaf_count"), "", MalformedModelError, "Tree=0.leaf_count"),
        (line("left_child"), line("left_child").replace("=", "=9", 1), MalformedModelError,
         r"Tree=0.left_child\[0\]"),
        (line("right_child"), line("right_child").replace("=", "=0 ", 1), MalformedModelError,
         "Tree=0"),
        (line("threshold"), line("threshold").replace("=", "=nan ", 1).rsplit(" ", 1)[0],
         MalformedModelError, r"Tree=0.threshold\[0\]"),
        (line("split_feature"), "split_feature=x", MalformedModelError, "Tree=0.split_feature"),
        (line("split_feature"), line("split_feature").replace("=", "=9", 1), MalformedModelError,
         r"Tree=0.split_feature\[0\]"),
        (line("num_leaves"), "num_leaves=3", MalformedModelError, "Tree=0.num_leaves"),
        (line("num_leaves"), "num_leaves=1e9", MalformedModelError, "Tree=0.num_leaves"),
        ("num_class=1", "num_class=1000000000", InconsistentModelError, "num_class"),
        ("num_tree_per_iteration=1", "num_tree_per_iteration=0", InconsistentModelError, "num_c"),
        ("max_feature_idx=3", "max_feature_idx=4", InconsistentModelError, "feature_names"),
        ("feature_names=Column_0", "feature_names=Column_1", MalformedModelError, "columns"),
        ("version=v4", "version=v4\nversion=v4", MalformedModelError, "twice"),
    ],
)  # fmt: skip
def test_broken_files_are_refused_and_the_place_is_named(old, new, error, place):
    assert old in TEXT
    with pytest.raises(error, match=place):
        read_lightgbm_text(TEXT.replace(old, new, 1), LIMITS)


def test_limits():
    with pytest.raises(ModelTooLargeError):
        read_lightgbm_text(TEXT, Limits(nodes=20))
    with pytest.raises(ModelTooLargeError):
        read_lightgbm_text(TEXT, Limits(json_bytes=100))
    names = " ".join(f"c{i}" for i in range(5000))
    trees = "".join(f"Tree={t}\nnum_leaves=1\nleaf_count=5\n\n" for t in range(100))
    wide = (
        "tree\nnum_class=1\nnum_tree_per_iteration=1\nmax_feature_idx=4999\n"
        f"objective=binary\nfeature_names={names}\n\n{trees}end of trees\n"
    )
    assert len(read_lightgbm_text(wide, LIMITS)) == 100
    with pytest.raises(ModelTooLargeError, match="columns"):
        read_lightgbm_text(wide, Limits(nodes=100_000))


def test_a_long_word_among_numbers_costs_its_own_length_only():
    text = TEXT.replace(line("leaf_count"), line("leaf_count") + " " + "9" * 2_000_000)
    with pytest.raises(ModelError):
        read_lightgbm_text(text, LIMITS)


def test_deep_json_costs_no_recursion():
    node: dict[str, Any] = {"leaf_value": 0.0, "leaf_count": 1}
    for depth in range(1, 5000):
        node = {
            "split_feature": 0, "threshold": float(depth), "decision_type": "<=",
            "default_left": True, "missing_type": "NaN", "internal_count": depth + 1,
            "left_child": node, "right_child": {"leaf_value": 1.0, "leaf_count": 1},
        }  # fmt: skip
    document = {
        "num_class": 1, "num_tree_per_iteration": 1, "max_feature_idx": 0, "feature_names": ["a"],
        "objective": "binary sigmoid:1", "tree_info": [{"tree_structure": node}],
    }  # fmt: skip
    model = read_lightgbm_json(document, LIMITS)
    assert model.trees[0].depth == 4999
    assert model.n_rows == 5000


def test_state_without_the_text():
    state = State("lightgbm.basic", "Booster", {"_handle": 7})
    with pytest.raises(MalformedModelError, match="_handle"):
        read_lightgbm_state(state, LIMITS)


def test_a_text_without_trees_is_refused() -> None:
    with pytest.raises(MalformedModelError, match="no trees"):
        read_lightgbm_text("tree\nversion=v4\n\nend of trees\n", LIMITS)
