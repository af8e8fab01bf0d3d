"""What does the model say about people whose other values are known?"""

from __future__ import annotations

from typing import Any

import numpy as np

from glassleak.audit._analysis import Analysis, Subject
from glassleak.audit._finding import AnalysisResult, Effect, Finding
from glassleak.audit._policy import Policy
from glassleak.audit.analyses._tables import TableError, class_column, labels_of, model_table
from glassleak.disclosure import Disclosure, disclosure
from glassleak.errors import (
    BudgetExhaustedError,
    InconsistentModelError,
    MissingExtraError,
    ModelTooLargeError,
    SchemaError,
    UnsupportedModelError,
)
from glassleak.models import Model

_NO_DATA = (
    "it depends on who is known: give the training data to see what the model tells about each "
    "person; that everybody in a leaf has one class is found without"
)
_REMEDY = (
    "Publish labels or rounded counts instead of class counts, or grow larger leaves; and publish "
    "less about how splits were chosen."
)


def _run(subject: Subject) -> AnalysisResult:
    model, data = subject.model, subject.data
    if model is None:
        return AnalysisResult("not assessed", reason=str(subject.opened.problem))
    if data is None:
        return AnalysisResult("not assessed", reason=_NO_DATA)
    truth = subject.target or class_column(data, model)
    try:
        model_table(data, model, "training data")
        if subject.target is not None:
            data = data.assign(
                **{subject.target: labels_of(data, subject.target, model, "training data")}
            )
        found = disclosure(
            model,
            data,
            sensitive=subject.sensitive,
            truth=truth,
            budget_seconds=max(1.0, subject.remaining()),
            seed=subject.seed,
        )
    except (
        BudgetExhaustedError, InconsistentModelError, MissingExtraError, ModelTooLargeError,
        SchemaError, TableError, UnsupportedModelError,
    ) as error:  # fmt: skip
        return AnalysisResult("not assessed", reason=str(error))
    finding = _finding(found, subject.policy)
    assumptions = (*found.assumptions, *_unknown_columns(subject, model))
    if not found.exact:
        reason = "the estimate is not proved to be the maximum of entropy"
        return AnalysisResult("partial", (finding,), False, reason, assumptions)
    return AnalysisResult("done", (finding,), assumptions=assumptions)


def _unknown_columns(subject: Subject, model: Model) -> tuple[str, ...]:
    known = subject.quasi_identifiers
    more = [c for c in model.columns if known is not None and c not in known]
    if not more:
        return ()
    return (
        f"whoever asks knows all columns of the model, also {more[0]!r}"
        + (f" and {len(more) - 1} more" if len(more) > 1 else "")
        + ", which are not among the quasi-identifiers: somebody who knows less learns less",
    )


def _finding(found: Disclosure, policy: Policy) -> Finding:
    o = found.overall
    # Where the leaf has one class the question about groups has already said so.
    surprising = _certain_in_mixed_leaves(found)
    evidence: dict[str, Any] = o.to_document() | {
        "certain_in_mixed_leaves": surprising,
        "certificate": found.certificate.to_document(),
        "threshold_likely_share": policy.max_likely_share,
    }
    checked = "" if o.likely_right is None else f", rightly for {o.likely_right:,} of them"
    detail = (
        f"Somebody who knows the other values of all {o.people:,} people gives {o.likely:,} of "
        f"them a class with a probability of 90 % or more{checked}. "
        f"{o.entropy:.3f} nats of uncertainty remain per person, as of {o.effective_values:.2f} "
        "equally likely classes."
    )
    if o.d_overall is not None:
        detail += (
            f" The truth diverges from the estimate by {o.d_overall:.4f} nats; lower means that "
            "more is disclosed."
        )
    effect: Effect = "note"
    if o.likely > policy.max_likely_share * o.people:
        effect = "refer"
    if surprising and not policy.allow_pure_leaves:
        effect = "fix"
        detail += (
            f" For {surprising:,} people in leaves with several classes the class is certain, "
            "because every split was the best one."
        )
    share = f"{o.likely / o.people:.0%}"
    return Finding(
        "disclosure.known-people",
        f"The class of {share} of the people is 90 % sure or more to whoever knows the rest",
        detail,
        effect,
        _REMEDY if effect != "note" else "",
        evidence,
    )


def _certain_in_mixed_leaves(found: Disclosure) -> int:
    """People whose class is proved although their leaf holds several."""
    people = found.per_person
    if "certain_value" not in people:
        return 0
    mixed = found.without_split_facts.to_numpy().max(axis=1) < 1 - 1e-9
    certain = people["certain_value"].notna().to_numpy()
    here: np.ndarray[Any, Any] = mixed[people["quasi_identifier"].to_numpy()] & certain
    return int(people["people"].to_numpy()[here].sum())


DISCLOSURE = Analysis(
    "disclosure", "What does the model say about a person one already knows?", _run, slow=True
)
