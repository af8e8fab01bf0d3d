"""From places to a table: values, the replay through the model, and what is proved."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from glassleak.knowledge import Block
from glassleak.models import Forest, Tree
from glassleak.reconstruction._result import Certificate, Reconstruction, Status
from glassleak.reconstruction.regression._facts import Facts, FloatArray
from glassleak.reconstruction.regression._people import People
from glassleak.reconstruction.regression._place import UNKNOWN, Places
from glassleak.reconstruction.regression._rest import fits_leaf, held_by
from glassleak.reconstruction.regression._values import SAME, Shares
from glassleak.reconstruction.values import Values, recover_values
from glassleak.reconstruction.values._told import value_details
from glassleak.schema import Schema

BoolArray = npt.NDArray[np.bool_]
# With more levels than this, the middle is a better guess than the most common one.
_FEW_LEVELS = 24


@dataclass(frozen=True)
class Replay:
    """The table sent through the model.

    Attributes
    ----------
    wrong_leaves : int
        Leaves that get another number of rows (or draws) than published.
    wrong_means : int
        Leaves with the right rows that get another mean or variance.
    """

    wrong_leaves: int
    wrong_means: int


def answer(
    model: Tree | Forest, facts: Facts, shares: Shares, people: People, places: Places,
    schema: Schema, details: dict[str, Any], started: float,
) -> Reconstruction:  # fmt: skip
    """The reconstruction, sent through the model."""
    in_boxes, possible = _from_boxes(facts, places)
    whole = np.array([
        np.array_equal(held_by(facts, places, t), facts.distinct[facts.leaves_of(t)])
        for t in range(facts.n_trees)
    ])  # fmt: skip
    found = _recovered(model, facts, places, schema, in_boxes, whole)
    values = in_boxes if found is None else _inside(facts, places, in_boxes, found)
    target = np.where(people.value >= 0, shares.values[people.value], np.nan)
    replayed = replay(model, facts, places, values, target)
    known = shares.exact[people.value] & (people.value >= 0)
    certain = places.certain & known & _placed(places)
    proved = bool(whole.all() and certain.all())
    profiles = _profiles(model, facts, found if proved else None, possible)
    right = replayed.wrong_leaves == 0 and replayed.wrong_means == 0
    named = bool((people.value >= 0).all())
    status: Status = "consistent" if right and named and whole.all() else "partial"
    if status == "consistent" and proved and known.all() and (profiles == 1).all():
        status = "unique"
    numeric = None if found is None else found.exact.to_numpy()
    details |= {
        "share_of_targets": float(known.mean()),
        "share_of_numbers": float(numeric.mean()) if proved and numeric is not None and numeric.size
        else None,
        "trees_explained": int(whole.sum()),
        "wrong_leaves": replayed.wrong_leaves,
        "wrong_means": replayed.wrong_means,
        "rows_at_their_own_position": people.located,
        "targets_rounded_to_decimals": shares.decimals,
        "values": None if found is None else value_details(found, fits=right, proved=proved),
    }  # fmt: skip
    certificate = _certificate(model, facts, values, target, certain, known, profiles, status,
                               people, details)  # fmt: skip
    _, kind, times = _alike(values, target)
    return Reconstruction(
        table=_frame(model.columns, values), labels=target, status=status,
        exact=status != "partial", seconds=time.monotonic() - started, certificate=certificate,
        # A row that was chosen among several that fit is as likely wrong as right.
        confidence=np.where(certain, 1.0, np.where(people.value >= 0, 0.5, 0.0)) / profiles,
        alike=times[kind], formulation="targets", details=details,
    )  # fmt: skip


def _placed(places: Places) -> BoolArray:
    """Rows with a place in every tree that drew them."""
    return np.asarray((places.leaf != UNKNOWN).all(axis=0) & (places.leaf >= 0).any(axis=0))


def _from_boxes(facts: Facts, places: Places) -> tuple[FloatArray, FloatArray]:
    """One profile in each row's box, and how many levels each (row, attribute) could have."""
    values = np.zeros(places.low.shape)
    possible = np.ones((len(values), len(facts.space.blocks)))
    for b, block in enumerate(facts.space.blocks):
        if len(block.columns) == 1:
            at = int(block.columns[0])
            low, high = places.low[:, at], places.high[:, at]
            values[:, at] = facts.levels[at][_likely(low, high, len(facts.levels[at]))]
            possible[:, b] = _levels_between(block, low, high)
            continue
        fits = np.ones((len(values), len(block)), dtype=bool)
        for j, at in enumerate(block.columns.tolist()):
            level = np.searchsorted(facts.levels[at], block.values[:, j])
            fits &= places.low[:, at, None] <= level
            fits &= level <= places.high[:, at, None]
        # Of several levels the one that most rows have for sure; a combination of columns that no
        # level has is found by the replay.
        common = fits[fits.sum(axis=1) == 1].sum(axis=0) + 1.0
        values[:, block.columns] = block.values[np.argmax(fits * common, axis=1)]
        sizes = np.ones(len(block)) if block.sizes is None else np.array(block.sizes, dtype=float)
        possible[:, b] = np.maximum(fits @ sizes, 1.0)
    return values, possible


