"""Greedy rule lists against the definition, computed with exact fractions."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassleak.learners import GreedyRuleListClassifier


def table(seed: int, n: int, d: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(n, d)).astype(float)
    score = X @ rng.normal(size=d) + rng.normal(size=n)
    return X, np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score)


def gini(y: np.ndarray) -> Fraction:
    n = len(y)
    return 1 - sum((Fraction(int(c), n) ** 2 for c in np.bincount(y)), Fraction(0))


def candidates(X: np.ndarray, width: int) -> list[list[tuple[int, bool]]]:
    varying = [j for j in range(X.shape[1]) if len(np.unique(X[:, j])) > 1]
    signs = [(j, s) for j in varying for s in (True, False)]
    return [
        list(chosen)
        for size in range(1, width + 1)
        for chosen in itertools.combinations(signs, size)
        if len({j for j, _ in chosen}) == size
    ]


def by_definition(
    X: np.ndarray, y: np.ndarray, length: int, least: int, width: int, criterion: str
) -> list[list[tuple[int, bool]]]:
    """Ly et al., section 3.2, with the ties the class documents."""
    left = np.ones(len(X), bool)
    out: list[list[tuple[int, bool]]] = []
    while len(out) < length and len(np.unique(y[left])) > 1:
        ranked = []
        for order, rule in enumerate(candidates(X, width)):
            hit = left & np.all([(X[:, j] == 1) == s for j, s in rule], axis=0)
            rest = left & ~hit
            if hit.sum() < least or not rest.any():
                continue
            inside = gini(y[hit])
            share = Fraction(int(hit.sum()), int(left.sum()))
            both = share * inside + (1 - share) * gini(y[rest])
            if criterion == "captured":
                ranked.append((inside, order, rule, hit))
            elif both < gini(y[left]):
                ranked.append((both, inside, -int(hit.sum()), order, rule, hit))
        if not ranked:
            break
        *_, rule, hit = min(ranked, key=lambda r: r[:-2])
        out.append(rule)
        left &= ~hit
    return out


@given(
    seed=st.integers(0, 10**6), n=st.integers(4, 150), d=st.integers(1, 5),
    classes=st.integers(2, 4), length=st.integers(0, 5), least=st.integers(1, 12),
    width=st.integers(1, 3), criterion=st.sampled_from(["gini", "captured"]),
)  # fmt: skip
def test_the_rules_are_those_of_the_definition(
    seed, n, d, classes, length, least, width, criterion
):
    X, y = table(seed, n, d, classes)
    fitted = GreedyRuleListClassifier(length, least, width, criterion=criterion).fit(X, y)
    expected = by_definition(X, y, length, least, width, criterion)
    found = [[(c, low == 0.5) for c, low, _ in rule] for rule in fitted.conditions_[:-1]]
    assert found == expected


def test_support_of_the_table_and_of_the_default_rule():
    X, y = table(3, 400, 6, 2)
    for rule in GreedyRuleListClassifier(9, 0.2, 2, support_of="table").fit(X, y).conditions_[:-1]:
        holds = np.all([(X[:, c] > low) & (X[:, c] <= high) for c, low, high in rule], axis=0)
        assert 80 <= holds.sum() <= 320
    fitted = GreedyRuleListClassifier(9, 0.1, protect_default=True).fit(X, y)
    assert fitted.counts_.sum(axis=1).min() >= 40


def test_only_positive_conditions():
    X, y = table(5, 300, 6, 2)
    fitted = GreedyRuleListClassifier(5, negations=False).fit(X, y)
    assert len(fitted.conditions_) > 1
    assert all(low == 0.5 for rule in fitted.conditions_ for _, low, _ in rule)


def test_the_printed_list():
    frame = pd.DataFrame({"old": [1, 1, 1, 0, 0, 0, 0, 0], "rich": [0, 0, 0, 1, 1, 0, 0, 0]})
    label = ["yes", "yes", "yes", "no", "no", "no", "yes", "no"]
    fitted = GreedyRuleListClassifier(2, 1).fit(frame, label)
    assert fitted.rules_ == ["old", "rich", "otherwise"]
    assert fitted.to_text() == (
        "if old then yes  (no: 0, yes: 3)\n"
        "else if rich then no  (no: 2, yes: 0)\n"
        "else no  (no: 2, yes: 1)"
    )
    assert fitted.counts_.tolist() == [[0, 3], [2, 0], [2, 1]]
    np.testing.assert_allclose(fitted.predict_proba(frame)[-1], [2 / 3, 1 / 3])


def test_cuts_from_the_data_and_cuts_given():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(18, 80, 500), "income": rng.normal(size=500)})
    label = ((frame["age"] > 40) & (frame["age"] <= 60)).to_numpy().astype(int)
    free = GreedyRuleListClassifier(3, max_width=2, n_thresholds=20).fit(frame, label)
    assert free.score(frame, label) > 0.95
    for rule in free.conditions_:
        for column, low, high in rule:
            assert not np.isin([low, high], frame.iloc[:, column]).any(), "a cut is between values"
    given = GreedyRuleListClassifier(3, max_width=2, thresholds={"age": [40, 60], 1: [0]})
    given.fit(frame, label)
    assert given.conditions_[0] == [(0, 40.0, 60.0)]
    assert given.rules_[0] == "40 < age <= 60"
    assert given.score(frame, label) == 1.0


def test_neighbouring_floats_and_huge_values():
    a = np.nextafter(1.0, 2.0)
    X = np.array([[1.0], [a], [1.0], [a], [-1.7e308], [1.7e308]])
    y = np.array([0, 1, 0, 1, 0, 1])
    fitted = GreedyRuleListClassifier(5, 1, n_thresholds=5).fit(X, y)
    assert fitted.score(X, y) == 1.0
    np.testing.assert_array_equal(fitted.to_model().apply(X), fitted.apply(X))


@pytest.mark.parametrize("n", [63, 64, 65, 128, 129])
def test_words_of_sixty_four_rows(n):
    X, y = table(n, n, 4, 2)
    fitted = GreedyRuleListClassifier(3, 1, 2).fit(X, y)
    assert fitted.counts_.sum() == n
    found = [[(c, low == 0.5) for c, low, _ in rule] for rule in fitted.conditions_[:-1]]
    assert found == by_definition(X, y, 3, 1, 2, "gini")
