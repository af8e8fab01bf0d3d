"""What the learners say leaks is what `glassleak.uncertainty` finds in the finished model."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glassleak as gl
from glassleak.errors import SchemaError
from glassleak.learners import OptimalRuleListClassifier, OptimalTreeClassifier
from glassleak.uncertainty import uncertainty


def mixed(seed: int, n: int = 250) -> tuple[pd.DataFrame, np.ndarray, gl.Schema]:
    """A table with one-hot, ordinal, numeric and yes/no attributes, and its schema."""
    rng = np.random.default_rng(seed)
    colour = rng.integers(0, 3, n)
    frame = pd.DataFrame({f"colour{c}": (colour == c).astype(int) for c in range(3)})
    frame["grade"] = rng.integers(0, 5, n)
    frame["age"] = rng.integers(18, 70, n)
    frame["member"] = rng.integers(0, 2, n)
    score = (colour == 1) + 0.4 * frame["grade"] - 0.03 * frame["age"] + frame["member"]
    label = (score + rng.normal(size=n) > 0.4).to_numpy().astype(int)
    schema = gl.Schema(
        [
            gl.Categorical("colour", columns=["colour0", "colour1", "colour2"]),
            gl.Ordinal("grade", low=0, high=4),
            gl.Numeric("age", low=18, high=69, resolution=1),
            gl.Binary("member"),
        ]
    )
    return frame, label, schema


@given(seed=st.integers(0, 10**6), d=st.integers(2, 6), width=st.integers(1, 2))
def test_columns_on_their_own(seed, d, width):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 2, size=(80, d)), columns=[f"c{i}" for i in range(d)])
    y = rng.integers(0, 2, 80)
    fitted = OptimalRuleListClassifier(3, 3, max_width=width, tie_break="least_leaky").fit(X, y)
    schema = gl.Schema([gl.Binary(c) for c in X.columns])
    assert uncertainty(fitted.to_model(), schema).dist_g == pytest.approx(fitted.ties_.dist_g)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("width", [1, 2])
def test_rule_lists_with_a_schema(seed, width):
    X, y, schema = mixed(seed)
    fitted = OptimalRuleListClassifier(
        3, max_width=width, tie_break="least_leaky", schema=schema, tolerance=0.01
    ).fit(X, y)
    assert fitted.ties_.complete
    assert uncertainty(fitted.to_model(), schema).dist_g == pytest.approx(fitted.ties_.dist_g)
    low, high = fitted.ties_.dist_g_range
    assert low <= fitted.ties_.dist_g == high <= 1


@pytest.mark.parametrize("seed", range(5))
def test_trees_with_a_schema(seed):
    X, y, schema = mixed(seed)
    fitted = OptimalTreeClassifier(3, tie_break="least_leaky", schema=schema).fit(X, y)
    assert uncertainty(fitted.to_model(), schema).dist_g == pytest.approx(fitted.ties_.dist_g)


def test_a_shortest_list_is_among_the_ties():
    X, y, schema = mixed(1)
    short = OptimalRuleListClassifier(4).fit(X, y)
    ties = OptimalRuleListClassifier(4, tie_break="least_leaky", schema=schema).fit(X, y).ties_
    low, high = ties.dist_g_range
    assert low - 1e-12 <= uncertainty(short.to_model(), schema).dist_g <= high + 1e-12


@pytest.mark.parametrize("learner", [OptimalRuleListClassifier, OptimalTreeClassifier])
def test_schemas_that_do_not_fit(learner):
    X, y, schema = mixed(0)
    fit = learner(2, tie_break="least_leaky", schema=schema).fit
    with pytest.raises(SchemaError, match="does not allow"):
        fit(X.assign(colour0=1, colour1=(X["colour1"] + np.arange(len(X))) % 2), y)
    endless = gl.Schema([*list(schema)[:2], gl.Numeric("age", low=0, high=99), gl.Binary("member")])
    with pytest.raises(SchemaError, match="resolution"):
        learner(2, tie_break="least_leaky", schema=endless).fit(X, y)


def test_ties_when_time_ends():
    """What was found is still a list within the tolerance, and says that there may be more."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, 2, size=(4000, 14)).astype(float)
    y = (X[:, :7].sum(axis=1) + rng.normal(size=4000) > 3.5).astype(int)
    fitted = OptimalRuleListClassifier(
        6, tie_break="least_leaky", tolerance=0.05, budget_seconds=2
    ).fit(X, y)
    assert not fitted.ties_.complete
    assert fitted.ties_.n_models >= 1
    proof = fitted.certificate_
    assert proof.errors == (fitted.predict(X) != y).sum()
    assert proof.lower_bound <= proof.objective
