"""Bagged forests end to end."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import glassleak as gl
from glassleak.errors import (
    BudgetExhaustedError,
    InconsistentModelError,
    ModelTooLargeError,
    SchemaError,
    UnsupportedModelError,
)
from glassleak.knowledge import Known
from glassleak.models import Bagging, Exact, Forest, Tree
from glassleak.reconstruction.bagged import estimate_histogram

COLUMNS = [f"c{i}" for i in range(8)]
SCHEMA = gl.Schema(
    [
        gl.Categorical("kind", columns=COLUMNS[:3]),
        *[gl.Binary(c) for c in COLUMNS[3:]],
    ]
)


def people(n: int = 40, seed: int = 0, n_classes: int = 2) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows whose attributes hang together, as people's do."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    rest = (rng.random((n, 5)) < np.array([0.2, 0.5, 0.8])[kind][:, None]).astype(int)
    X = pd.DataFrame(np.hstack([np.eye(3, dtype=int)[kind], rest]), columns=COLUMNS)
    y = (rest.sum(axis=1) + rng.integers(0, 2, n)) % n_classes
    return X, y


def forest_of(X: pd.DataFrame, y: np.ndarray, **settings: object) -> Forest:
    settings = {"n_estimators": 60, "random_state": 0} | settings
    return gl.read(RandomForestClassifier(**settings).fit(X, y))


def attack(model: Forest, **settings: object) -> gl.Reconstruction:
    settings = {"multiplicities": "unknown", "budget_seconds": 120} | settings
    return gl.reconstruct(model, SCHEMA, **settings)


@pytest.fixture(scope="module")
def plain() -> tuple[pd.DataFrame, np.ndarray, gl.Reconstruction]:
    X, y = people()
    return X, y, attack(forest_of(X, y))


def test_bagging_hardly_protects(plain) -> None:
    X, y, rec = plain
    assert gl.reconstruction_error(X, rec.table, SCHEMA) <= 0.02
    assert rec.table.columns.tolist() == COLUMNS
    assert sorted(rec.labels) == sorted(y)
    assert (rec.status, rec.exact, rec.formulation) == ("likely", False, "bagged")


def test_nothing_is_claimed_to_be_proved(plain) -> None:
    _, _, rec = plain
    assert rec.certificate.unique is None
    assert rec.certificate.certain_rows == 0
    assert rec.certificate.replayed == (rec.details["rows_lacking"] == 0)
    assert ((rec.confidence > 0) & (rec.confidence < 1)).all()
    assert np.isfinite(rec.details["log_likelihood"])


def test_rows_are_about_as_often_right_as_they_claim() -> None:
    claimed, right = [], []
    for seed in range(3):
        X, y = people(40, seed + 20)
        rec = attack(forest_of(X, y, n_estimators=12, random_state=seed), seed=seed)
        truth = pd.Series(list(map(tuple, np.column_stack([X, y])))).value_counts().to_dict()
        for row, label, sure in zip(
            rec.table.to_numpy().tolist(), rec.labels, rec.confidence, strict=True
        ):
            key = (*row, label)
            claimed.append(sure)
            right.append(truth.get(key, 0) > 0)
            truth[key] = truth.get(key, 0) - 1
    assert np.mean(right) == pytest.approx(np.mean(claimed), abs=0.15)
    sure = np.array(claimed) > 0.8
    assert np.mean(np.array(right)[sure]) > 0.75


def test_the_same_seed_gives_the_same_table() -> None:
    X, y = people(25, 4)
    model = forest_of(X, y, n_estimators=20)
    one, two = attack(model, seed=3), attack(model, seed=3)
    assert one.table.equals(two.table)
    assert np.array_equal(one.confidence, two.confidence)


def test_the_most_likely_table_can_be_had_too() -> None:
    X, y = people(25, 5)
    rec = attack(forest_of(X, y, n_estimators=30), central=False)
    assert rec.certificate.replayed
    assert "can have drawn" in rec.certificate.statements[0]


@pytest.mark.parametrize(
    "make",
    [
        lambda: ExtraTreesClassifier(60, bootstrap=True, random_state=0),
        lambda: RandomForestClassifier(60, max_samples=0.6, random_state=0),
        lambda: BaggingClassifier(
            DecisionTreeClassifier(max_features=3, random_state=0), 60, random_state=0
        ),
        lambda: BaggingClassifier(
            DecisionTreeClassifier(max_features=3, random_state=0), 60, bootstrap=False,
            max_samples=0.7, random_state=0,
        ),
    ],
    ids=["extra-trees", "max-samples", "bagging", "without-replacement"],
)  # fmt: skip
def test_other_ways_to_resample(make) -> None:
    X, y = people(40, 1)
    rec = attack(gl.read(make().fit(X, y)))
    assert len(rec.table) == 40
    assert gl.reconstruction_error(X, rec.table, SCHEMA) <= 0.04


def test_three_classes_and_shallow_trees() -> None:
    X, y = people(40, 2, n_classes=3)
    rec = attack(forest_of(X, y, max_depth=3))
    guess = gl.random_baseline(None, SCHEMA, X, repeats=5).mean
    assert gl.reconstruction_error(X, rec.table, SCHEMA) <= guess / 3
    assert set(rec.labels) <= set(y)


def test_the_number_of_rows_is_estimated_where_it_is_not_stated() -> None:
    X, y = people(40, 3)
    model = forest_of(X, y, max_samples=30)
    silent = Forest(model.trees, Bagging("unknown", 30), None)
    rec = gl.reconstruct(silent, SCHEMA, budget_seconds=60)
    assert rec.details["n_rows_from"] == "likelihood"
    assert len(rec.table) == pytest.approx(40, abs=3)
    assert len(gl.reconstruct(silent, SCHEMA, n_rows=40, budget_seconds=60).table) == 40


def test_known_columns_stay_line_by_line() -> None:
    X, y = people(30, 6)
    columns = X[["c0", "c3", "c4"]]
    rec = attack(forest_of(X, y, n_estimators=15, max_depth=3), known=Known(columns=columns))
    assert rec.table[["c0", "c3", "c4"]].equals(columns)
    blind = attack(forest_of(X, y, n_estimators=15, max_depth=3))
    assert rec.details["expected_error"] < blind.details["expected_error"]


def test_known_labels_and_rows_are_kept() -> None:
    X, y = people(30, 7)
    model = forest_of(X, y, n_estimators=15)
    labelled = attack(model, known=Known(columns=X[["c5"]], labels=y))
    assert labelled.labels.tolist() == y.tolist()
    rec = attack(model, known=Known(rows=X.head(5), row_labels=y[:5]))
    assert rec.table.head(5).equals(X.head(5))
    assert rec.labels[:5].tolist() == y[:5].tolist()
    assert (rec.confidence[:5] == 1).all()
    assert (rec.confidence[5:] < 1).all()


def test_wrong_knowledge_is_refused() -> None:
    X, y = people(20, 8)
    model = forest_of(X, y, n_estimators=5)
    with pytest.raises(UnsupportedModelError, match="leaves"):
        attack(model, known=Known(nodes={0: [0]}))
    with pytest.raises(SchemaError, match="rows"):
        attack(model, known=Known(columns=X.head(3)))
    with pytest.raises(SchemaError, match="no column"):
        attack(model, known=Known(columns=X.rename(columns={"c3": "z"})))
    with pytest.raises(SchemaError, match="does not allow"):
        attack(model, known=Known(columns=X.assign(c4=7)))
    with pytest.raises(SchemaError, match="no class"):
        attack(model, known=Known(columns=X, labels=["x"] * 20))
    other = X.head(1).assign(c3=1 - X["c3"].iloc[0])
    clash = Known(columns=X.assign(c3=X["c3"].iloc[0]), rows=other, row_labels=y[:1])
    with pytest.raises(InconsistentModelError, match="known row 0"):
        attack(model, known=clash)


def test_too_many_profiles_are_refused() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (60, 40)), columns=[f"b{i}" for i in range(40)])
    model = gl.read(RandomForestClassifier(30, random_state=0).fit(X, rng.integers(0, 2, 60)))
    schema = gl.Schema([gl.Binary(c) for c in X.columns])
    with pytest.raises(ModelTooLargeError, match="profiles"):
        gl.reconstruct(model, schema, multiplicities="unknown", formulation="cells")
    with pytest.raises(ModelTooLargeError, match="profiles"):
        gl.reconstruct(model, schema, gl.Known(columns=X[["b0"]]), multiplicities="unknown")


def test_progress_can_cancel() -> None:
    X, y = people(30, 9)
    model = forest_of(X, y)

    class Stop(Exception):
        pass

    def progress(step: str, share: float) -> None:
        assert 0 <= share <= 1
        if step == "searching":
            raise Stop

    with pytest.raises(Stop):
        attack(model, progress=progress)


def test_a_short_budget_still_gives_an_answer() -> None:
    X, y = people(40, 10)
    rec = attack(forest_of(X, y), budget_seconds=0.5)
    assert len(rec.table) == 40
    with pytest.raises(BudgetExhaustedError):
        attack(forest_of(X, y), budget_seconds=1e-6)


def test_trees_that_contradict_each_other_are_not_called_explained() -> None:
    # 20 of 25 rows have a = 0, says one tree; 20 have a = 1, says the other.
    trees = [
        Tree(("c3",), (0, 1), [0, -1, -1], [0.5, np.nan, np.nan], [1, -1, -1], [2, -1, -1],
             Exact(np.array([[30, 0], [left, 0], [30 - left, 0]])), distinct_rows=[21, *seen])
        for left, seen in ((29, (20, 1)), (1, (1, 20)))
    ]  # fmt: skip
    forest = Forest(trees, Bagging("unknown", 30), 25)
    rec = gl.reconstruct(forest, gl.Schema([gl.Binary("c3")]), budget_seconds=20)
    assert not rec.certificate.replayed
    assert rec.details["rows_lacking"] >= 15
    assert "no table was found" in rec.certificate.statements[0]


def test_ordinal_and_numeric_attributes() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"grade": rng.integers(0, 5, 40), "income": rng.integers(0, 1000, 40),
                      "member": rng.integers(0, 2, 40)})  # fmt: skip
    y = ((X["grade"] > 2) ^ (X["member"] == 1)).astype(int)
    model = gl.read(RandomForestClassifier(30, random_state=0).fit(X, y))
    schema = gl.Schema([gl.Ordinal("grade", 0, 4), gl.Numeric("income", 0, 1000, 1),
                        gl.Binary("member")])  # fmt: skip
    rec = gl.reconstruct(model, schema, multiplicities="unknown", budget_seconds=60)
    guess = gl.random_baseline(None, schema, X, repeats=5).mean
    assert gl.reconstruction_error(X, rec.table, schema) < guess / 2
    # A row of an interval of incomes is never claimed for one income.
    assert rec.confidence.max() < 1


def test_samples_are_tables_every_tree_can_come_from() -> None:
    X, y = people(30, 11)
    found = estimate_histogram(forest_of(X, y, n_estimators=30), SCHEMA, n_samples=20)
    assert found.samples.shape[1] == 30
    values, labels = found.rows()
    assert values.shape == (30, 8)
    assert set(labels.tolist()) <= {0, 1}
