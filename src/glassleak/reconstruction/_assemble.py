"""From a histogram to the answer: the table, replayed through the model, and its certificate."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from glassleak.knowledge import Published
from glassleak.reconstruction._cells_attack import Histograms
from glassleak.reconstruction._centre import central_table
from glassleak.reconstruction._fill import fill_rows
from glassleak.reconstruction._result import Certificate, Reconstruction
from glassleak.reconstruction._survey import Progress

_MANY = 10**300
_CHOOSING_SECONDS = 2.0


def assemble(
    facts: Published,
    found: Histograms,
    started: float,
    deadline: float,
    *,
    central: bool = True,
    progress: Progress | None = None,
) -> Reconstruction:
    """The chosen histogram as a checked `Reconstruction`."""
    tell = progress or (lambda _step, _share: None)
    cells, system = found.cells, found.system
    # Profiles per cell; a cell of a continuous attribute never pins a value down.
    sizes = np.full(len(cells), np.inf)
    if cells.n_profiles is not None:
        # Beyond floating point, "more than anybody can count" is all that matters.
        sizes = np.array([float(min(n, _MANY)) for n in cells.n_profiles])
    if central:
        # Finding the tables is worth more than choosing among them.
        now = time.monotonic()
        x, profiles = central_table(
            cells, system, found.samples, found.pieces,
            min(deadline, now + max(_CHOOSING_SECONDS, now - started)),
            told=lambda: tell("choosing the table", 0.9),
        )  # fmt: skip
    else:
        x = found.first
        profiles = fill_rows(cells, np.repeat(system.cell, x))
    unknown = np.repeat(np.arange(system.n_unknowns), x)
    labels = system.label[unknown]
    values = cells.space.values(profiles)
    replay(facts, values, labels)
    confidence = _confidence(found, x, unknown, sizes)
    certain = found.lower > 0
    whole = sizes[system.cell] == 1
    unique = found.unique
    if unique and not whole[x > 0].all():
        # The histogram over cells is determined, but some cell stands for several profiles.
        unique = False
    certificate = Certificate(
        replayed=True,
        unique=unique,
        proof=found.proof,
        certain_rows=int(found.lower[certain & whole].sum()),
        complete=found.complete,
        certain_in_part=int(found.lower[certain & ~whole].sum()),
        bounds=_bounds_table(facts, found, sizes),
    )
    what = "count" if facts.parts[0].majority is None else "label"
    certificate = _with_statements(certificate, len(values), found, what)
    return Reconstruction(
        table=as_frame(facts, values),
        labels=class_labels(facts, labels),
        status="unique" if unique else "consistent",
        exact=True,
        seconds=time.monotonic() - started,
        certificate=certificate,
        confidence=confidence,
        alike=x[unknown],
        formulation="cells",
        details=found.details,
    )


def as_frame(facts: Published, values: npt.NDArray[np.float64]) -> pd.DataFrame:
    """`values` in the model's columns; columns of whole numbers as integers."""
    frame = pd.DataFrame(values, columns=list(facts.columns))
    whole = [c for c in frame if (frame[c] == np.floor(frame[c])).all()]
    return frame.astype(dict.fromkeys(whole, np.int64))


def class_labels(facts: Published, numbers: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    """Class numbers as the model's own labels."""
    text = any(isinstance(label, str) for label in facts.classes)
    return np.array(facts.classes, dtype=object if text else None)[numbers]


def replay(
    facts: Published, values: npt.NDArray[np.float64], labels: npt.NDArray[np.int64]
) -> None:
    """Send the table through every part and compare every count; a mismatch is a bug."""
    distinct, times = np.unique(np.column_stack([values, labels]), axis=0, return_counts=True)
    values, labels = distinct[:, :-1], distinct[:, -1].astype(np.int64)
    for part in facts.parts:
        counts = np.zeros((part.n_groups, len(facts.classes)), dtype=np.int64)
        np.add.at(counts, (part.assign(values), labels), times)
        if part.majority is not None and not np.array_equal(
            np.argmax(counts, axis=1), part.majority
        ):
            raise AssertionError(f"the reconstruction does not give {part.name} its labels")
        if not part.by_class:
            counts = counts.sum(axis=1, keepdims=True)
        stated = part.counts >= 0
        if not np.array_equal(counts[stated], part.counts[stated]):
            raise AssertionError(f"the reconstruction does not reproduce {part.name}")


def _confidence(
    found: Histograms,
    x: npt.NDArray[np.int64],
    unknown: npt.NDArray[np.int64],
    sizes: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """Share of sampled tables that hold at least as many rows of the kind, per profile."""
    first = np.concatenate([[0], np.cumsum(x)])[:-1]
    rank = np.arange(len(unknown)) - first[unknown] + 1
    # Only what is proved gets 1: a share of all k samples counts as k of k + 1.
    held = (found.samples[:, unknown] >= rank).sum(axis=0) / (len(found.samples) + 1)
    held = np.where(rank <= found.lower[unknown], 1.0, held)
    out: npt.NDArray[np.float64] = held / sizes[found.system.cell[unknown]]
    return out


def _bounds_table(
    facts: Published, found: Histograms, sizes: npt.NDArray[np.float64]
) -> pd.DataFrame:
    possible = np.flatnonzero(found.upper > 0)
    cell = found.system.cell[possible]
    table = pd.DataFrame(
        found.cells.space.values(found.cells.profiles[cell]), columns=list(facts.columns)
    )
    label = found.system.label[possible]
    table["class"] = [facts.classes[k] for k in label.tolist()]
    table["minimum"] = found.lower[possible]
    table["maximum"] = found.upper[possible]
    table["exact"] = found.exact[possible]
    table["profiles"] = sizes[cell]
    return table


def _with_statements(
    certificate: Certificate, n_rows: int, found: Histograms, what: str
) -> Certificate:
    lines = [f"sent through the model, the table reproduces every published {what}"]
    if certificate.unique:
        lines.append(f"it is the only table that does ({certificate.proof})")
    elif found.unique:
        lines.append(
            "every other consistent table differs only in values the model does not tell apart "
            f"({certificate.proof})"
        )
    elif certificate.unique is False:
        lines.append(f"other tables do so too ({certificate.proof})")
    else:
        lines.append(f"whether others do is undecided ({certificate.proof})")
    certain = certificate.certain_rows
    if certain:
        least = "" if certificate.complete else "at least "
        lines.append(
            f"{least}{certain:,} of {n_rows:,} rows are in every consistent table: these people "
            "are provably in the training set"
        )
    elif certificate.complete:
        lines.append("no single row is in every consistent table")
    else:
        lines.append("whether any row is in every consistent table was not decided in time")
    if certificate.certain_in_part:
        lines.append(
            f"{certificate.certain_in_part:,} more are certain up to values the model does not "
            "tell apart"
        )
    return replace(certificate, statements=tuple(lines))
