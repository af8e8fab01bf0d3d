"""Optimal trees: two solvers and brute force agree, and nothing of the table is kept."""

from __future__ import annotations

import itertools
import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glassleak as gl
from glassleak.errors import BudgetExhaustedError, MissingExtraError
from glassleak.learners import OptimalTreeClassifier, _tree_search

pytest.importorskip("pystreed")


def table(seed: int, n: int, d: int, classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(n, d)).astype(float)
    score = X @ rng.normal(size=d) + rng.normal(size=n)
    return X, np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score)


def all_trees(
    X: np.ndarray, y: np.ndarray, here: np.ndarray, free: int, depth: int, least: int, price: float
) -> list[tuple[float, float]]:
    """(cost, remaining bits) of every tree."""
    n = int(here.sum())
    out = [(float(n - np.bincount(y[here]).max()), float(n * free))]
    for j in range(X.shape[1] if depth else 0):
        low, high = here & (X[:, j] == 0), here & (X[:, j] == 1)
        if min(low.sum(), high.sum()) < least:
            continue
        sides = [all_trees(X, y, s, free - 1, depth - 1, least, price) for s in (low, high)]
        out += [(a + b + price, u + v) for (a, u), (b, v) in itertools.product(*sides)]
    return out


@given(
    seed=st.integers(0, 10**6), n=st.integers(4, 60), d=st.integers(1, 4),
    classes=st.integers(2, 3), depth=st.integers(0, 2), least=st.integers(1, 8),
    price=st.sampled_from([0.0, 0.5, 2.0]),
)  # fmt: skip
def test_all_optimal_trees_by_brute_force(seed, n, d, classes, depth, least, price):
    X, y = table(seed, n, d, classes)
    trees = all_trees(X, y, np.ones(n, bool), d, depth, least, price)
    best = min(cost for cost, _ in trees)
    unknown = [bits / (n * d) for cost, bits in trees if cost <= best + 1e-9]
    fitted = OptimalTreeClassifier(
        depth, least, regularization=price / n, tie_break="least_leaky"
    ).fit(X, y)
    assert fitted.certificate_.objective * n == pytest.approx(best)
    assert fitted.certificate_.errors == (fitted.predict(X) != y).sum()
    assert fitted.ties_.n_models == len(unknown)
    assert fitted.ties_.dist_g_range == pytest.approx((min(unknown), max(unknown)))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("price", [0.0, 0.01])
def test_both_solvers_agree(seed, depth, price):
    X, y = table(seed, 300, 6, 2 + seed % 2)
    ways = [{"solver": "streed"}, {"solver": "own"}, {"tie_break": "least_leaky"}]
    found = [
        OptimalTreeClassifier(depth, 0.02, regularization=price, **way).fit(X, y) for way in ways
    ]
    assert {fitted.certificate_.status for fitted in found} == {"optimal"}
    for fitted in found:
        assert fitted.certificate_.objective == pytest.approx(found[0].certificate_.objective)
        assert fitted.certificate_.lower_bound == fitted.certificate_.objective


@given(
    seed=st.integers(0, 10**6), n=st.integers(20, 300), d=st.integers(2, 7),
    classes=st.integers(2, 3), depth=st.integers(3, 5), least=st.integers(1, 20),
    price=st.sampled_from([0.0, 0.5, 2.0]),
)  # fmt: skip
def test_deeper_trees_against_a_plain_recursion(seed, n, d, classes, depth, least, price):
    X, y = table(seed, n, d, classes)
    known: dict[tuple[bytes, int], float] = {}

    def cheapest(here: np.ndarray, k: int) -> float:
        key = (here.tobytes(), k)
        if key not in known:
            best = float(here.sum() - np.bincount(y[here]).max())
            for j in range(d if k else 0):
                low, high = here & (X[:, j] == 0), here & (X[:, j] == 1)
                if min(low.sum(), high.sum()) >= least:
                    best = min(best, price + cheapest(low, k - 1) + cheapest(high, k - 1))
            known[key] = best
        return known[key]

    monkeypatch = pytest.MonkeyPatch()
    with monkeypatch.context() as patch:
        patch.setattr(_tree_search, "_ROOM", 2)
        patch.setattr(_tree_search, "_SLICE", 500)
        fitted = OptimalTreeClassifier(depth, least, regularization=price / n).fit(X, y)
    assert fitted.certificate_.status == "optimal"
    assert fitted.certificate_.objective * n == pytest.approx(cheapest(np.ones(n, bool), depth))
    leaves = fitted.counts_[fitted.feature_ < 0].sum(axis=1)
    assert len(leaves) == 1 or leaves.min() >= least


