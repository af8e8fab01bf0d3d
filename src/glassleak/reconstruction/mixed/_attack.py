"""Reconstruct the rows of a model whose cells cannot be enumerated."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from glassleak.errors import UnsupportedModelError
from glassleak.knowledge import Known, Published, profile_space
from glassleak.models import Forest, Model, MultiwayTree, RuleList, Tree
from glassleak.reconstruction._assemble import as_frame, class_labels
from glassleak.reconstruction._result import Certificate, Reconstruction, Status
from glassleak.reconstruction._survey import Progress
from glassleak.reconstruction.mixed._axes import Axis, axes_of
from glassleak.reconstruction.mixed._grove import grove_of
from glassleak.reconstruction.mixed._mend import Figures
from glassleak.reconstruction.mixed._rows import values_of
from glassleak.reconstruction.mixed._search import Placed, Task, search
from glassleak.reconstruction.mixed._terms import exact_terms
from glassleak.reconstruction.values import Values, recover_values
from glassleak.reconstruction.values._gate import thresholds_are_midpoints
from glassleak.schema import Schema

FloatArray = npt.NDArray[np.float64]
# Of the time, for recovering values and sending the table through the model.
_VALUES_SHARE = 0.05


def searchable(model: Model | Sequence[Model], known: Known) -> bool:
    """Whether `attack_rows` applies: trees, exact counts of every leaf, no side knowledge."""
    models = model if isinstance(model, Sequence) else (model,)
    return known.nothing and not any(isinstance(one, RuleList | MultiwayTree) for one in models)


def attack_rows(
    model: Model | Sequence[Model],
    facts: Published,
    schema: Schema,
    known: Known,
    *,
    started: float,
    deadline: float,
    seed: int,
    progress: Progress | None = None,
) -> Reconstruction:
    """Search over rows: cost per step does not depend on the number of possible profiles.

    Raises
    ------
    UnsupportedModelError
        Rule lists, multiway trees and side knowledge are not assessed by this formulation.
    BudgetExhaustedError, ModelTooLargeError
    """
    tell = progress or (lambda _step, _share: None)
    if not searchable(model, known):
        raise UnsupportedModelError(
            "the search over rows takes binary trees with exact counts and no side knowledge"
        )
    tell("preparing the search", 0.0)
    for part in facts.parts:
        if not part.by_class or (part.counts < 0).any():
            raise UnsupportedModelError("search over rows needs every count per class", part.name)
    models = tuple(model) if isinstance(model, Sequence) else (model,)
    trees = [one for one in models if isinstance(one, Tree | Forest)]
    space = profile_space(
        schema, facts.columns, facts.thresholds, facts.precision, facts.comparison
    )
    axes = axes_of(space, facts)
    midpoints = all(thresholds_are_midpoints(one)[0] for one in trees)
    grove = grove_of(facts, axes, midpoints=midpoints)
    until = deadline - _VALUES_SHARE * max(0.0, deadline - time.monotonic())
    labels = np.repeat(np.arange(len(facts.classes)), facts.class_totals)
    target = np.concatenate([part.counts for part in facts.parts])[grove.group]
    task = Task(
        grove,
        axes,
        exact_terms(target, facts.n_rows),
        labels[:, None] == np.arange(len(facts.classes)),
        figures=Figures(target),
    )
    placed = search(task, deadline=until, seed=seed, tell=tell)
    tell("recovering values", 0.95)
    values = values_of(axes, placed.levels, len(facts.columns))
    found = None
    if len(trees) == 1:
        found = recover_values(trees[0], schema, pd.DataFrame(values, columns=list(facts.columns)))
        values = _within(axes, placed, values, found)
    wrong = misplaced(facts, values, placed.labels)
    if 2 * wrong > placed.misfit:  # an end of an interval belongs to its neighbour
        values = values_of(axes, placed.levels, len(facts.columns))
        wrong = misplaced(facts, values, placed.labels)
    profiles = _profiles(facts, schema, axes, placed, found)
    details: dict[str, Any] = {
        "profiles": space.size,
        "sweeps": placed.sweeps,
        "samples": placed.samples,
        "misplaced": wrong,
        "thresholds_not_half_way": placed.not_half_way if midpoints else None,
        "values": None
        if found is None
        else {
            # A row in the wrong place can make a wrong value look proved.
            "share_exact": None if wrong or placed.not_half_way else found.share_exact,
            "share_pinned": found.share_pinned,
            "thresholds": found.thresholds,
            "met": found.met,
            "reason": found.reason,
        },
    }
    return _answer(facts, values, placed, wrong, profiles, details, started)


def misplaced(facts: Published, values: FloatArray, labels: npt.NDArray[np.int32]) -> int:
    """How many rows, over all trees, would have to change leaves to reproduce every count."""
    wrong = 0
    for part in facts.parts:
        counts = np.zeros((part.n_groups, len(facts.classes)), dtype=np.int64)
        np.add.at(counts, (part.assign(values), labels), 1)
        wrong += int(np.abs(counts - part.counts).sum())
    return wrong // 2


def _within(axes: Sequence[Axis], placed: Placed, values: FloatArray, found: Values) -> FloatArray:
    """The values thresholds give, for cells where the search knows an interval only.

    Where it lists single values they are the middle of many tables that fit, and rows in the wrong
    place would spoil them; a value outside the cell's interval would spoil a count.
    """
    out = values.copy()
    better = found.table.to_numpy(dtype=np.float64)
    for b, axis in enumerate(axes):
        if not axis.ordered:
            continue
        at, level = int(axis.columns[0]), placed.levels[:, b]
        low, high = axis.low[level], axis.high[level]
        with np.errstate(over="ignore", invalid="ignore"):
            seen = better[:, at].astype(np.float32).astype(np.float64)
            inside = (low < high) & (seen >= low) & (seen <= high)
        out[inside, at] = better[inside, at]
    return out


def _profiles(
    facts: Published,
    schema: Schema,
    axes: Sequence[Axis],
    placed: Placed,
    found: Values | None,
) -> FloatArray:
    """Per row: profiles its levels stand for, as far as values did not settle them."""
    out = np.ones(len(placed.levels))
    for b, (axis, attribute) in enumerate(zip(axes, schema, strict=True)):
        if not axis.ordered or (axis.low == axis.high)[: axis.n_numbers].all():
            continue
        step = getattr(attribute, "resolution", 1.0)
        width = (axis.high - axis.low)[placed.levels[:, b]]
        number = np.where(width > 0, np.inf, 1.0) if step is None else width / step + 1
        name = facts.columns[int(axis.columns[0])]
        if found is not None and name in found.pinned:
            number = np.where(found.pinned[name].to_numpy(), 1.0, number)
        out *= np.where(np.isnan(number), 1.0, number)
    return out


def _answer(
    facts: Published,
    values: FloatArray,
    placed: Placed,
    wrong: int,
    profiles: FloatArray,
    details: dict[str, Any],
    started: float,
) -> Reconstruction:
    labels = placed.labels.astype(np.int64)
    status: Status = "partial" if wrong else "consistent"
    unique = False if placed.several and not wrong else None
    proof = (
        "two different tables with every count right were found"
        if unique is False
        else "the search over rows does not decide it"
    )
    keys = np.column_stack([values, labels])
    keys = np.where(np.isnan(keys), np.inf, keys)
    _, first, kind, times = np.unique(
        keys, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    kind = kind.reshape(-1)
    bounds = pd.DataFrame(values[first], columns=list(facts.columns))
    bounds["class"] = [facts.classes[k] for k in labels[first].tolist()]
    bounds["minimum"] = 0
    bounds["maximum"] = facts.n_rows
    bounds["exact"] = False
    bounds["profiles"] = profiles[first]
    certificate = Certificate(
        replayed=wrong == 0,
        unique=unique,
        proof=proof,
        certain_rows=0,
        complete=False,
        certain_in_part=0,
        bounds=bounds,
        statements=_statements(facts, wrong, unique, proof, details),
    )
    return Reconstruction(
        table=as_frame(facts, values),
        labels=class_labels(facts, labels),
        status=status,
        exact=wrong == 0,
        seconds=time.monotonic() - started,
        certificate=certificate,
        confidence=placed.agreement / profiles,
        alike=times[kind].astype(np.int64),
        formulation="search",
        details=details,
    )


def _statements(
    facts: Published, wrong: int, unique: bool | None, proof: str, details: dict[str, Any]
) -> tuple[str, ...]:
    lines = []
    if wrong:
        places = facts.n_rows * len(facts.parts)
        lines.append(
            f"the budget ended before an exact table was found: {wrong:,} of {places:,} places of "
            "rows in leaves are wrong"
        )
    else:
        lines.append("sent through the model, the table reproduces every published count")
        if unique is False:
            lines.append(f"other tables do so too ({proof})")
        else:
            lines.append(f"whether others do is undecided ({proof})")
    lines.append("whether any row is in every consistent table was not decided")
    found = details["values"]
    if found and found["share_pinned"]:
        lines.append(
            f"{found['share_pinned']:.0%} of the numbers are determined to the last digit by the "
            "thresholds, given where the rows are"
        )
    return tuple(lines)
