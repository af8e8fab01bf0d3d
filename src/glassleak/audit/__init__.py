"""One file in, one decision out: the analyses, the policy and the verdict."""

from glassleak.audit._analysis import Analysis, Subject
from glassleak.audit._audit import Audit, audit
from glassleak.audit._document import json_schema
from glassleak.audit._exhibit import Exhibit
from glassleak.audit._finding import AnalysisResult, Finding
from glassleak.audit._policy import Policy
from glassleak.audit._sacro import sacro_document
from glassleak.audit._verdict import Reason

__all__ = [
    "Analysis",
    "AnalysisResult",
    "Audit",
    "Exhibit",
    "Finding",
    "Policy",
    "Reason",
    "Subject",
    "audit",
    "json_schema",
    "sacro_document",
]
