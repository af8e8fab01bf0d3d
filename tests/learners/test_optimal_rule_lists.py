"""Optimal rule lists against brute force, and what the certificate says when time runs out."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glassleak as gl
from glassleak.learners import GreedyRuleListClassifier, OptimalRuleListClassifier, _optimal_search
from glassleak.models import RuleList
from glassleak.uncertainty import uncertainty

LEARNER = OptimalRuleListClassifier


def table(seed: int, n: int, d: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(n, d)).astype(float)
    score = X @ rng.normal(size=d) + rng.normal(size=n)
    cuts = np.quantile(score, np.arange(1, classes) / classes)
    return X, np.searchsorted(cuts, score)


def candidates(X: np.ndarray, width: int, columns: np.ndarray) -> list[np.ndarray]:
    """Every conjunction of up to `width` of `columns` or their negations: rows it holds for."""
    signs = [(j, bool(s)) for j in columns for s in (1, 0)]
    return [
        np.all([(X[:, j] == 1) == s for j, s in chosen], axis=0)
        for size in range(1, width + 1)
        for chosen in itertools.combinations(signs, size)
        if len({j for j, _ in chosen}) == size
    ]


def brute_force(
    X: np.ndarray, y: np.ndarray, length: int, least: int, width: int = 1, price: float = 0.0,
    rest: int = 1, table_support: int | None = None, bits: bool = False, tolerance: float = 0.0,
) -> tuple[float, list[float]]:  # fmt: skip
    """Smallest errors + price * rules over all lists, and the remaining bits of the best ones."""
    varying = np.flatnonzero(X.min(axis=0) < X.max(axis=0))  # a constant column has no conditions
    rules = candidates(X, width, varying)
    profiles = np.array(list(itertools.product([0, 1], repeat=X.shape[1])))
    spaces = candidates(profiles, width, varying)
    if table_support is not None:
        keep = [table_support <= r.sum() <= len(X) - table_support for r in rules]
        rules = [r for r, k in zip(rules, keep, strict=True) if k]
        spaces = [s for s, k in zip(spaces, keep, strict=True) if k]
        least = 1
    found: list[tuple[float, float]] = []

    def go(left: np.ndarray, space: np.ndarray, cost: float, unknown: float, k: int) -> None:
        stop = left.sum() - np.bincount(y[left]).max()
        found.append((cost + stop, unknown + left.sum() * math.log2(space.sum())))
        if k == 0:
            return
        for rule, holds in zip(rules, spaces, strict=True):
            hit = left & rule
            if hit.sum() < least or (left & ~rule).sum() < rest:
                continue
            errors = hit.sum() - np.bincount(y[hit]).max()
            more = hit.sum() * math.log2((space & holds).sum()) if bits else 0.0
            go(left & ~rule, space & ~holds, cost + errors + price, unknown + more, k - 1)

    go(np.ones(len(X), bool), np.ones(len(profiles), bool), 0.0, 0.0, length)
    best = min(cost for cost, _ in found)
    return best, [unknown for cost, unknown in found if cost <= best + tolerance + 1e-9]


def replay(model: RuleList, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    counts = np.zeros((len(model.rules), len(model.classes)), dtype=np.int64)
    np.add.at(counts, (model.apply(X), np.searchsorted(model.classes, y)), 1)
    return counts


@given(
    seed=st.integers(0, 10**6), n=st.integers(5, 60), d=st.integers(1, 4),
    classes=st.integers(2, 3), length=st.integers(0, 3), support=st.integers(0, 12),
    protect=st.booleans(), of_table=st.booleans(),
)  # fmt: skip
def test_as_few_errors_as_brute_force(seed, n, d, classes, length, support, protect, of_table):
    X, y = table(seed, n, d, classes)
    fitted = LEARNER(
        length, support, protect_default=protect, support_of="table" if of_table else "captured"
    ).fit(X, y)
    least = max(1, support)
    errors, _ = brute_force(
        X, y, length, least, rest=least if protect else 1, table_support=least if of_table else None
    )
    proof = fitted.certificate_
    assert proof.status == "optimal"
    assert proof.errors == errors == (fitted.predict(X) != y).sum()
    assert proof.lower_bound == pytest.approx(errors / n)
    captured = fitted.counts_[:-1].sum(axis=1)
    assert len(captured) <= length
    assert (captured >= (1 if of_table else least)).all()


@given(
    seed=st.integers(0, 10**6), n=st.integers(10, 50), d=st.integers(2, 3),
    length=st.integers(1, 2), support=st.floats(0, 0.3), width=st.integers(2, 3),
)  # fmt: skip
def test_conjunctions_against_brute_force(seed, n, d, length, support, width):
    X, y = table(seed, n, d, 2)
    fitted = LEARNER(length, support, max_width=width).fit(X, y)
    least = next(m for m in range(1, n + 2) if m / n >= support)
    assert fitted.certificate_.errors == brute_force(X, y, length, least, width)[0]


@given(seed=st.integers(0, 10**6), n=st.integers(10, 60), price=st.sampled_from([0.5, 1.5, 3.0]))
def test_the_price_of_a_rule(seed, n, price):
    X, y = table(seed, n, 3, 2)
    fitted = LEARNER(3, 1, regularization=price / n).fit(X, y)
    best, _ = brute_force(X, y, 3, 1, price=price)
    assert fitted.certificate_.status == "optimal"
    assert fitted.certificate_.objective * n == pytest.approx(best)
    assert fitted.certificate_.errors + price * (len(fitted.rules_) - 1) == pytest.approx(best)


@given(
    seed=st.integers(0, 10**6), n=st.integers(8, 50), d=st.integers(2, 4), length=st.integers(1, 3),
    least=st.integers(1, 8), width=st.integers(1, 2), price=st.sampled_from([0.0, 0.5, 1.0]),
    tolerance=st.integers(0, 4),
)  # fmt: skip
def test_least_leaky_is_the_best_of_all_good_lists(
    seed, n, d, length, least, width, price, tolerance
):
    if width == 2:
        d, length = min(d, 3), min(length, 2)
    X, y = table(seed, n, d, 2)
    fitted = LEARNER(
        length, least, max_width=width, tie_break="least_leaky", regularization=price / n,
        tolerance=tolerance / n,
    ).fit(X, y)  # fmt: skip
    best, unknown = brute_force(X, y, length, least, width, price, bits=True, tolerance=tolerance)
    ties = fitted.ties_
    scale = n * d
    assert fitted.certificate_.lower_bound * n == pytest.approx(best)
    assert fitted.certificate_.objective * n <= best + tolerance + 1e-9
    assert ties.complete
    assert ties.n_models == len(unknown)
    assert ties.dist_g_range == pytest.approx((min(unknown) / scale, max(unknown) / scale))
    assert ties.dist_g == ties.dist_g_range[1]


@pytest.mark.parametrize("tolerance", [0.0, 0.02, 0.1])
def test_giving_up_errors_for_less_leakage(tolerance):
    X, y = table(3, 200, 5, 2)
    exact = LEARNER(4, tie_break="least_leaky").fit(X, y)
    loose = LEARNER(4, tie_break="least_leaky", tolerance=tolerance).fit(X, y)
    assert loose.ties_.dist_g >= exact.ties_.dist_g
    assert loose.ties_.n_models >= exact.ties_.n_models
    assert loose.certificate_.lower_bound == exact.certificate_.objective
    assert loose.certificate_.objective <= exact.certificate_.objective + tolerance + 1e-12
    given_up = loose.certificate_.objective > exact.certificate_.objective
    assert loose.certificate_.status == ("tolerance" if given_up else "optimal")
    assert given_up or tolerance < 0.1


def test_shortest_of_equally_good_lists():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(100, 5)).astype(float)
    fitted = LEARNER(5).fit(X, X[:, 3].astype(int))
    assert len(fitted.rules_) == 2
    assert fitted.certificate_.errors == 0


@pytest.mark.parametrize("seed", range(5))
def test_never_worse_than_greedy(seed):
    X, y = table(seed, 400, 8, 2)
    for width in (1, 2):
        greedy = GreedyRuleListClassifier(3, 0.02, width).fit(X, y)
        optimal = LEARNER(3, 0.02, width).fit(X, y)
        assert optimal.certificate_.status == "optimal"
        assert optimal.score(X, y) >= greedy.score(X, y)


def hard_table() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, size=(3000, 30)).astype(float)
    return X, rng.integers(0, 2, 3000)


def test_a_budget_that_ends_gives_a_valid_list_and_a_true_gap():
    X, y = hard_table()
    fitted = LEARNER(8, 0.001, budget_seconds=0.3).fit(X, y)
    proof = fitted.certificate_
    assert proof.status == "budget"
    assert proof.gap == pytest.approx(proof.objective - proof.lower_bound)
    assert proof.gap > 0
    assert proof.errors == (fitted.predict(X) != y).sum()
    solved = [low for _, low, high in proof.frontier if low == high]
    assert solved, "at least the empty list is solved"
    assert all(low <= high for _, low, high in proof.frontier)
    assert proof.objective >= proof.lower_bound


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("budget", [0, 0.2, 1])
def test_without_proof_there_are_no_ties_to_compare(width, budget):
    X, y = hard_table()
    fitted = LEARNER(
        6, 0.01, width, tie_break="least_leaky", tolerance=0.01, budget_seconds=budget
    ).fit(X, y)
    assert fitted.certificate_.status == "budget"
    assert not fitted.ties_.complete
    schema = gl.Schema([gl.Binary(f"x{i}") for i in range(X.shape[1])])
    assert uncertainty(fitted.to_model(), schema).dist_g == pytest.approx(fitted.ties_.dist_g)
    assert fitted.certificate_.errors == (fitted.predict(X) != y).sum()


def test_wide_rules_without_proof_are_no_worse_than_narrow_ones():
    rng = np.random.default_rng(2)
    X = rng.integers(0, 2, size=(3000, 16)).astype(float)
    y = (X[:, :6].sum(axis=1) + rng.normal(size=3000) > 3).astype(int)
    narrow = LEARNER(5, budget_seconds=30).fit(X, y)
    wide = LEARNER(5, max_width=3, budget_seconds=2).fit(X, y)
    assert narrow.certificate_.status == "optimal"
    assert wide.certificate_.errors <= narrow.certificate_.errors


def test_memory_that_ends_is_no_crash():
    X, y = hard_table()
    fitted = LEARNER(6, 0.001, memory_mb=1, budget_seconds=30).fit(X, y)
    assert fitted.certificate_.status == "budget"
    assert fitted.certificate_.errors == (fitted.predict(X) != y).sum()


def test_progress_is_reported():
    seen: list[tuple[str, float]] = []
    X, y = table(0, 200, 6, 2)
    LEARNER(3, progress=lambda *step: seen.append(step)).fit(X, y)
    assert {step for step, _ in seen} >= {f"lists of up to {k} rules" for k in (1, 2, 3)}
    assert [share for _, share in seen] == sorted(share for _, share in seen)


def test_raising_from_progress_cancels():
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    X, y = table(0, 200, 6, 2)
    with pytest.raises(KeyboardInterrupt):
        LEARNER(3, progress=stop).fit(X, y)


def test_too_many_candidates_are_refused():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(500, 60)).astype(float)
    with pytest.raises(ValueError, match="candidate rules"):
        LEARNER(2, 1, max_width=4).fit(X, rng.integers(0, 2, 500))


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"max_length": -1}, "max_length"),
        ({"max_length": 2.5}, "max_length"),
        ({"min_support": 1.0}, "min_support"),
        ({"min_support": -1}, "min_support"),
        ({"min_support": "many"}, "min_support"),
        ({"max_width": 0}, "max_width"),
        ({"regularization": -0.1}, "regularization"),
        ({"tolerance": float("nan")}, "tolerance"),
        ({"tie_break": "nicest"}, "tie_break"),
        ({"support_of": "rule"}, "support_of"),
        ({"budget_seconds": -1}, "budget_seconds"),
        ({"thresholds": {"age": [1]}}, "no column 'age'"),
        ({"thresholds": {0: [math.inf]}}, "finite"),
    ],
)
def test_wrong_parameters_are_named(wrong, match):
    X, y = table(0, 50, 3, 2)
    with pytest.raises(ValueError, match=match):
        LEARNER(**wrong).fit(X, y)


def test_published_counts_replay():
    X, y = table(7, 300, 6, 3)
    model = LEARNER(4).fit(X, y).to_model()
    np.testing.assert_array_equal(replay(model, X, y), model.counts.values)


@pytest.mark.parametrize("seed", range(2))
def test_longer_lists_against_a_plain_recursion(seed, monkeypatch):
    """No bounds at all; the search pauses often and its memory grows several times."""
    monkeypatch.setattr(_optimal_search, "_ROOM", 2)
    monkeypatch.setattr(_optimal_search, "_SLICE", 1000)
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(600, 7)).astype(float)
    y = rng.integers(0, 2, 600)
    holds = np.hstack([X == 1, X == 0])
    known: dict[tuple[bytes, int], int] = {}

    def fewest(left: np.ndarray, k: int) -> int:
        key = (left.tobytes(), k)
        if key not in known:
            best = int(left.sum() - np.bincount(y[left], minlength=2).max())
            inside = np.array([(holds[left & (y == c)]).sum(axis=0) for c in (0, 1)])
            for j in np.flatnonzero((inside.sum(axis=0) >= 4) & (k > 0)):
                rest = left & ~holds[:, j]
                if rest.any():
                    best = min(best, int(inside[:, j].min()) + fewest(rest, k - 1))
            known[key] = best
        return known[key]

    fitted = LEARNER(6, 4).fit(X, y)
    expected = [fewest(np.ones(600, bool), k) for k in range(7)]
    assert [high for _, _, high in fitted.certificate_.frontier] == expected
    assert [low for _, low, _ in fitted.certificate_.frontier] == expected
    assert fitted.certificate_.states > 100
    assert fitted.certificate_.errors == (fitted.predict(X) != y).sum()


@given(
    seed=st.integers(0, 10**6), n=st.integers(20, 120), d=st.integers(3, 6), k=st.integers(2, 4),
    room=st.sampled_from([1, 2, 3, 5, 9, 17, 40]),
)  # fmt: skip
def test_bounds_of_an_interrupted_search_are_true(seed, n, d, k, room):
    X, y = table(seed, n, d, 2)
    whole = LEARNER(k, 2).fit(X, y).certificate_
    cut = pytest.MonkeyPatch()
    with cut.context() as patch:
        # Room for so many sets of rows and no more: the search ends in the middle.
        patch.setattr(_optimal_search, "_ROOM", room)
        patch.setattr(_optimal_search.Search, "_grow", lambda _: False)
        fitted = LEARNER(k, 2).fit(X, y)
    proof = fitted.certificate_
    assert proof.lower_bound <= whole.objective + 1e-12 <= proof.objective + 2e-12
    assert proof.status == "budget" or proof.errors == whole.errors
    assert proof.errors == (fitted.predict(X) != y).sum()
    for (_, low, high), (_, exact, _) in zip(proof.frontier, whole.frontier, strict=True):
        assert low <= exact <= high
