"""Models whose counts carry noise: what is claimed for them, and whether the claim holds together.

Noise cannot be told from people in a file: a claim of differential privacy is believed or not.
What can be seen is whether it is complete (a budget and a mechanism), whether the noise is as large
as the budget requires, and whether the file gives the noise away (a stored seed, which the scan of
the file reports).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from glassleak.audit._analysis import Analysis, Subject
from glassleak.audit._finding import AnalysisResult, Effect, Finding
from glassleak.audit._policy import Policy
from glassleak.models import Forest, Model, Noisy

_ASSUMED = (
    "the privacy claim is true: noise of the stated scale was drawn afresh and kept secret, and "
    "nothing else in the model was computed from the data (claimed, not verified)"
)
_VERIFY = (
    "Have whoever trained it confirm the claim; `glassleak train --verify` tests a learner by "
    "running it thousands of times."
)


# A delta near one in the number of people allows a mechanism that publishes a person outright.
_MOST_DELTA = 1e-5


@dataclass(frozen=True)
class Claim:
    """What a model says about its own privacy.

    Attributes
    ----------
    epsilon : float, optional
        The budget it says it spent.
    scale : float
        The smallest noise of its counts.
    mechanism : str
    everywhere : bool
        Whether all its counts carry noise.
    delta : float
        Probability with which nothing is promised; 0 for pure differential privacy.
    times : int
        How often a person is counted with noise: once per tree, where everybody is in all of them.
    """

    epsilon: float | None
    scale: float
    mechanism: str
    everywhere: bool
    delta: float = 0.0
    times: int = 1

    @property
    def gaussian(self) -> bool:
        return "gaussian" in self.mechanism.lower()

    @property
    def spent_on_counts(self) -> float:
        """What noise of this scale costs when one person changes `times` counts by one.

        The smallest epsilon for which Gaussian noise has this delta (Balle and Wang, 2018);
        infinite where a delta is needed and none is stated.
        """
        if not self.gaussian:
            return self.times / self.scale
        shift = math.sqrt(self.times) / self.scale
        if not 0 < self.delta < 1:
            return math.inf
        low, high = 0.0, shift * shift / 2 + shift * math.sqrt(2 * math.log(2 / self.delta))
        for _ in range(80):
            middle = (low + high) / 2
            enough = _gaussian_delta(middle, shift) <= self.delta
            low, high = (low, middle) if enough else (middle, high)
        return high

    @property
    def consistent(self) -> bool:
        """Whether the counts alone do not already cost more than the budget."""
        return self.epsilon is None or self.spent_on_counts <= self.epsilon * (1 + 1e-9)


def _gaussian_delta(epsilon: float, shift: float) -> float:
    """Delta of Gaussian noise of deviation 1 on a value that moves by `shift`."""

    def below(x: float) -> float:
        return math.erfc(-x / math.sqrt(2)) / 2

    second = below(-shift / 2 - epsilon / shift)
    return below(shift / 2 - epsilon / shift) - (
        math.exp(epsilon + math.log(second)) if second else 0.0
    )


def claim_of(model: Model | None) -> Claim | None:
    """The claim of a model with noisy counts; ``None`` for all others."""
    if model is None:
        return None
    parts = model.trees if isinstance(model, Forest) else (model,)
    noisy = [part.counts for part in parts if isinstance(part.counts, Noisy)]
    if not noisy:
        return None
    least = min(noisy, key=lambda counts: counts.scale)
    # Only a model that says so puts everybody into every tree.
    shared = model.provenance.settings.get("accounting") == "zcdp"
    delta = _number(model, "delta") or 0.0
    return Claim(
        _number(model, "epsilon"), least.scale, least.mechanism, len(noisy) == len(parts),
        delta if shared or "gaussian" in least.mechanism.lower() else 0.0,
        len(parts) if shared else 1,
    )  # fmt: skip


def _number(model: Model, name: str) -> float | None:
    stated = model.provenance.settings.get(name)
    if isinstance(stated, bool) or not isinstance(stated, int | float):
        return None
    try:
        epsilon = float(stated)
    except OverflowError:
        return None
    return epsilon if math.isfinite(epsilon) and epsilon > 0 else None


def covered_by_privacy(subject: Subject) -> bool:
    """Whether the policy lets the claim stand for what noise hides."""
    claim = claim_of(subject.model)
    return claim is not None and _judged(claim, subject.policy)[0] == "note"


def _judged(claim: Claim, policy: Policy) -> tuple[Effect, str]:
    if not claim.everywhere:
        return "refer", "Some of its counts carry noise and others do not."
    if claim.epsilon is None:
        return "refer", "The privacy budget (epsilon) is not stated, so the noise says little."
    if claim.gaussian and not 0 < claim.delta < 1:
        return "refer", "Gaussian noise needs a delta, and none is stated."
    if claim.delta > _MOST_DELTA:
        return "refer", (
            f"With a probability of {claim.delta:g} nothing is promised: more than one person in a "
            "hundred thousand may be given away altogether."
        )
    if not claim.consistent:
        return "fix", (
            f"The noise is too small for the claim: counts with noise of scale {claim.scale:g} "
            f"alone cost an epsilon of {claim.spent_on_counts:g}."
        )
    if claim.epsilon > policy.max_epsilon:
        return "refer", f"The policy allows an epsilon of {policy.max_epsilon:g} at most."
    if not policy.accept_privacy_claims:
        return "refer", "The policy has a person confirm every claim of privacy."
    return "note", ""


def _run(subject: Subject) -> AnalysisResult:
    claim = claim_of(subject.model)
    if claim is None:
        return AnalysisResult("not assessed", reason="no claim of privacy is made")
    effect, problem = _judged(claim, subject.policy)
    if claim.epsilon is None:
        title = f"Counts carry {claim.mechanism} noise, and no privacy budget is stated"
        meaning = ""
    else:
        title = (
            f"Differential privacy is claimed, with epsilon {claim.epsilon:g} (claimed, not "
            "verified)"
        )
        factor = math.exp(claim.epsilon) if claim.epsilon < 700 else math.inf
        meaning = (
            "If the claim is true, one person more or less in the training data makes no published "
            f"model more than {factor:.3g} times as likely{_but_for(claim)}. "
        )
    evidence: dict[str, Any] = {
        "epsilon": claim.epsilon,
        "delta": claim.delta,
        "noise_scale": claim.scale,
        "mechanism": claim.mechanism,
        "epsilon_of_the_counts_alone": (
            claim.spent_on_counts if math.isfinite(claim.spent_on_counts) else None
        ),
        "consistent": claim.consistent,
        "threshold": subject.policy.max_epsilon,
        "verified": False,
    }
    finding = Finding(
        "privacy.claim",
        title,
        f"{meaning}{problem or 'Noise and budget fit together; that is all a file can show.'}",
        effect,
        _remedy(effect),
        evidence,
    )
    return AnalysisResult("done", (finding,), assumptions=(_ASSUMED,) if effect == "note" else ())


def _but_for(claim: Claim) -> str:
    return f", but for a probability of {claim.delta:g}" if claim.delta else ""


def _remedy(effect: Effect) -> str:
    if effect == "fix":
        return "Train again with noise as large as the claim requires, or correct the claim."
    return _VERIFY


PRIVACY = Analysis(
    "privacy",
    "Does the model hide people by noise, and how strongly?",
    _run,
    needed=lambda _subject: True,
    applies=lambda subject: claim_of(subject.model) is not None,
)
