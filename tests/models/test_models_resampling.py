"""Draws repeated from seeds, against the draws scikit-learn says it made."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.random import sample_without_replacement

from glassleak.models import Bagging
from glassleak.models import _resampling as resampling
from glassleak.models._resampling import draw_indices

VERSION = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
# Before 1.9 weights of rows or classes did not steer a forest's draws.
STEERED = VERSION >= (1, 9)


def data(n=120, d=7, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2, (n, d)).astype(float), (rng.random(n) < 0.3).astype(int)


def counted(samples, n):
    return np.stack([np.bincount(rows, minlength=n) for rows in samples])


def forest_draws(model, n):
    seeds = [member.random_state for member in model.estimators_]
    weights = getattr(model, "_sample_weight", None)
    recipe = "forest" if weights is None else "forest-weighted"
    return Bagging("known", model._n_samples_bootstrap, seeds, recipe, weights), n


FORESTS = {
    "plain": {},
    "fewer rows": {"max_samples": 31},
    "a share": {"max_samples": 0.4},
    "one row": {"max_samples": 1},
    "balanced": {"class_weight": "balanced"},
    "class weights": {"class_weight": {0: 1.0, 1: 7.5}},
    "balanced per tree": {"class_weight": "balanced_subsample"},
    "balanced share": {"class_weight": "balanced", "max_samples": 0.5},
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize("settings", FORESTS.values(), ids=FORESTS)
@pytest.mark.parametrize("weighted", [False, True], ids=["", "row weights"])
def test_forests(make, settings, weighted):
    values, labels = data()
    weight = np.random.default_rng(5).exponential(size=len(labels)) if weighted else None
    model = make(8, bootstrap=True, random_state=3, **settings).fit(values, labels, weight)
    bagging, n = forest_draws(model, len(labels))
    steered = STEERED and (
        weighted or settings.get("class_weight") not in (None, "balanced_subsample")
    )
    assert (bagging.recipe == "forest-weighted") == steered
    expected = counted(model.estimators_samples_, n)
    assert np.array_equal(bagging.multiplicities(8, n), expected)
    assert (expected.sum(axis=1) == bagging.draws).all()


def test_forests_without_a_seed_of_their_own_still_tell_their_draws():
    values, labels = data()
    model = RandomForestClassifier(5).fit(values, labels)
    bagging, n = forest_draws(model, len(labels))
    assert np.array_equal(bagging.multiplicities(5, n), counted(model.estimators_samples_, n))


def test_the_draws_are_those_the_trees_were_trained_on():
    values, labels = data()
    model = RandomForestClassifier(20, random_state=1).fit(values, labels)
    bagging, n = forest_draws(model, len(labels))
    for i, member in enumerate(model.estimators_):
        drawn = bagging.multiplicities_of(i, n)
        assert np.count_nonzero(drawn) == member.tree_.n_node_samples[0]
        at_root = np.rint(member.tree_.value[0, 0] * member.tree_.weighted_n_node_samples[0])
        assert np.array_equal(np.bincount(labels, drawn, 2), at_root)


def bag_draws(model):
    replaced = "" if model.bootstrap else "-without-replacement"
    weights = getattr(model, "_sample_weight", None)
    if weights is not None and weights.dtype != np.float64:
        weights = (weights / np.sum(weights)).astype(np.float64)
    recipe = f"bagging{'' if weights is None else '-weighted'}{replaced}"
    features = (model.n_features_in_, model._max_features, model.bootstrap_features)
    return Bagging("known", model._max_samples, model._seeds, recipe, weights, features)


BAGS = {
    "plain": {},
    "share": {"max_samples": 0.37},
    "few": {"max_samples": 3},
    "columns": {"max_features": 0.5},
    "one column": {"max_features": 1},
    "columns again": {"max_features": 0.6, "bootstrap_features": True},
    "all columns again": {"bootstrap_features": True},
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("settings", BAGS.values(), ids=BAGS)
@pytest.mark.parametrize("replacement", [True, False], ids=["replaced", "once"])
@pytest.mark.parametrize("weights", [None, np.float64, np.float32, np.int64])
def test_bags(settings, replacement, weights):
    values, labels = data()
    weight = None
    if weights is not None:
        weight = np.random.default_rng(5).integers(1, 90, len(labels)).astype(weights)
        weight = weight if weights is np.int64 else weight / weights(7.3)
    settings = {"max_samples": len(labels)} | settings
    if isinstance(settings["max_samples"], float) and weight is not None and not replacement:
        settings = settings | {"max_samples": 44}  # a share is of the weights' sum: too many
    model = BaggingClassifier(
        DecisionTreeClassifier(max_depth=2), 6, bootstrap=replacement, random_state=2, **settings
    ).fit(values, labels, sample_weight=weight)
    bagging, n = bag_draws(model), len(labels)
    if hasattr(model, "_sample_weight"):
        assert ("weighted" in bagging.recipe) == (weight is not None)
    expected = counted(model.estimators_samples_, n)
    assert np.array_equal(bagging.multiplicities(6, n), expected)
    assert replacement or expected.max() == 1


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("n", "draws"),
    [(1000, 5), (1000, 10), (1000, 11), (1000, 989), (1000, 990), (1000, 991), (1000, 1000)],
)
def test_bags_without_replacement_at_the_switches_between_algorithms(n, draws):
    values, labels = data(n)
    model = BaggingClassifier(
        DecisionTreeClassifier(max_depth=1), 4, bootstrap=False, max_samples=draws, random_state=0
    ).fit(values, labels)
    expected = counted(model.estimators_samples_, n)
    assert np.array_equal(bag_draws(model).multiplicities(4, n), expected)


@pytest.mark.parametrize(
    ("population", "draws"),
    [(1, 1), (1, 0), (2, 1), (100, 1), (101, 1), (100, 99), (200, 199), (500, 499), (7, 7), (0, 0)],
)
def test_indices_and_what_is_left_of_the_stream(population, draws):
    for seed in range(20):
        mine, theirs = np.random.RandomState(seed), np.random.RandomState(seed)
        expected = sample_without_replacement(population, draws, random_state=theirs)
        assert np.array_equal(draw_indices(mine, False, population, draws), expected)
        assert mine.randint(2**31) == theirs.randint(2**31)


@pytest.mark.parametrize("recipe", ["forest", "forest-weighted", "bagging", "bagging-weighted"])
def test_drawing_in_parts_changes_nothing(monkeypatch, recipe):
    n, draws = 50, 1234
    weights = np.linspace(1, 2, n) if "weighted" in recipe else None
    bagging = Bagging("known", draws, [9, 10], recipe, weights, (5, 2, True))
    at_once = bagging.multiplicities(2, n)
    monkeypatch.setattr(resampling, "_CHUNK", 1)
    in_parts = bagging.multiplicities(2, n)
    assert np.array_equal(at_once, in_parts)
    assert (at_once.sum(axis=1) == draws).all()


def test_rows_of_weight_zero_are_never_drawn():
    weights = np.array([0.0, 1.0, 0.0, 3.0])
    for recipe in ("forest-weighted", "bagging-weighted"):
        drawn = Bagging("known", 500, [4], recipe, weights).multiplicities_of(0, 4)
        assert drawn[[0, 2]].tolist() == [0, 0]
        assert drawn[3] > drawn[1] > 0
    once = Bagging("known", 2, [4], "bagging-weighted-without-replacement", weights)
    assert once.multiplicities_of(0, 4).tolist() == [0, 1, 0, 1]
