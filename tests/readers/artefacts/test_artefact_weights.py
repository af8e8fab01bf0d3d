"""Row weights that are the label column."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier

from glassleak.models import Exact, Tree
from glassleak.readers._state import State
from glassleak.readers.artefacts import scan

KEEPS_WEIGHTS = tuple(int(p) for p in sklearn.__version__.split(".")[:2]) >= (1, 9)
needs_weights = pytest.mark.skipif(not KEEPS_WEIGHTS, reason="kept since scikit-learn 1.9")


def forest_state(weights, class_weight, classes) -> State:
    """What scikit-learn 1.9 keeps, for weights that are awkward to provoke."""
    held = {
        "_sample_weight": np.asarray(weights),
        "class_weight": class_weight,
        "classes_": np.arange(classes),
        "_n_samples": len(weights),
    }
    return State("sklearn.ensemble._forest", "RandomForestClassifier", held)


def labels_from(weights: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The labels an outsider reads off: weights grow as classes get smaller."""
    by_weight = np.unique(weights)
    by_size = np.argsort(-np.bincount(y))
    return by_size[np.searchsorted(by_weight, weights)]


@needs_weights
@pytest.mark.parametrize("pickled", [False, True])
def test_balanced_weights_are_the_labels(data, scanned, pickled) -> None:
    forest = RandomForestClassifier(3, class_weight="balanced", random_state=0)
    forest.fit(data.X, data.y)
    found = scanned(forest, pickled=pickled).one("labels-in-weights")
    assert found.where == "RandomForestClassifier._sample_weight"
    assert found.severity == "fix"
    assert found.evidence["rows_with_label_revealed"] == data.n
    assert found.evidence["agrees_with_class_sizes"] is True
    assert "label column in row order" in found.reveals
    np.testing.assert_array_equal(labels_from(forest._sample_weight, data.y), data.y)


@needs_weights
def test_given_class_weights_are_the_labels_too(data, scanned) -> None:
    forest = RandomForestClassifier(3, class_weight={0: 1, 1: 7.5}).fit(data.X, data.y)
    found = scanned(forest).one("labels-in-weights")
    assert found.evidence["rows_with_label_revealed"] == data.n
    np.testing.assert_array_equal(forest._sample_weight > 2, data.y == 1)


@needs_weights
def test_classes_that_share_a_weight_hide_in_each_other(data, scanned) -> None:
    y = np.digitize(data.X[:, 0], [-0.5, 0.5])
    forest = RandomForestClassifier(3, class_weight={0: 2.0, 1: 2.0, 2: 5.0}).fit(data.X, y)
    found = scanned(forest).one("labels-in-weights")
    assert found.evidence["distinct_values"] == 2
    assert found.evidence["classes"] == 3
    assert found.evidence["rows_with_label_revealed"] == int((y == 2).sum())
    assert "share a weight" in found.reveals


@needs_weights
def test_following_the_remedy_changes_no_prediction(data, scanned) -> None:
    forest = RandomForestClassifier(3, class_weight="balanced").fit(data.X, data.y)
    before = forest.predict_proba(data.X)
    forest._sample_weight = None
    assert scanned(forest).kinds == ["bootstrap-seeds"]
    np.testing.assert_array_equal(forest.predict_proba(data.X), before)


@needs_weights
def test_survey_weights_are_an_array_of_rows_and_not_labels(data, scanned) -> None:
    weights = np.random.default_rng(0).uniform(1, 9, data.n)
    forest = RandomForestClassifier(3).fit(data.X, data.y, sample_weight=weights)
    found = scanned(forest)
    assert "labels-in-weights" not in found.kinds
    assert "weights of the training rows" in found.one("row-array").reveals


@pytest.mark.parametrize("setting", [None, "balanced_subsample"])
def test_no_finding_without_stored_weights(data, scanned, setting) -> None:
    forest = RandomForestClassifier(3, class_weight=setting).fit(data.X, data.y)
    assert scanned(forest).kinds == ["bootstrap-seeds"]


def test_two_survey_weights_in_a_bag_are_not_taken_for_labels(data, scanned) -> None:
    weights = np.where(np.arange(data.n) % 3 == 0, 1.0, 2.0)
    bag = BaggingClassifier(n_estimators=3).fit(data.X, data.y, sample_weight=weights)
    assert "labels-in-weights" not in scanned(bag).kinds


def test_weights_that_agree_with_the_models_class_sizes(data) -> None:
    """No class_weight is stored, but the sizes of the groups are those of the classes."""
    y = data.y
    model = Tree(
        ("a",), (0, 1), np.array([-1]), np.array([np.nan]), np.array([-1]), np.array([-1]),
        Exact(np.bincount(y)[None, :]),
    )  # fmt: skip
    state = forest_state(np.where(y == 1, 3.0, 1.0), None, 2)
    found = {a.kind: a for a in scan(state, model)}["labels-in-weights"]
    assert found.evidence["agrees_with_class_sizes"] is True
    assert found.evidence["rows_with_label_revealed"] == len(y)
    assert "labels-in-weights" not in {a.kind for a in scan(state)}


def test_equal_balanced_classes_reveal_nothing_but_the_number() -> None:
    found = scan(forest_state(np.ones(40), "balanced", 2))
    assert [(a.kind, a.severity) for a in found] == [("row-array", "note")]


def test_two_of_three_balanced_classes_are_equally_large() -> None:
    y = np.repeat([0, 1, 2], [10, 10, 20])
    sizes = np.bincount(y)
    found = scan(forest_state((40 / (3 * sizes))[y], "balanced", 3))
    assert found[0].kind == "labels-in-weights"
    assert found[0].evidence["rows_with_label_revealed"] == 20


def test_weights_not_explained_by_the_setting_still_split_the_rows() -> None:
    """Two weights for three classes that are not the balanced ones: groups, not labels."""
    weights = np.repeat([1.0, 4.0], [25, 15])
    (found,) = scan(forest_state(weights, "balanced", 3))
    assert found.kind == "labels-in-weights"
    assert found.evidence["rows_with_label_revealed"] == 0
    assert found.evidence["agrees_with_class_sizes"] is False
    assert "2 groups" in found.reveals


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e308, -1.0])
def test_absurd_weights_raise_nothing(bad) -> None:
    weights = np.where(np.arange(40) % 2, bad, 1.0)
    for setting in ("balanced", {0: bad, 1: 10**400}, {0: "x"}):
        found = scan(forest_state(weights, setting, 2))
        assert {a.kind for a in found} <= {"labels-in-weights", "row-array"}
        assert found