@given(
    seed=st.integers(0, 10**6), n=st.integers(30, 300), d=st.integers(4, 7),
    room=st.sampled_from([1, 2, 5, 20, 60]),
)  # fmt: skip
def test_an_interrupted_search_has_a_tree_and_true_bounds(seed, n, d, room):
    X, y = table(seed, n, d)
    whole = OptimalTreeClassifier(4, 2).fit(X, y).certificate_
    monkeypatch = pytest.MonkeyPatch()
    with monkeypatch.context() as patch:
        patch.setattr(_tree_search, "_ROOM", room)
        patch.setattr(_tree_search.TreeSearch, "_grow", lambda _: False)
        fitted = OptimalTreeClassifier(4, 2).fit(X, y)
    proof = fitted.certificate_
    assert proof.lower_bound <= whole.objective + 1e-12 <= proof.objective + 2e-12
    assert proof.status == "budget" or proof.errors == whole.errors
    assert proof.errors == (fitted.predict(X) != y).sum()


@pytest.mark.parametrize("solver", ["own", "streed"])
def test_what_is_published_is_the_tree_and_nothing_else(tmp_path, solver):
    import skops.io

    X, y = table(1, 500, 6)
    fitted = OptimalTreeClassifier(3, solver=solver).fit(X, y)
    model = gl.read(fitted)
    assert model == fitted.to_model()
    leaves = fitted.apply(X)
    for node in np.flatnonzero(fitted.feature_ < 0):
        np.testing.assert_array_equal(
            model.counts.values[node], np.bincount(y[leaves == node], minlength=2)
        )
    skops.io.dump(fitted, tmp_path / "tree.skops")
    opened = gl.readers.open_model(tmp_path / "tree.skops")
    assert opened.model == model
    assert opened.artefacts == ()


def test_continuous_columns_are_cut_and_replayed():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] + 0.3 * X[:, 1] > 0.2).astype(int)
    fitted = OptimalTreeClassifier(2).fit(X, y)
    assert fitted.score(X, y) > 0.85
    model = fitted.to_model()
    assert model.precision == "float64"
    at = model.apply(X)
    np.testing.assert_array_equal(at, fitted.apply(X))


def test_without_the_extra_the_error_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pystreed", None)
    X, y = table(0, 60, 3)
    with pytest.raises(MissingExtraError, match=r"glassleak\[optimal\]"):
        OptimalTreeClassifier(2, solver="streed").fit(X, y)
    OptimalTreeClassifier(2).fit(X, y)


def test_a_budget_that_ends():
    X, y = table(0, 2000, 25)
    with pytest.raises(BudgetExhaustedError, match="depth 6"):
        OptimalTreeClassifier(6, 1, tie_break="least_leaky", budget_seconds=0.05).fit(X, y)


def test_a_schema_decides_what_leaks():
    """Splits on one-hot columns of one attribute leave fewer profiles than independent columns."""
    rng = np.random.default_rng(2)
    level = rng.integers(0, 3, 200)
    X = np.column_stack([level == 0, level == 1, level == 2, rng.integers(0, 2, 200)]).astype(float)
    y = (level == 0).astype(int)
    schema = gl.Schema([gl.Categorical("c", columns=["x0", "x1", "x2"]), gl.Binary("x3")])
    fitted = OptimalTreeClassifier(1, tie_break="least_leaky", schema=schema).fit(X, y)
    inside, outside = fitted.counts_[2].sum(), fitted.counts_[1].sum()
    expected = (inside * math.log2(2) + outside * math.log2(4)) / (200 * math.log2(6))
    assert fitted.ties_.dist_g == pytest.approx(expected)
