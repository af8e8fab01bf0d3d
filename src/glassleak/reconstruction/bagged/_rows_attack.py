"""Bagged forests on raw tables, draws unknown: profiles are too many to list, rows are searched."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from glassleak.errors import UnsupportedModelError
from glassleak.knowledge import Known, Published, profile_space, published
from glassleak.models import Forest
from glassleak.reconstruction._assemble import as_frame, class_labels
from glassleak.reconstruction._result import Certificate, Reconstruction
from glassleak.reconstruction._survey import Progress
from glassleak.reconstruction.bagged._evidence import Evidence, evidence_of
from glassleak.reconstruction.mixed._axes import Axis, axes_of
from glassleak.reconstruction.mixed._grove import grove_of
from glassleak.reconstruction.mixed._likely import Likely, likely_rows
from glassleak.reconstruction.mixed._rows import values_of
from glassleak.reconstruction.mixed._terms import likely_terms
from glassleak.reconstruction.values._gate import thresholds_are_midpoints
from glassleak.schema import Schema

# In units of log-probability, for every row that a leaf lacks.
_PENALTY = 4.0


def attack_bagged_rows(
    forest: Forest,
    schema: Schema,
    known: Known,
    *,
    n_rows: int | None,
    deadline: float,
    seed: int,
    progress: Progress | None,
) -> Reconstruction:
    """Reconstruct a bagged forest's training set where profiles cannot be enumerated.

    Raises
    ------
    UnsupportedModelError
        Side knowledge is not used by this search.
    ModelTooLargeError, InconsistentModelError
    """
    started = time.monotonic()
    tell = progress or (lambda _step, _share: None)
    if not known.nothing:
        raise UnsupportedModelError(
            "the search over rows of bagged forests takes no side knowledge"
        )
    tell("preparing the search", 0.0)
    evidence = evidence_of(forest, n_rows)
    facts = published(list(forest.trees))
    space = profile_space(
        schema, facts.columns, facts.thresholds, facts.precision, facts.comparison
    )
    axes = axes_of(space, facts)
    grove = grove_of(facts, axes, midpoints=thresholds_are_midpoints(forest)[0])
    per_tree = np.add.reduceat(evidence.draws.sum(axis=1), evidence.first_leaf[:-1])
    terms = likely_terms(
        evidence.draws, evidence.distinct, evidence.n_rows, penalty=_PENALTY,
        n_draws=np.repeat(per_tree, np.diff(evidence.first_leaf)),
    )  # fmt: skip
    labels = likely_labels(evidence)
    found = likely_rows(grove, axes, terms, labels, deadline=deadline, seed=seed, tell=tell)
    values = values_of(axes, found.levels, len(facts.columns))
    lacking = _lacking(evidence, found)
    return Reconstruction(
        table=as_frame(facts, values),
        labels=class_labels(facts, labels.astype(np.int64)),
        status="likely",
        exact=False,
        seconds=time.monotonic() - started,
        certificate=_certificate(facts, evidence, found, lacking),
        confidence=found.support / _profiles(axes, schema, found),
        alike=_alike(values, labels),
        formulation="search",
        details=_details(space.size, evidence, found, lacking),
    )


def likely_labels(evidence: Evidence) -> npt.NDArray[np.int32]:
    """As many rows of each class as its share of all draws says, the class of each row.

    All trees together drew every row about as often as there are trees, so the share is known to
    a fraction of a row unless trees are few.
    """
    drawn = evidence.draws.sum(axis=0)
    share = np.concatenate([[0.0], np.cumsum(drawn / max(int(drawn.sum()), 1))])
    counts = np.diff(np.rint(share * evidence.n_rows).astype(np.int64))
    return np.repeat(np.arange(len(drawn)), counts).astype(np.int32)


def _lacking(evidence: Evidence, found: Likely) -> int:
    """Rows the table lacks, over all leaves, to explain the distinct rows (or classes) seen."""
    held = np.zeros(evidence.draws.shape, dtype=np.int64)
    np.add.at(held, (found.leaf, found.labels[:, None]), 1)
    drawn = evidence.draws > 0
    absent = (drawn & (held == 0)).sum(axis=1)
    room = np.minimum(np.where(drawn, held, 0), evidence.draws).sum(axis=1)
    return int(np.maximum(np.maximum(absent, evidence.distinct - room), 0).sum())


def _profiles(axes: tuple[Axis, ...], schema: Schema, found: Likely) -> npt.NDArray[np.float64]:
    """Per row: profiles its levels stand for."""
    out = np.ones(len(found.levels))
    for b, (axis, attribute) in enumerate(zip(axes, schema, strict=True)):
        if not axis.ordered:
            continue
        step = getattr(attribute, "resolution", 1.0)
        width = (axis.high - axis.low)[found.levels[:, b]]
        number = np.where(width > 0, np.inf, 1.0) if step is None else width / step + 1
        out *= np.where(np.isnan(number), 1.0, number)
    return out


def _alike(values: npt.NDArray[np.float64], labels: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    keys = np.nan_to_num(np.column_stack([values, labels]), nan=np.inf)
    _, kind, times = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    return times[kind.reshape(-1)].astype(np.int64)


def _details(size: int | float, evidence: Evidence, found: Likely, lacking: int) -> dict[str, Any]:
    return {
        "profiles": size,
        "samples": found.samples,
        "sweeps": found.sweeps,
        "energy": found.energy,
        "rows_lacking": lacking,
        "n_rows_from": evidence.n_rows_from,
    }


def _certificate(facts: Published, evidence: Evidence, found: Likely, lacking: int) -> Certificate:
    n_trees = len(evidence.forest.trees)
    seen = int(np.maximum(evidence.distinct, 0).sum())
    replay = (
        f"every one of the {n_trees} trees can have drawn its sample from this table"
        if lacking == 0
        else f"over all {n_trees} trees, {lacking:,} of {seen:,} distinct rows seen in leaves are "
        "not in this table"
    )
    return Certificate(
        replayed=lacking == 0,
        unique=None,
        proof="rows were resampled, so counts make tables more or less likely and prove none",
        certain_rows=0,
        complete=False,
        certain_in_part=0,
        bounds=pd.DataFrame(
            columns=[*facts.columns, "class", "minimum", "maximum", "exact", "profiles"]
        ),
        statements=(
            replay,
            f"every row is the middle of its {found.samples} samples, drawn by probability",
        ),
    )
