"""Can the training rows be reconstructed from the published counts?"""

from __future__ import annotations

from typing import Any

from glassleak.audit._analysis import Analysis, Subject
from glassleak.audit._finding import AnalysisResult, Finding
from glassleak.errors import BudgetExhaustedError, ModelTooLargeError, UnsupportedModelError
from glassleak.models import Forest
from glassleak.reconstruction import (
    Reconstruction,
    random_baseline,
    reconstruct,
    reconstruction_error,
)
from glassleak.schema import Schema


def _run(subject: Subject) -> AnalysisResult:
    model = subject.model
    if model is None:
        return AnalysisResult("not assessed", reason=str(subject.opened.problem))
    assumptions: tuple[str, ...] = ()
    schema = subject.schema
    if schema is None:
        schema = Schema.infer(model)
        assumptions = (
            "which profiles are possible was inferred from the model alone (give a schema to be "
            "sure); where in doubt more were taken to be possible",
        )
    try:
        found = reconstruct(
            model, schema, budget_seconds=max(1.0, subject.remaining()), seed=subject.seed
        )
    except (UnsupportedModelError, ModelTooLargeError, BudgetExhaustedError) as error:
        return AnalysisResult("not assessed", reason=str(error), assumptions=assumptions)
    evidence = _evidence(found) | _against_data(found, subject, schema)
    return AnalysisResult("done", (_finding(found, evidence),), assumptions=assumptions)


def _evidence(found: Reconstruction) -> dict[str, Any]:
    certificate = found.certificate
    return {
        "rows": len(found.table),
        "status": found.status,
        "certain_rows": certificate.certain_rows,
        "certain_up_to_indistinguishable_values": certificate.certain_in_part,
        "proof": certificate.proof,
        "statements": list(certificate.statements),
        "cells": found.details.get("cells"),
        "seconds": round(found.seconds, 3),
    }


def _against_data(found: Reconstruction, subject: Subject, schema: Schema) -> dict[str, Any]:
    """With the training data at hand, how wrong the reconstruction really is."""
    data, model = subject.data, subject.model
    if data is None or model is None or not set(model.columns) <= set(data.columns):
        return {}
    truth = data.loc[:, list(model.columns)]
    if len(truth) != len(found.table):
        return {}
    baseline = random_baseline(model, schema, truth, repeats=3, seed=subject.seed)
    return {
        "error": reconstruction_error(truth, found.table, schema),
        "error_of_random_guessing": baseline.mean,
    }


def _finding(found: Reconstruction, evidence: dict[str, Any]) -> Finding:
    rows, certain = evidence["rows"], evidence["certain_rows"]
    how = " ".join(f"{line[0].upper()}{line[1:]}." for line in found.certificate.statements)
    remedy = (
        "Publish without counts, with far fewer or larger leaves and fewer trees, or train a "
        "differentially private model."
    )
    if found.status == "unique":
        title = f"All {rows:,} training rows can be reconstructed exactly"
    elif certain:
        title = f"{certain:,} of {rows:,} people are provably in the training set, row by row"
    else:
        title = "No training row follows with certainty from the counts"
        remedy = ""
    effect = "fix" if certain else "note"
    return Finding("reconstruction.rows", title, how, effect, remedy, evidence)  # type: ignore[arg-type]


def _several_trees(subject: Subject) -> bool:
    # Each tree of a forest may have large leaves while their intersections hold one person each.
    return isinstance(subject.model, Forest) and len(subject.model) > 1


RECONSTRUCTION = Analysis(
    "reconstruction",
    "Can the training rows be reconstructed from the published counts?",
    _run,
    needed=_several_trees,
)
