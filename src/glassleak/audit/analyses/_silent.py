"""Models that publish no counts at all: what the splits alone still say.

Somebody is in every leaf, for a leaf without training rows would not exist.  So a leaf that only
one profile can reach proves that somebody with exactly these values is in the training data.
Nothing else does: a table with somebody of every other profile fits all leaves as well.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from glassleak.audit._analysis import Subject
from glassleak.audit._finding import AnalysisResult, Finding
from glassleak.audit._policy import Policy
from glassleak.audit.analyses._inferred import schema_for
from glassleak.errors import GlassleakError
from glassleak.models import Exact, Forest, Model, MultiwayTree, RuleList, Tree, node_depths
from glassleak.schema import Schema
from glassleak.uncertainty import uncertainty

_SHARE = 0.3
_OCCUPIED = "every leaf or rule was reached by at least one training row"
_GROWN = {
    "max_depth": (None,),
    "min_samples_leaf": (1,),
    "min_samples_split": (2,),
    "max_leaf_nodes": (None,),
    "ccp_alpha": (0, 0.0),
    "min_impurity_decrease": (0, 0.0),
}


def silent(subject: Subject, model: Model, why: str) -> AnalysisResult:
    """The answer about group sizes where none is published."""
    schema, inferred = schema_for(subject, model)
    assumptions = [_OCCUPIED, *inferred]
    deadline = time.monotonic() + max(1.0, _SHARE * subject.remaining())
    endless = [a.name for a in schema if a.size is None]
    if endless:
        # Values between two thresholds are not told apart, so no leaf has a single profile.
        pinned, leaves, reason = 0, _n_leaves(model), ""
        assumptions.append(f"{endless[0]!r} takes more than one value between any two thresholds")
    else:
        pinned, leaves, reason = _pinned(model, schema, deadline)
    if isinstance(model, Forest) and model.aggregation == "sum":
        reason = "what the scores of its leaves give away is not assessed"
    findings = [_shape(model, leaves, why)]
    if pinned:
        findings.append(_single_profiles(pinned, model, subject.policy))
    if grown_until_pure(model):
        findings.append(_pure(subject))
    return AnalysisResult(
        "partial" if reason else "done",
        tuple(findings),
        reason=reason,
        assumptions=tuple(assumptions),
    )


def _n_leaves(model: Model) -> int:
    if isinstance(model, Forest):
        return sum(tree.n_leaves for tree in model.trees)
    return len(model) if isinstance(model, RuleList) else len(model.leaves)


def _pinned(model: Model, schema: Schema, deadline: float) -> tuple[int, int, str]:
    """Leaves that one profile alone can reach, leaves looked at, and why not all were."""
    parts = model.trees if isinstance(model, Forest) else (model,)
    pinned = looked_at = 0
    for i, part in enumerate(parts):
        left = deadline - time.monotonic()
        if left <= 0:
            return pinned, looked_at, f"time for {i} of {len(parts)} trees only"
        try:
            found = uncertainty(_one_each(part), schema, budget_seconds=max(left, 0.1))
        except GlassleakError as error:
            return pinned, looked_at, str(error)
        assert found.per_leaf is not None
        pinned += int((found.per_leaf["profiles_high"] == 1).sum())
        looked_at += len(found.per_leaf)
        if not found.exact:
            return pinned, looked_at, "the budget ended before all possible profiles were counted"
    return pinned, looked_at, ""


def _one_each(part: Tree | RuleList | MultiwayTree) -> Any:
    """The same splits, with one person in every leaf."""
    if isinstance(part, MultiwayTree):
        return part
    size = len(part) if isinstance(part, RuleList) else part.n_nodes
    counts = np.zeros((size, len(part.classes)), dtype=np.int64)
    if isinstance(part, RuleList):
        counts[:, 0] = 1
        return replace(part, counts=Exact(counts))
    counts[part.leaves, 0] = 1
    depth = node_depths(part.left, part.right)
    internal = np.flatnonzero(part.feature >= 0)
    for node in internal[np.argsort(-depth[internal], kind="stable")].tolist():
        counts[node] = counts[part.left[node]] + counts[part.right[node]]
    return replace(
        part, counts=Exact(counts), rows=None, distinct_rows=None, n_rows=int(counts[0, 0])
    )


def grown_until_pure(model: Model) -> bool:
    """Whether the stored settings say that leaves were split as long as classes differed."""
    settings = model.provenance.settings
    known = [key for key in _GROWN if key in settings]
    return {"max_depth", "min_samples_leaf"} <= set(known) and all(
        settings[key] in _GROWN[key] for key in known
    )


def _shape(model: Model, leaves: int, why: str) -> Finding:
    noun = "rules" if isinstance(model, RuleList) else "leaves"
    return Finding(
        id="structure.no-counts",
        title="The model does not say how many people are behind anything it says",
        detail=f"Numbers of people are not published ({why}). What is left says that somebody is "
        f"in each of its {noun}, and which class is most frequent there.",
        effect="note",
        evidence={"groups": leaves, "why": why},
    )


def _single_profiles(pinned: int, model: Model, policy: Policy) -> Finding:
    noun = "rules" if isinstance(model, RuleList) else "leaves"
    least = model.provenance.settings.get("min_samples_leaf")
    known = isinstance(least, int) and not isinstance(least, bool) and least >= policy.min_people
    detail = (
        "Somebody with exactly these values is in the training data: there would be no such leaf "
        "otherwise."
    )
    detail += (
        f" The settings say that at least {least} people are in every leaf."
        if known
        else " How many people share them is not published, so it may be one person."
    )
    return Finding(
        id="structure.single-profiles",
        title=f"{pinned:,} {noun} can be reached by one combination of values only",
        detail=detail,
        effect="note" if known else "refer",
        remedy=""
        if known
        else "Audit the model before its counts were removed to see how many "
        "people these are, or merge such leaves (larger min_samples_leaf, less depth).",
        evidence={"groups": pinned, "min_samples_leaf": least if known else None},
    )


def _pure(subject: Subject) -> Finding:
    return Finding(
        id="structure.grown-until-pure",
        title="The settings say that every leaf was split until its people had one class",
        detail="So the label of a leaf is the class of everybody in it (equal people of different "
        "classes apart): whoever knows that someone is in the training data, and their values, "
        "knows their class.",
        effect="note" if subject.policy.allow_pure_leaves else "refer",
        remedy="Decide whether that matters for these people (give training and hold-out data to "
        "see how well members can be told), or train with larger leaves.",
        evidence={key: subject.model.provenance.settings.get(key) for key in _GROWN}
        if subject.model is not None
        else {},
    )
