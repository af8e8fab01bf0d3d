"""From findings to a decision, with the reasons that led to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from glassleak.audit._analysis import Analysis, Subject
from glassleak.audit._finding import AnalysisResult

Decision: TypeAlias = Literal["release", "fix", "refer", "not assessed"]
# Findings a release may rest on although the audit could not check them.
_CLAIMS = ("privacy.claim",)
# The gravest reason first: people found row by row, then what lies open in the file, then the rest.
_GRAVITY = ("reconstruction", "artefacts", "privacy")


@dataclass(frozen=True)
class Reason:
    """Why the decision is what it is; `finding` or `analysis` links to the evidence."""

    text: str
    analysis: str
    finding: str | None = None


def decide(
    subject: Subject, outcomes: Sequence[tuple[Analysis, AnalysisResult]]
) -> tuple[Decision, tuple[Reason, ...]]:
    """Decide: what is to be fixed first, then what a person must weigh, then gaps, else release.

    What breaks the policy and can be repaired makes the decision "fix" even if something else needs
    a person: the file must not go out as it is, whatever that person thinks of the rest, and what
    is left for them shows when the repaired model is audited.  Their reasons are listed all the
    same, after those to fix.

    Nothing is released on silence: a question that release depends on and that was not answered
    in full makes the decision "refer".  A release that rests on something nobody could check says
    so in its reasons.
    """
    refer = _reasons(outcomes, "refer")
    fix = _reasons(outcomes, "fix")
    gaps = tuple(
        Reason(f"{analysis.question} {_gap(result)}", analysis.id)
        for analysis, result in outcomes
        if result.status != "done" and analysis.needed(subject)
    )
    if subject.model is None and not (refer or fix):
        return "not assessed", gaps
    if fix:
        return "fix", fix + refer + gaps
    if refer or gaps:
        return "refer", refer + gaps
    return "release", tuple(
        Reason(f"Released on a claim: {finding.title}", analysis.id, finding.id)
        for analysis, result in outcomes
        for finding in result.findings
        if finding.id in _CLAIMS
    )


def _reasons(
    outcomes: Sequence[tuple[Analysis, AnalysisResult]], effect: str
) -> tuple[Reason, ...]:
    found = [
        Reason(finding.title, analysis.id, finding.id)
        for analysis, result in outcomes
        for finding in result.findings
        if finding.effect == effect
    ]
    return tuple(sorted(found, key=_gravity))


def _gravity(reason: Reason) -> int:
    return _GRAVITY.index(reason.analysis) if reason.analysis in _GRAVITY else len(_GRAVITY)


def _gap(result: AnalysisResult) -> str:
    what = {"partial": "Assessed only in part", "failed": "The analysis failed"}
    return f"{what.get(result.status, 'Not assessed')}: {result.reason}."
