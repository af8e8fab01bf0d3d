"""What the nodes of scikit-learn's regression trees publish: rows, draws, mean target, variance."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.errors import InconsistentModelError, MalformedModelError
from glassleak.models import Missing, Tree
from glassleak.models._counts import MAX_COUNT, REMOVED

REGRESSION = "a regression model: it has targets and no classes to count"
_CONSTRAINED = "monotonic constraints moved the published values away from the rows' targets"
_WEIGHTED = "rows carry weights, so that only leaves with equal targets tell any of them"
_TOLERANCE = 1e-6


def with_targets(
    tree: Tree,
    nodes: npt.NDArray[Any],
    values: npt.NDArray[np.float64],
    place: str,
    *,
    bagged: bool,
    monotonic: bool,
) -> tuple[Tree, tuple[str, ...]]:
    """`tree` with rows and targets per node, and notes on what is not told.

    Parameters
    ----------
    values : (nodes,) float array
        What each node predicts.
    bagged : bool
        Whether rows were drawn, so that a row may count more than once.
    monotonic : bool
        Whether the values were clipped.
    """
    if not np.isfinite(values).all():
        at = int(np.flatnonzero(~np.isfinite(values))[0])
        raise InconsistentModelError(
            "a node's value is not a finite number", f"{place}.values[{at}]"
        )
    distinct = nodes["n_node_samples"].astype(np.int64)
    if not distinct.any():
        # What `glassleak.sanitise` leaves: leaves still predict, and nobody knows for how many.
        return replace(tree, counts=Missing(REMOVED), targets=values), (REMOVED,)
    drawn = _whole(nodes["weighted_n_node_samples"])
    notes: tuple[str, ...] = ()
    if drawn is None or (not bagged and not np.array_equal(drawn, distinct)):
        drawn, notes = None, (_WEIGHTED,)
    if monotonic:
        return replace(tree, rows=drawn, distinct_rows=distinct), (*notes, _CONSTRAINED)
    if "impurity" not in (nodes.dtype.names or ()) or nodes.dtype["impurity"].kind != "f":
        raise MalformedModelError("no usable field 'impurity'", f"{place}.nodes")
    spread = nodes["impurity"].astype(np.float64)
    told = spread if np.isfinite(spread).all() else None
    return replace(tree, rows=drawn, distinct_rows=distinct, targets=values, spread=told), notes


def _whole(weights: npt.NDArray[Any]) -> npt.NDArray[np.int64] | None:
    """Weighted rows as numbers of draws, unless some are not whole."""
    values = weights.astype(np.float64)
    if not np.isfinite(values).all() or values.min() < 0 or values.max() > MAX_COUNT:
        return None
    rounded = np.rint(values)
    if (np.abs(values - rounded) > _TOLERANCE).any():
        return None
    return rounded.astype(np.int64)
