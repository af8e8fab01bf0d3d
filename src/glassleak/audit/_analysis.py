"""What an analysis is: a question, and a function that answers it from what was supplied.

To plug one in, write ``audit/analyses/<name>.py`` with an `Analysis` object and add it to the
tuple in ``audit/analyses/__init__.py``.  Nothing else changes: verdict, JSON and displays follow.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

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
        ``time.monotonic()`` value at which the audit's budget ends.
    seed : int
    """

    opened: Opened
    policy: Policy
    schema: Schema | None
    data: pd.DataFrame | None
    deadline: float
    seed: int

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
    """

    id: str
    question: str
    run: Callable[[Subject], AnalysisResult]
    needed: Callable[[Subject], bool] = lambda _subject: False
