import math

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.utils.estimator_checks import parametrize_with_checks

import glassleak as gl
from glassleak.learners import PrivateForestClassifier, PrivateTreeClassifier
from glassleak.learners.private import _grow_tree
from glassleak.models import Noisy

pytestmark = pytest.mark.filterwarnings("ignore::glassleak.learners.private.PrivacyWarning")


@parametrize_with_checks(
    [
        PrivateTreeClassifier(epsilon=50.0, random_state=0),
        PrivateForestClassifier(2, epsilon=50.0, random_state=0),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def people(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.integers(0, 2, (n, 5)), columns=list("abcde"))
    return table, (table["a"] ^ table["b"]).to_numpy()


def test_generous_budget_finds_the_tree():
    table, labels = people()
    # Exclusive or: no single column helps at the root, so two levels are not always enough.
    model = PrivateTreeClassifier(1e4, max_depth=5, random_state=0).fit(table, labels)
    assert model.score(table, labels) == 1.0
    assert np.abs(model.predict_proba(table).sum(axis=1) - 1).max() < 1e-12


def test_one_expense_per_level_and_one_for_the_leaves():
    table, labels = people(200)
    model = PrivateTreeClassifier(0.6, max_depth=2, random_state=0).fit(table, labels)
    assert [line["what"] for line in model.ledger_] == [
        "splits at depth 0", "splits at depth 1", "counts of all leaves",
    ]  # fmt: skip
    assert [line["epsilon"] for line in model.ledger_] == pytest.approx([0.18, 0.18, 0.24])
    assert model.privacy_["epsilon"] == 0.6


def test_inner_nodes_add_up_and_leaves_are_noisy():
    table, labels = people(500)
    model = PrivateTreeClassifier(1.0, max_depth=3, random_state=1).fit(table, labels)
    inner = np.flatnonzero(model.feature_ >= 0)
    below = model.counts_[model.left_[inner]] + model.counts_[model.right_[inner]]
    assert (model.counts_[inner] == below).all()
    published = model.to_model()
    assert isinstance(published.counts, Noisy)
    assert published.counts.scale == pytest.approx(1 / 0.4)
    leaf = model.apply(table)
    exact = np.bincount(leaf, minlength=len(model.counts_))[model.feature_ < 0]
    assert (exact != model.counts_[model.feature_ < 0].sum(axis=1)).any()


def test_noise_at_the_leaves_has_the_published_scale():
    table, labels = people(100)
    found = []
    for seed in range(300):
        model = PrivateTreeClassifier(2.0, max_depth=1, random_state=seed).fit(table, labels)
        leaf = model.apply(table)
        exact = np.stack([np.bincount(leaf[labels == c], minlength=3) for c in (0, 1)], axis=1)
        found.extend((model.counts_ - exact)[1:].ravel())
    scale = 1 / 0.8
    expected = 2 * math.exp(-1 / scale) / (1 - math.exp(-2 / scale))
    assert abs(np.abs(found).mean() - expected) < 0.15


def test_every_person_is_in_one_tree_only(monkeypatch):
    seen = []
    honest = _grow_tree.grow_tree

    def watching(holds, *rest, **options):
        seen.append(len(holds))
        return honest(holds, *rest, **options)

    monkeypatch.setattr("glassleak.learners.private._tree.grow_tree", watching)
    table, labels = people(900)
    forest = PrivateForestClassifier(3, 1.0, random_state=0).fit(table, labels)
    assert sum(seen) == 900
    assert min(seen) > 200
    assert forest.privacy_["epsilon"] == 1.0
    assert all(tree.privacy_["epsilon"] == 1.0 for tree in forest.estimators_)


def test_forest_learns():
    table, labels = people()
    forest = PrivateForestClassifier(3, 1e4, max_depth=5, random_state=0).fit(table, labels)
    assert forest.score(table, labels) == 1.0


@pytest.mark.parametrize(
    "learner", [PrivateTreeClassifier(1.0), PrivateForestClassifier(2, 1.0)], ids=["tree", "forest"]
)
def test_read_from_the_object_and_from_a_file(learner, tmp_path):
    table, labels = people(300)
    learner.fit(table, labels)
    model = gl.read(learner)
    assert model.columns == tuple("abcde")
    trees = model.trees if isinstance(model, gl.Forest) else (model,)
    expected = learner.to_model()
    wanted = expected.trees if isinstance(expected, gl.Forest) else (expected,)
    assert [t.counts for t in trees] == [t.counts for t in wanted]
    assert (trees[0].apply(table) == wanted[0].apply(table)).all()
    skops.io.dump(learner, tmp_path / "model.skops")
    assert repr(gl.read(tmp_path / "model.skops")) == repr(model)
    assert "random_state" not in model.provenance.settings


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_depth": 13}, "max_depth must be at most 12"),
        ({"max_depth": -1}, "max_depth"),
        ({"epsilon": 0}, "epsilon must be positive"),
        ({"counts_share": 0}, "counts_share"),
        ({"criterion": "entropy"}, "criterion"),
    ],
)
def test_wrong_parameters(parameters, message):
    table, labels = people(20)
    with pytest.raises(ValueError, match=message):
        PrivateTreeClassifier(**parameters).fit(table, labels)


def test_no_tree_of_a_stored_forest_has_the_seed():
    import pickle

    table, labels = people(100)
    forest = PrivateForestClassifier(2, 1.0, random_state=3).fit(table, labels)
    stored = pickle.loads(pickle.dumps(forest))
    assert [tree.random_state for tree in (stored, *stored.estimators_)] == [None] * 3
    assert forest.ledger_ == forest.estimators_[0].ledger_


def test_text_names_every_leaf_once():
    table, labels = people(200)
    model = PrivateTreeClassifier(5.0, max_depth=2, random_state=0).fit(table, labels)
    text = model.to_text()
    assert text.count("(0: ") == 4
    assert text.count("if ") == 6
    assert (
        PrivateTreeClassifier(5.0, 0, random_state=0)
        .fit(table, labels)
        .to_text()
        .startswith(("0", "1"))
    )
