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
    """

    epsilon: float | None
    scale: float
    mechanism: str
    everywhere: bool

    @property
    def spent_on_counts(self) -> float:
        """One person more or less changes one count by one: what noise of this scale costs."""
        return 1 / self.scale

    @property
    def consistent(self) -> bool:
        """Whether the counts alone do not already cost more than the budget."""
        return self.epsilon is None or self.spent_on_counts <= self.epsilon * (1 + 1e-9)


def claim_of(model: Model | None) -> Claim | None:
    """The claim of a model with noisy counts; ``None`` for all others."""
    if model is None:
        return None
    parts = model.trees if isinstance(model, Forest) else (model,)
    noisy = [part.counts for part in parts if isinstance(part.counts, Noisy)]
    if not noisy:
        return None
    least = min(noisy, key=lambda counts: counts.scale)
    return Claim(_epsilon(model), least.scale, least.mechanism, len(noisy) == len(parts))


def _epsilon(model: Model) -> float | None:
    stated = model.provenance.settings.get("epsilon")
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
            f"model more than {factor:.3g} times as likely. "
        )
    evidence: dict[str, Any] = {
        "epsilon": claim.epsilon,
        "noise_scale": claim.scale,
        "mechanism": claim.mechanism,
        "epsilon_of_the_counts_alone": claim.spent_on_counts,
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
