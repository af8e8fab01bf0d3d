"""The question how uncertain the training set remains, given the model."""

from __future__ import annotations

import math
from typing import Any

from glassleak.audit._analysis import Analysis, Subject
from glassleak.audit._finding import AnalysisResult, Effect, Finding
from glassleak.audit._policy import Policy
from glassleak.audit.analyses._uncertainty_exhibits import by_trees, people
from glassleak.counting import decimal_text
from glassleak.errors import (
    BudgetExhaustedError,
    InconsistentModelError,
    ModelTooLargeError,
    UnsupportedModelError,
)
from glassleak.schema import Numeric, Ordinal, Schema
from glassleak.uncertainty import Uncertainty, uncertainty

_INFERRED = (
    "which profiles are possible was inferred from the model alone; where there was doubt, more "
    "were taken to be possible"
)
_REMEDY = (
    "Merge or prune the leaves that pin people down (larger min_samples_leaf, less depth), drop "
    "attributes that single people out, or publish without counts."
)
# Later questions need time too, and bounds get little better with more.
_SHARE, _MOST_SECONDS = 0.5, 10.0
# For the curve over the number of trees, which explains and does not decide.
_CURVE_SHARE = 0.3


def _run(subject: Subject) -> AnalysisResult:
    model = subject.model
    if model is None:
        return AnalysisResult("not assessed", reason=str(subject.opened.problem))
    assumptions: tuple[str, ...] = ()
    schema = subject.schema
    if schema is None:
        schema = Schema.infer(model.split_evidence())
        assumptions = (_INFERRED,)
    open_ = _undeclared(schema, inferred=subject.schema is None)
    if open_:
        return AnalysisResult("not assessed", reason=open_, assumptions=assumptions)
    seconds = min(_MOST_SECONDS, max(1.0, _SHARE * subject.remaining()))
    try:
        found = uncertainty(model, schema, budget_seconds=seconds, seed=subject.seed)
    except (
        UnsupportedModelError, ModelTooLargeError, BudgetExhaustedError, InconsistentModelError
    ) as error:  # fmt: skip
        return AnalysisResult("not assessed", reason=str(error), assumptions=assumptions)
    finding = _finding(found, subject.policy)
    drawn, _ = by_trees(
        model, schema, found, seed=subject.seed,
        seconds=min(_MOST_SECONDS, _CURVE_SHARE * subject.remaining()),
    )  # fmt: skip
    shown = (*drawn, *people(found))
    if found.exact:
        return AnalysisResult("done", (finding,), assumptions=assumptions, exhibits=shown)
    reason = "; ".join(found.notes) or "the budget ended before everything was counted exactly"
    return AnalysisResult("partial", (finding,), False, reason, assumptions, exhibits=shown)


def _undeclared(schema: Schema, *, inferred: bool) -> str:
    """Why profiles cannot be counted, if they cannot."""
    endless = [a.name for a in schema if a.size is None]
    if endless:
        return (
            f"{_some(endless)} no declared resolution, and a continuous value has no number of "
            "possibilities; set `resolution` in a schema"
        )
    # From a model alone the range of a number is that of its thresholds, which is too narrow.
    numbers = [a.name for a in schema if isinstance(a, Ordinal | Numeric)]
    if inferred and numbers:
        return (
            f"{_some(numbers)} no declared range, and the model shows only its thresholds; give a "
            "schema"
        )
    return ""


def _some(names: list[str]) -> str:
    more = f" and {len(names) - 1} more have" if len(names) > 1 else " has"
    return f"{names[0]!r}{more}"


def _finding(found: Uncertainty, policy: Policy) -> Finding:
    evidence = _evidence(found, policy)
    pinned = evidence["people_with_one_profile_in_small_groups"]
    effect: Effect = "fix" if pinned else "note"
    first, *others = found.statements
    detail = " ".join(f"{line[0].upper()}{line[1:]}." for line in others)
    if pinned:
        detail += (
            f" Of these, {pinned:,} share that profile with fewer than {policy.min_people} people: "
            "all their values follow from the model."
        )
    title = f"{first[0].upper()}{first[1:]}"
    return Finding(
        "uncertainty.remaining", title, detail.strip(), effect, _REMEDY if pinned else "", evidence
    )


def _evidence(found: Uncertainty, policy: Policy) -> dict[str, Any]:
    pinned = 0
    if found.per_leaf is not None:
        leaves = found.per_leaf
        small = (leaves["profiles_high"] == 1) & (leaves["rows"] < policy.min_people)
        pinned = int(leaves.loc[small, "rows"].sum())
    return {
        "status": found.status,
        "people": found.n_rows,
        "profiles": decimal_text(found.n_profiles),
        "bits": _finite(found.bits),
        "bits_low": _finite(found.bits_low),
        "bits_high": _finite(found.bits_high),
        "bits_uninformed": _finite(found.bits_uninformed),
        "share_remaining": _finite(found.dist_g),
        "share_remaining_unordered": (
            None if found.unordered is None else _finite(found.unordered.share)
        ),
        "share_remaining_by_attribute": found.dist,
        "people_with_one_profile": found.single_profile,
        "people_with_one_profile_in_small_groups": pinned,
        "threshold": policy.min_people,
        "method": found.method,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


UNCERTAINTY = Analysis(
    "uncertainty",
    "How uncertain does the training set remain, given the model?",
    _run,
    share=0.75,
    slow=True,
)
