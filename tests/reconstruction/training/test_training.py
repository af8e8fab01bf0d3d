"""Growing published trees again: right tables fit at every node, wrong ones do not."""

import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

import glassleak as gl
from glassleak.errors import UnsupportedModelError
from glassleak.reconstruction.training import choices_can_be_repeated, settle_open_cells
from glassleak.reconstruction.training._cells import open_cells
from glassleak.reconstruction.training._gate import settings_of
from glassleak.reconstruction.training._grove import grove_of
from glassleak.reconstruction.training._refine import refine
from glassleak.reconstruction.training._replay import FITS, NOTHING, facts_of, replay

RARE = ["a", "b", "c", "d1", "d2", "d3"]  # hardly ever split on
SCHEMA = gl.Schema(
    [
        gl.Binary("a"),
        gl.Binary("b"),
        gl.Binary("c"),
        gl.Categorical("d", columns=["d1", "d2", "d3"]),
        gl.Ordinal("e", 0, 5),
        gl.Ordinal("f", 0, 100_000),
        gl.Ordinal("g", 0, 1_000),
    ]
)


def people(n, seed, n_classes=2):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.random((n, 3)) < [0.5, 0.2, 0.1], columns=list("abc")).astype(float)
    table[["d1", "d2", "d3"]] = np.eye(3)[rng.choice(3, n, p=[0.6, 0.3, 0.1])]
    table["e"] = rng.integers(0, 6, n).astype(float)
    table["f"] = np.where(rng.random(n) < 0.3, 0, rng.integers(0, 100_001, n)).astype(float)
    table["g"] = rng.integers(0, 1001, n).astype(float)
    y = (table["e"] + table["f"] / 20_000 + table["g"] / 200 + 0.5 * rng.random(n)).to_numpy()
    return table, np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))


def trained(n=30, seed=0, n_classes=2, **settings):
    X, y = people(n, seed, n_classes)
    forest = RandomForestClassifier(n_estimators=20, random_state=seed, **settings).fit(X, y)
    return X, y, gl.read(forest), forest


def grown(model, X, y, seeds=None, draws=None):
    settings = settings_of(model)
    seeds = model.bagging.seeds if seeds is None else seeds
    draws = model.bagging.multiplicities(len(model), len(X))
    values = X.to_numpy(float)
    grove = grove_of(model, seeds, settings, values, draws)
    facts = facts_of(
        grove, settings, values.astype(np.float32), np.asarray(y, dtype=np.int64),
        len(model.trees[0].classes),
    )  # fmt: skip
    return grove, replay(grove, settings, facts)


def same_leaves(model, one, other):
    drawn = model.bagging.multiplicities(len(model), len(one)).T > 0
    return bool((model.apply(one) == model.apply(other))[drawn].all())


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"criterion": "entropy"},
        {"criterion": "log_loss", "max_features": None},
        {"min_samples_leaf": 3, "max_features": 2},
        {"min_samples_leaf": 0.1, "min_samples_split": 0.3, "max_features": 0.7},
        {"max_depth": 3, "max_features": 1},
        {"max_features": "log2", "n_classes": 4},
        {"max_samples": 0.6},
    ],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_table_a_forest_was_trained_on_fits_at_every_node(settings, seed):
    X, y, model, _ = trained(60, seed, **settings)
    assert choices_can_be_repeated(model)[0]
    _, found = grown(model, X, y)
    assert set(np.unique(found.found)) <= {NOTHING, FITS}
    assert (found.found == FITS).sum() > 20
    assert found.in_step == found.fits == 1


def test_without_bagging_the_trees_seeds_are_enough():
    X, y, model, forest = trained(60, bootstrap=False)
    assert choices_can_be_repeated(model) == (False, "the model keeps no seeds")
    seeds = np.array([tree.random_state for tree in forest.estimators_])
    _, found = grown(model, X, y, seeds)
    assert found.fits == 1
    _, other = grown(model, X, y, seeds + 1)
    assert other.in_step < 0.9


def test_leaves_that_could_not_be_split_are_grown_again_too():
    X, y = people(20, 0)
    X, y = pd.concat([X, X], ignore_index=True), np.concatenate([y, 1 - y])
    model = gl.read(RandomForestClassifier(n_estimators=20, random_state=0).fit(X, y))
    grove, found = grown(model, X, y)
    assert (grove.searched & (grove.column < 0)).any()
    assert found.fits == 1


def test_a_wrong_cell_of_a_column_that_was_drawn_is_noticed():
    X, y, model, _ = trained()
    noticed = []
    for name in "abc":
        for row in range(len(X)):
            wrong = X.copy()
            wrong.loc[row, name] = 1 - wrong.loc[row, name]
            if same_leaves(model, wrong, X):  # the leaves say nothing about it
                noticed.append(grown(model, wrong, y)[1].fits < 1)
    assert len(noticed) > 10
    assert np.mean(noticed) > 0.7, np.mean(noticed)


