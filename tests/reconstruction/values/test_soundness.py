"""Whatever the table and the forest: no proved value is wrong, no row leaves its leaves."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

import glassleak as gl
from glassleak.reconstruction.values import recover_values


@st.composite
def columns(draw: st.DrawFn, n_rows: int) -> tuple[np.ndarray, float | None]:
    """Numbers with ties, zeros and round values, and their resolution."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    kind = draw(st.sampled_from(["small", "amounts", "round", "decimals", "any"]))
    if kind == "small":
        return rng.integers(0, 9, n_rows).astype(float), 1.0
    if kind == "amounts":
        amounts = rng.integers(-500, 100_000, n_rows)
        return np.where(rng.random(n_rows) < 0.3, 0, amounts).astype(float), 1.0
    if kind == "round":
        return 1000.0 * rng.integers(0, 60, n_rows), 1.0
    if kind == "decimals":
        return np.round(rng.gamma(2, 3, n_rows).clip(0, 90), 1), 0.1
    return rng.normal(size=n_rows).clip(-5, 5), None


@st.composite
def cases(draw: st.DrawFn):
    n_rows = draw(st.integers(6, 30))
    table, attributes = {}, []
    for i in range(draw(st.integers(1, 3))):
        values, step = draw(columns(n_rows))
        missing = draw(st.booleans())
        if missing:
            values[:: draw(st.integers(3, 6))] = np.nan
        table[f"x{i}"] = values
        low = -500.0 if step else -5.0
        high = 100_000.0 if step == 1.0 else 90.0
        attributes.append(gl.Numeric(f"x{i}", low, high, step, missing=missing))
    seed = draw(st.integers(0, 10**6))
    y = np.random.default_rng(seed).integers(0, draw(st.integers(2, 3)), n_rows)
    y[0], y[1] = 0, 1
    kind = draw(
        st.sampled_from([RandomForestClassifier, RandomForestClassifier, ExtraTreesClassifier])
    )
    bootstrap = draw(st.booleans())
    learner = kind(draw(st.integers(1, 25)), bootstrap=bootstrap, random_state=seed)
    return pd.DataFrame(table), y, gl.Schema(attributes), learner


@settings(max_examples=60, deadline=None)
@given(case=cases())
def test_intervals_hold_the_truth(case):
    X, y, schema, learner = case
    model = gl.read(learner.fit(X, y))
    draws = None
    if learner.bootstrap:
        draws = model.bagging.multiplicities(len(model), len(X))
    values = recover_values(model, schema, X, draws)
    assert values.conflicts == ()
    truth = X.to_numpy().astype(np.float32).astype(float)
    slack = 1e-6 * (1 + np.abs(truth))
    low, high = values.low.to_numpy(float), values.high.to_numpy(float)
    absent = np.isnan(truth)
    assert ((low - slack <= truth) & (truth <= high + slack) | absent).all()
    got = values.table.to_numpy(float)
    assert (np.isnan(got) == absent).all()
    right = np.abs(got - truth) <= slack
    assert (right | absent)[values.exact.to_numpy()].all()
    # Guesses never send a row elsewhere.
    drawn = np.ones((len(X), len(model)), dtype=bool) if draws is None else draws.T > 0
    assert ((model.apply(got) == model.apply(X.to_numpy())) | ~drawn).all()
    if not values.midpoints:
        # Thresholds drawn at random leave one number only where no other fits between them.
        step = np.array([attribute.resolution or 1e-9 for attribute in schema])
        assert (high - low < step)[values.exact.to_numpy() & ~absent].all()


@settings(max_examples=25, deadline=None)
@given(case=cases(), some=st.floats(0.2, 0.9), seed=st.integers(0, 1000))
def test_rows_in_the_wrong_place_cannot_make_a_wrong_value_proved(case, some, seed):
    """What is said to be certain is right, everything else is shuffled."""
    X, y, schema, learner = case
    learner.set_params(bootstrap=False)
    model = gl.read(learner.fit(X, y))
    rng = np.random.default_rng(seed)
    certain = rng.random(len(X)) < some
    table = X.copy()
    doubtful = np.flatnonzero(~certain)
    table.iloc[doubtful] = X.iloc[rng.permutation(doubtful)].to_numpy()
    mask = np.repeat(certain[:, None], X.shape[1], axis=1)
    values = recover_values(model, schema, table, certain=mask)
    truth = X.to_numpy().astype(np.float32).astype(float)
    right = np.abs(values.table.to_numpy(float) - truth) <= 1e-6 * (1 + np.abs(truth))
    exact = values.exact.to_numpy()
    assert not exact[~certain].any()
    # Guesses come from all rows; that a value is proved comes from certain ones alone.
    assert (right | np.isnan(truth))[exact].all()
