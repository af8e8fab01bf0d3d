"""What is read off a bagged forest, and how many rows it was trained on."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassleak.errors import (
    InconsistentModelError,
    ModelTooLargeError,
    UnsupportedModelError,
)
from glassleak.models import Bagging, Exact, Forest, Missing, Tree
from glassleak.reconstruction.bagged._evidence import evidence_of, most_likely_rows


def stump(left: list[int], right: list[int], distinct: tuple[int, int] | None) -> Tree:
    counts = np.array([np.add(left, right), left, right])
    rows = None if distinct is None else [sum(distinct), *distinct]
    return Tree(
        ("a",), (0, 1), [0, -1, -1], [0.5, np.nan, np.nan], [1, -1, -1], [2, -1, -1],
        Exact(counts), distinct_rows=rows,
    )  # fmt: skip


@given(n_rows=st.integers(2, 40), factor=st.sampled_from([0.5, 1.0, 2.0]), seed=st.integers(0, 99))
def test_the_most_likely_number_of_rows(n_rows: int, factor: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    draws = max(2, int(factor * n_rows))
    seen = [len(np.unique(rng.integers(n_rows, size=draws))) for _ in range(6)]
    if sum(seen) == 6 * draws:
        return

    def score(n: int) -> float:
        own = sum(math.lgamma(n + 1) - math.lgamma(n - d + 1) for d in seen)
        return own - 6 * draws * math.log(n)

    found = most_likely_rows([draws] * 6, seen)
    assert score(found) >= max(score(n) for n in range(max(seen), 400)) - 1e-9


def test_draws_without_repeats_do_not_tell_how_many_rows_there_were() -> None:
    with pytest.raises(ModelTooLargeError, match="n_rows"):
        most_likely_rows([50] * 3, [50] * 3)


def test_the_number_of_rows_comes_from_the_model_the_caller_or_the_counts() -> None:
    trees = (stump([3, 1], [2, 2], (3, 3)), stump([2, 2], [1, 3], (3, 2)))
    stated = Forest(trees, Bagging("unknown", 8), 9)
    assert (evidence_of(stated).n_rows, evidence_of(stated).n_rows_from) == (9, "model")
    assert evidence_of(stated, 11).n_rows == 11
    silent = Forest(trees, Bagging("unknown", 8))
    assert evidence_of(silent).n_rows_from == "likelihood"
    blind = Forest((stump([3, 1], [2, 2], None),), Bagging("unknown", 8))
    assert (evidence_of(blind).n_rows, evidence_of(blind).n_rows_from) == (8, "draws")


def test_impossible_figures_are_refused_with_their_place() -> None:
    tree = stump([1, 1], [1, 0], (1, 1))
    with pytest.raises(InconsistentModelError, match="tree 0, leaf 1"):
        evidence_of(Forest((tree,), Bagging("unknown", 3), 9))
    full = stump([3, 1], [2, 2], (4, 4))
    with pytest.raises(InconsistentModelError, match="tree 0"):
        evidence_of(Forest((full,), Bagging("unknown", 8), 8), 7)
    with pytest.raises(ValueError, match="n_rows"):
        evidence_of(Forest((full,), Bagging("unknown", 8), 8), 0)


def test_counts_are_needed() -> None:
    bare = Tree(("a",), (0, 1), [-1], [np.nan], [-1], [-1], Missing("stripped"))
    with pytest.raises(UnsupportedModelError, match="tree 0"):
        evidence_of(Forest((bare,), Bagging("unknown", 3), 3))


def test_leaves_have_names() -> None:
    trees = (stump([3, 1], [2, 2], (3, 3)), stump([2, 2], [1, 3], (3, 2)))
    evidence = evidence_of(Forest(trees, Bagging("unknown", 8), 9))
    assert [evidence.place(i) for i in range(4)] == [
        "tree 0, leaf 1", "tree 0, leaf 2", "tree 1, leaf 1", "tree 1, leaf 2",
    ]  # fmt: skip
