"""Arrays with one entry per training row, and arrays that only look like it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, RANSACRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import LocalOutlierFactor
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from glassleak.models import Bagging, Exact, Forest, Tree
from glassleak.readers._live import state_of
from glassleak.readers._state import State
from glassleak.readers.artefacts import scan


def leaf(counts) -> Tree:
    nothing = np.array([-1])
    return Tree(
        ("a",), tuple(range(len(counts))), nothing, np.array([np.nan]), nothing, nothing,
        Exact(np.array([counts])),
    )  # fmt: skip


def with_attribute(data, value) -> DecisionTreeClassifier:
    tree = DecisionTreeClassifier(max_depth=2).fit(data.X, data.y)
    tree.extra = value
    return tree


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(),
        DecisionTreeRegressor(min_samples_leaf=10),
        GradientBoostingClassifier(n_estimators=5),
        AdaBoostClassifier(n_estimators=5),
        ExtraTreesClassifier(5),
        LogisticRegression(),
        GaussianNB(),
        PCA(3),
        MLPClassifier((30,), max_iter=3),
    ],
)
@pytest.mark.parametrize("pickled", [False, True])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_models_that_keep_no_rows(data, scanned, model, pickled) -> None:
    assert scanned(model.fit(data.X, data.y), pickled=pickled).kinds == []


def test_a_tree_with_as_many_nodes_as_rows(scanned) -> None:
    """Seven rows, seven nodes, seven columns, and classes besides: structure is not rows."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(7, 7)), np.array([0, 1, 2, 3, 0, 1, 2])
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    assert tree.tree_.node_count == 7
    tree.feature_importances = tree.feature_importances_
    assert scanned(tree).kinds == []


def test_a_forest_of_as_many_trees_columns_and_classes_as_rows(scanned) -> None:
    n = 12
    X, y = np.random.default_rng(0).normal(size=(n, n)), np.arange(n)
    forest = RandomForestClassifier(n, bootstrap=False, random_state=0).fit(X, y)
    assert len(forest.estimators_) == len(forest.classes_) == forest.n_features_in_ == n
    assert scanned(forest).kinds == []


def test_boosting_with_as_many_steps_as_rows(scanned) -> None:
    n = 20
    X, y = np.random.default_rng(0).normal(size=(n, 3)), np.arange(n) % 2
    model = GradientBoostingClassifier(n_estimators=n).fit(X, y)
    assert model.train_score_.shape == (n,)
    assert scanned(model).kinds == []


def test_an_innocent_name_does_not_hide_an_array_of_rows(data, scanned) -> None:
    tree = DecisionTreeClassifier(max_depth=2).fit(data.X, data.y)
    tree.mean_ = data.X[:, 0]
    tree.class_count_ = data.X[:, 1]
    root = state_of(tree)
    root.attributes["tree_"].attributes["hidden"] = data.X
    where = {a.where for a in scan(root)}
    assert where == {
        "DecisionTreeClassifier.mean_",
        "DecisionTreeClassifier.class_count_",
        "DecisionTreeClassifier.tree_.hidden",
    }


def test_a_type_that_only_claims_to_be_a_tree_is_looked_into(data) -> None:
    root = State("evil", "Model", {"_n_samples": data.n, "t": State("evil", "Tree", {})})
    root.attributes["t"].attributes["nodes"] = data.X[:, 0]
    assert "Model.t.nodes" in {a.where for a in scan(root)}


def test_as_many_rows_as_columns_is_said_to_be_uncertain(scanned) -> None:
    X, y = np.random.default_rng(0).normal(size=(30, 30)), np.arange(30) % 2
    tree = DecisionTreeClassifier(max_depth=1).fit(X, y)
    tree.extra = np.arange(30.0)
    found = scanned(tree).one("row-array")
    assert (found.severity, found.evidence["certain"]) == ("note", False)


def test_a_column_of_numbers(data, scanned) -> None:
    found = scanned(with_attribute(data, data.X[:, 1])).one("row-array")
    assert found.severity == "fix"
    assert found.where == "DecisionTreeClassifier.extra"
    assert found.evidence["shape"] == [data.n]
    assert found.evidence["distinct_values"] == data.n
    assert found.evidence["rows_according_to"] == "DecisionTreeClassifier.tree_.nodes"


