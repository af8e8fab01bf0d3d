"""Run every analysis that applies, within the budget, and decide."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassleak._files import write_text
from glassleak.audit._analysis import Analysis, Subject
from glassleak.audit._document import audit_document, dump_document
from glassleak.audit._finding import AnalysisResult, Finding
from glassleak.audit._policy import Policy
from glassleak.audit._verdict import Decision, Reason, decide
from glassleak.audit.analyses import ANALYSES
from glassleak.errors import AuditError
from glassleak.pages import audit_page
from glassleak.readers import Limits, Opened, open_model
from glassleak.schema import Schema

if TYPE_CHECKING:
    import pandas as pd

Progress = Callable[[str, str], None]


@dataclass(frozen=True)
class Audit:
    """The outcome of an audit.

    Attributes
    ----------
    verdict : "release", "fix", "refer" or "not assessed"
    reasons : tuple of Reason
        Why; each names the finding or analysis behind it.
    outcomes : tuple of (Analysis, AnalysisResult)
        Every question asked and how it was answered.
    opened : Opened
        The model and where it came from.
    policy : Policy
    settings : dict
        Budget, seed, trust and what was supplied.
    seconds : float
    """

    verdict: Decision
    reasons: tuple[Reason, ...]
    outcomes: tuple[tuple[Analysis, AnalysisResult], ...]
    opened: Opened
    policy: Policy
    settings: dict[str, Any]
    seconds: float

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, in the order of the analyses."""
        return tuple(f for _, result in self.outcomes for f in result.findings)

    @property
    def not_assessed(self) -> tuple[tuple[Analysis, AnalysisResult], ...]:
        """Questions that were not, or not fully, answered."""
        return tuple((a, r) for a, r in self.outcomes if r.status != "done")

    def to_document(self) -> dict[str, Any]:
        """The audit as JSON-ready data, described by the published JSON Schema."""
        return audit_document(self)

    def to_json(self, path: str | Path | None = None) -> str:
        """The audit as JSON text, also written to `path` when given."""
        return dump_document(self.to_document(), path)

    def to_html(self, path: str | Path | None = None, redact: bool = False) -> str:
        """The audit as one self-contained HTML page, also written to `path` when given.

        `redact` leaves the values of rows that may describe real people out of the file.
        """
        text = audit_page(self.to_document(), redact=redact)
        if path is not None:
            write_text(path, text)
        return text


def audit(
    source: Any,
    schema: Schema | str | Path | None = None,
    data: pd.DataFrame | None = None,
    policy: Policy | None = None,
    budget_seconds: float = 60,
    *,
    trust: Any = "none",
    limits: Limits | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Audit:
    """Audit a model: find what it gives away, and decide whether it may be published.

    Parameters
    ----------
    source : fitted estimator, path or model
        Anything `glassleak.read` takes.  Files are opened without running code they carry.
    schema : Schema or path of a schema file, optional
        Which profiles are possible.
    data : DataFrame, optional
        The training data, if you have it: shows how wrong a reconstruction really is.
    policy : Policy, optional
        Thresholds; the defaults follow common statistical disclosure control.
    budget_seconds : float
        Analyses stop, and say so, when it is spent.
    trust : "none" or "sandbox"
        See `glassleak.read`.
    limits : Limits, optional
    seed : int
    progress : callable, optional
        Called with the id of an analysis and ``"start"`` or its status.

    Returns
    -------
    Audit

    Raises
    ------
    MalformedModelError, UntrustedFileError, …
        When the file cannot be opened at all.  Models that are merely of an unsupported kind are
        audited as "not assessed".
    """
    if not 0 < budget_seconds < math.inf:
        raise AuditError(f"budget_seconds must be positive and finite, got {budget_seconds!r}")
    started = time.monotonic()
    if schema is not None and not isinstance(schema, Schema):
        schema = Schema.from_toml(schema)
    opened = open_model(source, trust, limits or Limits())
    if schema is not None and opened.model is not None:
        schema.check_columns(opened.model.columns)
    subject = Subject(opened, policy or Policy(), schema, data, started + budget_seconds, seed)
    outcomes = tuple((a, _run(a, subject, progress)) for a in ANALYSES)
    verdict, reasons = decide(subject, outcomes)
    settings = {
        "budget_seconds": budget_seconds,
        "seed": seed,
        "trust": trust,
        "schema": "given" if schema is not None else "not given",
        "data": "given" if data is not None else "not given",
    }
    spent = time.monotonic() - started
    return Audit(verdict, reasons, outcomes, opened, subject.policy, settings, spent)


def _run(analysis: Analysis, subject: Subject, progress: Progress | None) -> AnalysisResult:
    if progress is not None:
        progress(analysis.id, "start")
    started = time.monotonic()
    try:
        result = analysis.run(subject)
    except Exception as error:  # one broken analysis must not cost the user all the others
        result = AnalysisResult("failed", reason=f"{type(error).__name__}: {error}")
    answered = result.status in ("done", "partial")
    result = replace(result, seconds=time.monotonic() - started, exact=result.exact and answered)
    if progress is not None:
        progress(analysis.id, result.status)
    return result
