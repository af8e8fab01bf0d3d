"""Draw, bound, compare with the claim."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from glassleak.learners.private._exact import Randomness, secure_randomness
from glassleak.learners.private.verify._bound import Bound, epsilon_bound, rho_bound
from glassleak.learners.private.verify._cases import Case

Progress: TypeAlias = Callable[[str, float], None]


@dataclass(frozen=True)
class Verdict:
    """One case judged.

    Attributes
    ----------
    name : str
    claim : float
    bound : Bound
    refuted : bool
        The draws prove more leakage than was claimed.
    seconds : float
    unit : "epsilon" or "rho"
        Of the claim and of the bound.
    """

    name: str
    claim: float
    bound: Bound
    refuted: bool
    seconds: float
    unit: str = "epsilon"


def verify(
    cases: Sequence[Case],
    *,
    draws: int = 20_000,
    confidence: float = 0.999,
    seed: int | None = None,
    progress: Progress | None = None,
) -> list[Verdict]:
    """Judge every case.

    Parameters
    ----------
    cases : sequence of Case
    draws : int
        On each table; the bound nears the truth as this grows.
    confidence : float
        Of each bound: an honest learner is refuted this rarely.
    seed : int, optional
        For repeatable tests; otherwise the operating system's randomness.
    """
    tell = progress or (lambda _step, _share: None)
    verdicts = []
    for i, case in enumerate(cases):
        tell(case.name, i / len(cases))
        started = time.perf_counter()
        source: Randomness = secure_randomness()
        if seed is not None:
            source = random.Random(seed + i)  # noqa: S311
        here = [case.here(source) for _ in range(draws)]
        there = [case.there(source) for _ in range(draws)]
        judge = epsilon_bound if case.unit == "epsilon" else rho_bound
        bound = judge(here, there, confidence)
        seconds = time.perf_counter() - started
        refuted = bound.epsilon > case.claim
        verdicts.append(Verdict(case.name, case.claim, bound, refuted, seconds, case.unit))
    tell("done", 1.0)
    return verdicts
