"""Forests whose draws can be repeated: which row is which, at its own index.

Bagging libraries store one seed per tree.  With the seeds the draws can be repeated, every row has
an identity, and each leaf states an equation about known multiplicities.
"""

from __future__ import annotations

import time
from typing import Any

from glassleak.errors import BudgetExhaustedError, ModelTooLargeError, UnsupportedModelError
from glassleak.knowledge import Known
from glassleak.models import Forest
from glassleak.reconstruction._result import Reconstruction
from glassleak.reconstruction._survey import Progress
from glassleak.reconstruction.replayed._answer import answer
from glassleak.reconstruction.replayed._attack import who_is_who
from glassleak.reconstruction.replayed._draws import drawn_rows
from glassleak.reconstruction.replayed._possible import Overflow, list_possible
from glassleak.reconstruction.replayed._problem import problem_of
from glassleak.schema import Schema

__all__ = ["reconstruct_replayed"]

_LISTING_SHARE = 0.4


def reconstruct_replayed(
    forest: Forest,
    schema: Schema,
    known: Known | None = None,
    multiplicities: Any = None,
    *,
    deadline: float,
    seed: int = 0,
    progress: Progress | None = None,
) -> Reconstruction:
    """Every row of a bagged forest's training set, in the original order.

    Parameters
    ----------
    multiplicities : (trees, rows) array of whole numbers, optional
        How often each tree drew each row; repeated from the model's seeds by default.
    deadline : float
        A ``time.monotonic()`` value.

    Raises
    ------
    InconsistentModelError
        Multiplicities and counts contradict each other; the message names the tree.
    UnsupportedModelError
        The draws cannot be repeated, or counts are noisy or missing.
    ModelTooLargeError
        Some row has too many possibilities to list.
    BudgetExhaustedError
        Time ran out before all were listed.
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
    if isinstance(possible, Overflow):
        if possible.late:
            raise BudgetExhaustedError(possible.reason)
        raise ModelTooLargeError(possible.reason)
    found = who_is_who(problem, possible, deadline, seed, tell)
    return answer(problem, found, source, started)