def _likely(low: Any, high: Any, n_levels: int) -> npt.NDArray[np.int64]:
    """A level of each range: the one most rows have for sure, or the middle if there are many."""
    middle: npt.NDArray[np.int64] = (low.astype(np.int64) + high) // 2
    if n_levels > _FEW_LEVELS:
        return middle
    common = np.bincount(low[low == high], minlength=n_levels)
    level = np.arange(n_levels)
    inside = (level >= low[:, None]) & (level <= high[:, None])
    best = np.argmax(np.where(inside, common, -1), axis=1)
    return np.where(common[best] > 0, best, middle)


def _levels_between(block: Block, low: Any, high: Any) -> FloatArray:
    if block.sizes is None:
        return np.full(len(low), np.inf)
    order = np.argsort(block.values[:, 0], kind="stable")
    before = np.concatenate([[0.0], np.cumsum(np.array(block.sizes, dtype=float)[order])])
    out: FloatArray = before[high + 1] - before[low]
    return out


def _recovered(
    model: Tree | Forest, facts: Facts, places: Places, schema: Schema, values: FloatArray,
    whole: BoolArray,
) -> Values | None:  # fmt: skip
    """Values from thresholds half way between rows, in trees whose rows are all placed."""
    if not whole.any():
        return None
    if isinstance(model, Tree):
        return recover_values(model, schema, values)
    some = np.flatnonzero(whole)
    part = Forest(
        tuple(model.trees[t] for t in some), n_rows=None, provenance=model.provenance
    ) if not facts.bagged else replace(
        model, trees=tuple(model.trees[t] for t in some), bagging=_unknown(model)
    )  # fmt: skip
    drawn = (places.leaf[some] >= 0).astype(np.int32)
    return recover_values(part, schema, values, drawn)


def _unknown(model: Forest) -> Any:
    return replace(
        model.bagging, kind="unknown", seeds=None, recipe="", row_weights=None, matrix=None,
        features=(0, 0, False),
    )  # fmt: skip


def _inside(facts: Facts, places: Places, values: FloatArray, found: Values) -> FloatArray:
    """Recovered values, but for cells where they leave the row's box."""
    out = values.copy()
    better = found.table.to_numpy(dtype=np.float64)
    for block in facts.space.blocks:
        if len(block.columns) != 1:
            continue
        at = int(block.columns[0])
        level = np.searchsorted(facts.edges[at], better[:, at].astype(np.float32))
        fine = (level >= places.low[:, at]) & (level <= places.high[:, at])
        out[fine, at] = better[fine, at]
    return out


def _profiles(
    model: Tree | Forest, facts: Facts, found: Values | None, possible: FloatArray
) -> FloatArray:
    """Per row: how many profiles it could have."""
    left = possible.copy()
    for b, block in enumerate(facts.space.blocks):
        name = model.columns[int(block.columns[0])]
        if found is not None and len(block.columns) == 1 and name in found.exact:
            left[found.exact[name].to_numpy(), b] = 1.0
    out: FloatArray = np.prod(left, axis=1)
    return out


def replay(
    model: Tree | Forest, facts: Facts, places: Places, values: FloatArray, target: FloatArray
) -> Replay:
    """Send the table through every tree and compare rows, draws, means and variances."""
    trees = model.trees if isinstance(model, Forest) else (model,)
    leaves = means = 0
    for t, tree in enumerate(trees):
        number = np.full(tree.n_nodes, -1, dtype=np.int64)
        number[facts.node[facts.leaves_of(t)]] = facts.leaves_of(t)
        if facts.draws is not None:
            drawn = facts.draws[t].astype(np.int64)
        else:
            drawn = np.ones(len(values), np.int64) if not facts.bagged else (
                places.leaf[t] >= 0).astype(np.int64)  # fmt: skip
        rows = np.flatnonzero(drawn)
        at = number[tree.apply(values[rows])]
        own = facts.leaves_of(t)
        held = np.bincount(at - own[0], minlength=len(own))
        wrong = held != facts.distinct[own]
        if facts.draws is not None:
            total = np.bincount(at - own[0], drawn[rows], minlength=len(own))
            wrong |= total != facts.drawn[own]
        leaves += int(wrong.sum())
        means += _wrong_means(facts, t, own[~wrong & (held > 0)], at, rows, target)
    return Replay(leaves, means)


