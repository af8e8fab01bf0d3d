"""Can the training rows be reconstructed from the published counts?"""

from __future__ import annotations

from typing import Any

from glassleak.audit._analysis import Analysis, Subject
from glassleak.audit._finding import AnalysisResult, Effect, Finding
from glassleak.audit._policy import Policy
from glassleak.audit.analyses._inferred import schema_for
from glassleak.audit.analyses._privacy import covered_by_privacy
from glassleak.audit.analyses._reconstruction_exhibits import exhibits_of
from glassleak.errors import BudgetExhaustedError, ModelTooLargeError, UnsupportedModelError
from glassleak.models import Forest
from glassleak.reconstruction import (
    Reconstruction,
    exact_cells,
    random_baseline,
    reconstruct,
)
from glassleak.schema import Schema

_REMEDY = (
    "Publish without counts, with far fewer or larger leaves and fewer trees, or train a "
    "differentially private model."
)
_TARGETS_REMEDY = (
    "Train with min_samples_leaf of 10 or more, so that no leaf holds the target of one person; "
    "bagging does not help. Removing counts and impurities hides which leaves these are."
)
_SEEDS_REMEDY = (
    "Remove the seeds: they say which rows each tree drew, which is what puts every row at its own "
    "position. Without them the counts still give much away."
)
# Matching a random table with tens of thousands of rows takes minutes and says nothing more.
_BASELINE_ROWS = 500


def _run(subject: Subject) -> AnalysisResult:
    model = subject.model
    if model is None:
        return AnalysisResult("not assessed", reason=str(subject.opened.problem))
    schema, assumptions = schema_for(subject, model)
    try:
        found = reconstruct(
            model, schema, budget_seconds=max(1.0, subject.remaining()), seed=subject.seed
        )
    except (UnsupportedModelError, ModelTooLargeError, BudgetExhaustedError) as error:
        return AnalysisResult("not assessed", reason=str(error), assumptions=assumptions)
    evidence = _evidence(found, subject.policy) | _against_data(found, subject, schema)
    evidence |= _linked(found, subject)
    finding = _finding(found, evidence, subject.policy)
    shown = exhibits_of(found, schema, model, subject.policy.min_people)
    if not found.certificate.complete:
        reason = "the budget ended before it was decided for every row whether it is certain"
        if found.status == "likely":
            reason = "trees drew their own samples of rows: rows are likely or not, none is proved"
        return AnalysisResult("partial", (finding,), False, reason, assumptions, exhibits=shown)
    return AnalysisResult("done", (finding,), assumptions=assumptions, exhibits=shown)


def _evidence(found: Reconstruction, policy: Policy) -> dict[str, Any]:
    certificate = found.certificate
    bounds = certificate.bounds
    # A certain combination shared by enough people is a table cell like any other.
    few = (bounds["minimum"] > 0) & (bounds["minimum"] < policy.min_people)
    exposed = int(bounds.loc[few & (bounds["profiles"] == 1), "minimum"].sum())
    return (
        {
            "rows": len(found.table),
            "status": found.status,
            "certain_rows": certificate.certain_rows,
            "certain_rows_in_small_groups": exposed,
            "decided_for_every_row": certificate.complete,
            "certain_up_to_indistinguishable_values": certificate.certain_in_part,
            "expected_rows_right_in_small_groups": round(
                float(found.confidence[found.alike < policy.min_people].sum()), 1
            ),
            "threshold": policy.min_people,
            "proof": certificate.proof,
            "statements": list(certificate.statements),
            "cells": found.details.get("cells"),
            "seconds": round(found.seconds, 3),
        }
        | _draws(found)
        | _numbers(found)
        | _targets(found)
    )


def _numbers(found: Reconstruction) -> dict[str, Any]:
    """How far the values of numbers are known, if the table has any."""
    told = found.values_told
    if not told:
        return {}
    return {
        "numbers": told["numbers"],
        "share_of_numbers_proved": told["share_exact"],
        "share_of_numbers_known_if_rows_are_placed_rightly": told["share_if_placed"],
    }


def _draws(found: Reconstruction) -> dict[str, Any]:
    """For bagged forests: what was known about the rows each tree drew."""
    if found.formulation == "replayed":
        return {"draws": found.details["multiplicities"], "rows_at_their_own_position": True}
    if found.formulation == "bagged":
        unused = found.details.get("seeds_unused")
        return {"draws": unused or "not known", "rows_at_their_own_position": False}
    if found.formulation == "targets":
        return {"rows_at_their_own_position": found.details["rows_at_their_own_position"]}
    return {}


