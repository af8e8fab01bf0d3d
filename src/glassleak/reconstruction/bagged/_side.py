"""What the adversary knows about single rows, as the levels each row may have (Appendix G)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from glassleak.errors import InconsistentModelError, SchemaError, UnsupportedModelError
from glassleak.knowledge import Known
from glassleak.reconstruction.bagged._evidence import Evidence
from glassleak.reconstruction.bagged._profiles import Profiles

if TYPE_CHECKING:
    import pandas as pd

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class RowGroups:
    """Rows about which the same is known form a group.

    Attributes
    ----------
    group : (rows,) int array
    allowed : (groups, levels) bool array
        The levels of all attributes one after the other, the classes last.
    pinned : (rows,) int array
        ``profile * n_classes + label`` of rows known completely; -1 for the others.
    """

    group: IntArray
    allowed: npt.NDArray[np.bool_]
    pinned: IntArray

    def places(self, levels: IntArray, start: IntArray) -> npt.NDArray[np.bool_]:
        """(groups, places): which places, given by `levels`, each group may stand on."""
        out = np.ones((len(self.allowed), len(levels)), dtype=bool)
        for a in range(levels.shape[1]):
            out &= self.allowed[:, start[a] + levels[:, a]]
        return out


def extra_cuts(known: Known) -> dict[str, npt.NDArray[np.float64]]:
    """Thresholds that separate the values of known columns from all others."""
    cuts: dict[str, npt.NDArray[np.float64]] = {}
    for table in (known.columns, known.rows):
        if table is None:
            continue
        for column in table.columns:
            values = np.unique(_numbers(table, [column]))
            gap = min(1.0, float(np.diff(values).min()) if len(values) > 1 else 1.0) / 2
            own = np.concatenate([values - gap, values + gap])
            cuts[str(column)] = np.unique(np.concatenate([cuts.get(str(column), own), own]))
    return cuts


def check_known(known: Known, evidence: Evidence) -> None:
    """Refuse knowledge that does not fit the model, or that this attack cannot use."""
    if known.nodes is not None or known.labels_only:
        raise UnsupportedModelError(
            "when rows were resampled, counts of all leaves are needed, not of some nodes or none"
        )
    names = evidence.forest.columns
    for table in (known.columns, known.rows):
        missing = [] if table is None else [c for c in table.columns if c not in names]
        if missing:
            raise SchemaError(f"the model has no column {missing[0]!r}")
    if known.columns is not None and len(known.columns) != evidence.n_rows:
        raise SchemaError(
            f"columns known for {len(known.columns)} rows, the training set has {evidence.n_rows}"
        )
    if known.rows is not None:
        absent = [c for c in names if c not in known.rows.columns]
        if absent:
            raise SchemaError(f"known rows lack the column {absent[0]!r}")
        if len(known.rows) > evidence.n_rows:
            raise SchemaError(
                f"{len(known.rows)} rows known, the training set has {evidence.n_rows}"
            )


def row_groups(known: Known, evidence: Evidence, profiles: Profiles) -> RowGroups:
    """Group the training rows by what is known about them.

    Rows come in the order of ``known.columns`` if given; otherwise those known completely first.
    """
    n_rows, n_classes = evidence.n_rows, len(evidence.classes)
    n_levels = int(profiles.sizes.sum()) + n_classes
    allowed = np.ones((n_rows, n_levels), dtype=bool)
    if known.columns is not None:
        allowed &= _levels_of(known.columns, known.labels, evidence, profiles)
    pinned = np.full(n_rows, -1, dtype=np.int64)
    if known.rows is not None:
        exact = _levels_of(known.rows, known.row_labels, evidence, profiles)
        start = np.concatenate([[0], np.cumsum(profiles.sizes)]).astype(np.int64)
        taken = np.zeros(n_rows, dtype=bool)
        for i, own in enumerate(exact):
            at = np.flatnonzero(~taken & (allowed | ~own).all(axis=1))
            if not len(at):
                raise InconsistentModelError("no line of the known columns fits", f"known row {i}")
            taken[at[0]] = True
            levels = [
                int(np.argmax(own[s : s + k])) for s, k in zip(start, profiles.sizes, strict=False)
            ]
            profile = int(np.array(levels) @ profiles.strides)
            pinned[at[0]] = profile * n_classes + int(np.argmax(own[start[-1] :]))
            allowed[at[0]] = own
    kinds, group = np.unique(allowed, axis=0, return_inverse=True)
    return RowGroups(group.reshape(-1).astype(np.int64), kinds, pinned)


def _levels_of(
    table: pd.DataFrame, labels: Any, evidence: Evidence, profiles: Profiles
) -> npt.NDArray[np.bool_]:
    """(rows, levels): the levels each line of `table` leaves open."""
    names = evidence.forest.columns
    out = [np.ones((len(table), len(block)), dtype=bool) for block in profiles.space.blocks]
    for b, block in enumerate(profiles.space.blocks):
        for j, column in enumerate(block.columns.tolist()):
            if names[column] not in table.columns:
                continue
            value = _numbers(table, [names[column]])[:, 0]
            same = np.isclose(value[:, None], block.values[None, :, j], equal_nan=True)
            # A class of levels stands for several values; known ones were cut out by themselves.
            out[b] &= same
        for i in np.flatnonzero(~out[b].any(axis=1)).tolist():
            raise SchemaError(
                f"line {i} of the known table has a value of {block.attribute.name!r} that the "
                "schema does not allow"
            )
    classes = np.ones((len(table), len(evidence.classes)), dtype=bool)
    if labels is not None:
        classes = _classes_of(labels, len(table), evidence)
    return np.concatenate([*out, classes], axis=1)


def _classes_of(labels: Any, n_rows: int, evidence: Evidence) -> npt.NDArray[np.bool_]:
    given = np.asarray(labels).tolist()
    if len(given) != n_rows:
        raise SchemaError(f"{len(given)} labels for {n_rows} rows")
    position = {label: i for i, label in enumerate(evidence.classes)}
    unknown = [label for label in given if label not in position]
    if unknown:
        raise SchemaError(f"the model has no class {unknown[0]!r}")
    out = np.zeros((n_rows, len(position)), dtype=bool)
    out[np.arange(n_rows), [position[label] for label in given]] = True
    return out


def _numbers(table: pd.DataFrame, columns: list[Any]) -> npt.NDArray[np.float64]:
    try:
        out: npt.NDArray[np.float64] = table.loc[:, columns].to_numpy(dtype=np.float64)
    except (TypeError, ValueError):
        raise SchemaError(f"the known column {columns[0]!r} is not numeric") from None
    return out