def _wrong_means(
    facts: Facts, tree: int, leaves: npt.NDArray[Any], at: npt.NDArray[Any],
    rows: npt.NDArray[Any], target: FloatArray,
) -> int:  # fmt: skip
    order = np.argsort(at, kind="stable")
    start = np.searchsorted(at[order], leaves, side="left")
    stop = np.searchsorted(at[order], leaves, side="right")
    wrong = 0
    for leaf, a, b in zip(leaves.tolist(), start.tolist(), stop.tolist(), strict=True):
        own = rows[order[a:b]]
        values = target[own]
        if np.isnan(values).any():
            wrong += 1
            continue
        equal = values.max() - values.min() <= SAME * abs(values[0])
        if equal:
            near = 1e3 * SAME * max(abs(values[0]), abs(facts.mean[leaf]))
            wrong += not abs(values[0] - facts.mean[leaf]) <= near
        elif facts.means and (not facts.bagged or facts.draws is not None):
            wrong += not fits_leaf(facts, leaf, tree, own[None, :], target)[0]
    return wrong


def _alike(values: FloatArray, target: FloatArray) -> tuple[Any, Any, Any]:
    keys = np.column_stack([values, np.where(np.isnan(target), np.inf, target)])
    _, first, kind, times = np.unique(
        keys, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    return first, kind.reshape(-1), times.astype(np.int64)


def _frame(columns: tuple[str, ...], values: FloatArray) -> pd.DataFrame:
    frame = pd.DataFrame(values, columns=list(columns))
    whole = [c for c in frame if (frame[c] == np.floor(frame[c])).all()]
    return frame.astype(dict.fromkeys(whole, np.int64))


def _certificate(
    model: Tree | Forest, facts: Facts, values: FloatArray, target: FloatArray, certain: BoolArray,
    known: BoolArray, profiles: FloatArray, status: Status, people: People, details: dict[str, Any],
) -> Certificate:  # fmt: skip
    first, kind, times = _alike(values, target)
    sure = np.bincount(kind, certain & (profiles == 1), minlength=len(first)).astype(np.int64)
    placed = np.bincount(kind, certain, minlength=len(first)).astype(np.int64)
    bounds = _frame(model.columns, values[first])
    bounds["class"] = target[first]
    bounds["minimum"] = np.where(profiles[first] == 1, sure, placed)
    bounds["maximum"] = np.where(placed == times, times, facts.n_rows)
    bounds["exact"] = placed == times
    bounds["profiles"] = profiles[first]
    whole = int((certain & (profiles == 1)).sum())
    unique = True if status == "unique" else False if (profiles[certain] > 1).any() else None
    proof = (
        "targets name the rows, and thresholds half way between values leave one value to each cell"
        if unique
        else "targets name the rows; some values are known up to an interval"
    )
    lines = [f"the exact target of {int(known.sum()):,} of {facts.n_rows:,} rows is published"]
    lines.append(
        "sent through the model, the table reproduces every published number of rows and every mean"
        if status != "partial"
        else f"sent through the model, {details['wrong_leaves']:,} leaves get another number of "
        f"rows and {details['wrong_means']:,} another mean; not all rows could be placed"
    )
    if status == "unique":
        lines.append(f"it is the only table that does ({proof})")
    lines.append(
        f"{int(certain.sum()):,} rows are proved to be in the leaves they were put in; "
        f"{whole:,} of them with every value"
    )
    if people.located:
        lines.append("every row stands at its own position of the training table")
    elif people.reason:
        lines.append(people.reason)
    if details["share_of_numbers"]:
        lines.append(
            f"{details['share_of_numbers']:.0%} of the numbers are determined to the last digit"
        )
    return Certificate(
        replayed=status != "partial", unique=unique, proof=proof, certain_rows=whole,
        complete=bool(certain.all()), certain_in_part=int(certain.sum()) - whole, bounds=bounds,
        statements=tuple(lines),
    )  # fmt: skip