def _targets(found: Reconstruction) -> dict[str, Any]:
    """For regression: how many rows' targets can be read off."""
    share = found.details.get("share_of_targets")
    if share is None:
        return {}
    return {
        "targets_told": round(share * len(found.table)),
    }


def _linked(found: Reconstruction, subject: Subject) -> dict[str, Any]:
    """With quasi-identifiers named, how many rows they single out in the reconstructed table."""
    known = list(subject.quasi_identifiers or ())
    if not known or not len(found.table):
        return {}
    alone = ~found.table.duplicated(known, keep=False).to_numpy()
    return {
        "quasi_identifiers": known,
        "rows_alone_with_their_quasi_identifiers": int(alone.sum()),
        "certain_rows_alone_with_their_quasi_identifiers": int(
            (alone & (found.confidence >= 1)).sum()
        ),
    }


def _against_data(found: Reconstruction, subject: Subject, schema: Schema) -> dict[str, Any]:
    """With the training data at hand, how wrong the reconstruction really is."""
    data, model = subject.data, subject.model
    if data is None or model is None or not set(model.columns) <= set(data.columns):
        return {}
    truth = data.loc[:, list(model.columns)]
    if len(truth) != len(found.table):
        return {}
    some = truth.sample(min(len(truth), _BASELINE_ROWS), random_state=subject.seed)
    baseline = random_baseline(model, schema, some, repeats=3, seed=subject.seed)
    right = exact_cells(truth, found.table, schema)
    numbers = {"share_of_numbers_right": right.share_of_numbers} if right.n_numbers else {}
    return {
        "error": right.error,
        "error_of_random_guessing": baseline.mean,
        "share_of_values_right": right.share,
    } | numbers


def _finding(found: Reconstruction, evidence: dict[str, Any], policy: Policy) -> Finding:
    rows, certain = evidence["rows"], evidence["certain_rows"]
    exposed = evidence["certain_rows_in_small_groups"]
    expected = evidence["expected_rows_right_in_small_groups"]
    detail = " ".join(f"{line[0].upper()}{line[1:]}." for line in found.certificate.statements)
    effect: Effect = "note"
    if exposed:
        effect = "fix"
        detail += (
            f" Of the rows that are certain, {exposed:,} share values and class with fewer than "
            f"{policy.min_people} people."
        )
    elif expected > policy.max_expected_share * rows:
        effect = "refer"
        detail += (
            f" About {expected:,.0f} rows that describe fewer than {policy.min_people} people are "
            "expected to be right."
        )
    if evidence.get("share_of_numbers_right") is not None:
        detail += (
            f" Compared with the training data, {evidence['share_of_numbers_right']:.0%} of the "
            "numbers are right to the last digit."
        )
    told = evidence.get("targets_told", 0)
    if told and effect != "fix":
        # Whoever knows some columns of a person finds the leaf, and reads off the target.
        effect = "fix"
        detail += (
            f" The target of each of {told:,} rows can be read off a leaf that holds it alone."
        )
    linked = evidence.get("certain_rows_alone_with_their_quasi_identifiers", 0)
    if linked:
        detail += (
            f" {linked:,} certain rows are the only ones with their quasi-identifiers: whoever "
            "knows these of a person finds the row, and reads off the rest."
        )
    if effect == "refer":
        title = f"About {expected:,.0f} of {rows:,} training rows can be expected to be right"
    elif found.status == "unique":
        title = f"All {rows:,} training rows can be reconstructed exactly"
    elif certain:
        title = f"{certain:,} of {rows:,} people are provably in the training set, row by row"
    elif told:
        title = f"The targets of {told:,} of {rows:,} training rows can be read off the model"
    else:
        title = "No training row follows with certainty from the counts"
    remedy = (_TARGETS_REMEDY if told else _REMEDY) if effect != "note" else ""
    if found.formulation == "replayed":
        if found.exact and found.status != "unique":
            title = f"A table of all {rows:,} training rows fits every count, row by row"
        title += "; the stored seeds tell which row is which"
        remedy = f"{_SEEDS_REMEDY} {remedy}".strip() if remedy else ""
    return Finding("reconstruction.rows", title, detail, effect, remedy, evidence)


def _several_trees(subject: Subject) -> bool:
    # Each tree of a forest may have large leaves while their intersections hold one person each.
    several = isinstance(subject.model, Forest) and len(subject.model) > 1
    return several and not covered_by_privacy(subject)


RECONSTRUCTION = Analysis(
    "reconstruction",
    "Can the training rows be reconstructed from the published counts?",
    _run,
    needed=_several_trees,
    share=0.75,
    slow=True,
)
