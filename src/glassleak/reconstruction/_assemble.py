"""From a histogram to the answer: the table, replayed through the model, and its certificate."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from glassleak.knowledge import Published
from glassleak.reconstruction._cells_attack import Histograms
from glassleak.reconstruction._centre import central_table
from glassleak.reconstruction._fill import fill_rows
from glassleak.reconstruction._numbers import Numbers
from glassleak.reconstruction._result import Certificate, Reconstruction
from glassleak.reconstruction._settled import certain_places, settled_rows
from glassleak.reconstruction._survey import Progress

Refine = Callable[[npt.NDArray[np.float64], npt.NDArray[np.bool_]], Numbers]

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
    refine: Refine | None = None,
) -> Reconstruction:
    """The chosen histogram as a checked `Reconstruction`.

    Parameters
    ----------
    refine : callable, optional
        Given the table and which places in it are certain, the values of its numbers.
    """
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
    held = found.lower[unknown] >= _rank(x, unknown)
    settled = sizes[system.cell[unknown]] == 1
    details, proved = found.details, None
    told: tuple[str, ...] = ()
    if refine is not None:
        cell = system.cell[unknown]
        sure = held | (found.unique is True)
        numbers = refine(values, certain_places(cells, cell, sure))
        values, told = numbers.table, numbers.statements
        if numbers.details:
            settled |= settled_rows(cells, cell, numbers.exact)
            details = details | {"values": numbers.details}
            proved = pd.DataFrame(numbers.exact, columns=list(facts.columns))
    replay(facts, values, labels)
    # What a row's cell stands for, as far as values did not settle it.
    profiles_left = np.where(settled, 1.0, sizes[system.cell[unknown]])
    confidence = _confidence(found, x, unknown, profiles_left)
    unique = found.unique
    if unique and not settled.all():
        # The histogram over cells is determined, but some cell stands for several profiles.
        unique = False
    certificate = Certificate(
        replayed=True,
        unique=unique,
        proof=found.proof,
        certain_rows=int((held & settled).sum()),
        complete=found.complete,
        certain_in_part=int((held & ~settled).sum()),
        bounds=_bounds_table(facts, found, values, unknown, settled, sizes),
    )
    what = "count" if facts.parts[0].majority is None else "label"
    certificate = _with_statements(certificate, len(values), found, what, told)
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
        details=details,
        proved_values=proved,
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


def _rank(x: npt.NDArray[np.int64], unknown: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Of each row: the how many-th of its kind it is."""
    first = np.concatenate([[0], np.cumsum(x)])[:-1]
    out: npt.NDArray[np.int64] = np.arange(len(unknown)) - first[unknown] + 1
    return out


def _confidence(
    found: Histograms,
    x: npt.NDArray[np.int64],
    unknown: npt.NDArray[np.int64],
    profiles: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """Share of sampled tables that hold at least as many rows of the kind, per profile."""
    rank = _rank(x, unknown)
    # Only what is proved gets 1: a share of all k samples counts as k of k + 1.
    held = (found.samples[:, unknown] >= rank).sum(axis=0) / (len(found.samples) + 1)
    held = np.where(rank <= found.lower[unknown], 1.0, held)
    out: npt.NDArray[np.float64] = held / profiles
    return out


def _bounds_table(
    facts: Published,
    found: Histograms,
    values: npt.NDArray[np.float64],
    unknown: npt.NDArray[np.int64],
    settled: npt.NDArray[np.bool_],
    sizes: npt.NDArray[np.float64],
) -> pd.DataFrame:
    """One line per cell and class that can hold rows; if their values are known, per profile."""
    system = found.system
    # Cells whose number of rows is known, and every row of which has one profile left.
    known = (found.lower == found.upper) & (found.upper > 0) & (sizes[system.cell] > 1)
    known[unknown[~settled]] = False
    possible = np.flatnonzero((found.upper > 0) & ~known)
    rows = np.flatnonzero(known[unknown])
    profiles, own, times = _distinct(values[rows], unknown[rows])
    at = np.concatenate([possible, own])
    table = pd.DataFrame(
        np.vstack(
            [found.cells.space.values(found.cells.profiles[system.cell[possible]]), profiles]
        ),
        columns=list(facts.columns),
    )
    table["class"] = [facts.classes[k] for k in system.label[at].tolist()]
    table["minimum"] = np.concatenate([found.lower[possible], times])
    table["maximum"] = np.concatenate([found.upper[possible], times])
    table["exact"] = np.concatenate([found.exact[possible], np.ones(len(own), dtype=bool)])
    table["profiles"] = np.concatenate([sizes[system.cell[possible]], np.ones(len(own))])
    return table


def _distinct(
    values: npt.NDArray[np.float64], unknown: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The distinct lines of `values` and `unknown` together, and how often each occurs."""
    keys = np.column_stack([np.where(np.isnan(values), np.inf, values), unknown])
    _, first, times = np.unique(keys, axis=0, return_index=True, return_counts=True)
    return values[first], unknown[first], times.astype(np.int64)


def _with_statements(
    certificate: Certificate, n_rows: int, found: Histograms, what: str, told: tuple[str, ...]
) -> Certificate:
    lines = [f"sent through the model, the table reproduces every published {what}"]
    if certificate.unique:
        also = " and gives every threshold" if told else ""
        lines.append(f"it is the only table that does{also} ({certificate.proof})")
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
    return replace(certificate, statements=(*lines, *told))
