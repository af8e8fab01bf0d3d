"""Seeds, stored draws and out-of-bag votes: the findings, and that what they claim is true."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)


@pytest.mark.parametrize("pickled", [False, True])
def test_a_forest_without_random_state_still_holds_every_seed(data, scanned, pickled) -> None:
    forest = RandomForestClassifier(8, random_state=None).fit(data.X, data.y)
    found = scanned(forest, pickled=pickled).one("bootstrap-seeds")
    assert found.severity == "fix"
    assert found.where == "RandomForestClassifier"
    assert found.evidence == {
        "trees": 8,
        "trees_with_seed": 8,
        "own_random_state": False,
        "row_weights": False,
        "rows": data.n,
        "drawn_per_tree": data.n,
    }
    # The claim: with these figures and the seeds, the draw of every tree can be repeated.
    for tree, truth in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        rng = np.random.RandomState(tree.random_state)
        drawn = rng.randint(0, found.evidence["rows"], found.evidence["drawn_per_tree"], np.int32)
        np.testing.assert_array_equal(np.sort(drawn), np.sort(truth))


def test_the_forests_own_seed_gives_all_the_others(data, scanned) -> None:
    forest = RandomForestRegressor(5, random_state=3, max_samples=50).fit(data.X, data.X[:, 0])
    seeds = [tree.random_state for tree in forest.estimators_]
    for tree in forest.estimators_:
        tree.random_state = None
    found = scanned(forest).one("bootstrap-seeds")
    assert found.evidence["trees_with_seed"] == 0
    assert found.evidence["own_random_state"] is True
    assert found.evidence["drawn_per_tree"] == 50
    assert "follow" in found.reveals
    rng = np.random.RandomState(3)
    assert seeds == [rng.randint(np.iinfo(np.int32).max) for _ in seeds]


def test_stripping_the_seeds_is_noted_and_changes_no_prediction(data, scanned) -> None:
    forest = RandomForestClassifier(5, random_state=3).fit(data.X, data.y)
    before = forest.predict_proba(data.X)
    forest.random_state = None
    for tree in forest.estimators_:
        tree.random_state = None
    found = scanned(forest)
    assert found.kinds == ["bootstrap-seeds-absent"]
    assert found.all[0].severity == "note"
    np.testing.assert_array_equal(forest.predict_proba(data.X), before)


def test_some_seeds_are_enough_to_report(data, scanned) -> None:
    forest = RandomForestClassifier(5, random_state=None).fit(data.X, data.y)
    for tree in forest.estimators_[1:]:
        tree.random_state = None
    assert scanned(forest).one("bootstrap-seeds").evidence["trees_with_seed"] == 1


@pytest.mark.parametrize(
    "forest",
    [
        RandomForestClassifier(3, bootstrap=False, random_state=0),
        ExtraTreesClassifier(3, random_state=0),
        BaggingClassifier(n_estimators=3, bootstrap=False, random_state=0),
    ],
)
def test_no_finding_where_every_tree_saw_every_row(data, scanned, forest) -> None:
    assert scanned(forest.fit(data.X, data.y)).kinds == []


def test_an_unfitted_forest_has_drawn_nothing(scanned) -> None:
    assert scanned(RandomForestClassifier(random_state=0)).kinds == []


@pytest.mark.parametrize(
    ("bag", "drawn"),
    [
        (BaggingClassifier(n_estimators=4, random_state=0), 137),
        (BaggingClassifier(n_estimators=4, max_samples=30), 30),
        (BaggingRegressor(n_estimators=4, max_samples=30, bootstrap=False), 30),
        (IsolationForest(n_estimators=4, max_samples=20, random_state=1), 20),
    ],
)
def test_bags_keep_their_seeds_in_one_array(data, scanned, bag, drawn) -> None:
    found = scanned(bag.fit(data.X, data.y)).one("bootstrap-seeds")
    assert found.evidence["trees_with_seed"] == 4
    assert found.evidence["drawn_per_tree"] == drawn
    assert found.evidence["rows"] == data.n
    assert "_seeds" in found.remedy


def test_following_the_remedy_for_bags_helps(data, scanned) -> None:
    bag = BaggingClassifier(n_estimators=4, random_state=0).fit(data.X, data.y)
    before = bag.predict_proba(data.X)
    del bag._seeds
    assert scanned(bag).one("bootstrap-seeds").evidence["own_random_state"] is True
    bag.random_state = None
    assert scanned(bag).kinds == ["bootstrap-seeds-absent"]
    np.testing.assert_array_equal(bag.predict_proba(data.X), before)


def test_forest_out_of_bag_votes(data, scanned) -> None:
    forest = RandomForestClassifier(3, oob_score=True, random_state=0).fit(data.X, data.y)
    found = scanned(forest).one("oob-scores")
    assert found.where == "RandomForestClassifier.oob_decision_function_"
    assert found.severity == "fix"
    assert found.evidence["shape"] == [data.n, 2]
    in_all = set.intersection(*(set(s.tolist()) for s in forest.estimators_samples_))
    assert found.evidence["rows_in_every_bag"] == len(in_all) > 0
    assert f"{len(in_all)} rows have no vote" in found.reveals


def test_bag_out_of_bag_votes(data, scanned) -> None:
    bag = BaggingClassifier(n_estimators=3, oob_score=True, random_state=0).fit(data.X, data.y)
    found = scanned(bag).one("oob-scores")
    in_all = set.intersection(*(set(s.tolist()) for s in bag.estimators_samples_))
    assert found.evidence["rows_in_every_bag"] == len(in_all) > 0


def test_out_of_bag_predictions_of_a_regressor_and_their_removal(data, scanned) -> None:
    forest = RandomForestRegressor(30, oob_score=True, random_state=0).fit(data.X, data.X[:, 0])
    found = scanned(forest).one("oob-scores")
    assert found.where.endswith("oob_prediction_")
    assert found.evidence == {"shape": [data.n], "dtype": "float64", "rows_in_every_bag": 0}
    before = forest.predict(data.X)
    del forest.oob_prediction_
    assert "oob-scores" not in scanned(forest).kinds
    np.testing.assert_array_equal(forest.predict(data.X), before)
