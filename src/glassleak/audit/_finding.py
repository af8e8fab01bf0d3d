"""What an analysis hands to the audit: findings, and whether it could answer its question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from glassleak.audit._exhibit import Exhibit

Effect: TypeAlias = Literal["note", "fix", "refer"]
Status: TypeAlias = Literal["done", "partial", "not assessed", "failed"]


@dataclass(frozen=True)
class Finding:
    """One fact that matters to the decision.

    Attributes
    ----------
    id : str
        Stable, ``analysis.topic``; reports and policies refer to it.
    title : str
        One line a non-specialist understands.
    detail : str
        What it means, in plain words.
    effect : "note", "fix" or "refer"
        Worth knowing; breaks the policy and can be repaired; needs a person's decision.
    remedy : str
        What to do about it.
    evidence : mapping
        The figures behind it, JSON-ready.  Integers beyond 2**53 are given as strings.
    """

    id: str
    title: str
    detail: str
    effect: Effect
    remedy: str = ""
    evidence: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class AnalysisResult:
    """The outcome of one analysis.

    Attributes
    ----------
    status : "done", "partial", "not assessed" or "failed"
    findings : tuple of Finding
    exact : bool
        Whether every figure in the findings is exact (and not an estimate or a bound).
    reason : str
        Why the status is not "done".
    assumptions : tuple of str
    seconds : float
        Filled in by the audit.
    exhibits : tuple of Exhibit
        Tables behind the findings, for charts and for readers who check.
    """

    status: Status
    findings: tuple[Finding, ...] = ()
    exact: bool = True
    reason: str = ""
    assumptions: tuple[str, ...] = ()
    seconds: float = 0.0
    exhibits: tuple[Exhibit, ...] = ()
