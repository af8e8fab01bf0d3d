"""A rule list that may be published: differentially private, with the account to show for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from glassleak._version import __version__
from glassleak.learners._base import BaseRuleList
from glassleak.learners._literals import Cuts
from glassleak.learners._support import one_of, whole_number
from glassleak.learners.private._accountant import Accountant
from glassleak.learners.private._candidates import candidates_of, public_literals
from glassleak.learners.private._exact import Randomness
from glassleak.learners.private._grow import Criterion, grow
from glassleak.learners.private._parameters import (
    Unseeded,
    budget,
    declared,
    exact_number,
    guarantee,
    source_of,
    without_seed,
)
from glassleak.learners.private._tools import HONEST, Tools
from glassleak.models import Counts, Noisy, Provenance
from glassleak.schema import Schema


@dataclass(frozen=True)
class Settings:
    """The learner's parameters in the form the proof uses: numbers are fractions."""

    epsilon: Fraction
    length: int
    width: int
    criterion: Criterion
    counts_share: Fraction
    n_thresholds: int


class PrivateRuleListClassifier(Unseeded, BaseRuleList):
    """Rule list with pure ``epsilon``-differential privacy.

    Rules are chosen by permute-and-flip among all conjunctions the schema offers, and published
    with counts that carry discrete Laplace noise.  Nothing else is computed from the data.

    Parameters
    ----------
    epsilon : float
        Privacy budget: how much more likely any list may become when one person joins or leaves
        (at most ``exp(epsilon)`` times).
    max_length : int
        Rules before the default one; always this many, since stopping early would tell something.
    max_width : 1 or 2
        Most conditions in one rule.
    criterion : "errors" or "gini"
        What a rule should make small: misclassified people, or ``n * Gini / 2``.
    counts_share : float
        Share of `epsilon` spent on the counts.  Of the rest the first rule gets most, the second
        half as much, the third a third: later rules have less to gain.
    schema : Schema, optional
        What values the columns can take.  Without it all columns are taken to be zeros and ones.
    thresholds : mapping, optional
        Cuts of some columns, by name or number.  They must not be computed from the data.
    n_thresholds : int
        Cuts of a numeric column of the schema, evenly spaced between its declared bounds.
    classes : sequence, optional
        The classes there can be.  Without it those in ``y`` are taken to be public knowledge.
    random_state : int, optional
        For experiments only: whoever knows it can take the noise off again.  The guarantee holds
        with ``None``, where noise comes from the operating system.

    Attributes
    ----------
    counts_ : (rules, classes) array
        Noisy; may be negative.
    noise_scale_ : float
    ledger_ : list of dict
        Every access to the data and what it cost.
    privacy_ : dict
        What is guaranteed, against what, under which assumptions.

    Notes
    -----
    Replacing one person by another is one removal and one addition: ``2 * epsilon``.  The proof
    stands step by step in ``glassleak.learners.private._grow``.
    """

    noise_scale_: float
    ledger_: list[dict[str, Any]]
    privacy_: dict[str, Any]

    def __init__(
        self,
        epsilon: float = 1.0,
        max_length: int = 4,
        max_width: int = 2,
        *,
        criterion: Literal["errors", "gini"] = "errors",
        counts_share: float = 0.3,
        schema: Schema | None = None,
        thresholds: Cuts | None = None,
        n_thresholds: int = 4,
        classes: Sequence[Any] | None = None,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.max_length = max_length
        self.max_width = max_width
        self.criterion = criterion
        self.counts_share = counts_share
        self.schema = schema
        self.thresholds = thresholds
        self.n_thresholds = n_thresholds
        self.classes = classes
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the list; one fit spends `epsilon` once."""
        settings = self._settings()
        X, codes = self._checked(X, y)
        self.classes_, codes = declared(self.classes, self.classes_, codes)
        return self._learn(X, codes, settings, source_of(self.random_state))

    def _settings(self) -> Settings:
        """The parameters, checked; nothing here looks at the data."""
        width = whole_number(self.max_width, "max_width", 1)
        if width > 2:
            raise ValueError(f"max_width must be 1 or 2, got {width}")
        criterion = one_of(self.criterion, "criterion", ("errors", "gini"))
        share = exact_number(self.counts_share, "counts_share")
        if not 0 < share < 1:
            raise ValueError(f"counts_share must lie between 0 and 1, got {self.counts_share}")
        return Settings(
            epsilon=budget(self.epsilon),
            length=whole_number(self.max_length, "max_length", 0),
            width=width,
            criterion="gini" if criterion == "gini" else "errors",
            counts_share=share,
            n_thresholds=whole_number(self.n_thresholds, "n_thresholds", 1),
        )

    def _learn(
        self,
        X: npt.NDArray[np.float64],
        codes: npt.NDArray[np.int64],
        settings: Settings,
        source: Randomness,
        tools: Tools = HONEST,
    ) -> Self:
        accountant = Accountant(settings.epsilon)
        literals = public_literals(
            self._names(), self.schema, self.thresholds, settings.n_thresholds
        )
        grown = grow(
            literals.holds(X), codes, len(self.classes_), candidates_of(literals, settings.width),
            length=settings.length, criterion=settings.criterion,
            counts_share=settings.counts_share, accountant=accountant, source=source,
            tools=tools,
        )  # fmt: skip
        self.conditions_ = [*(literals.intervals(rule) for rule in grown.rules), []]
        self.version_ = __version__
        self.counts_ = grown.counts
        self.noise_scale_ = grown.scale
        self.predictions_ = self.counts_.argmax(axis=1).astype(np.int64)
        self.ledger_ = accountant.lines()
        self.privacy_ = guarantee(self, accountant)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Without a schema numbers are cut at 0.5 and nowhere else.
        tags.classifier_tags.poor_score = True
        return tags

    def _provenance(self) -> Provenance:
        """Without the seed: whoever has it can take the noise off."""
        return without_seed(super()._provenance())

    def _published_counts(self) -> Counts:
        return Noisy(
            np.asarray(self.counts_, dtype=np.float64), self.noise_scale_, "discrete Laplace"
        )
