"""Run every analysis that applies, within the budget, and decide."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassleak._files import write_text
from glassleak.audit._analysis import Analysis, Subject
from glassleak.audit._document import audit_document, dump_document
from glassleak.audit._finding import AnalysisResult, Finding
from glassleak.audit._policy import Policy
from glassleak.audit._resume import Kept
from glassleak.audit._supplied import check_supplied
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
    policy: Policy | str | Path | None = None,
    budget_seconds: float = 60,
    *,
    holdout: pd.DataFrame | None = None,
    target: str | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: str | None = None,
    trust: Any = "none",
    limits: Limits | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    resume: str | Path | None = None,
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
    policy : Policy, or path or name of a policy file, optional
        Thresholds; the defaults follow common statistical disclosure control.
    budget_seconds : float
        Analyses stop, and say so, when it is spent.
    holdout : DataFrame, optional
        People from the same population who were not in the training data: with `data`, shows
        whether members can be told from others.
    target : str, optional
        The column of `data` and `holdout` that holds the class; found by its values if it can be.
    quasi_identifiers : sequence of str, optional
        Columns an outsider may know about a person; by default all of the model's.
    sensitive : str, optional
        What the class is called.
    trust : "none" or "sandbox"
        See `glassleak.read`.
    limits : Limits, optional
    seed : int
    progress : callable, optional
        Called with the id of an analysis and ``"start"`` or its status.
    resume : path, optional
        A folder for the answers to slow questions: an audit of the same model with the same
        settings that was interrupted goes on where it stopped.

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
    if not isinstance(policy, Policy):
        policy = Policy() if policy is None else Policy.from_toml(policy)
    opened = open_model(source, trust, limits or Limits())
    if schema is not None and opened.model is not None:
        schema.check_columns(opened.model.columns)
    subject = Subject(
        opened, policy, schema, data, started + budget_seconds, seed, holdout, target,
        None if quasi_identifiers is None else tuple(quasi_identifiers), sensitive,
        source if opened.container == "estimator" else None,
    )  # fmt: skip
    check_supplied(subject)
    settings = {
        "budget_seconds": budget_seconds,
        "seed": seed,
        "trust": trust,
        "schema": "given" if schema is not None else "not given",
        "data": "given" if data is not None else "not given",
        "holdout": "given" if holdout is not None else "not given",
        "target": target,
        "quasi_identifiers": None if quasi_identifiers is None else list(quasi_identifiers),
        "sensitive": sensitive,
        "policy": policy.name,
    }
    kept = None if resume is None else Kept(resume, subject, settings)
    outcomes = _run_all(subject, progress, kept)
    verdict, reasons = decide(subject, outcomes)
    if kept is not None:
        settings["resumed"] = list(kept.used)
    spent = time.monotonic() - started
    return Audit(verdict, reasons, outcomes, opened, policy, settings, spent)


def _run_all(
    subject: Subject, progress: Progress | None, kept: Kept | None
) -> tuple[tuple[Analysis, AnalysisResult], ...]:
    """Quick questions first, then slow ones, each with its slice of the time that is left.

    One after the other: a second process takes longer to start than the quick questions take, and
    the slow ones use several threads themselves.  Folders of models are where processes pay.
    """
    asked = [a for a in ANALYSES if a.applies(subject)]
    found: dict[str, AnalysisResult] = {}
    for analysis in sorted(asked, key=lambda a: a.slow):
        result = kept.answer(analysis) if kept is not None else None
        if result is None:
            slice_ = analysis.share * subject.remaining()
            own = replace(subject, deadline=time.monotonic() + slice_)
            result = _run(analysis, own, progress)
            if kept is not None:
                kept.keep(analysis, result)
        elif progress is not None:
            progress(analysis.id, result.status)
        found[analysis.id] = result
    return tuple((a, found[a.id]) for a in asked)


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
