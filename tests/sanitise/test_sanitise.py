"""Copies predict the same, on every input that could tell, and carry nothing else."""

from __future__ import annotations

import io
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_selection import SelectFromModel
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

import glassleak as gl
from glassleak.errors import SanitiseError, UnsupportedModelError
from glassleak.models import Forest, Missing
from glassleak.sanitise import Options, Setting, effects, sanitised
from glassleak.sanitise._cells import representatives, sample_cells
from glassleak.sanitise._estimators import fitted_trees

N = 157
CLASSIFIERS: dict[str, Any] = {
    "tree": DecisionTreeClassifier(max_depth=4, random_state=3),
    "deep tree": DecisionTreeClassifier(random_state=3, class_weight="balanced"),
    "random tree": ExtraTreeClassifier(min_samples_leaf=3, random_state=3),
    "default forest": RandomForestClassifier(12, random_state=3),
    "weighted forest": RandomForestClassifier(
        12, max_depth=4, class_weight="balanced", oob_score=True, random_state=3
    ),
    "subsampled forest": RandomForestClassifier(12, max_samples=0.5, min_samples_leaf=4),
    "extra trees": ExtraTreesClassifier(12, random_state=3),
    "shallow extra trees": ExtraTreesClassifier(12, max_depth=3, random_state=3),
    "one tree": RandomForestClassifier(1, max_depth=3, random_state=3),
    "bag": BaggingClassifier(DecisionTreeClassifier(max_depth=3), 8, random_state=3),
    "bag of columns": BaggingClassifier(
        DecisionTreeClassifier(random_state=5), 8, max_features=0.5, max_samples=0.5
    ),
}
REGRESSORS: dict[str, Any] = {
    "tree": DecisionTreeRegressor(max_depth=4, random_state=3),
    "random tree": ExtraTreeRegressor(random_state=3),
    "forest": RandomForestRegressor(8, oob_score=True, random_state=3),
    "extra trees": ExtraTreesRegressor(8, random_state=3),
    "bag": BaggingRegressor(n_estimators=8, random_state=3),
    "boosting": GradientBoostingRegressor(n_estimators=8, random_state=3),
    "histogram": HistGradientBoostingRegressor(max_iter=8, random_state=3),
}


def table(seed: int, n_classes: int = 2, n: int = N) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(
        n, 6, n_informative=5, n_redundant=0, n_classes=n_classes, flip_y=0.2, random_state=seed
    )
    X[:, 0] = X[:, 0] > 0
    X[:, 1] = np.round(X[:, 1])
    return X, y


def inputs(model: Any, seed: int = 0, n: int = 1500) -> np.ndarray:
    """Values at, and one float above, thresholds, missing values, and anything."""
    values = representatives(fitted_trees(model), model.n_features_in_)
    random = np.random.default_rng(seed)
    return np.concatenate(
        [sample_cells(values, n, seed), random.normal(0, 3, (n, model.n_features_in_))]
    )


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("missing", [True, False])
def test_labels_stay(name: str, n_classes: int, missing: bool) -> None:
    X, y = table(n_classes, n_classes)
    model = clone(CLASSIFIERS[name]).fit(X, y)
    clean = gl.sanitise(model, missing_values=missing)
    probe = inputs(model)
    if not missing:
        probe = probe[~np.isnan(probe).any(axis=1)]
    assert np.array_equal(model.predict(probe), clean.predict(probe))


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_probabilities_stay_bit_for_bit(name: str) -> None:
    X, y = table(7, 3)
    model = clone(CLASSIFIERS[name]).fit(X, y)
    clean = gl.sanitise(model, keep=("predict", "predict_proba"))
    probe = inputs(model)
    assert np.array_equal(model.predict_proba(probe), clean.predict_proba(probe))
    assert np.array_equal(model.predict(probe), clean.predict(probe))


