"""Noise whose seed is at hand, and shares that give numbers of people away again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import glassleak as gl
from glassleak.learners import PrivateRuleListClassifier
from glassleak.readers import open_model

RNG = np.random.default_rng(0)
X = RNG.integers(0, 2, (300, 4)).astype(float)
Y = (RNG.random(300) < 0.3 + 0.4 * X[:, 0]).astype(int)


def kinds(model: Any) -> dict[str, Any]:
    return {a.kind: a for a in open_model(model).artefacts}


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_noise_drawn_with_a_seed() -> None:
    seeded = PrivateRuleListClassifier(random_state=7).fit(X, Y)
    assert kinds(seeded)["noise-seed"].severity == "fix"
    kept = PrivateRuleListClassifier().fit(X, Y)
    assert "noise-seed" not in kinds(kept)
    kept.random_state = 7  # set afterwards: the file holds it, and who knows what was drawn
    assert "take it off" in kinds(kept)["noise-seed"].reveals


def test_ordinary_seeds_are_no_noise() -> None:
    assert "noise-seed" not in kinds(DecisionTreeClassifier(random_state=0).fit(X, Y))


def test_exact_shares_without_counts() -> None:
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, Y)
    assert "leaf-shares" not in kinds(tree), "with counts they tell nothing more"
    shares = kinds(gl.sanitise(tree, keep=("predict_proba",)))["leaf-shares"]
    assert shares.severity == "refer"
    assert shares.evidence["leaves_with_shares"] == shares.evidence["leaves"] == 4
    held = tree.tree_.n_node_samples[tree.tree_.children_left == -1]
    assert any(n % shares.evidence["largest_denominator"] == 0 for n in held)
    assert "leaf-shares" not in kinds(gl.sanitise(tree)), "labels only"


def test_rounded_shares_tell_little() -> None:
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, Y)
    rounded = gl.sanitise(tree, keep=("predict_proba",), round_to=10)
    assert "leaf-shares" not in kinds(rounded)


def test_regression_has_no_shares() -> None:
    tree = DecisionTreeRegressor(max_depth=2).fit(X, Y)
    assert "leaf-shares" not in kinds(gl.sanitise(tree))
