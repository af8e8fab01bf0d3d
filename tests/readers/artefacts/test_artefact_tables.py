"""Training rows and targets kept verbatim."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.cluster import DBSCAN
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.neighbors import KernelDensity, KNeighborsClassifier, KNeighborsRegressor
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

from glassleak.readers._state import State
from glassleak.readers.artefacts import scan


class StreedLike:
    """Keeps its training data under the names that pystreed uses."""

    def __init__(self, X: np.ndarray, y: np.ndarray) -> None:
        self.train_X_, self.train_y_ = X, y


@pytest.mark.parametrize("pickled", [False, True])
def test_nearest_neighbours_keep_everything(data, scanned, pickled) -> None:
    model = KNeighborsClassifier(algorithm="kd_tree").fit(data.X, data.y)
    found = scanned(model, pickled=pickled)
    table = found.at("KNeighborsClassifier._fit_X")
    assert (table.kind, table.severity) == ("training-table", "refer")
    assert table.evidence["shape"] == [data.n, 5]
    assert table.evidence["rows_according_to"] == "KNeighborsClassifier.n_samples_fit_"
    tree = found.at("KNeighborsClassifier._tree")
    assert (tree.kind, tree.severity) == ("training-table", "refer")
    labels = found.at("KNeighborsClassifier._y")
    assert (labels.kind, labels.severity) == ("label-column", "fix")
    assert len(found.all) == 3


def test_a_measured_target_is_personal_and_a_class_less_so(data, scanned) -> None:
    model = KNeighborsRegressor().fit(data.X, data.X[:, 0])
    found = scanned(model).at("KNeighborsRegressor._y")
    assert found.severity == "refer"
    assert found.evidence["distinct_values"] == data.n


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kind", [SVC, SVR])
def test_support_vectors_are_training_rows(data, scanned, kind, sparse) -> None:
    X = sp.csr_matrix(data.X) if sparse else data.X
    model = kind().fit(X, data.y)
    found = scanned(model)
    assert found.kinds == ["training-table"]
    vectors = found.at(f"{kind.__name__}.support_vectors_")
    assert vectors.severity == "refer"
    kept = model.support_vectors_.toarray() if sparse else model.support_vectors_
    assert vectors.evidence["shape"] == list(kept.shape)
    assert f"{len(kept)} rows" in vectors.reveals
    # The claim: they are rows of the table, unchanged.
    np.testing.assert_array_equal(kept, data.X[model.support_])


@pytest.mark.parametrize(
    ("model", "attribute"),
    [
        (GaussianProcessRegressor(), "X_train_"),
        (KernelRidge(), "X_fit_"),
        (LabelSpreading(), "X_"),
    ],
)
def test_kernel_methods_keep_the_table(data, scanned, model, attribute) -> None:
    found = scanned(model.fit(data.X, data.y)).at(f"{type(model).__name__}.{attribute}")
    assert (found.kind, found.severity) == ("training-table", "refer")
    assert found.evidence["shape"] == [data.n, 5]
    np.testing.assert_array_equal(getattr(model, attribute), data.X)


def test_everything_a_gaussian_process_keeps(data, scanned) -> None:
    model = GaussianProcessClassifier(optimizer=None).fit(data.X, data.y)
    found = {a.where.rpartition(".")[2]: a for a in scanned(model).all}
    assert set(found) == {"X_train_", "y_train_", "f_cached", "pi_", "W_sr_", "L_"}
    assert found["y_train_"].kind == "label-column"
    assert "pair" in found["L_"].reveals
    assert {a.severity for name, a in found.items() if name != "X_train_"} == {"fix"}


@pytest.mark.parametrize(
    ("model", "rows"), [(Nystroem(n_components=30, random_state=0), 30), (DBSCAN(eps=2), None)]
)
def test_components_that_are_rows(data, scanned, model, rows) -> None:
    found = scanned(model.fit(data.X)).one("training-table")
    assert found.where.endswith(".components_")
    assert found.evidence["shape"] == [rows or len(model.components_), 5]
    whole = {tuple(row) for row in data.X}
    assert all(tuple(row) in whole for row in model.components_)


def test_a_density_keeps_its_rows_in_a_search_tree(data, scanned) -> None:
    found = scanned(KernelDensity().fit(data.X)).at("KernelDensity.tree_")
    assert found.severity == "refer"


def test_streed_style_names(data, scanned) -> None:
    found = scanned(StreedLike(data.X, data.y))
    assert found.at("StreedLike.train_X_").severity == "refer"
    assert found.at("StreedLike.train_y_").kind == "label-column"


def test_tables_as_lists(data) -> None:
    rows = [[1, 0, 1], [0, 0, 1], [1, 1, 1]]
    state = State("pystreed", "Model", {"train_X_": rows, "train_y_": [0, 1, 1]})
    found = {a.where: a for a in scan(state)}
    assert found["Model.train_X_"].evidence["shape"] == [3, 3]
    assert found["Model.train_y_"].evidence["distinct_values"] == 2


def test_a_held_out_table_is_told_from_the_training_table(data, scanned) -> None:
    tree = DecisionTreeClassifier(max_depth=2).fit(data.X, data.y)
    tree.X_test = data.X[:40]
    found = scanned(tree).one("training-table")
    assert found.severity == "refer"
    assert "the object was trained on 137" in found.reveals
    assert "rows_according_to" not in found.evidence


def test_a_curve_has_an_x_that_is_no_table(data, scanned) -> None:
    tree = DecisionTreeClassifier(max_depth=2).fit(data.X, data.y)
    held = {"x": np.zeros((3, 2)), "_y": np.arange(40.0)}
    tree.curve = State("scipy.interpolate._interpolate", "interp1d", held)
    assert scanned(tree).kinds == []


def frame(data, **kwargs) -> pd.DataFrame:
    return pd.DataFrame(data.X, columns=list("abcde"), **kwargs)


@pytest.mark.parametrize("pickled", [False, True])
def test_a_data_frame_of_the_training_rows(data, scanned, pickled) -> None:
    tree = DecisionTreeClassifier(max_depth=2).fit(data.X, data.y)
    tree.debug = frame(data)
    found = scanned(tree, pickled=pickled).one("training-table")
    assert found.where == "DecisionTreeClassifier.debug"
    assert found.severity == "refer"
    assert found.evidence["rows"] == data.n


@pytest.mark.parametrize("pickled", [False, True])
def test_a_data_frame_of_other_rows(data, scanned, pickled) -> None:
    tree = DecisionTreeClassifier(max_depth=2).fit(data.X, data.y)
    tree.debug = frame(data).head(41)
    found = scanned(tree, pickled=pickled).one("retained-table")
    assert (found.severity, found.evidence["rows"]) == ("fix", 41)


@pytest.mark.parametrize("pickled", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "category"])
def test_a_series_of_the_training_rows(data, scanned, dtype, pickled) -> None:
    tree = DecisionTreeClassifier(max_depth=2).fit(data.X, data.y)
    tree.debug = pd.Series(data.X[:, 0].round(), dtype=dtype)
    found = scanned(tree, pickled=pickled).one("row-array")
    assert (found.severity, found.evidence["rows"]) == ("fix", data.n)


@pytest.mark.parametrize("container", [pd.Index, pd.Series])
def test_names_of_people(data, scanned, container) -> None:
    names = [f"person {i}" for i in range(data.n)]
    tree = DecisionTreeClassifier(max_depth=2).fit(data.X, data.y)
    tree.debug = container(names)
    found = scanned(tree, pickled=True).one("row-identifiers")
    assert found.severity == "refer"
    assert found.evidence["different_text_for_each_row"] is True
    assert "person" not in str(found.to_document()["evidence"])


def test_an_index_of_names_in_a_series_of_numbers(data, scanned) -> None:
    tree = DecisionTreeClassifier(max_depth=2).fit(data.X, data.y)
    tree.debug = pd.Series(data.y, index=[f"person {i}" for i in range(data.n)])
    assert scanned(tree, pickled=True).one("row-identifiers").severity == "refer"


def test_column_names_in_an_index_are_no_finding(data, scanned) -> None:
    tree = DecisionTreeClassifier(max_depth=2).fit(data.X, data.y)
    tree.columns = pd.Index([f"column {i}" for i in range(60)])
    assert scanned(tree, pickled=True).kinds == []


@pytest.mark.parametrize("form", [sp.csr_matrix, sp.coo_matrix, sp.csc_array])
def test_sparse_matrices(data, scanned, form) -> None:
    tree = DecisionTreeClassifier(max_depth=2).fit(data.X, data.y)
    tree.debug = form(data.X)
    found = scanned(tree).one("training-table")
    assert found.evidence["shape"] == [data.n, 5]
    assert found.severity == "refer"


def test_absurd_shapes_of_a_sparse_matrix_raise_nothing() -> None:
    for shape in ((10**5000, 2), (-1, 3), ("a",), [], None, (2,) * 100):
        matrix = State("scipy.sparse._csr", "csr_matrix", {"_shape": shape})
        found = scan(State("sklearn.x", "Model", {"m": matrix}))
        assert [a.kind for a in found] == ["retained-table"]
