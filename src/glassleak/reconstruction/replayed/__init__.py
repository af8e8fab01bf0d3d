"""Forests whose draws can be repeated: which row is which, at its own index.

Bagging libraries store one seed per tree.  With the seeds the draws can be repeated, every row has
an identity, and each leaf states an equation about known multiplicities.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.errors import BudgetExhaustedError, ModelTooLargeError, UnsupportedModelError
from glassleak.knowledge import Known
from glassleak.models import Forest
from glassleak.reconstruction._result import Reconstruction
from glassleak.reconstruction._survey import Progress
from glassleak.reconstruction.replayed._answer import answer
from glassleak.reconstruction.replayed._attack import who_is_who
from glassleak.reconstruction.replayed._draws import drawn_rows
from glassleak.reconstruction.replayed._mixed import search_who_is_who
from glassleak.reconstruction.replayed._possible import Overflow, list_possible
from glassleak.reconstruction.replayed._problem import problem_of
from glassleak.reconstruction.training import (
    Refined,
    choices_can_be_repeated,
    settle_open_cells,
)
from glassleak.reconstruction.values import Values, recover_values
from glassleak.reconstruction.values._gate import thresholds_are_midpoints
from glassleak.reconstruction.values._lattice import lattice_of
from glassleak.schema import Schema

__all__ = ["reconstruct_replayed"]

_LISTING_SHARE = 0.4
# Of the time that is left, for cells that no leaf settles.
_SETTLING_SHARE = 0.25


def reconstruct_replayed(
    forest: Forest,
    schema: Schema,
    known: Known | None = None,
    multiplicities: Any = None,
    *,
    deadline: float,
    seed: int = 0,
    progress: Progress | None = None,
    enumerable_elsewhere: int = 0,
    may_give_up: bool = False,
) -> Reconstruction:
    """Every row of a bagged forest's training set, in the original order.

    Parameters
    ----------
    multiplicities : (trees, rows) array of whole numbers, optional
        How often each tree drew each row; repeated from the model's seeds by default.
    deadline : float
        A ``time.monotonic()`` value.
    enumerable_elsewhere : int
        The caller has another way that lists all profiles if they, times the trees, are at most
        this many: then nothing is searched for.
    may_give_up : bool
        The caller has another way: a search over rows that leads nowhere leaves it half the time.

    Raises
    ------
    InconsistentModelError
        Multiplicities and counts contradict each other; the message names the tree.
    UnsupportedModelError
        The draws cannot be repeated, or counts are noisy or missing.
    ModelTooLargeError
        Some row has too many possibilities to list, and the caller has another way; or the forest
        does not fit into memory in the form needed.
    BudgetExhaustedError
        Time ran out before all possibilities were listed.
    """
    started = time.monotonic()
    known = known or Known()
    if known.nodes is not None or known.labels_only or known.rows is not None:
        raise UnsupportedModelError(
            "with multiplicities known, of the side knowledge only columns can be used"
        )
    tell = progress or (lambda _step, _share: None)
    tell("repeating the draws", 0.0)
    drawn = drawn_rows(forest, multiplicities)
    source = (
        "repeated from the seeds stored in the model"
        if multiplicities is None
        else "given by the caller"
    )
    problem = problem_of(forest, schema, drawn, known)
    possible = list_possible(
        problem, deadline, _LISTING_SHARE, lambda x: tell("listing possibilities", 0.3 * x)
    )
    repeatable = multiplicities is None and choices_can_be_repeated(forest)[0]
    ends = deadline
    if repeatable and np.isfinite(deadline):
        deadline -= _SETTLING_SHARE * max(0.0, deadline - time.monotonic())
    if isinstance(possible, Overflow):
        if possible.late:
            raise BudgetExhaustedError(possible.reason)
        if problem.space.size * len(forest) <= enumerable_elsewhere:
            raise ModelTooLargeError(possible.reason)
        midpoints = thresholds_are_midpoints(forest)[0]
        found = search_who_is_who(
            problem, possible.reason, deadline, seed, tell, midpoints=midpoints,
            may_give_up=may_give_up and known.nothing, latest=ends,
        )  # fmt: skip
    else:
        found = who_is_who(problem, possible, deadline, seed, tell)
    settle = partial(_settled_cells, forest, schema, ends, seed, tell) if repeatable else None
    refine = partial(_exact_values, forest, schema)
    return answer(problem, found, source, started, refine, settle)


def _exact_values(
    forest: Forest,
    schema: Schema,
    values: npt.NDArray[np.float64],
    drawn: npt.NDArray[np.int32],
) -> Values | None:
    """Values of columns that hold numbers; ``None`` if there are no such columns."""
    if all(lattice_of(attribute) is None for attribute in schema):
        return None
    return recover_values(forest, schema, values, drawn[: len(forest)])


def _settled_cells(
    forest: Forest,
    schema: Schema,
    deadline: float,
    seed: int,
    tell: Progress,
    exact: Values,
    label: npt.NDArray[np.int64],
    drawn: npt.NDArray[np.int32],
) -> Refined | None:
    """Cells no leaf settles, by growing the trees again; ``None`` if that cannot be done."""
    values = exact.table[list(forest.columns)].to_numpy(dtype=np.float64)
    if time.monotonic() >= deadline:
        return None
    try:
        return settle_open_cells(
            forest, schema, values, label, drawn[: len(forest)], deadline=deadline,
            low=exact.low, high=exact.high, seed=seed,
            tell=lambda share: tell("growing the trees again", 0.9 + 0.1 * share),
        )  # fmt: skip
    except UnsupportedModelError:
        return None
