"""The question what the file itself retains about training rows."""

from __future__ import annotations

from glassleak.audit._analysis import Analysis, Subject
from glassleak.audit._finding import AnalysisResult, Finding
from glassleak.models import Forest, Model
from glassleak.readers import Artefact


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
    return AnalysisResult("done", tuple(_finding(a) for a in opened.artefacts))


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
