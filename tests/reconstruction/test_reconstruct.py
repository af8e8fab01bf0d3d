"""The whole attack, from a fitted model to a certified table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import glassleak as gl
from glassleak import datasets
from glassleak.errors import (
    BudgetExhaustedError,
    InconsistentModelError,
    SchemaError,
    UnsupportedModelError,
)
from glassleak.models import Exact, Forest, Tree


@pytest.fixture(scope="module")
def adult():
    return datasets.load("adult", variant="binary")


def sorted_rows(table: pd.DataFrame, labels) -> list[tuple]:
    return sorted(map(tuple, table.assign(label=np.asarray(labels)).to_numpy().tolist()))


@pytest.mark.parametrize("n_rows", [100, 2000])
@pytest.mark.parametrize("learner", [RandomForestClassifier, ExtraTreesClassifier])
def test_deep_forests_give_every_row_back_and_prove_it(adult, learner, n_rows):
    X, y = adult.data.head(n_rows), adult.target.head(n_rows)
    forest = learner(100, bootstrap=False, random_state=1).fit(X, y)
    rec = gl.reconstruct(gl.read(forest), adult.schema)
    if rec.status == "unique":
        assert sorted_rows(rec.table, rec.labels) == sorted_rows(X, y)
        assert rec.certificate.certain_rows == n_rows
        assert (rec.confidence == 1).all()
    assert rec.exact
    assert rec.certificate.replayed
    assert gl.reconstruction_error(X, rec.table, adult.schema) < 0.005
    assert rec.certificate.certain_rows > 0.9 * n_rows


def test_what_is_claimed_certain_is_in_the_true_table(adult):
    X, y = adult.data.head(100), adult.target.head(100)
    forest = RandomForestClassifier(60, max_depth=5, bootstrap=False, random_state=3).fit(X, y)
    rec = gl.reconstruct(gl.read(forest), adult.schema, budget_seconds=6)
    bounds = rec.certificate.bounds
    columns = list(X.columns)
    truth = X.assign(**{"class": np.asarray(y)}).groupby([*columns, "class"]).size()
    single = bounds[bounds["profiles"] == 1]
    for row in single.itertuples(index=False):
        count = int(truth.get(tuple(row[: len(columns) + 1]), 0))
        assert row.minimum <= count <= row.maximum
    assert rec.certificate.certain_rows == int(single["minimum"].sum())


def test_multiclass_strings_and_numbers():
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"a": rng.integers(0, 2, 60), "grade": rng.integers(0, 5, 60)})
    y = rng.choice(["low", "middle", "high"], 60)
    schema = gl.Schema([gl.Binary("a"), gl.Ordinal("grade", 0, 4)])
    forest = RandomForestClassifier(30, bootstrap=False, random_state=0).fit(X, y)
    rec = gl.reconstruct(gl.read(forest), schema)
    assert rec.status == "unique"
    assert sorted_rows(rec.table, rec.labels) == sorted_rows(X, y)


def test_a_single_tree_determines_leaves_and_says_so(adult):
    X, y = adult.data.head(500), adult.target.head(500)
    tree = gl.read(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y))
    rec = gl.reconstruct(tree, adult.schema)
    assert rec.status == "consistent"
    assert rec.certificate.unique is False
    assert rec.certificate.certain_rows + rec.certificate.certain_in_part == 500
    assert "values the model does not tell apart" in " ".join(rec.certificate.statements)
    assert rec.confidence.max() < 1


def test_inferred_schemas_contain_the_truth(adult):
    X, y = adult.data.head(300), adult.target.head(300)
    forest = gl.read(RandomForestClassifier(50, bootstrap=False, random_state=0).fit(X, y))
    rec = gl.reconstruct(forest, budget_seconds=20)
    assert gl.reconstruction_error(X, rec.table, adult.schema) < 0.02


def tampered(forest: Forest, tree: int) -> Forest:
    """The same forest with one person moved between two leaves of one tree."""
    victim = forest.trees[tree]
    counts = victim.counts.values.copy()
    leaves = victim.leaves
    donor = next(int(i) for i in leaves if counts[i, 0] > 0)
    taker = next(int(i) for i in leaves[::-1] if i != donor)
    parent = {int(c): i for i in range(victim.n_nodes) for c in (victim.left[i], victim.right[i])}
    for node, change in ((donor, -1), (taker, 1)):
        while True:
            counts[node, 0] += change
            if node == 0:
                break
            node = parent[node]
    altered = Tree(
        victim.columns, victim.classes, victim.feature, victim.threshold, victim.left,
        victim.right, Exact(counts),
    )  # fmt: skip
    trees = list(forest.trees)
    trees[tree] = altered
    return Forest(tuple(trees), n_rows=forest.n_rows)


def test_altered_counts_are_named(adult):
    X, y = adult.data.head(80), adult.target.head(80)
    forest = gl.read(RandomForestClassifier(20, bootstrap=False, random_state=0).fit(X, y))
    with pytest.raises(InconsistentModelError, match=r"tree \d+, leaf \d+"):
        gl.reconstruct(tampered(forest, 7), adult.schema)


def test_known_columns_settle_more(adult):
    X, y = adult.data.head(100), adult.target.head(100)
    learner = RandomForestClassifier(10, max_depth=3, bootstrap=False, random_state=0)
    forest = gl.read(learner.fit(X, y))
    alone = gl.reconstruct(forest, adult.schema, budget_seconds=4)
    public = [c for c in X.columns if c.startswith(("education", "gender", "workclass", "hours"))]
    known = gl.Known(columns=X[public])
    helped = gl.reconstruct(forest, adult.schema, known, budget_seconds=4)
    assert sorted_rows(helped.table[public], [0] * 100) == sorted_rows(X[public], [0] * 100)
    assert helped.certificate.certain_rows >= alone.certificate.certain_rows
    labelled = gl.Known(columns=X[public], labels=y)
    told = gl.reconstruct(forest, adult.schema, labelled, budget_seconds=4)
    assert sorted_rows(told.table[public], told.labels) == sorted_rows(X[public], y)


def test_known_rows_are_kept(adult):
    X, y = adult.data.head(60), adult.target.head(60)
    learner = RandomForestClassifier(10, max_depth=4, bootstrap=False, random_state=0)
    forest = gl.read(learner.fit(X, y))
    known = gl.Known(rows=X.head(20), row_labels=y.head(20))
    rec = gl.reconstruct(forest, adult.schema, known, budget_seconds=4)
    assert rec.certificate.certain_rows + rec.certificate.certain_in_part >= 20
    impossible = gl.Known(rows=1 - X.head(1), row_labels=y.head(1))
    with pytest.raises((InconsistentModelError, SchemaError)):
        gl.reconstruct(forest, adult.schema, impossible, budget_seconds=4)


def test_counts_of_some_nodes_only(adult):
    X, y = adult.data.head(60), adult.target.head(60)
    forest = gl.read(RandomForestClassifier(6, bootstrap=False, random_state=0).fit(X, y))
    some = {i: [0, *range(1, tree.n_nodes, 3)] for i, tree in enumerate(forest.trees)}
    rec = gl.reconstruct(forest, adult.schema, gl.Known(nodes=some), budget_seconds=4)
    full = gl.reconstruct(forest, adult.schema, budget_seconds=4)
    assert rec.certificate.certain_rows <= full.certificate.certain_rows
    for i, tree in enumerate(forest.trees):
        leaf = tree.apply(rec.table.to_numpy())
        parent = {int(c): n for n in range(tree.n_nodes) for c in (tree.left[n], tree.right[n])}
        seen = np.zeros((tree.n_nodes, 2), dtype=int)
        for node, label in zip(leaf.tolist(), rec.labels.tolist(), strict=True):
            while True:
                seen[node, forest.classes.index(label)] += 1
                if node == 0:
                    break
                node = parent[node]
        assert (seen[some[i]] == tree.counts.values[some[i]]).all()


def test_majority_labels_only(adult):
    X, y = adult.data.head(60), adult.target.head(60)
    learner = RandomForestClassifier(3, max_depth=3, bootstrap=False, random_state=0)
    forest = gl.read(learner.fit(X, y))
    rec = gl.reconstruct(forest, adult.schema, gl.Known(labels_only=True), budget_seconds=8)
    assert len(rec.table) == 60
    assert rec.certificate.certain_rows == 0
    assert "published label" in rec.certificate.statements[0]
    for tree in forest.trees:
        counts = np.zeros((tree.n_nodes, 2), dtype=int)
        labels = [forest.classes.index(label) for label in rec.labels.tolist()]
        np.add.at(counts, (tree.apply(rec.table.to_numpy()), labels), 1)
        leaves = tree.leaves
        assert (counts[leaves].argmax(axis=1) == tree.counts.values[leaves].argmax(axis=1)).all()
        assert (counts[leaves].sum(axis=1) > 0).all()
    # Counts say more than labels do.
    full = gl.reconstruct(forest, adult.schema, budget_seconds=8)
    error = gl.reconstruction_error(X, full.table, adult.schema)
    assert error < gl.reconstruction_error(X, rec.table, adult.schema)
    with pytest.raises(SchemaError, match="combined"):
        gl.Known(labels_only=True, columns=X)


def test_several_models_of_the_same_rows(adult):
    X, y = adult.data.head(60), adult.target.head(60)
    one = gl.read(DecisionTreeClassifier(random_state=0).fit(X, y))
    two = gl.read(DecisionTreeClassifier(random_state=5, splitter="random").fit(X, y))
    both = gl.reconstruct([one, two], adult.schema, budget_seconds=4)
    alone = gl.reconstruct(one, adult.schema, budget_seconds=4)
    assert both.details["cells"] > alone.details["cells"]
    assert both.certificate.replayed


@pytest.mark.parametrize("formulation", ["rows-cp", "rows-milp"])
def test_published_formulations_find_a_consistent_table_too(adult, formulation):
    X, y = adult.data.head(12), adult.target.head(12)
    forest = gl.read(RandomForestClassifier(3, bootstrap=False, random_state=0).fit(X, y))
    rec = gl.reconstruct(forest, adult.schema, formulation=formulation, budget_seconds=60)
    assert rec.status == "consistent"
    assert rec.certificate.unique is None
    assert len(rec.table) == 12


def test_wrong_use_is_refused(adult):
    X, y = adult.data.head(60), adult.target.head(60)
    bagged = gl.read(RandomForestClassifier(3, random_state=0).fit(X, y))
    with pytest.raises(UnsupportedModelError, match="resampled"):
        gl.reconstruct(bagged, adult.schema, formulation="rows-milp")
    forest = gl.read(RandomForestClassifier(3, bootstrap=False, random_state=0).fit(X, y))
    with pytest.raises(SchemaError, match="lacks column"):
        gl.reconstruct(forest, gl.Schema([gl.Binary("age_high")]))
    with pytest.raises(ValueError, match="formulation"):
        gl.reconstruct(forest, adult.schema, formulation="magic")
    with pytest.raises(ValueError, match="positive"):
        gl.reconstruct(forest, adult.schema, budget_seconds=0)
    with pytest.raises(TypeError, match=r"glassleak\.read"):
        gl.reconstruct(RandomForestClassifier(), adult.schema)


def test_a_spent_budget_is_said(adult, monkeypatch):
    monkeypatch.setattr("glassleak.reconstruction._survey.solve_component", lambda *a, **k: None)
    X, y = adult.data.head(100), adult.target.head(100)
    learner = RandomForestClassifier(5, max_depth=2, bootstrap=False, random_state=0)
    forest = gl.read(learner.fit(X, y))
    with pytest.raises(BudgetExhaustedError, match="within the budget"):
        gl.reconstruct(forest, adult.schema, budget_seconds=5)
