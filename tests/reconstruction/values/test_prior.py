"""What stands out among the values of a column: round numbers, zeros, values seen before."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

import glassleak as gl
from glassleak.reconstruction.values import recover_values
from glassleak.reconstruction.values._choose import choose
from glassleak.reconstruction.values._lattice import lattice_of, step_of
from glassleak.reconstruction.values._prior import prior_of

AMOUNT = gl.Ordinal("amount", 0, 1_000_000)


def prior(values: np.ndarray, width: float = 5_000.0, attribute=AMOUNT):
    """As if every value were known up to `width`, with thresholds half way between neighbours."""
    ordered = np.unique(values)
    thresholds = (ordered[1:] + ordered[:-1]) / 2
    low, high = np.maximum(values - width, 0), values + width
    return prior_of(low, high, thresholds, lattice_of(attribute), step_of(attribute))


def test_sums_show_how_round_the_numbers_are():
    rng = np.random.default_rng(0)
    found = prior(10_000.0 * rng.integers(1, 80, 60))
    assert found.usual >= 10_000
    assert found.rounded(123_456, 0, 1e6) == 120_000
    assert found.rounded(123_456, 121_000, 124_000) == 123_456  # no round number fits
    uneven = prior(rng.integers(1, 800_000, 60).astype(float))
    assert uneven.usual == 1
    assert uneven.rounded(123_456, 0, 1e6) == 123_456


def test_linked_rows_that_are_round_together_are_found():
    rng = np.random.default_rng(1)
    true = np.array([20_000.0, 35_000, 50_000, 80_000, 110_000])
    shift = 237.0  # r is off by this; rows of the other class move the other way
    found = prior(rng.integers(1, 200_000, 50).astype(float))
    sign = np.array([1.0, -1, 1, -1, 1])
    r = choose(found, lattice_of(AMOUNT), sign, true - sign * shift, shift - 900, shift + 700)
    assert r == shift
    uneven = true + rng.integers(1, 900, 5)
    assert choose(found, lattice_of(AMOUNT), sign, uneven, -900, 700) is None


def test_rows_that_could_all_be_zero_are():
    found = prior(np.r_[np.zeros(8), np.arange(1, 30) * 777.0], width=300)
    assert choose(found, lattice_of(AMOUNT), np.ones(8), np.zeros(8), 0, 300) == 0


def test_without_steps_nothing_stands_out():
    rate = gl.Numeric("rate", 0, 1)
    found = prior(np.linspace(0.1, 0.9, 30), 0.05, rate)
    assert choose(found, lattice_of(rate), np.ones(1), np.zeros(1), 0.2, 0.3) is None
    assert found.usual == 0


@pytest.mark.parametrize("kind", ["finer than single precision", "codes"])
def test_steps_that_cannot_be_seen_are_none(kind):
    fine = gl.Numeric("x", 0, 1e7, resolution=0.01)
    attribute = (
        fine if kind == "finer than single precision" else gl.Categorical("x", levels=[1, 2])
    )
    assert step_of(attribute) == 0


@pytest.mark.parametrize("seed", range(3))
def test_round_amounts_come_back(seed):
    """Two classes: one number per column is open, and being round settles it."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"amount": 1000.0 * rng.permutation(np.arange(10, 50))})
    y = rng.integers(0, 2, 40)
    model = gl.read(RandomForestClassifier(40, random_state=seed).fit(X, y))
    schema = gl.Schema([gl.Ordinal("amount", 0, 100_000)])
    values = recover_values(model, schema, X, model.bagging.multiplicities(40, 40))
    assert not values.exact["amount"].any()  # nobody can prove it
    assert (values.table["amount"] == X["amount"]).mean() > 0.6
