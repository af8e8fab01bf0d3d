"""The table in the original order of rows, replayed with the draws, and its certificate."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from glassleak.reconstruction._assemble import as_frame, class_labels
from glassleak.reconstruction._result import Certificate, Reconstruction, Status
from glassleak.reconstruction.replayed._attack import Found
from glassleak.reconstruction.replayed._fill import fill
from glassleak.reconstruction.replayed._problem import IntArray, Problem
from glassleak.reconstruction.training import Refined
from glassleak.reconstruction.values import Values

# Only what is proved gets confidence 1.
_SUREST = 0.99


Refine = Callable[[npt.NDArray[np.float64], npt.NDArray[np.int32]], Values | None]


Settle = Callable[[Values, IntArray, npt.NDArray[np.int32]], Refined | None]


def answer(
    problem: Problem,
    found: Found,
    source: str,
    started: float,
    refine: Refine,
    settle: Settle | None = None,
) -> Reconstruction:
    """`found` as a checked `Reconstruction`.

    Parameters
    ----------
    source : str
        Where the multiplicities come from, in words.
    refine : callable
        Given a table and the draws, the exact values of columns that hold numbers.
    settle : callable, optional
        Given these, the classes and the draws, the table with cells settled that leaves leave open.
    """
    rows = found.possible.rows
    label = rows.label[found.pick].astype(np.int64)
    profile, size = fill(problem, found.possible.box[found.pick], label)
    values = problem.space.values(profile)
    wrong = replay(problem, values, label)
    exact = refine(values, problem.drawn)
    details: dict[str, Any] = found.details
    told: tuple[str, ...] = ()
    if exact is not None:
        refined = exact.table.to_numpy(dtype=np.float64)
        if replay(problem, refined, label) <= wrong:
            values = refined
            details = details | _value_details(exact)
            told = _value_statements(exact, wrong)
    if settle is not None and exact is not None and wrong == 0 and (size > 1).any():
        settled = settle(exact, label, problem.drawn)
        if settled is not None and replay(problem, settled.values, label) == 0:
            values = settled.values
            details = details | _settled_details(settled)
            told = (*told, _settled_statement(settled))
    drawn = np.diff(rows.first_tree) > 0
    sure = np.where(found.certain, 1.0, np.minimum(found.belief, _SUREST))
    confidence = np.where(drawn, sure, 1 / problem.n_classes) / size
    whole = size == 1
    unique = found.unique
    if unique and not whole[drawn].all():
        # Every row's cell is determined, but some cell stands for several profiles.
        unique = False
    status: Status = "unique" if unique else "consistent"
    if wrong or not drawn.all():
        status, unique = "partial", None if wrong else unique
    certificate = Certificate(
        replayed=wrong == 0,
        unique=unique if drawn.all() else None,
        proof=found.proof,
        certain_rows=int((found.certain & whole).sum()),
        complete=found.complete,
        certain_in_part=int((found.certain & ~whole).sum()),
        bounds=_bounds(problem, found, values, label, size),
        statements=(*_statements(found, source, wrong, drawn, whole), *told),
    )
    return Reconstruction(
        table=as_frame(problem.facts, values),
        labels=class_labels(problem.facts, label),
        status=status,
        exact=wrong == 0,
        seconds=time.monotonic() - started,
        certificate=certificate,
        confidence=confidence,
        alike=_alike(values, label),
        formulation="replayed",
        details=details | {"multiplicities": source, "missed": wrong},
    )


def _settled_details(settled: Refined) -> dict[str, Any]:
    return {
        "open_cells": settled.cells_open,
        "open_cells_changed": settled.cells_changed,
        "splits_repeated": settled.after.fits,
        "seconds_settling_cells": settled.seconds,
    }


def _settled_statement(settled: Refined) -> str:
    return (
        f"{settled.cells_open:,} cells that no leaf settles are chosen so that "
        f"{settled.after.fits:.0%} of the splits come out again when the trees are grown with "
        "their seeds"
    )


def replay(problem: Problem, values: npt.NDArray[np.float64], label: IntArray) -> int:
    """How many published figures the table does not reproduce, draws and distinct rows alike."""
    wrong = 0
    leaves = problem.leaves
    for t, part in enumerate(problem.facts.parts):
        times = problem.drawn[t].astype(np.int64)
        group = part.assign(values)
        first, last = int(leaves.first[t]), int(leaves.first[t + 1])
        draws = np.zeros((part.n_groups, problem.n_classes), dtype=np.int64)
        np.add.at(draws, (group, label), times)
        distinct = np.bincount(group[times > 0], minlength=part.n_groups)
        for published, counted in (
            (leaves.draws[first:last], draws),
            (leaves.distinct[first:last], distinct),
        ):
            wrong += int(((published >= 0) & (published != counted)).sum())
    return wrong


def _value_details(exact: Values) -> dict[str, Any]:
    return {
        "values_determined": exact.share_exact,
        "values_left_one": exact.share_pinned,
        "thresholds": exact.thresholds,
        "thresholds_met": exact.met,
        "thresholds_in_conflict": len(exact.conflicts),
    }


def _value_statements(exact: Values, wrong: int) -> tuple[str, ...]:
    """What the thresholds say about values, provided that the rows are placed rightly."""
    if not exact.midpoints:
        return (f"values of numeric columns are told as intervals only: {exact.reason}",)
    told = (
        f"if the rows are placed rightly, {exact.share_exact:.0%} of the values of numeric columns "
        "follow from the thresholds, which are half way between training values"
    )
    if wrong or exact.conflicts:
        told = (
            f"{len(exact.conflicts):,} of {exact.thresholds:,} thresholds of numeric columns "
            "contradict the others: not every row is placed rightly"
        )
    return (told,)


def _alike(values: npt.NDArray[np.float64], label: IntArray) -> npt.NDArray[np.int64]:
    _, kind, times = np.unique(
        np.column_stack([values, label]), axis=0, return_inverse=True, return_counts=True
    )
    out: npt.NDArray[np.int64] = times[kind.reshape(-1)].astype(np.int64)
    return out


def _bounds(
    problem: Problem,
    found: Found,
    values: npt.NDArray[np.float64],
    label: IntArray,
    size: npt.NDArray[np.float64],
) -> pd.DataFrame:
    """One line per kind of row in the table: how many certainly are, how many could be."""
    keys = np.column_stack([values, label, size])
    _, first, kind = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    kind = kind.reshape(-1)
    table = pd.DataFrame(values[first], columns=list(problem.facts.columns))
    table["class"] = [problem.facts.classes[k] for k in label[first].tolist()]
    table["minimum"] = np.bincount(kind[found.certain], minlength=len(first))
    settled = bool(found.certain.all())
    most = np.bincount(kind, minlength=len(first)) if settled else problem.n_rows
    table["maximum"] = most
    table["exact"] = settled
    table["profiles"] = size[first]
    return table


def _statements(
    found: Found,
    source: str,
    wrong: int,
    drawn: npt.NDArray[np.bool_],
    whole: npt.NDArray[np.bool_],
) -> tuple[str, ...]:
    n_rows = len(drawn)
    lines = [f"which rows each tree drew is known: {source}"]
    if wrong:
        lines.append(
            f"the budget ended before an exact table was found: {wrong:,} published figures are "
            "not reproduced"
        )
    else:
        lines.append(
            "drawn in the same way and sent through the model, the table reproduces every "
            "published figure, draws and distinct rows"
        )
        rest = "" if whole[drawn].all() else ", up to values the model does not tell apart"
        if found.unique:
            lines.append(f"it is the only table that does{rest} ({found.proof})")
        elif found.unique is False:
            lines.append(f"other tables do so too ({found.proof})")
        else:
            lines.append(f"whether others do is not known ({found.proof})")
    certain = int((found.certain & whole).sum())
    if certain:
        least = "" if found.complete else "at least "
        lines.append(
            f"{least}{certain:,} of {n_rows:,} rows are proved, each at its own position in the "
            "training table"
        )
    part = int((found.certain & ~whole).sum())
    if part:
        lines.append(f"{part:,} more are proved up to values the model does not tell apart")
    if not drawn.all():
        lines.append(
            f"{int((~drawn).sum()):,} rows were drawn by no tree; the model says nothing about them"
        )
    return tuple(lines)
