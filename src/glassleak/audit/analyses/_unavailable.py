"""Questions this version of glassleak cannot answer yet.

They stand in every report as "not assessed", so that silence is never mistaken for an all-clear.
"""

from __future__ import annotations

from glassleak.audit._analysis import Analysis, Subject
from glassleak.audit._finding import AnalysisResult

_REASON = "this version of glassleak does not have this analysis yet"


def _not_available(_subject: Subject) -> AnalysisResult:
    return AnalysisResult("not assessed", reason=_REASON)


MEMBERSHIP = Analysis(
    "membership", "Can one tell whether a person was in the training data?", _not_available
)
