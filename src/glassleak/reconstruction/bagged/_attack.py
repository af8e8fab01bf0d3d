"""From sampled tables to the answer: the central table, its confidence, what can be said for it."""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt
import pandas as pd

from glassleak.knowledge import Known
from glassleak.models import Forest
from glassleak.reconstruction._numbers import with_values
from glassleak.reconstruction._result import Certificate, Reconstruction
from glassleak.reconstruction.bagged._centre import (
    central_rows,
    expected_error,
    level_costs,
    support,
)
from glassleak.reconstruction.bagged._histogram import (
    BaggedHistogram,
    Progress,
    estimate_histogram,
)
from glassleak.schema import Schema

IntArray = npt.NDArray[np.int64]
# Pairing rows is quadratic in those that differ: fewer samples for longer tables.
_MOST_PAIRED = 40_000
_CLASS_COST = 0.01


def attack_bagged(
    forest: Forest,
    schema: Schema,
    known: Known,
    *,
    n_rows: int | None,
    budget_seconds: float,
    seed: int,
    progress: Progress | None,
    central: bool,
) -> Reconstruction:
    """Reconstruct a bagged forest's training set, multiplicities unknown.

    Parameters
    ----------
    central : bool
        Return the table of smallest expected error; otherwise the most likely one sampled.
    """
    started = time.monotonic()
    found = estimate_histogram(
        forest, schema, known, n_rows=n_rows, deadline=started + budget_seconds, seed=seed,
        progress=progress,
    )  # fmt: skip
    if progress is not None:
        progress("choosing the table", 0.9)
    profile, label, error = _choose(found, central=central)
    values = found.profiles.values(profile)
    lacking = lacking_rows(found, profile, label)
    told: tuple[str, ...] = ()
    details = found.details
    if known.nothing:
        numbers = with_values(
            forest, schema, values, certain=np.zeros(values.shape, dtype=bool), draws="unknown",
            fits=lacking == 0,
        )  # fmt: skip
        values, told = numbers.table, numbers.statements
        details = details | ({"values": numbers.details} if numbers.details else {})
    details = details | {
        "log_likelihood": float(found.log_likelihood[found.best]),
        "expected_error": error,
        "rows_lacking": lacking,
        "samples": len(found.samples),
        "n_rows_from": found.evidence.n_rows_from,
    }
    classes = forest.classes
    text = any(isinstance(name, str) for name in classes)
    frame = pd.DataFrame(values, columns=list(forest.columns))
    whole = [c for c in frame if (frame[c] == np.floor(frame[c])).all()]
    return Reconstruction(
        table=frame.astype(dict.fromkeys(whole, np.int64)),
        labels=np.array(classes, dtype=object if text else None)[label],
        status="likely",
        exact=False,
        seconds=time.monotonic() - started,
        certificate=_certificate(found, lacking, told),
        confidence=_confidence(found, profile, label),
        alike=_alike(profile, label),
        formulation="bagged",
        details=details,
    )


def _choose(found: BaggedHistogram, *, central: bool) -> tuple[IntArray, IntArray, float]:
    """Profiles and classes of the answer, and its expected error under the samples."""
    n_rows, n_classes = found.evidence.n_rows, len(found.evidence.classes)
    n_used = int(np.clip(_MOST_PAIRED // max(n_rows, 1), 10, len(found.samples)))
    used = np.unique(np.linspace(0, len(found.samples) - 1, n_used).astype(int))
    costs = level_costs([block.values for block in found.profiles.space.blocks])
    n_columns = found.profiles.space.n_columns

    def levels(at: IntArray) -> IntArray:
        codes = found.profiles.codes(found.profile[at]).astype(np.int64)
        return np.column_stack([codes, found.label[at]])

    tables = [levels(at) for at in found.samples[used]]
    answer = levels(found.samples[found.best])
    if central:
        # Errors are about attributes; of equally good pairs, those of the same class.
        with_class = [*costs, _CLASS_COST * (1.0 - np.eye(n_classes))]
        answer = central_rows([*tables, answer], found.groups.group, with_class, len(tables))
    attributes = [np.ascontiguousarray(table[:, :-1]) for table in tables]
    own = np.ascontiguousarray(answer[:, :-1])
    error = expected_error(own, attributes, costs) / n_columns
    return own @ found.profiles.strides, answer[:, -1], error


def lacking_rows(found: BaggedHistogram, profile: IntArray, label: IntArray) -> int:
    """Rows the table lacks: the sum over leaves of seen distinct rows it cannot account for.

    Zero means that every tree can have drawn its sample from this table.
    """
    evidence = found.evidence
    held = np.zeros((evidence.n_leaves, len(evidence.classes)), dtype=np.int64)
    np.add.at(held, (found.profiles.leaf[profile], label[:, None]), 1)
    drawn = evidence.draws > 0
    missing = (drawn & (held == 0)).sum(axis=1)
    room = np.minimum(np.where(drawn, held, 0), evidence.draws).sum(axis=1)
    missing = np.maximum(missing, evidence.distinct - room)
    return int(np.maximum(missing, 0).sum())


def _confidence(
    found: BaggedHistogram, profile: IntArray, label: IntArray
) -> npt.NDArray[np.float64]:
    """Share of the sampled tables that hold the row, per profile its levels stand for."""
    table = np.column_stack([profile, label])
    samples = [np.column_stack([found.profile[s], found.label[s]]) for s in found.samples]
    held = support(table, samples)
    # Only proof earns certainty: k of k samples count as k of k + 1.
    held = held * len(samples) / (len(samples) + 1)
    codes = found.profiles.codes(profile)
    for b, block in enumerate(found.profiles.space.blocks):
        sizes = np.full(len(block), np.inf) if block.sizes is None else np.array(
            [float(min(size, 10**300)) for size in block.sizes]
        )  # fmt: skip
        held = held / sizes[codes[:, b]]
    return np.where(found.groups.pinned >= 0, 1.0, held)


def _alike(profile: IntArray, label: IntArray) -> IntArray:
    _, inverse, counts = np.unique(
        np.column_stack([profile, label]), axis=0, return_inverse=True, return_counts=True
    )
    return counts[inverse.reshape(-1)]


def _certificate(found: BaggedHistogram, lacking: int, told: tuple[str, ...]) -> Certificate:
    n_trees = len(found.evidence.forest.trees)
    at = found.samples[found.best]
    if lacking == 0:
        replay = f"every one of the {n_trees} trees can have drawn its sample from this table"
    elif lacking_rows(found, found.profile[at], found.label[at]) == 0:
        replay = (
            f"over all {n_trees} trees, {lacking:,} of the distinct rows seen in leaves are not in "
            "this table: it is the centre of tables that hold them, and not one of them"
        )
    else:
        replay = (
            f"over all {n_trees} trees, {lacking:,} of the distinct rows seen in leaves are not in "
            "this table, and no table was found that holds all of them"
        )
    return Certificate(
        replayed=lacking == 0,
        unique=None,
        proof="rows were resampled, so counts make tables more or less likely and prove none",
        certain_rows=0,
        complete=False,
        certain_in_part=0,
        bounds=pd.DataFrame(
            columns=[
                *found.evidence.forest.columns,
                "class",
                "minimum",
                "maximum",
                "exact",
                "profiles",
            ]
        ),
        statements=(
            replay,
            f"chosen among {len(found.samples)} tables drawn in proportion to their probability",
            *told,
        ),
    )