@pytest.mark.parametrize("wrap", [list, tuple, lambda v: {"deep": [v]}])
def test_lists_and_nested_places(data, scanned, wrap) -> None:
    found = scanned(with_attribute(data, wrap(data.X[:, 1].tolist()))).one("row-array")
    assert found.where.startswith("DecisionTreeClassifier.extra")


@pytest.mark.parametrize("transposed", [False, True])
def test_the_label_column_is_recognised_by_its_counts(data, transposed) -> None:
    values = np.where(data.y == 1, 40.0, -3.0)
    state = state_of(with_attribute(data, values[:, None] if transposed else values))
    counts = np.bincount(data.y).tolist()
    found = {a.where: a for a in scan(state, leaf(counts))}["DecisionTreeClassifier.extra"]
    assert found.kind == "label-column"
    other = [counts[0] - 1, counts[1] + 1]
    assert scan(state, leaf(other))[0].kind == "row-array"


def test_text_labels_are_recognised_too(data) -> None:
    state = state_of(with_attribute(data, np.where(data.y == 1, "ill", "well").astype(object)))
    found = scan(state, leaf(np.bincount(data.y).tolist()))
    assert [(a.kind, a.evidence["distinct_values"]) for a in found] == [("label-column", 2)]


def test_one_hot_labels_and_probabilities(data, scanned) -> None:
    assert scanned(with_attribute(data, np.eye(2)[data.y])).kinds == ["label-column"]
    p = np.linspace(0.1, 0.9, data.n)
    found = scanned(with_attribute(data, np.column_stack([p, 1 - p]))).one("row-array")
    assert "class probabilities" in found.reveals


def test_masks(data, scanned) -> None:
    assert scanned(with_attribute(data, data.X[:, 0] > 0)).kinds == ["row-masks"]
    assert scanned(with_attribute(data, data.X > 0)).kinds == ["row-masks"]


def test_identifiers(data, scanned) -> None:
    numbers = np.random.default_rng(0).permutation(90_000)[: data.n]
    assert scanned(with_attribute(data, numbers)).one("row-identifiers").severity == "fix"
    names = [f"person {i}" for i in range(data.n)]
    found = scanned(with_attribute(data, names)).one("row-identifiers")
    assert found.severity == "refer"
    assert "person" not in str(found.evidence)
    order = np.random.default_rng(0).permutation(data.n)
    assert scanned(with_attribute(data, order)).kinds == ["row-array"]


@pytest.mark.parametrize(
    "table",
    [
        lambda X: X,
        lambda X: X.tolist(),
        lambda X: [dict(zip("abcde", row, strict=True)) for row in X.tolist()],
        lambda X: np.rec.fromarrays(X.T, names="a,b,c,d,e"),
        lambda X: list(X),
        lambda X: X.astype(object),
    ],
)
def test_tables_in_any_form(data, scanned, table) -> None:
    found = scanned(with_attribute(data, table(data.X))).one("training-table")
    assert found.severity == "refer"
    assert found.evidence["shape"] == [data.n, 5]


def test_pairs_columns_cubes_and_mappings(data, scanned) -> None:
    n = data.n
    assert "pair" in scanned(with_attribute(data, data.X @ data.X.T)).one("row-array").reveals
    assert "3 figures" in scanned(with_attribute(data, data.X.T[:3])).one("row-array").reveals
    cube = scanned(with_attribute(data, np.random.default_rng(0).normal(size=(n, 2, 3))))
    assert cube.one("row-array").evidence["shape"] == [n, 2, 3]
    by_name = {f"person {i}": i for i in range(n)}
    found = scanned(with_attribute(data, by_name)).one("row-array")
    assert "mapping" in found.reveals
    assert "person" not in str(found.to_document())


def test_a_table_on_its_side(data, scanned) -> None:
    found = scanned(with_attribute(data, data.X.T.copy())).one("training-table")
    assert (found.severity, found.evidence["shape"]) == ("refer", [5, data.n])