def test_open_cells_leave_rows_in_their_leaves():
    X, y, model, _ = trained()
    grove, _ = grown(model, X, y)
    options = open_cells(grove, SCHEMA, model.columns, X.to_numpy(float))
    drawn = model.bagging.multiplicities(len(model), len(X)).T > 0
    assert len(options) > 20
    for k in range(len(options)):
        row, own = options.row[k], options.columns[options.attribute[k]]
        own = own[own >= 0]
        table = np.repeat(X.to_numpy(float)[[row]], options.first[k + 1] - options.first[k], axis=0)
        table[:, own] = options.value[options.first[k] : options.first[k + 1], : len(own)]
        same = model.apply(table) == model.apply(X.iloc[[row]].to_numpy())
        assert same[:, drawn[row]].all()


def test_cells_that_leaves_leave_open_are_settled():
    before = after = 0
    for seed in (0, 1, 3):
        rng = np.random.default_rng(seed)
        X, y, model, _ = trained(30, seed)
        grove, _ = grown(model, X, y)
        options = open_cells(grove, SCHEMA, model.columns, X.to_numpy(float), numbers=False)
        start = X.to_numpy(float)
        for k in range(len(options)):  # any option, whatever is true
            own = options.columns[options.attribute[k]]
            own = own[own >= 0]
            if len(own) > 1 or own[0] < 3:
                option = rng.integers(options.first[k], options.first[k + 1])
                start[options.row[k], own] = options.value[option, : len(own)]
        refined = settle_open_cells(
            model, SCHEMA, start, y.astype(np.int64),
            model.bagging.multiplicities(len(model), len(X)), deadline=time.monotonic() + 20,
            seed=seed,
        )  # fmt: skip
        found = pd.DataFrame(refined.values, columns=X.columns)
        assert refined.score_after >= refined.score_before
        assert refined.after.fits > refined.before.fits
        assert refined.cells_changed > 0
        assert same_leaves(model, found, X)
        assert (found[["e", "f", "g"]] == X[["e", "f", "g"]]).all().all()
        assert (found[["d1", "d2", "d3"]].sum(axis=1) == 1).all()
        before += int((start[:, :6] != X[RARE].to_numpy()).sum())
        after += int((found[RARE] != X[RARE]).sum().sum())
    assert before > 20
    assert after < 0.5 * before, (before, after)


def test_the_search_never_ends_worse_and_only_touches_open_cells():
    X, y, model, _ = trained()
    grove, found = grown(model, X, y)
    values = X.to_numpy(float)
    options = open_cells(grove, SCHEMA, model.columns, values)
    draws = model.bagging.multiplicities(len(model), len(X))
    refined = refine(
        model, model.bagging.seeds, settings_of(model), values, y.astype(np.int64), draws, options,
        deadline=time.monotonic() + 10, sweeps=10,
    )  # fmt: skip
    assert refined.score_before == refined.score_after == 0  # the truth cannot be improved
    late = refine(
        model, model.bagging.seeds, settings_of(model), values, y.astype(np.int64), draws, options,
        deadline=time.monotonic() - 1,
    )  # fmt: skip
    assert late.sweeps == 0
    assert (late.values == values).all()
    assert found.fits == late.in_step_share == 1


def test_what_is_grown_in_another_way_is_refused():
    X, y = people(30, 0)
    trees = {"n_estimators": 3, "random_state": 0}
    cases = [
        ExtraTreesClassifier(bootstrap=True, **trees),
        RandomForestClassifier(class_weight="balanced", **trees),
        RandomForestClassifier(max_leaf_nodes=5, **trees),
        RandomForestClassifier(ccp_alpha=0.01, **trees),
        RandomForestClassifier(min_impurity_decrease=0.01, **trees),
        RandomForestClassifier(monotonic_cst=[1] + [0] * 8, **trees),
        RandomForestClassifier(bootstrap=False, **trees),
    ]
    for estimator in cases:
        possible, reason = choices_can_be_repeated(gl.read(estimator.fit(X, y)))
        assert not possible
        assert reason
    plain = gl.read(RandomForestClassifier(**trees).fit(X, y))
    for settings in (
        {},
        dict(plain.provenance.settings) | {"max_features": "many"},
        dict(plain.provenance.settings) | {"criterion": "other"},
        dict(plain.provenance.settings) | {"max_depth": "deep"},
        dict(plain.provenance.settings) | {"min_samples_leaf": True},
    ):
        other = replace(plain, provenance=replace(plain.provenance, settings=settings))
        assert not choices_can_be_repeated(other)[0]
    elsewhere = replace(plain, provenance=replace(plain.provenance, library="other"))
    assert not choices_can_be_repeated(elsewhere)[0]


def test_missing_values_are_refused():
    X, y, model, _ = trained()
    values = X.to_numpy(float)
    values[0, 0] = np.nan
    draws = model.bagging.multiplicities(len(model), len(X))
    with pytest.raises(UnsupportedModelError, match="missing"):
        settle_open_cells(
            model, SCHEMA, values, y.astype(np.int64), draws, deadline=time.monotonic()
        )