@pytest.mark.parametrize("name", REGRESSORS)
def test_regressions_stay_bit_for_bit(name: str) -> None:
    X, y = table(5)
    target = y + X[:, 2]
    model = clone(REGRESSORS[name]).fit(X, target)
    clean = gl.sanitise(model)
    probe = np.random.default_rng(1).normal(0, 3, (2000, 6))
    assert np.array_equal(model.predict(probe), clean.predict(probe))


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from([RandomForestClassifier, ExtraTreesClassifier]),
    trees=st.integers(1, 9),
    depth=st.one_of(st.none(), st.integers(1, 5)),
    binary=st.booleans(),
)
def test_any_forest_predicts_the_same(
    seed: int, kind: Any, trees: int, depth: int | None, binary: bool
) -> None:
    X, y = table(seed, 2 + seed % 3, n=60)
    if binary:
        X = (X > 0).astype(float)
    model = kind(trees, max_depth=depth, random_state=seed).fit(X, y)
    probe = inputs(model, seed, 500)
    assert np.array_equal(model.predict(probe), gl.sanitise(model).predict(probe))


def leftovers(model: Any) -> set[str]:
    return {a.kind for a in gl.audit(model, budget_seconds=2).opened.artefacts}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_nothing_about_rows_is_left(name: str) -> None:
    X, y = table(2)
    model = clone(CLASSIFIERS[name]).fit(X, y)
    model.training_rows = X  # what somebody hangs on it stays behind too
    clean = gl.sanitise(model)
    assert leftovers(clean) <= {"bootstrap-seeds-absent", "leaf-shares"}
    assert not hasattr(clean, "training_rows")
    for held in _arrays(clean):
        assert N not in held.shape
    for tree, _ in fitted_trees(clean):
        assert not tree.n_node_samples.any()
        assert np.isnan(tree.weighted_n_node_samples).all()
        assert np.isnan(tree.impurity).all()
        assert not tree.value[tree.children_left >= 0].any()
    assert hasattr(model, "training_rows"), "the original is left alone"
    assert fitted_trees(model)[0][0].n_node_samples[0] > 0


def _arrays(value: Any, seen: set[int] | None = None) -> list[np.ndarray]:
    seen = set() if seen is None else seen
    if id(value) in seen:
        return []
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        return [value]
    inner = value.values() if isinstance(value, dict) else value
    if hasattr(value, "__dict__"):
        inner = vars(value).values()
    if not isinstance(inner, list | tuple | type({}.values())):
        return []
    return [array for item in inner for array in _arrays(item, seen)]


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_the_audit_sees_that_counts_are_gone(name: str) -> None:
    X, y = table(2)
    read = gl.read(gl.sanitise(clone(CLASSIFIERS[name]).fit(X, y)))
    trees = read.trees if isinstance(read, Forest) else (read,)
    assert all(isinstance(t.counts, Missing) and "removed" in t.counts.reason for t in trees)
    assert all(t.people is None and t.n_rows is None for t in trees)
    assert read.n_rows is None
    if isinstance(read, Forest):
        assert read.bagging.kind != "known"


@pytest.mark.parametrize("name", ["tree", "weighted forest", "extra trees", "bag of columns"])
def test_survives_skops_and_pickle(name: str, tmp_path: Any) -> None:
    X, y = table(4)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = clone(CLASSIFIERS[name]).fit(frame, y)
    clean = gl.sanitise(model)
    skops.io.dump(clean, tmp_path / "clean.skops")
    trusted = skops.io.get_untrusted_types(file=tmp_path / "clean.skops")
    loaded = skops.io.load(tmp_path / "clean.skops", trusted=trusted)
    unpickled = pickle.load(io.BytesIO(pickle.dumps(clean)))
    for copied in (loaded, unpickled):
        assert np.array_equal(model.predict(frame), copied.predict(frame))
    assert list(clean.feature_names_in_) == list("abcdef")
    assert gl.read(tmp_path / "clean.skops").n_rows is None


def tampered(model: Any, **fields: Any) -> Any:
    """The model with some fields of its nodes overwritten."""
    kind, arguments, state = model.tree_.__reduce__()
    nodes = state["nodes"].copy()
    for name, value in fields.items():
        nodes[name] = value
    made = kind(*arguments)
    made.__setstate__(state | {"nodes": nodes})
    model.tree_ = made
    return model


def test_counts_that_were_removed_by_halves_are_noticed() -> None:
    X, y = table(1)
    half = tampered(DecisionTreeClassifier(max_depth=3).fit(X, y), n_node_samples=0)
    with pytest.raises(gl.GlassleakError, match="weighted"):
        gl.read(half)
    rest = tampered(
        DecisionTreeClassifier(max_depth=3).fit(X, y),
        n_node_samples=0, weighted_n_node_samples=np.nan,
    )  # fmt: skip
    assert "inner-shares" in leftovers(rest)
    assert gl.audit(rest, budget_seconds=2).verdict == "fix"
    assert "inner-shares" not in leftovers(gl.sanitise(rest))


