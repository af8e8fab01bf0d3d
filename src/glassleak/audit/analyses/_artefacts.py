"""The question what the file itself retains about training rows."""

from __future__ import annotations

from glassleak.audit._analysis import Analysis, Subject
from glassleak.audit._exhibit import Exhibit
from glassleak.audit._finding import AnalysisResult, Finding
from glassleak.models import Forest, Model
from glassleak.readers import Artefact

_SHOWN = 200
_EFFECTS = {"note": "nothing", "fix": "strip it", "refer": "a person must decide"}


def _run(subject: Subject) -> AnalysisResult:
    opened = subject.opened
    if opened.model is None and not opened.scanned:
        return AnalysisResult("not assessed", reason=str(opened.problem))
    if not opened.scanned:
        reason = (
            "only the model's own description was given, not the object or file it came from; "
            "scan what will actually be released"
        )
        return AnalysisResult("partial", _known_draws(opened.model), reason=reason)
    found = tuple(_finding(a) for a in opened.artefacts)
    return AnalysisResult("done", found, exhibits=_table(opened.artefacts))


def _table(artefacts: tuple[Artefact, ...]) -> tuple[Exhibit, ...]:
    if not artefacts:
        return ()
    return (
        Exhibit(
            "artefacts.kept",
            "What the file keeps besides what prediction needs",
            "Found by looking through everything the file or object holds; no attack is needed to "
            "read it. Equal findings in many places are one line."
            + _cut(len(artefacts), "are not shown; the findings list them all"),
            ("what", "where", "what to do"),
            tuple(
                (a.kind.replace("-", " "), a.where, _EFFECTS[a.severity])
                for a in artefacts[:_SHOWN]
            ),
        ),
    )


def _cut(number: int, rest: str) -> str:
    return f" {number - _SHOWN} more {rest}." if number > _SHOWN else ""


def _known_draws(model: Model | None) -> tuple[Finding, ...]:
    """A description may still carry the seeds of a bagged forest."""
    if not isinstance(model, Forest) or model.bagging.kind != "known":
        return ()
    return (
        Finding(
            id="artefacts.bootstrap-seeds",
            title="The rows drawn for every tree are kept in the model",
            detail="Stored seeds repeat the draw: which training rows, by position, each tree saw.",
            effect="fix",
            remedy="Remove the seeds, or the multiplicities, from what is released.",
            evidence={"trees": len(model), "rows": model.n_rows},
        ),
    )


def _finding(artefact: Artefact) -> Finding:
    return Finding(
        id=f"artefacts.{artefact.kind}",
        title=f"{artefact.kind.replace('-', ' ').capitalize()}: {artefact.where}",
        detail=artefact.reveals,
        effect=artefact.severity,
        remedy=artefact.remedy,
        evidence={"where": artefact.where, **artefact.evidence},
    )


ARTEFACTS = Analysis(
    "artefacts",
    "What does the file itself retain about training rows?",
    _run,
    needed=lambda subject: subject.opened.scanned,
)
