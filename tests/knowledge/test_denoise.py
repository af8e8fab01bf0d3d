import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

import glassleak as gl
from glassleak.errors import UnsupportedModelError
from glassleak.knowledge import is_noisy, most_likely
from glassleak.knowledge._denoise import closest_counts
from glassleak.models import Condition, Exact, Noisy, Rule, RuleList


def cost(counts, noisy):
    return np.abs(np.asarray(counts) - np.asarray(noisy)).sum()


@given(st.lists(st.integers(-4, 5), min_size=2, max_size=4), st.integers(0, 9))
def test_nothing_is_more_likely(noisy, total):
    values = np.array([noisy], dtype=np.float64)
    found = closest_counts(values, total)
    assert found.sum() == total
    assert found.min() >= 0
    best = min(
        cost(x, noisy)
        for x in itertools.product(range(total + 1), repeat=len(noisy))
        if sum(x) == total
    )
    assert cost(found[0], noisy) == pytest.approx(best)


@given(st.lists(st.integers(-4, 50), min_size=1, max_size=8))
def test_without_a_total_only_negative_counts_move(noisy):
    found = closest_counts(np.array([noisy], dtype=np.float64), None)
    assert found[0].tolist() == [max(0, x) for x in noisy]


def private_list(values, scale=1.0):
    rules = (Rule((Condition(0, 0.5),), 1), Rule((), 0))
    return RuleList(
        ("a",), (0, 1), rules, Noisy(np.array(values, float), scale, "discrete Laplace")
    )


def test_rule_list():
    model = private_list([[3, -2], [5, 4]])
    assert is_noisy(model)
    assert most_likely(model).counts == Exact(np.array([[3, 0], [5, 4]]))
    assert most_likely(model, n_rows=20).counts.values.sum() == 20
    assert most_likely(model, n_rows=20).n_rows == 20


def test_inner_nodes_add_up():
    rng = np.random.default_rng(0)
    table, labels = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    tree = gl.read(DecisionTreeClassifier(max_depth=4, random_state=0).fit(table, labels))
    noise = rng.integers(-3, 4, tree.counts.values.shape)
    noisy = replace(
        tree, counts=Noisy((tree.counts.values + noise).astype(float), 1.0, "x"), n_rows=None
    )
    found = most_likely(noisy, 200)
    assert found.counts.values[0].sum() == 200
    inner = np.flatnonzero(tree.feature >= 0)
    below = found.counts.values[tree.left[inner]] + found.counts.values[tree.right[inner]]
    assert (found.counts.values[inner] == below).all()


def test_exact_counts_and_forests_are_refused():
    exact = RuleList(("a",), (0, 1), (Rule((), 0),), Exact(np.array([[1, 2]])))
    assert not is_noisy(exact)
    with pytest.raises(UnsupportedModelError, match="single tree or rule list"):
        most_likely(exact)
