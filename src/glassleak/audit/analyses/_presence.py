"""Without counts: who must have been in the training data, by the labels of all trees together?"""

from __future__ import annotations

from typing import Any

from glassleak.audit._analysis import Analysis, Subject
from glassleak.audit._exhibit import Exhibit
from glassleak.audit._finding import AnalysisResult, Finding
from glassleak.audit.analyses._silent import grown_until_pure
from glassleak.counting import decimal_text
from glassleak.errors import (
    BudgetExhaustedError,
    InconsistentModelError,
    ModelTooLargeError,
    UnsupportedModelError,
)
from glassleak.knowledge import assumed_schema
from glassleak.models import Forest, Missing, Model
from glassleak.reconstruction import Presence, presence

_INFERRED = (
    "which profiles are possible was inferred from the model alone; without counts it shows less, "
    "and whoever knows the columns excludes more: give a schema to be sure"
)
_AS_TRAINED = "leaves say what they said after training: where a class has no share, nobody had it"
_REMEDY = (
    "Train with larger leaves (min_samples_leaf), merge small ones (glassleak sanitise "
    "--min-people), keep fewer trees, or train a differentially private model."
)
_SHOWN = 20


def _applies(subject: Subject) -> bool:
    model = subject.model
    return (
        isinstance(model, Forest)
        and len(model) > 1
        and model.bagging.kind == "none"
        and all(isinstance(t.counts, Missing) and t.shares is not None for t in model.trees)
        and grown_until_pure(model)
    )


def _run(subject: Subject) -> AnalysisResult:
    model = subject.model
    assert model is not None
    schema = subject.schema
    assumptions: tuple[str, ...] = (_AS_TRAINED,)
    if schema is None:
        schema = assumed_schema(model)
        assumptions = (*assumptions, _INFERRED)
    try:
        found = presence(model, schema, subject.deadline)
    except InconsistentModelError:
        reason = "no profile fits the labels of all trees, so they are not as training left them"
        return AnalysisResult("not assessed", reason=reason, assumptions=assumptions)
    except (UnsupportedModelError, ModelTooLargeError, BudgetExhaustedError) as error:
        return AnalysisResult("not assessed", reason=str(error), assumptions=assumptions)
    exhibits = (_sample(found, model),) if found.certain else ()
    return AnalysisResult("done", (_finding(found),), assumptions=assumptions, exhibits=exhibits)


def _finding(found: Presence) -> Finding:
    certain = found.certain + found.certain_in_part
    fits = "" if found.possible is None else f" only {_grouped(found.possible)} profiles fit, and"
    detail = (
        f"Every tree saw everybody. If leaves were left as trained,{fits} {certain:,} combinations "
        "of values and class are the only ones that can explain some leaf: somebody has them. How "
        "many people have them is not told."
    )
    title = f"{certain:,} combinations of values and class must be in the training data, by labels"
    if not certain:
        title = "No combination of values follows from the labels alone"
    return Finding(
        "presence.labels",
        title,
        detail,
        "refer" if certain else "note",
        _REMEDY if certain else "",
        _evidence(found),
    )


def _grouped(number: int) -> str:
    return f"{number:,}" if number < 10**15 else decimal_text(number)


def _evidence(found: Presence) -> dict[str, Any]:
    return {
        "certain": found.certain,
        "certain_up_to_indistinguishable_values": found.certain_in_part,
        "possible_profiles": None if found.possible is None else decimal_text(found.possible),
        "cells": found.cells,
    }


def _sample(found: Presence, model: Model) -> Exhibit:
    rows = tuple(
        (*values, model.classes[label])
        for values, label in zip(
            found.table[:_SHOWN].tolist(), found.labels[:_SHOWN].tolist(), strict=True
        )
    )
    return Exhibit(
        "presence.sample",
        "Values that somebody in the training data must have, by labels alone",
        f"{len(rows)} of {found.certain:,}. Each is the only combination that can explain some "
        "leaf of the forest, if leaves were left as trained.",
        (*model.columns, "class"),
        rows,
        personal=True,
    )


PRESENCE = Analysis(
    "presence",
    "Without counts: who must have been in the training data?",
    _run,
    applies=_applies,
    share=0.5,
)
