"""What an analysis is: a question, and a function that answers it from what was supplied.

To plug one in, write ``audit/analyses/<name>.py`` with an `Analysis` object and add it to the
tuple in ``audit/analyses/__init__.py``.  Nothing else changes: verdict, JSON and displays follow.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from glassleak.audit._finding import AnalysisResult
from glassleak.audit._policy import Policy
from glassleak.models import Model
from glassleak.readers import Opened
from glassleak.schema import Schema

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Subject:
    """Everything an analysis may use.

    Attributes
    ----------
    opened : Opened
        The model with its file's hash, artefacts and, if it could not be read, the reason.
    policy : Policy
    schema : Schema, optional
        As given by the user; analyses that need one may infer it and must say so.
    data : DataFrame, optional
        Training data, if the user supplied it.
    deadline : float
        ``time.monotonic()`` value at which the time for this question ends.
    seed : int
    holdout : DataFrame, optional
        People from the same population who were not in the training data.
    target : str, optional
        The column of `data` and `holdout` that holds the class.
    quasi_identifiers : tuple of str, optional
        Columns an outsider may know about a person; all of the model's by default.
    sensitive : str, optional
        What the class is called; it is what an outsider wants to know.
    estimator : optional
        The fitted object itself, where the user gave one and not a file.
    """

    opened: Opened
    policy: Policy
    schema: Schema | None
    data: pd.DataFrame | None
    deadline: float
    seed: int
    holdout: pd.DataFrame | None = None
    target: str | None = None
    quasi_identifiers: tuple[str, ...] | None = None
    sensitive: str | None = None
    estimator: Any = None

    @property
    def model(self) -> Model | None:
        return self.opened.model

    def remaining(self) -> float:
        """Seconds left in the budget, at least 0."""
        return max(0.0, self.deadline - time.monotonic())


@dataclass(frozen=True)
class Analysis:
    """A question the audit asks.

    Attributes
    ----------
    id : str
        Short name; the first part of its findings' ids.
    question : str
        In the users' words.
    run : callable
        ``run(subject) -> AnalysisResult``.  Must not print; may raise, which the audit records as
        "failed" without sinking the rest.
    needed : callable
        ``needed(subject)``: whether "release" requires this question to be answered.
    applies : callable
        ``applies(subject)``: whether it makes sense to ask at all; otherwise it is left out.
    share : float
        Part of the time that is left when it starts that it may use.
    slow : bool
        Slow questions are asked after all others, and their answers are kept for a resumed audit.
    """

    id: str
    question: str
    run: Callable[[Subject], AnalysisResult]
    needed: Callable[[Subject], bool] = lambda _subject: False
    applies: Callable[[Subject], bool] = lambda _subject: True
    share: float = 1.0
    slow: bool = False
