"""Raw tables with bagging and stored seeds: rows are searched for where they cannot be listed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

import glassleak as gl
from glassleak.errors import ModelTooLargeError
from glassleak.knowledge import Known
from glassleak.reconstruction.mixed._rows import Rows, levels_of, values_of
from glassleak.reconstruction.replayed import _mixed, _possible, reconstruct_replayed
from glassleak.reconstruction.replayed._draws import drawn_rows
from glassleak.reconstruction.replayed._problem import problem_of
from glassleak.reconstruction.replayed._settle import settle

N_ROWS, N_TREES = 24, 60
SCHEMA = gl.Schema(
    [
        gl.Ordinal("age", 18, 90),
        gl.Numeric("income", 0, 100_000, resolution=1, missing=True),
        gl.Categorical("home", columns=["own", "rent", "free"]),
        gl.Categorical("region", levels=[0, 1, 2, 3]),
        gl.Binary("member"),
    ]
)


def sample(seed: int, missing: bool = False) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    home = rng.integers(0, 3, N_ROWS)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 90, N_ROWS),
            "income": np.round(rng.lognormal(10, 0.6, N_ROWS).clip(0, 100_000)),
            "own": home == 0,
            "rent": home == 1,
            "free": home == 2,
            "region": rng.integers(0, 4, N_ROWS),
            "member": rng.integers(0, 2, N_ROWS),
        }
    ).astype(float)
    if missing:
        X.loc[rng.random(N_ROWS) < 0.2, "income"] = np.nan
    score = X["age"] / 60 + X["income"].fillna(0) / 30_000 + X["own"] + rng.normal(0, 0.5, N_ROWS)
    return X, (score > np.quantile(score, 0.7)).astype(int).to_numpy()


@pytest.fixture
def unlisted(monkeypatch):
    """Few possibilities may be listed, as if the table were much larger."""
    monkeypatch.setattr(_possible, "MAX_PER_ROW", 4)


def trained(seed: int, kind=RandomForestClassifier, missing: bool = False):
    X, y = sample(seed, missing)
    return X, y, gl.read(kind(N_TREES, bootstrap=True, random_state=seed).fit(X, y))


def in_place(model, rec, X) -> np.ndarray:
    drawn = model.bagging.multiplicities(len(model), len(X)).T > 0
    same = model.apply(rec.table.to_numpy(float)) == model.apply(X.to_numpy(float))
    return (same | ~drawn).all(axis=1)


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
def test_the_search_finds_a_table_with_every_count(unlisted, kind):
    X, y, model = trained(0, kind)
    rec = gl.reconstruct(model, SCHEMA, multiplicities="known", budget_seconds=30)
    assert "not_listed" in rec.details
    assert rec.exact
    assert rec.certificate.replayed
    assert rec.details["missed"] == 0
    assert (rec.labels == y).all()
    assert not SCHEMA.invalid_rows(rec.table).any()
    # What is called certain is right.
    assert in_place(model, rec, X)[rec.confidence == 1].all()
    assert in_place(model, rec, X).mean() > 0.5
    error = gl.reconstruction_error(X, rec.table, SCHEMA)
    assert error < 0.3 * gl.random_baseline(model, SCHEMA, X, repeats=5).mean


def test_missing_values_are_levels_of_their_own(unlisted):
    _, y, model = trained(1, missing=True)
    rec = gl.reconstruct(model, SCHEMA, multiplicities="known", budget_seconds=30)
    assert rec.exact
    assert rec.table["income"].isna().any()
    assert (rec.labels == y).all()


def test_known_columns_are_kept(unlisted):
    X, y, model = trained(5)
    known = gl.Known(columns=X[["age", "member"]])
    rec = gl.reconstruct(model, SCHEMA, known, multiplicities="known", budget_seconds=60)
    assert "not_listed" in rec.details
    assert rec.exact
    assert rec.details["classes_settled"] == N_ROWS
    assert (rec.labels == y).all()
    got, truth = rec.table[["age", "member"]], X[["age", "member"]]
    key = ["age", "member"]
    pd.testing.assert_frame_equal(
        got.astype(float).sort_values(key, ignore_index=True),
        truth.sort_values(key, ignore_index=True),
    )


def test_a_short_budget_gives_a_partial_table(unlisted):
    _, _, model = trained(2)
    rec = gl.reconstruct(model, SCHEMA, multiplicities="known", budget_seconds=0.05)
    assert rec.status == "partial"
    assert not rec.exact
    assert any("budget ended" in line for line in rec.certificate.statements)


def test_where_profiles_can_be_listed_the_other_way_stays(unlisted):
    _, _, model = trained(0)
    with pytest.raises(ModelTooLargeError, match="too many things"):
        reconstruct_replayed(
            model, SCHEMA, deadline=np.inf, enumerable_elsewhere=10**30
        )  # fmt: skip


def test_classes_and_rare_rows_are_settled_rightly():
    X, y, model = trained(4)
    problem = problem_of(model, SCHEMA, drawn_rows(model), Known())
    settled = settle(problem, np.inf, 0, lambda _step, _share: None)
    assert settled.allowed[np.arange(N_ROWS), y].all()
    assert settled.allowed.sum() < 2 * N_ROWS
    leaves = model.apply(X.to_numpy())
    for i in np.flatnonzero(settled.certain):
        profile = np.array(
            [[np.argmax(problem.layout.bits(settled.box[i : i + 1], b)[0])]
             for b in range(len(problem.space.blocks))]
        ).T  # fmt: skip
        drawn = problem.drawn[:, i] > 0
        got = model.apply(problem.space.values(profile.astype(np.int32)))[0]
        assert (got == leaves[i])[drawn].all()


def searched_rows(model, level=None, seed=0):
    """The rows of a search as it starts, or with the given levels, and what it searches for."""
    problem = problem_of(model, SCHEMA, drawn_rows(model), Known())
    settled = settle(problem, np.inf, 0, lambda _step, _share: None)
    task, _ = _mixed._task(problem, settled, midpoints=True)
    rng = np.random.default_rng(seed)
    rows = task.start(seed, rng, None, np.zeros(N_ROWS, dtype=bool))
    return problem, task, rows


@pytest.mark.parametrize("temperature", [5.0, 0.5])
@pytest.mark.parametrize("missing", [False, True])
def test_the_books_are_kept(temperature, missing):
    """After many moves, leaves and figures are what counting from scratch gives."""
    _, _, model = trained(6, missing=missing)
    problem, task, rows = searched_rows(model)
    rows.allowed = np.ones((N_ROWS, 2), dtype=bool)
    for _ in range(20):
        assert rows.sweep(temperature, 1.0) > 0
    again = Rows(task.grove, task.terms, rows.levels, rows.labels, 0, rows.times)
    drawn = rows.times > 0
    np.testing.assert_array_equal(rows.leaf[drawn], again.leaf[drawn])
    for name in ("held", "seen", "counts", "node"):
        np.testing.assert_array_equal(getattr(rows, name), getattr(again, name), err_msg=name)
    # The leaves are those of the model itself.
    values = values_of(task.axes, rows.levels, len(model.columns))
    for t, part in enumerate(problem.facts.parts):
        own = part.assign(values) + problem.leaves.first[t]
        np.testing.assert_array_equal(own[drawn[:, t]], rows.leaf[drawn[:, t], t])


@pytest.mark.parametrize("missing", [False, True])
def test_the_truth_has_no_energy(missing):
    X, y, model = trained(7, missing=missing)
    _, task, rows = searched_rows(model)
    assert rows.energy > 0
    rows.place(levels_of(task.axes, X.to_numpy()), y)
    assert rows.energy == 0
    assert rows.not_half_way == 0