def test_a_single_tree_keeps_one_label_per_leaf() -> None:
    X, y = table(1, 3)
    model = DecisionTreeClassifier(min_samples_leaf=9).fit(X, y)
    clean = gl.sanitise(model)
    leaves = clean.tree_.value[clean.tree_.children_left < 0]
    assert set(np.unique(leaves)) == {0.0, 1.0}
    assert (model.predict_proba(X).max(axis=1) < 1).any()


def test_leaves_that_say_the_same_are_one() -> None:
    X, y = table(1)
    model = DecisionTreeClassifier(max_depth=5, random_state=0).fit(X, y)
    clean = gl.sanitise(model)
    assert clean.tree_.n_leaves < model.tree_.n_leaves
    left, right = clean.tree_.children_left, clean.tree_.children_right
    label = clean.tree_.value[:, 0].argmax(axis=1)
    for node in np.flatnonzero(left >= 0):
        both_leaves = left[left[node]] < 0 and left[right[node]] < 0
        assert not (both_leaves and label[left[node]] == label[right[node]])
    same = gl.sanitise(model, keep=("predict", "apply"))
    probe = inputs(model)
    assert np.array_equal(same.apply(probe), model.apply(probe))


def test_coarser_shares_are_proved_on_every_cell() -> None:
    X, y = table(1)
    X = (X > 0).astype(float)
    model = RandomForestClassifier(10, min_samples_leaf=5, random_state=0).fit(X, y)
    found = sanitised(model, Options())
    assert "proved on all 729 cells" in found.same
    shares = np.concatenate([t.value.ravel() for t, _ in fitted_trees(found.estimator)])
    exact = np.concatenate([t.value.ravel() for t, _ in fitted_trees(model)])
    assert len(np.unique(shares)) < len(np.unique(exact))


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_within_a_schema_far_coarser_shares_are_proved(seed: int) -> None:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, 2, (120, 8)), columns=list("abcdefgh"))
    target = rng.integers(0, 2, 120)
    schema = gl.Schema([gl.Binary(c) for c in frame.columns])
    model = ExtraTreesClassifier(12, max_depth=5, random_state=seed).fit(frame, target)
    assert "too many" in sanitised(model, Options()).leaves, "thresholds are drawn at random"
    found = sanitised(model, Options(schema=schema))
    assert "proved on all 256 profiles" in found.same
    grid = np.array(np.meshgrid(*[[0, 1]] * 8)).reshape(8, -1).T
    every = pd.DataFrame(grid, columns=frame.columns)
    assert np.array_equal(model.predict(every), found.estimator.predict(every))


def test_a_schema_of_other_columns_is_refused() -> None:
    X, y = table(1)
    model = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, y)
    with pytest.raises(gl.GlassleakError):
        gl.sanitise(model, schema=gl.Schema([gl.Binary("z")]))


def test_too_many_cells_to_prove_leave_shares_alone() -> None:
    X, y = table(1)
    model = RandomForestClassifier(30, max_depth=5, random_state=0).fit(X, y)
    found = sanitised(model, Options())
    assert "too many" in found.leaves
    probe = inputs(model)
    assert np.array_equal(found.estimator.predict_proba(probe), model.predict_proba(probe))


def test_importances_are_gone_and_not_wrong() -> None:
    X, y = table(1)
    assert np.isnan(gl.sanitise(DecisionTreeClassifier().fit(X, y)).feature_importances_).all()


def test_pruned_leaves_hold_enough_people() -> None:
    X, y = table(3)
    model = RandomForestClassifier(10, random_state=0).fit(X, y)
    clean = gl.sanitise(model, keep=("predict_proba",), min_people=12)
    for (before, _), (after, _) in zip(fitted_trees(model), fitted_trees(clean), strict=True):
        assert after.node_count < before.node_count
        assert after.max_depth <= before.max_depth
        # Everybody who reached a leaf that stayed still does, so it holds as many at least.
        reached = np.bincount(after.apply(X.astype(np.float32)), minlength=after.node_count)
        assert reached[after.children_left < 0].min() >= 1
        assert np.allclose(after.value[after.children_left < 0].sum(axis=2), 1)
    again = DecisionTreeClassifier(random_state=0).fit(X, y)
    small = gl.sanitise(again, min_people=12)
    where = small.tree_.apply(X.astype(np.float32))
    assert np.unique(where, return_counts=True)[1].min() >= 12


