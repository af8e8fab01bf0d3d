"""Which reconstructed row stands for which true row: the pairing with the fewest differences."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from glassleak.reconstruction.evaluation._row_distance import (
    Encoded,
    FloatArray,
    IntArray,
    Per,
    encode,
)
from glassleak.reconstruction.evaluation._transport import transport
from glassleak.schema import Schema

if TYPE_CHECKING:
    import pandas as pd

# Up to here a full matrix is about as fast as the flow, and has no rounding.
_FULL = 600


@dataclass(frozen=True)
class Matching:
    """A pairing of two tables' rows.

    Attributes
    ----------
    pairs : (rows, 2) int array
        True row and the row of the other table it is paired with, in the order of true rows.
    errors : float array
        Share of each true row's attributes that its partner has wrong.
    cost : float
        Sum of `errors`.
    exact : bool
        Whether no pairing costs less (numeric attributes: by more than 1e-9 per row).
    lower_bound : float
        No pairing costs less than this; `cost` itself when exact.
    """

    pairs: IntArray
    errors: FloatArray
    cost: float
    exact: bool
    lower_bound: float


def match_rows(
    truth: pd.DataFrame | npt.ArrayLike,
    table: pd.DataFrame | npt.ArrayLike,
    schema: Schema,
    *,
    per: Per = "column",
    budget_seconds: float = 300.0,
) -> Matching:
    """Pair the rows of two tables at minimum cost (Section 7.1 of the forest paper).

    Equal rows are paired first, as multisets.  That is part of some cheapest pairing, because the
    distance d is a metric: let a cheapest pairing hold (a, q) and (p, b) with a = b.  Pairing
    (a, b) and (p, q) instead costs 0 + d(p, q) <= d(p, b) + d(b, a) + d(a, q) = d(p, b) + d(a, q),
    no more than before, and undoes no pair of equal rows made earlier.

    What is left is an assignment problem (a full matrix for up to 600 rows), or for more rows
    a transportation problem between distinct rows, solved to proved optimality without a matrix
    (`transport`).

    Parameters
    ----------
    truth, table : DataFrame (columns by name), or array with columns in the schema's order
        Of equal length.
    schema : Schema
    per : "column" or "attribute"
        What one error is.  ``"column"``, as published: every column counts, so a wrong level of a
        one-hot attribute is two errors in as many columns as it has.  ``"attribute"``: the columns
        of one attribute count as one thing.  Numbers count by how far they are off, as a share of
        their range, in both.
    budget_seconds : float
        After which the best pairing so far is returned with ``exact=False``; a flow that is being
        solved is not interrupted.

    Returns
    -------
    Matching
        Cheapest pairings are not unique; which row gets which error may depend on the choice.

    Raises
    ------
    SchemaError
        The tables do not fit the schema or each other.
    """
    deadline = time.monotonic() + budget_seconds
    encoded = encode(truth, table, schema, per)
    n = len(encoded.truth)
    partner = np.full(n, -1, dtype=np.int64)
    left = _pair_equal(encoded, partner)
    exact, bound = True, None
    if len(left[0]) <= _FULL:
        _pair_by_matrix(encoded, left, partner)
    else:
        exact, bound = _pair_by_flow(encoded, left, partner, deadline)
    profiles = encoded.profiles
    apart = profiles.take(encoded.truth).to_each(profiles.take(encoded.table[partner]))
    errors = apart / encoded.n_units
    cost = float(errors.sum())
    lower = cost if exact or bound is None else min(bound / encoded.n_units, cost)
    return Matching(np.column_stack([np.arange(n), partner]), errors, cost, exact, lower)


def warn_if_inexact(matching: Matching, budget_seconds: float) -> None:
    """Warn the caller's caller that errors are upper bounds."""
    if matching.exact:
        return
    n = len(matching.pairs)
    warnings.warn(
        f"the rows could not be matched at minimum cost within {budget_seconds:g} s: the mean "
        f"error is between {matching.lower_bound / n:.6f} and {matching.cost / n:.6f}",
        RuntimeWarning,
        stacklevel=3,
    )


def _pair_equal(encoded: Encoded, partner: IntArray) -> tuple[IntArray, IntArray]:
    """Pair equal rows; returns the rows of both tables that are left, sorted by profile."""
    size = len(encoded.profiles)
    counts = [np.bincount(rows, minlength=size) for rows in (encoded.truth, encoded.table)]
    shared = np.minimum(*counts)
    paired, left = [], []
    for rows, count in zip((encoded.truth, encoded.table), counts, strict=True):
        order = np.argsort(rows, kind="stable")
        rank = np.arange(len(rows)) - np.repeat(np.cumsum(count) - count, count)
        equal = rank < shared[rows[order]]
        paired.append(order[equal])
        left.append(order[~equal])
    partner[paired[0]] = paired[1]
    return left[0], left[1]


def _pair_by_matrix(encoded: Encoded, left: tuple[IntArray, IntArray], partner: IntArray) -> None:
    from scipy.optimize import linear_sum_assignment

    profiles = encoded.profiles
    true_rows = profiles.take(encoded.truth[left[0]])
    rows, columns = linear_sum_assignment(true_rows.to_all(profiles.take(encoded.table[left[1]])))
    partner[left[0][rows]] = left[1][columns]


def _pair_by_flow(
    encoded: Encoded, left: tuple[IntArray, IntArray], partner: IntArray, deadline: float
) -> tuple[bool, float]:
    sources, supply = np.unique(encoded.truth[left[0]], return_counts=True)
    targets, demand = np.unique(encoded.table[left[1]], return_counts=True)
    flow = transport(
        encoded.profiles.take(sources),
        encoded.profiles.take(targets),
        supply.astype(np.int64),
        demand.astype(np.int64),
        n_units=encoded.n_units,
        whole=encoded.whole,
        deadline=deadline,
    )
    tail, head = np.repeat(flow.tail, flow.amount), np.repeat(flow.head, flow.amount)
    # Rows in `left` are sorted by profile, so sorting the flow the same way lines them up.
    from_row, to_row = np.empty_like(left[0]), np.empty_like(left[1])
    from_row[np.argsort(tail, kind="stable")] = left[0]
    to_row[np.argsort(head, kind="stable")] = left[1]
    partner[from_row] = to_row
    return flow.exact, flow.lower_bound
