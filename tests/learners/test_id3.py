"""ID3 trees: what they choose, how they stop, and that they come through every container."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import skops.io
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score

import glassleak as gl
from glassleak.errors import MalformedModelError
from glassleak.learners import ID3Classifier
from glassleak.models import MultiwayTree

CRITERIA = ("entropy", "gini", "gain_ratio")


def score(groups, everybody, criterion):
    """Gain of a split, or its ratio, from lists of classes."""

    def impurity(labels):
        _, k = np.unique(labels, return_counts=True)
        p = k / k.sum()
        return 1 - (p**2).sum() if criterion == "gini" else -(p * np.log2(p)).sum()

    shares = np.array([len(g) for g in groups]) / len(everybody)
    gain = impurity(everybody) - sum(s * impurity(g) for s, g in zip(shares, groups, strict=True))
    if criterion != "gain_ratio":
        return gain
    information = -(shares * np.log2(shares)).sum()
    return gain / information if information else -np.inf


def random_table(seed, rows=40, columns=4):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {f"c{i}": rng.choice(["a", "b", "c", "d"][: 2 + i % 3], rows) for i in range(columns)}
    )
    return table, rng.choice(["x", "y", "z"], rows)


@given(seed=st.integers(0, 1000), criterion=st.sampled_from(CRITERIA))
@settings(max_examples=25)
def test_every_node_asks_for_the_first_best_column(seed, criterion):
    table, labels = random_table(seed)
    tree = gl.read(ID3Classifier(criterion).fit(table, labels))
    codes = tree.encode(table)
    stack = [(0, np.arange(len(table)), [])]
    while stack:
        node, rows, used = stack.pop()
        own = labels[rows]
        counts = [int((own == c).sum()) for c in tree.classes]
        assert counts == tree.counts.values[node].tolist()
        left = [c for c in range(codes.shape[1]) if c not in used]
        scores = {
            c: score([own[codes[rows, c] == v] for v in np.unique(codes[rows, c])], own, criterion)
            for c in left
            if len(np.unique(codes[rows, c])) > 1
        }
        chosen = int(tree.feature[node])
        if chosen < 0:
            assert len(set(own.tolist())) == 1 or not scores
            continue
        best = max(scores.values())
        assert chosen == next(c for c, s in scores.items() if s >= best - 1e-9)
        children = np.flatnonzero(tree.parent == node)
        assert tree.branch[children].tolist() == np.unique(codes[rows, chosen]).tolist()
        stack += [
            (int(c), rows[codes[rows, chosen] == tree.branch[c]], [*used, chosen]) for c in children
        ]


def test_stops():
    table, labels = random_table(1, rows=200)
    whole = gl.read(ID3Classifier().fit(table, labels))
    assert gl.read(ID3Classifier(max_depth=2).fit(table, labels)).depth == 2
    large = gl.read(ID3Classifier(min_samples_split=30).fit(table, labels))
    assert large.counts.totals[large.feature >= 0].min() >= 30
    assert large.n_leaves < whole.n_leaves
    assert gl.read(ID3Classifier(min_gain=0.5).fit(table, labels)).n_leaves == 1


def test_rows_in_any_order_give_the_same_tree():
    table, labels = random_table(2)
    order = np.random.default_rng(0).permutation(len(table))
    one = gl.read(ID3Classifier("gini").fit(table, labels))
    other = gl.read(ID3Classifier("gini").fit(table.iloc[order], labels[order]))
    assert one == other


def test_prediction():
    table = pd.DataFrame({"age": ["old", "young", "young"], "sex": ["f", "f", "m"]})
    learner = ID3Classifier().fit(table, ["no", "yes", "yes"])
    assert learner.predict(table).tolist() == ["no", "yes", "yes"]
    unseen = pd.DataFrame({"age": ["ancient"], "sex": ["f"]})
    # Nobody was ancient: the root answers.
    np.testing.assert_allclose(learner.predict_proba(unseen), [[1 / 3, 2 / 3]])
    assert learner.score(table, ["no", "yes", "yes"]) == 1.0


def test_it_is_a_scikit_learn_estimator():
    table, labels = random_table(3, rows=90)
    learner = clone(ID3Classifier("gini", max_depth=2)).set_params(max_depth=3)
    assert cross_val_score(learner, table, labels, cv=3).shape == (3,)
    with pytest.raises(NotFittedError):
        learner.predict(table)
    learner.fit(table.to_numpy(), labels)
    assert not hasattr(learner, "feature_names_in_")
    assert gl.read(learner).columns == ("x0", "x1", "x2", "x3")
    with pytest.raises(ValueError, match="features"):
        learner.predict(table.to_numpy()[:, :2])


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"criterion": "luck"}, "criterion"),
        ({"max_depth": 0}, "max_depth"),
        ({"min_samples_split": 1}, "min_samples_split"),
        ({"min_gain": -0.1}, "min_gain"),
        ({"min_gain": float("nan")}, "min_gain"),
    ],
)
def test_settings_are_checked(settings, match):
    table, labels = random_table(4)
    with pytest.raises(ValueError, match=match):
        ID3Classifier(**settings).fit(table, labels)


@pytest.mark.parametrize(
    ("table", "labels", "match"),
    [
        (pd.DataFrame({"a": ["x", None]}), [0, 1], "missing values"),
        (pd.DataFrame({"a": [1.0, float("inf")]}), [0, 1], "cannot be a level"),
        (pd.DataFrame({"a": ["x", "y"]}), [0, None], "class is missing"),
        (pd.DataFrame({"a": ["x", "y"]}), [0], "expected 2 classes"),
        (pd.DataFrame({"a": []}), [], "0 rows"),
        (np.array(["x", "y"]), [0, 1], "2D"),
    ],
)
def test_tables_are_checked(table, labels, match):
    with pytest.raises(ValueError, match=match):
        ID3Classifier().fit(table, labels)


def test_every_container_gives_the_same_model(tmp_path):
    table, labels = random_table(5)
    learner = ID3Classifier(min_gain=0.01).fit(table, labels)
    model = gl.read(learner)
    assert isinstance(model, MultiwayTree)
    assert model.provenance.estimator == "ID3"
    assert model.provenance.settings["criterion"] == "entropy"
    assert gl.read(model.to_json()) == model
    skops.io.dump(learner, tmp_path / "tree.skops")
    assert gl.read(tmp_path / "tree.skops") == model
    (tmp_path / "tree.pkl").write_bytes(pickle.dumps(learner))
    assert gl.read(tmp_path / "tree.pkl", trust="sandbox") == model


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("counts_", np.zeros((2, 2))),
        ("counts_", np.array([1, 2])),
        ("feature_", np.array(["a"])),
        ("feature_", np.zeros((0,), np.int32)),
        ("levels_", [("a",)]),
        ("levels_", "abc"),
        ("parent_", None),
        ("branch_", np.array([-1, 0])),
    ],
)
def test_altered_objects_are_refused(attribute, value):
    table, labels = random_table(6)
    learner = ID3Classifier().fit(table, labels)
    setattr(learner, attribute, value)
    with pytest.raises(MalformedModelError):
        gl.read(learner)
