"""What preprocessing keeps of columns: extremes, bins, quantiles, categories, averages."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.isotonic import IsotonicRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    LabelEncoder,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)
from sklearn.tree import DecisionTreeClassifier


@pytest.mark.parametrize(
    ("step", "attribute", "kind", "severity"),
    [
        (MinMaxScaler(), "data_max_", "extreme-values", "fix"),
        (MaxAbsScaler(), "max_abs_", "extreme-values", "fix"),
        (KBinsDiscretizer(3), "bin_edges_", "bin-edges", "fix"),
        (SplineTransformer(), "bsplines_", "extreme-values", "fix"),
        (RobustScaler(), "center_", "column-statistics", "note"),
        (StandardScaler(), "mean_", "column-statistics", "note"),
        (SimpleImputer(), "statistics_", "column-statistics", "note"),
    ],
)
def test_summaries_of_columns(data, scanned, step, attribute, kind, severity) -> None:
    X = pd.DataFrame(data.X, columns=list("abcde"))
    model = make_pipeline(step, DecisionTreeClassifier(max_depth=2)).fit(X, data.y)
    found = scanned(model)
    assert found.kinds == [kind]
    assert found.all[0].where == f"Pipeline.steps[0][1].{attribute}"
    assert found.all[0].severity == severity
    assert found.all[0].evidence == {"columns": 5, "column_names": list("abcde")}
    assert "5 columns" in found.all[0].reveals


def test_extremes_are_what_the_finding_says(data) -> None:
    scaler = MinMaxScaler().fit(data.X)
    np.testing.assert_array_equal(scaler.data_max_, data.X.max(axis=0))
    bins = KBinsDiscretizer(3).fit(data.X)
    for edges, column in zip(bins.bin_edges_, data.X.T, strict=True):
        assert (edges[0], edges[-1]) == (column.min(), column.max())
    splines = SplineTransformer().fit(data.X)
    for spline, column in zip(splines.bsplines_, data.X.T, strict=True):
        assert {column.min(), column.max()} <= set(spline.t.tolist())


def test_an_unfitted_step_tells_nothing(scanned) -> None:
    assert scanned(make_pipeline(MinMaxScaler(), OneHotEncoder())).kinds == []


def test_isotonic_corners_are_training_values(data, scanned) -> None:
    model = IsotonicRegression().fit(data.X[:, 0], data.y)
    found = scanned(model)
    assert found.kinds == ["training-values"]
    assert found.all[0].evidence == {"corners": len(model.X_thresholds_)}
    assert set(model.X_thresholds_) <= set(data.X[:, 0])


def test_isotonic_curve_through_every_row_is_one_finding(scanned) -> None:
    """As many corners as rows: the copies in the interpolator must not be reported again."""
    model = IsotonicRegression().fit(np.arange(50.0), np.arange(50.0) ** 2)
    assert len(model.X_thresholds_) == 50
    assert scanned(model).kinds == ["training-values"]


def test_calibration_in_folds_is_grouped(data, scanned) -> None:
    model = CalibratedClassifierCV(DecisionTreeClassifier(max_depth=3), method="isotonic", cv=4)
    found = scanned(model.fit(data.X, data.y)).one("training-values")
    assert found.evidence["occurrences"] == 4
    assert "4 places" in found.reveals


def test_quantiles(data, scanned) -> None:
    tree = DecisionTreeClassifier(max_depth=2)
    few = make_pipeline(QuantileTransformer(n_quantiles=20), tree).fit(data.X, data.y)
    found = scanned(few).one("training-values")
    assert (found.severity, found.evidence["every_value"]) == ("fix", False)
    many = make_pipeline(QuantileTransformer(n_quantiles=data.n), tree).fit(data.X, data.y)
    found = scanned(many).one("training-values")
    assert (found.severity, found.evidence["every_value"]) == ("refer", True)
    np.testing.assert_allclose(many[0].quantiles_, np.sort(data.X, axis=0), rtol=1e-12)


def test_bins_of_histogram_boosting_separate_every_value(data, scanned) -> None:
    X = np.round(data.X * 3)
    model = HistGradientBoostingClassifier(max_iter=2).fit(X, data.y)
    found = scanned(model).one("bin-edges")
    assert found.severity == "fix"
    assert found.evidence["columns"] == 5
    assert found.evidence["columns_with_every_value_separated"] == 5
    # The claim: limits lie halfway, so whole numbers can be listed from them.
    limits = model._bin_mapper.bin_thresholds_
    assert found.evidence["limits"] == sum(map(len, limits))
    for edges, column in zip(limits, X.T, strict=True):
        values = np.unique(column)
        np.testing.assert_array_equal(edges, (values[1:] + values[:-1]) / 2)


def test_full_bins_are_training_values_and_not_all_of_them(scanned) -> None:
    X = np.random.default_rng(0).normal(size=(2000, 2))
    model = HistGradientBoostingRegressor(max_iter=1, early_stopping=False).fit(X, X[:, 0])
    found = scanned(model).one("bin-edges")
    assert found.evidence["columns_with_every_value_separated"] == 0
    assert "any two different" not in found.reveals


def test_following_the_remedy_for_bins_changes_no_prediction(data, scanned) -> None:
    X = data.X.copy()
    X[:, 4] = np.abs(np.round(X[:, 4]))
    model = HistGradientBoostingClassifier(max_iter=5, categorical_features=[4]).fit(X, data.y)
    assert scanned(model).one("bin-edges").evidence["columns"] == 4
    before = model.predict_proba(X)
    mapper = model._bin_mapper
    mapper.bin_thresholds_ = [
        limits if categorical else np.empty(0)
        for limits, categorical in zip(mapper.bin_thresholds_, mapper.is_categorical_, strict=True)
    ]
    assert "bin-edges" not in scanned(model).kinds
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_target_encoder(data, scanned) -> None:
    X = np.round(data.X)
    model = make_pipeline(TargetEncoder(), DecisionTreeClassifier(max_depth=2)).fit(X, data.y)
    found = scanned(model)
    assert found.one("category-targets").severity == "fix"
    assert found.one("category-targets").evidence["columns"] == 5
    n_categories = sum(len(np.unique(c)) for c in X.T)
    assert found.one("category-lists").evidence["categories"] == n_categories


@pytest.mark.parametrize("encoder", [OneHotEncoder(), OrdinalEncoder()])
def test_lists_of_categories(data, scanned, encoder) -> None:
    X = np.array([["x", "y", "z"][int(v)] for v in np.abs(data.X[:, 0].round()) % 3])[:, None]
    model = make_pipeline(encoder, DecisionTreeClassifier(max_depth=2)).fit(X, data.y)
    found = scanned(model).one("category-lists")
    assert found.severity == "note"
    assert found.evidence["categories"] == 3
    assert found.evidence["columns_like_identifiers"] == 0


def test_rare_categories_are_counted(data, scanned) -> None:
    X = np.round(data.X)
    encoder = OneHotEncoder(min_frequency=20, handle_unknown="ignore").fit(X)
    found = scanned(encoder).one("category-lists")
    rare = sum((np.unique(c, return_counts=True)[1] < 20).sum() for c in X.T)
    assert found.evidence["rare_categories"] == rare > 0


@pytest.mark.parametrize("width", [1, 2])
def test_a_category_for_each_person(data, scanned, width) -> None:
    names = np.array([f"person {i}" for i in range(data.n)])
    X = np.column_stack([names, ["x", "y"] * 68 + ["x"]])[:, :width]
    model = make_pipeline(OrdinalEncoder(), DecisionTreeClassifier(max_depth=2)).fit(X, data.y)
    found = scanned(model).one("category-lists")
    assert found.severity == "fix"
    assert found.evidence["columns_like_identifiers"] == 1
    assert "person" not in str(found.evidence)


def test_class_labels_and_bin_numbers_are_no_categories(data, scanned) -> None:
    tree = DecisionTreeClassifier(max_depth=2).fit(data.X, data.y)
    tree.encoder = LabelEncoder().fit(data.y)
    tree.one_hot = OneHotEncoder().fit(data.y[:, None])
    assert scanned(tree).kinds == []
    tree.encoder = LabelEncoder().fit([f"person {i}" for i in range(data.n)])
    assert scanned(tree).one("category-lists").severity == "fix"