def test_columns_in_a_list_are_looked_into_one_by_one(data, scanned) -> None:
    columns = [np.ones(data.n), np.array([f"person {i}" for i in range(data.n)]), data.X[:, 0]]
    found = scanned(with_attribute(data, columns))
    assert {(a.kind, a.where, a.severity) for a in found.all} == {
        ("row-identifiers", "DecisionTreeClassifier.extra[1]", "refer"),
        ("row-array", "DecisionTreeClassifier.extra[2]", "fix"),
        ("row-array", "DecisionTreeClassifier.extra[0]", "note"),
    }


def test_hundreds_of_columns_take_the_gravest_reading_of_the_first(data, scanned) -> None:
    columns = [np.ones(data.n)] + [data.X[:, 0] + i for i in range(299)]
    found = {a.severity: a for a in scanned(with_attribute(data, {"k": columns})).all}
    assert found["fix"].evidence["occurrences"] == 299
    assert "occurrences" not in found["note"].evidence


def test_constant_arrays_are_only_noted(data, scanned) -> None:
    found = scanned(with_attribute(data, np.ones(data.n))).one("row-array")
    assert found.severity == "note"


@pytest.mark.parametrize(
    ("model", "attribute"),
    [
        (KMeans(3, n_init=1), "labels_"),
        (RANSACRegressor(random_state=0), "inlier_mask_"),
        (LocalOutlierFactor(), "negative_outlier_factor_"),
    ],
)
def test_results_kept_for_each_row(data, scanned, model, attribute) -> None:
    found = scanned(model.fit(data.X, data.y)).at(f"{type(model).__name__}.{attribute}")
    assert found.severity == "fix"
    assert found.evidence["shape"] == [data.n]


def test_the_number_of_rows_comes_from_the_model_first(data) -> None:
    state = State("sklearn.x", "Model", {"extra": data.X[:40, 0]})
    assert scan(state) == ()
    (found,) = scan(state, leaf([30, 10]))
    assert found.evidence["rows_according_to"] == "the model"


def test_bagged_counts_are_not_taken_for_class_counts(data) -> None:
    """A bagged tree's counts are of drawn rows; they must not "confirm" a label column."""
    counts = np.bincount(data.y).tolist()
    state = State("sklearn.x", "Model", {"extra": np.where(data.y == 1, 2.0, 1.0)})
    bagged = Forest((leaf(counts),), Bagging("unknown", data.n), data.n)
    assert scan(state, bagged)[0].kind == "row-array"
    assert scan(state, Forest((leaf(counts),)))[0].kind == "label-column"


def test_rows_drawn_at_the_roots_of_a_stripped_forest(data, scanned) -> None:
    forest = RandomForestClassifier(5, random_state=0).fit(data.X, data.y)
    del forest._n_samples, forest._n_samples_bootstrap
    forest.extra = data.X[:, 0]
    found = scanned(forest).one("row-array")
    assert "estimators_" in found.evidence["rows_according_to"]


@pytest.mark.parametrize("stated", [True, 1, -5, 2**50, "137", None, 1.5, float("nan"), [137]])
def test_absurd_numbers_of_rows_are_ignored(data, stated) -> None:
    state = State("sklearn.x", "Model", {"_n_samples": stated, "extra": data.X[:, 0]})
    assert scan(state) == ()


def test_unknown_number_of_rows_with_a_repeated_length(data) -> None:
    held = {"inputs": data.X, "answers": data.y.astype(float), "other": np.zeros(44)}
    (found,) = scan(State("sklearn.x", "Model", held))
    assert (found.kind, found.severity) == ("row-array", "fix")
    assert found.evidence == {
        "length": data.n,
        "arrays": 2,
        "places": ["Model.inputs", "Model.answers"],
        "certain": False,
    }
    assert "not certain" in found.reveals
    del held["inputs"]
    held["more"] = data.y.tolist()
    assert [a.severity for a in scan(State("sklearn.x", "Model", held))] == ["note"]


def test_a_length_that_occurs_once_or_is_short_is_no_sign(data) -> None:
    held = {"a": data.X[:, 0], "b": np.zeros((60, 3)), "c": np.zeros(5), "d": np.zeros(5)}
    assert scan(State("sklearn.x", "Model", held)) == ()
