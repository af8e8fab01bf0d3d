"""Questions this version of glassleak cannot answer yet.

They stand in every report as "not assessed", so that silence is never mistaken for an all-clear.
"""

from __future__ import annotations

from glassleak.audit._analysis import Analysis, Subject
from glassleak.audit._finding import AnalysisResult
from glassleak.models import Forest

_REASON = "this version of glassleak does not have this analysis yet"


def _not_available(subject: Subject) -> AnalysisResult:
    return AnalysisResult("not assessed", reason=_REASON)


def _several_trees(subject: Subject) -> bool:
    # Each tree of a forest may have large leaves while their intersections hold one person each.
    return isinstance(subject.model, Forest) and len(subject.model) > 1


RECONSTRUCTION = Analysis(
    "reconstruction",
    "Can the training rows be reconstructed from the published counts?",
    _not_available,
    needed=_several_trees,
)
UNCERTAINTY = Analysis(
    "uncertainty", "How uncertain does the training set remain, given the model?", _not_available
)
DISCLOSURE = Analysis(
    "disclosure", "What does the model say about a person one already knows?", _not_available
)
MEMBERSHIP = Analysis(
    "membership", "Can one tell whether a person was in the training data?", _not_available
)