def test_a_tree_of_too_few_people_is_one_leaf() -> None:
    X, y = table(3)
    clean = gl.sanitise(DecisionTreeClassifier().fit(X, y), min_people=10_000)
    assert clean.tree_.node_count == 1
    assert len(set(clean.predict(X))) == 1


def test_undoing_a_split_with_one_small_side_keeps_the_other_side() -> None:
    X = np.array([[0.0, i % 2] for i in range(40)] + [[1.0, 0.0]])
    y = np.array([i % 2 for i in range(40)] + [1])
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    clean = gl.sanitise(model, min_people=10)
    assert clean.predict([[0.0, 0.0], [0.0, 1.0]]).tolist() == [0, 1]
    assert clean.tree_.n_leaves == 2


def test_shares_are_rounded_and_still_add_up() -> None:
    X, y = table(3, 3)
    model = RandomForestClassifier(5, min_samples_leaf=7, random_state=0).fit(X, y)
    clean = gl.sanitise(model, keep=("predict_proba",), round_to=4)
    for tree, _ in fitted_trees(clean):
        leaves = tree.value[tree.children_left < 0, 0]
        assert np.array_equal(leaves * 4, np.rint(leaves * 4))
        assert (leaves.sum(axis=1) == 1).all()


def test_small_classes_are_suppressed() -> None:
    X, y = table(3)
    model = DecisionTreeClassifier(min_samples_leaf=15, random_state=0).fit(X, y)
    clean = gl.sanitise(model, keep=("predict_proba", "apply"), suppress_below=8)
    before, after = model.tree_, clean.tree_
    leaf = before.children_left < 0
    rows = np.rint(before.value * before.weighted_n_node_samples[:, None, None])[leaf, 0]
    kept = after.value[leaf, 0] > 0
    assert (kept <= (rows >= 8)).all()
    assert ((rows > 0) & (rows < 8)).any(), "the case is there"


def test_weighted_rows_are_not_taken_for_people() -> None:
    X, y = table(3)
    model = DecisionTreeClassifier(class_weight="balanced", min_samples_leaf=15).fit(X, y)
    with pytest.raises(SanitiseError, match="weights"):
        gl.sanitise(model, suppress_below=8)
    lines = {e.option: e for e in effects(model, setting=Setting(budget_seconds=2))}
    impossible = next(e for o, e in lines.items() if "suppressed" in o)
    assert impossible.predictions == "not possible"
    assert lines["what labels need"].predictions.endswith("identical")


def test_fewer_trees() -> None:
    X, y = table(3)
    model = BaggingClassifier(n_estimators=9, max_features=0.5, random_state=0).fit(X, y)
    clean = gl.sanitise(model, trees=4)
    assert len(clean.estimators_) == len(clean.estimators_features_) == clean.n_estimators == 4
    clean.predict(X)


