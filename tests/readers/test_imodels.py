"""imodels rule lists: the counts read must be those of the training table, rule by rule."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import pytest
from imodels import FIGSClassifier, GreedyRuleListClassifier, OneRClassifier

from glassleak.errors import InconsistentModelError, MalformedModelError, UnsupportedModelError
from glassleak.models import Exact, RuleList, model_document, model_from_document
from glassleak.readers._limits import Limits
from glassleak.readers._live import state_of
from glassleak.readers._state import State
from glassleak.readers.libraries._imodels import read_imodels

LIMITS = Limits()
COLUMNS = ["age", "income", "member", "score"]


def table(seed: int, n: int = 300) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "income": rng.normal(size=n),
            "member": rng.integers(0, 2, n),
            "score": rng.normal(size=n).round(1),
        }
    )
    noise = rng.normal(size=n)
    label = frame["score"] - 0.03 * (frame["age"] - 50) + frame["member"] + noise > 0.4
    return frame, label.to_numpy().astype(int)


def read(model: object) -> RuleList:
    found = read_imodels(state_of(model), LIMITS)
    assert isinstance(found, RuleList)
    return found


def replayed(model: RuleList, values: np.ndarray, codes: np.ndarray) -> np.ndarray:
    counts = np.zeros((len(model.rules), 2), dtype=np.int64)
    np.add.at(counts, (model.apply(values), codes), 1)
    return counts


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("depth", [1, 3, 8])
@pytest.mark.parametrize("learner", [GreedyRuleListClassifier, OneRClassifier])
def test_counts_are_those_of_the_training_table(learner, depth, seed):
    frame, codes = table(seed)
    model = read(learner(max_depth=depth).fit(frame, codes))
    assert isinstance(model.counts, Exact)
    assert model.columns == tuple(COLUMNS)
    assert model.n_rows == len(frame)
    np.testing.assert_array_equal(replayed(model, frame.to_numpy(), codes), model.counts.values)


@pytest.mark.parametrize("seed", range(3))
def test_binary_columns_and_both_directions(seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 2, size=(400, 6)).astype(float)
    codes = (values[:, 0] + (1 - values[:, 3]) + rng.random(400) > 1.4).astype(int)
    fitted = GreedyRuleListClassifier(max_depth=5).fit(values, codes)
    assert {r["flip"] for r in fitted.rules_[:-1]} == {True, False}
    model = read(fitted)
    assert model.columns == ("X0", "X1", "X2", "X3", "X4", "X5")
    np.testing.assert_array_equal(replayed(model, values, codes), model.counts.values)


@pytest.mark.parametrize("learner", [GreedyRuleListClassifier, OneRClassifier])
def test_predictions_agree_with_the_library(learner):
    frame, codes = table(3)
    labels = np.array(["no", "yes"])[codes]
    fitted = learner(max_depth=4).fit(frame, labels)
    model = read(fitted)
    assert model.classes == ("no", "yes")
    ours = np.array([rule.prediction for rule in model.rules])[model.apply(frame.to_numpy())]
    np.testing.assert_array_equal(ours, fitted.predict(frame))


def test_values_exactly_at_the_cutoff():
    """The library asks >= and <; the stump inside it would have asked <= and >."""
    frame, codes = table(1)
    fitted = GreedyRuleListClassifier(max_depth=3).fit(frame[["income", "age"]].to_numpy(), codes)
    model = read(fitted)
    edges = []
    for rule in fitted.rules_[:-1]:
        for value in (
            np.nextafter(rule["cutoff"], -np.inf),
            rule["cutoff"],
            np.nextafter(rule["cutoff"], np.inf),
        ):
            row = [0.0, 50.0]
            row[rule["index_col"]] = float(value)
            edges.append(row)
    ours = np.array([rule.prediction for rule in model.rules])[model.apply(edges)]
    np.testing.assert_array_equal(ours, fitted.predict(np.array(edges)))


def test_names_given_by_hand_and_class_weight():
    frame, codes = table(2)
    fitted = GreedyRuleListClassifier(max_depth=3, class_weight="balanced")
    fitted.fit(frame.to_numpy(), codes, feature_names=["a b", "c", "d", "e"])
    model = read(fitted)
    assert model.columns == ("a b", "c", "d", "e")
    assert model.provenance.settings["class_weight"] == "balanced"
    np.testing.assert_array_equal(replayed(model, frame.to_numpy(), codes), model.counts.values)


def test_columns_that_are_numbers_get_names_and_a_note():
    frame, codes = table(2)
    frame.columns = range(4)
    model = read(GreedyRuleListClassifier(max_depth=2).fit(frame, codes))
    assert len(set(model.columns)) == 4
    assert any("X0" in note for note in model.provenance.notes)


def test_a_list_that_ends_with_a_split():
    """Older versions stop like this; both sides are known from the last entry."""
    frame, codes = table(4)
    state = state_of(GreedyRuleListClassifier(max_depth=2).fit(frame, codes))
    full = read_imodels(state, LIMITS)
    cut = copy.deepcopy(state)
    del cut.attributes["rules_"][-1]
    model = read_imodels(cut, LIMITS)
    assert isinstance(model, RuleList)
    np.testing.assert_array_equal(model.counts.values, full.counts.values)
    np.testing.assert_array_equal(replayed(model, frame.to_numpy(), codes), model.counts.values)
    assert any("default" in note for note in model.provenance.notes)


def test_json_round_trip():
    frame, codes = table(5)
    model = read(OneRClassifier(max_depth=3).fit(frame, codes))
    assert model_from_document(model_document(model)) == model


def test_other_models_are_refused_by_name():
    frame, codes = table(0)
    with pytest.raises(UnsupportedModelError, match=r"FIGSClassifier.*sum of trees"):
        read_imodels(state_of(FIGSClassifier(max_rules=3).fit(frame, codes)), LIMITS)
    with pytest.raises(UnsupportedModelError, match="C45TreeClassifier"):
        read_imodels(State("imodels.tree.c45", "C45TreeClassifier"), LIMITS)


def broken(**changes: object) -> State:
    frame, codes = table(0)
    state = state_of(GreedyRuleListClassifier(max_depth=2).fit(frame, codes))
    for path, value in changes.items():
        if path[:4] == "rule" and path[4].isdigit():
            number, _, key = path.removeprefix("rule").partition("_")
            state.attributes["rules_"][int(number)][key] = value
        else:
            state.attributes[path] = value
    return state


@pytest.mark.parametrize(
    ("changes", "error", "place"),
    [
        ({"rule0_num_pts_right": 10**9}, InconsistentModelError, r"rules_\[0\].num_pts_right"),
        ({"rule0_num_pts_right": -1}, InconsistentModelError, r"rules_\[0\].num_pts_right"),
        ({"rule1_num_pts": 3}, InconsistentModelError, r"rules_\[1\].num_pts"),
        ({"rule0_val_right": 0.123}, InconsistentModelError, r"rules_\[0\].val_right"),
        ({"rule0_val_right": float("nan")}, MalformedModelError, r"rules_\[0\].val_right"),
        ({"rule0_val": 0.0}, InconsistentModelError, r"rules_\[0\].val"),
        ({"rule0_cutoff": float("inf")}, MalformedModelError, r"rules_\[0\].cutoff"),
        ({"rule0_index_col": 99}, MalformedModelError, r"rules_\[0\].index_col"),
        ({"rule0_index_col": None}, MalformedModelError, r"rules_\[0\]"),
        ({"rule0_flip": "no"}, MalformedModelError, r"rules_\[0\].flip"),
        ({"rules_": []}, MalformedModelError, "rules_"),
        ({"rules_": None}, MalformedModelError, "rules_"),
        ({"rules_": [1, 2]}, MalformedModelError, r"rules_\[0\]"),
        ({"classes_": np.array([1])}, MalformedModelError, "classes_"),
        ({"feature_names_in_": None, "feature_names_": None, "n_features_in_": 10**15},
         MalformedModelError, "n_features_in_"),
    ],
)  # fmt: skip
def test_broken_lists_are_refused_and_the_place_is_named(changes, error, place):
    with pytest.raises(error, match=place):
        read_imodels(broken(**changes), LIMITS)
