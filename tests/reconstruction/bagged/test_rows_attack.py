"""Raw tables of bagged forests without seeds: rows that make the samples likely."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

import glassleak as gl
from glassleak.errors import UnsupportedModelError
from glassleak.reconstruction.bagged._evidence import evidence_of
from glassleak.reconstruction.bagged._rows_attack import likely_labels
from glassleak.reconstruction.mixed._terms import likely_terms

SCHEMA = gl.Schema(
    [
        gl.Ordinal("age", 18, 90),
        gl.Numeric("income", 0, 100_000, resolution=100, missing=True),
        gl.Categorical("home", columns=["own", "rent", "free"]),
        gl.Categorical("region", levels=[0, 1, 2, 3]),
        *[gl.Ordinal(f"x{i}", 0, 99) for i in range(8)],
    ]
)


def people(n_rows: int, seed: int, missing: bool = False) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    home = rng.integers(0, 3, n_rows)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 91, n_rows),
            "income": 100.0 * rng.integers(0, 1001, n_rows),
            "own": home == 0,
            "rent": home == 1,
            "free": home == 2,
            "region": rng.integers(0, 4, n_rows),
            **{f"x{i}": rng.integers(0, 100, n_rows) for i in range(8)},
        }
    ).astype(float)
    score = X["age"] / 60 + X["income"] / 50_000 + X["own"] + rng.normal(0, 0.4, n_rows)
    if missing:
        X.loc[::5, "income"] = np.nan
    return X, (score > np.quantile(score, 0.6)).astype(int).to_numpy()


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
def test_better_than_guessing_and_said_to_be_likely_only(kind):
    X, y = people(40, 0, missing=kind is RandomForestClassifier)
    model = gl.read(kind(80, bootstrap=True, random_state=0).fit(X, y))
    rec = gl.reconstruct(model, SCHEMA, multiplicities="unknown", budget_seconds=8)
    assert (rec.formulation, rec.status, rec.exact) == ("search", "likely", False)
    assert rec.certificate.unique is None
    assert rec.certificate.certain_rows == 0
    assert ((rec.confidence >= 0) & (rec.confidence < 1)).all()
    assert len(rec.table) == len(X)
    assert not SCHEMA.invalid_rows(rec.table).any()
    assert np.abs(np.bincount(rec.labels) - np.bincount(y)).max() <= 1
    error = gl.reconstruction_error(X, rec.table, SCHEMA)
    assert error < 0.75 * gl.random_baseline(model, SCHEMA, X, repeats=5).mean


def test_side_knowledge_is_refused():
    X, y = people(30, 1)
    model = gl.read(RandomForestClassifier(20, random_state=0).fit(X, y))
    with pytest.raises(UnsupportedModelError, match="side knowledge"):
        gl.reconstruct(
            model, SCHEMA, gl.Known(columns=X[["age"]]), multiplicities="unknown",
            formulation="search",
        )  # fmt: skip


def test_progress_is_told_and_can_cancel():
    X, y = people(30, 2)
    model = gl.read(RandomForestClassifier(20, random_state=0).fit(X, y))

    class Stop(Exception):
        pass

    def progress(step: str, share: float) -> None:
        assert 0 <= share <= 1
        if step == "looking around":
            raise Stop

    with pytest.raises(Stop):
        gl.reconstruct(model, SCHEMA, multiplicities="unknown", budget_seconds=3, progress=progress)


def test_class_totals_follow_from_all_draws():
    X, y = people(60, 3)
    model = gl.read(RandomForestClassifier(100, random_state=0).fit(X, y))
    labels = likely_labels(evidence_of(model))
    assert len(labels) == 60
    assert np.abs(np.bincount(labels) - np.bincount(y)).max() <= 1


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 12), st.integers(1, 12), st.integers(2, 30))
def test_pure_leaves_have_the_exact_probability(distinct, more, n_rows):
    """The energy differs from minus the logarithm of C(h, d) by a constant, and lacking costs."""
    from math import comb, log

    draws = np.array([[distinct + more, 0]])
    terms = likely_terms(
        draws, np.array([distinct]), n_rows, n_draws=np.array([n_rows]), penalty=4.0
    )
    line = terms.term[terms.kind[0, 0]]
    ways = [log(comb(h, distinct)) for h in range(distinct, n_rows + 1)]
    if ways:
        np.testing.assert_allclose(np.diff(line[distinct : n_rows + 1]), -np.diff(ways), atol=1e-9)
    lacking = line[: min(distinct, n_rows) + 1]
    np.testing.assert_allclose(np.diff(lacking), -4.0)
    assert not terms.term[terms.kind[0, 1]].any()


def test_distinct_rows_are_shared_out_among_classes():
    draws = np.array([[6, 2], [1, 1], [3, 0]])
    terms = likely_terms(
        draws, np.array([5, 2, 2]), 40, n_draws=np.array([40, 40, 40]), penalty=1.0
    )
    # A class drawn once has one row; both leaves agree on what that costs.
    assert terms.kind[1, 0] == terms.kind[1, 1]
    first = [int(np.argmax(np.diff(terms.term[k]) > -1.0)) for k in terms.kind[0]]
    assert first[0] >= first[1] >= 1