@pytest.mark.parametrize(
    "model",
    [GradientBoostingClassifier(n_estimators=6), HistGradientBoostingClassifier(max_iter=6)],
    ids=lambda m: type(m).__name__,
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_boosting(model: Any, n_classes: int) -> None:
    X, y = table(6, n_classes)
    model = clone(model).fit(X, y)
    clean = gl.sanitise(model)
    probe = np.random.default_rng(1).normal(0, 2, (2000, 6))
    assert np.array_equal(model.predict_proba(probe), clean.predict_proba(probe))
    assert np.array_equal(model.predict(probe), clean.predict(probe))
    assert leftovers(clean) == set()
    with pytest.raises(SanitiseError, match="min_people"):
        gl.sanitise(model, min_people=5)


def test_histograms_with_categories_and_missing_values() -> None:
    X, y = table(6)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["b"] = pd.Categorical.from_codes(np.arange(N) % 3, ["u", "v", "w"])
    frame.loc[::5, "c"] = np.nan
    model = HistGradientBoostingClassifier(
        max_iter=8, categorical_features="from_dtype", early_stopping=True
    ).fit(frame, y)
    clean = gl.sanitise(model)
    assert np.array_equal(model.predict_proba(frame), clean.predict_proba(frame))
    bins = clean._bin_mapper
    numeric = [c for c, named in zip(bins.bin_thresholds_, bins.is_categorical_, strict=True)
               if not named]  # fmt: skip
    assert len(numeric) == 5
    assert not any(len(c) for c in numeric)


def test_several_targets_at_once() -> None:
    X, y = table(8, 3)
    both = np.column_stack([y, X[:, 0].astype(int)])
    model = DecisionTreeClassifier(max_depth=3).fit(X, both)
    assert np.array_equal(model.predict(X), gl.sanitise(model).predict(X))


def test_pipelines_and_searches() -> None:
    X, y = table(8)
    X[::9, 2] = np.nan
    pipe = make_pipeline(SimpleImputer(), RandomForestClassifier(5, random_state=0))
    pipe.fit(X, y)
    pipe.memory = "somebody's folder"
    clean = gl.sanitise(pipe)
    assert clean.memory is None
    assert pipe.memory is not None
    assert np.array_equal(pipe.predict(X), clean.predict(X))
    assert pipe[-1].random_state == 0
    assert clean[-1].random_state is None
    search = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [2, 3]}, cv=3).fit(X, y)
    best = gl.sanitise(search)
    assert isinstance(best, DecisionTreeClassifier)
    assert np.array_equal(search.predict(X), best.predict(X))


def test_trees_in_a_step_before_the_last_are_not_overlooked() -> None:
    X, y = table(8)
    chosen = SelectFromModel(RandomForestClassifier(3, random_state=0))
    pipe = make_pipeline(chosen, DecisionTreeClassifier()).fit(X, y)
    with pytest.raises(UnsupportedModelError, match="trees of its own"):
        gl.sanitise(pipe)


def test_a_template_that_had_been_fitted_stays_behind() -> None:
    X, y = table(8)
    template = DecisionTreeClassifier(random_state=4).fit(X, y)
    clean = gl.sanitise(BaggingClassifier(template, 3, random_state=1).fit(X, y))
    assert not hasattr(clean.estimator, "tree_")
    assert clean.estimator.random_state is None


def test_twice_is_once() -> None:
    X, y = table(8)
    once = gl.sanitise(RandomForestClassifier(5, max_depth=3).fit(X, y))
    twice = gl.sanitise(once)
    probe = inputs(once)
    assert np.array_equal(once.predict(probe), twice.predict(probe))
    with pytest.raises(SanitiseError, match="already removed"):
        gl.sanitise(once, min_people=5)


@pytest.mark.parametrize(
    "model",
    [LogisticRegression(), AdaBoostClassifier(n_estimators=2),
     BaggingClassifier(LogisticRegression(), 2)],
    ids=lambda m: type(m).__name__,
)  # fmt: skip
def test_other_kinds_are_refused(model: Any) -> None:
    X, y = table(8)
    with pytest.raises(UnsupportedModelError):
        gl.sanitise(model.fit(X, y))


class Own(DecisionTreeClassifier):
    def predict(self, X: Any, check_input: bool = True) -> Any:
        return 1 - super().predict(X)


def test_a_subclass_with_its_own_ways_is_refused() -> None:
    X, y = table(8)
    with pytest.raises(UnsupportedModelError):
        gl.sanitise(Own().fit(X, y))


def test_untrained_models_are_refused() -> None:
    for model in (DecisionTreeClassifier(), RandomForestClassifier(), BaggingClassifier()):
        with pytest.raises(UnsupportedModelError, match="not been trained"):
            gl.sanitise(model)


@pytest.mark.parametrize(
    "options",
    [{"keep": ()}, {"keep": ("fit",)}, {"min_people": 0}, {"round_to": 1.5}, {"trees": True}],
    ids=str,
)
def test_senseless_options_are_refused(options: dict[str, Any]) -> None:
    X, y = table(8)
    with pytest.raises(SanitiseError):
        gl.sanitise(DecisionTreeClassifier().fit(X, y), **options)


def test_shares_of_a_regression_cannot_be_rounded() -> None:
    X, y = table(8)
    with pytest.raises(SanitiseError, match="round_to"):
        gl.sanitise(DecisionTreeRegressor().fit(X, y), round_to=5)
