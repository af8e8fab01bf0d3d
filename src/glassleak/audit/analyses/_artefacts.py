"""The question what the file itself retains about training rows."""

from __future__ import annotations

from glassleak.audit._analysis import Analysis, Subject
from glassleak.audit._finding import AnalysisResult, Finding
from glassleak.readers import Artefact


def _run(subject: Subject) -> AnalysisResult:
    opened = subject.opened
    if not opened.scanned:
        return AnalysisResult(
            "not assessed",
            reason="only the model's own description was given, not the object or file it came "
            "from; scan what will actually be released",
        )
    return AnalysisResult("done", tuple(_finding(a) for a in opened.artefacts))


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
