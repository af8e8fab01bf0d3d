"""Claims of differential privacy: believed only when complete, consistent and allowed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io
from tiny_models import forest, rules, stump

import glassleak as gl
from glassleak.learners import PrivateRuleListClassifier
from glassleak.models import Bagging, Noisy, Provenance


def private(epsilon: Any = 1.0, scale: float = 2.5, **changes: Any) -> Any:
    settings = {} if epsilon is None else {"epsilon": epsilon}
    counts = Noisy(np.array([[20.0, 30.0], [3.0, -1.0], [40.0, 11.0]]), scale, "discrete Laplace")
    return rules(counts, provenance=Provenance(settings=settings), **changes)


def audited(model: Any, **policy: Any) -> gl.audit:  # type: ignore[valid-type]
    return gl.audit(model, policy=gl.Policy(**policy), budget_seconds=5)


def claim(audit: Any) -> Any:
    return next(f for f in audit.findings if f.id == "privacy.claim")


def test_a_claim_within_the_policy_is_released_as_a_claim() -> None:
    audit: Any = audited(private())
    assert audit.verdict == "release"
    assert [r.finding for r in audit.reasons] == ["privacy.claim"]
    assert "not verified" in audit.reasons[0].text
    result = next(r for a, r in audit.outcomes if a.id == "privacy")
    assert "not verified" in result.assumptions[0]
    assert claim(audit).evidence["epsilon"] == 1.0
    assert claim(audit).evidence["verified"] is False


@pytest.mark.parametrize(
    ("model", "policy", "verdict", "words"),
    [
        (private(2.0), {}, "refer", "at most"),
        (private(2.0), {"max_epsilon": 3.0}, "release", "fit together"),
        (private(1.0), {"accept_privacy_claims": False}, "refer", "confirm every claim"),
        (private(None), {}, "refer", "not stated"),
        (private("lots"), {}, "refer", "not stated"),
        (private(float("inf")), {}, "refer", "not stated"),
        (private(10**400), {}, "refer", "not stated"),
        (private(1.0, scale=0.5), {}, "fix", "too small for the claim"),
    ],
)
def test_claims_that_do_not_hold_together(
    model: Any, policy: dict[str, Any], verdict: str, words: str
) -> None:
    audit: Any = audited(model, **policy)
    assert audit.verdict == verdict
    assert words in claim(audit).detail


def shared(delta: Any = 1e-6, deviation: float = 24.8, trees: int = 12) -> Any:
    """A forest with everybody in every tree."""
    noise = Noisy(np.full((3, 2), 40.0), deviation, "discrete Gaussian")
    settings = {"epsilon": 1.0, "accounting": "zcdp"} | ({} if delta is None else {"delta": delta})
    return forest(
        *(stump((1, 1), (1, 1), counts=noise) for _ in range(trees)),
        bagging=Bagging("unknown"), provenance=Provenance(settings=settings),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("model", "verdict", "words"),
    [
        (shared(), "release", "but for a probability of 1e-06"),
        (shared(None), "refer", "none is stated"),
        (shared(0.01), "refer", "given away altogether"),
        (shared(deviation=8.0), "fix", "too small for the claim"),
        # What one tree may have, twenty together may not.
        (shared(deviation=8.0, trees=1), "release", "fit together"),
        (shared(deviation=1e-9), "fix", "too small for the claim"),
    ],
)
def test_claims_with_a_delta(model: Any, verdict: str, words: str) -> None:
    audit: Any = audited(model)
    assert audit.verdict == verdict
    assert words in claim(audit).detail


def test_noise_in_some_trees_only_is_no_protection() -> None:
    noisy = stump((1, 1), (1, 1), counts=Noisy(np.full((3, 2), 20.0), 2.0, "laplace"))
    mixed = forest(
        noisy, stump((40, 25), (30, 55)), bagging=Bagging("unknown"),
        provenance=Provenance(settings={"epsilon": 1.0}),
    )  # fmt: skip
    audit: Any = audited(mixed)
    assert audit.verdict == "refer"
    assert "others do not" in claim(audit).detail


def test_other_models_are_not_asked() -> None:
    audit = gl.audit(stump((40, 25), (30, 55)), budget_seconds=5)
    assert "privacy" not in {a.id for a, _ in audit.outcomes}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("seed", "verdict"), [(3, "fix"), (None, "release")])
def test_a_stored_seed_takes_the_noise_off_again(
    seed: int | None, verdict: str, tmp_path: Any
) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(0, 2, (300, 4)), columns=list("abcd"))
    learner = PrivateRuleListClassifier(epsilon=1.0, random_state=seed)
    skops.io.dump(learner.fit(table, table["a"]), tmp_path / "model.skops")
    audit = gl.audit(tmp_path / "model.skops", budget_seconds=10)
    assert audit.verdict == verdict
    assert ("artefacts.noise-seed" in {f.id for f in audit.findings}) == (seed is not None)
