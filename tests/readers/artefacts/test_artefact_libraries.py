"""Models of imodels, LightGBM and XGBoost, and search objects."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from glassleak.readers._state import State
from glassleak.readers.artefacts import scan


@pytest.fixture(scope="module")
def imodels():
    return pytest.importorskip("imodels")


@pytest.fixture(scope="module")
def lightgbm():
    return pytest.importorskip("lightgbm")


def nodes_of(node):
    """All nodes below a FIGS node, also the ones left over from growing."""
    if node is None:
        return
    yield node
    for name in ("left", "right", "left_temp", "right_temp"):
        yield from nodes_of(getattr(node, name, None))


def test_figs_keeps_masks_and_labels(data, scanned, imodels) -> None:
    X = (data.X > 0).astype(int)
    model = imodels.FIGSClassifier(max_rules=4).fit(X, data.y)
    found = scanned(model)
    masks = found.one("row-masks")
    nodes = {id(n): n for tree in model.trees_ for n in nodes_of(tree)}.values()
    kept = {id(n.idxs) for n in nodes if n.idxs is not None}
    assert masks.where == "FIGSClassifier.trees_[0].idxs"
    assert masks.evidence["occurrences"] == len(kept) > 4
    assert masks.severity == "fix"
    labels = found.one("label-column")
    assert labels.where == "FIGSClassifier.Y"
    assert labels.evidence["shape"] == [data.n, 2]
    np.testing.assert_array_equal(model.Y.argmax(axis=1), data.y)
    # The claim: a mask and the split above it give a value of each single row.
    root = model.trees_[0]
    np.testing.assert_array_equal(root.left.idxs, X[:, root.feature] <= root.threshold)


def test_figs_without_masks_predicts_the_same(data, scanned, imodels) -> None:
    X = (data.X > 0).astype(int)
    model = imodels.FIGSClassifier(max_rules=4).fit(X, data.y)
    before = model.predict_proba(X)
    for tree in model.trees_:
        for node in nodes_of(tree):
            node.idxs = None
    model.Y = None
    assert scanned(model).kinds == []
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_skope_rules_lists_the_rows_drawn(data, scanned, imodels) -> None:
    model = imodels.SkopeRulesClassifier(n_estimators=6, random_state=0)
    model.fit((data.X > 0).astype(int), data.y, feature_names=list("abcde"))
    found = scanned(model).one("row-masks")
    assert found.where == "SkopeRulesClassifier.estimators_samples_"
    assert found.evidence == {
        "members": len(model.estimators_samples_),
        "rows_listed_first": len(model.estimators_samples_[0]),
    }


def test_bayesian_rule_set_keeps_who_fulfils_which_rule(data, scanned, imodels) -> None:
    model = imodels.BayesianRuleSetClassifier(
        num_iterations=5, num_chains=1, n_rules=20, maxlen=2, random_state=0
    )
    model.fit((data.X[:, :3] > 0).astype(int), data.y, feature_names=list("abc"))
    found = scanned(model).one("row-masks")
    assert found.where == "BayesianRuleSetClassifier.RMatrix"
    assert found.evidence["shape"] == list(model.RMatrix.shape)
    assert model.RMatrix.shape[0] == data.n


@pytest.mark.parametrize("name", ["GreedyRuleListClassifier", "BoostedRulesClassifier"])
def test_rule_models_that_keep_nothing(data, scanned, imodels, name) -> None:
    model = getattr(imodels, name)().fit(data.X > 0, data.y, feature_names=list("abcde"))
    assert scanned(model).kinds == []


def lightgbm_model(lightgbm, data):
    X = pd.DataFrame(data.X, columns=list("abcde"))
    X["c"] = pd.Categorical((["u", "v", "w"] * data.n)[: data.n])
    model = lightgbm.LGBMClassifier(n_estimators=2, num_leaves=4, verbose=-1, n_jobs=1)
    return model.fit(X, data.y), X


def check_extremes(found, names) -> None:
    extremes = found["extreme-values"]
    assert extremes.severity == "fix"
    assert extremes.evidence == {"columns": 4, "column_names": names}
    categories = found["category-lists"]
    assert categories.evidence["categories"] == 3


@pytest.mark.parametrize("pickled", [False, True])
def test_lightgbm_object(data, scanned, lightgbm, pickled) -> None:
    model, _ = lightgbm_model(lightgbm, data)
    found = scanned(model, pickled=pickled)
    assert sorted(found.kinds) == ["category-lists", "extreme-values"]
    check_extremes({a.kind: a for a in found.all}, ["a", "b", "d", "e"])
    assert found.one("extreme-values").where == "LGBMClassifier._Booster._handle"


def test_lightgbm_text(data, lightgbm) -> None:
    model, X = lightgbm_model(lightgbm, data)
    text = model.booster_.model_to_string()
    found = {a.kind: a for a in scan(text)}
    check_extremes(found, ["a", "b", "d", "e"])
    largest = re.search(r"feature_infos=\[[^:]+:([^\]]+)\]", text)
    assert float(largest.group(1)) == X["a"].max()
    assert str(X["a"].max())[:8] not in str(found["extreme-values"].to_document())


def test_lightgbm_json(data, lightgbm) -> None:
    model, _ = lightgbm_model(lightgbm, data)
    document = model.booster_.dump_model()
    found = {a.kind: a for a in scan({k: v for k, v in document.items() if k != "tree_info"})}
    check_extremes(found, ["a", "b", "d", "e"])
    assert found["extreme-values"].where == "['feature_infos']"


def test_lightgbm_predicts_without_the_extremes(data, lightgbm) -> None:
    model, X = lightgbm_model(lightgbm, data)
    text = model.booster_.model_to_string()
    infos = re.search(r"(?m)^feature_infos=.*$", text).group(0)
    coarse = re.sub(r"\[[^\]]*\]", "[-1000:1000]", infos)
    again = lightgbm.Booster(model_str=text.replace(infos, coarse))
    np.testing.assert_array_equal(again.predict(X), model.booster_.predict(X))


@pytest.mark.parametrize(
    "text",
    [
        "tree\nfeature_infos=",
        "tree\nfeature_infos=none [a\npandas_categorical:[[",
        "tree\nfeature_names=a b\nfeature_infos=[0:1]\npandas_categorical:" + "[" * 100_000,
        "tree\nfeature_infos=[0:1]\npandas_categorical:null",
    ],
)
def test_damaged_lightgbm_text_raises_nothing(text) -> None:
    assert {a.kind for a in scan(text)} <= {"extreme-values"}


def test_xgboost_keeps_nothing(data, scanned) -> None:
    xgboost = pytest.importorskip("xgboost")
    model = xgboost.XGBClassifier(n_estimators=2, max_depth=2, n_jobs=1).fit(data.X, data.y)
    assert scanned(model).kinds == []


def test_a_search_object_keeps_its_history(data, scanned) -> None:
    search = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2, 3]}, cv=3)
    found = scanned(search.fit(data.X, data.y))
    assert found.kinds == ["search-history"]
    assert found.all[0].severity == "note"
    assert found.all[0].evidence["settings_tried"] == 3
    assert scanned(search.best_estimator_).kinds == []


def test_an_empty_history_is_none() -> None:
    assert scan(State("sklearn.m", "GridSearchCV", {"cv_results_": {}})) == ()
