"""A tree that may be published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from glassleak._version import __version__
from glassleak.learners._literals import Cuts
from glassleak.learners._support import one_of, whole_number
from glassleak.learners._tree_base import BaseTree
from glassleak.learners.private._accountant import Accountant
from glassleak.learners.private._candidates import public_literals
from glassleak.learners.private._exact import Randomness
from glassleak.learners.private._grow import Criterion
from glassleak.learners.private._grow_tree import grow_tree
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

# A complete tree has twice as many leaves with every level.
MAX_DEPTH = 12


@dataclass(frozen=True)
class TreeSettings:
    """The learner's parameters in the form the proof uses: numbers are fractions."""

    epsilon: Fraction
    depth: int
    criterion: Criterion
    counts_share: Fraction
    n_thresholds: int
    # Where accesses are counted in rho: what may be spent, and the delta that goes with it.
    rho: Fraction | None = None
    delta: float = 0.0


class PrivateTreeClassifier(Unseeded, BaseTree):
    """Decision tree with pure ``epsilon``-differential privacy.

    A complete tree: stopping early would tell something.  Splits are chosen by permute-and-flip
    among those the schema offers, one expense per level, and leaves are published with counts that
    carry discrete Laplace noise.

    Parameters
    ----------
    epsilon : float
    max_depth : int
    criterion, counts_share, schema, thresholds, n_thresholds, classes, random_state
        As in `PrivateRuleListClassifier`.

    Attributes
    ----------
    counts_ : (nodes, classes) array
        Noisy; inner nodes hold the sums of their leaves.
    noise_ : str
        "discrete Laplace", or "discrete Gaussian" in forests with ``accounting="zcdp"``.
    noise_scale_ : float
        Scale of the noise at the leaves; of Gaussian noise the standard deviation.
    ledger_, privacy_
        As in `PrivateRuleListClassifier`.
    """

    noise_: str
    noise_scale_: float
    ledger_: list[dict[str, Any]]
    privacy_: dict[str, Any]

    def __init__(
        self,
        epsilon: float = 1.0,
        max_depth: int = 3,
        *,
        criterion: Literal["errors", "gini"] = "gini",
        counts_share: float = 0.4,
        schema: Schema | None = None,
        thresholds: Cuts | None = None,
        n_thresholds: int = 4,
        classes: Sequence[Any] | None = None,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.max_depth = max_depth
        self.criterion = criterion
        self.counts_share = counts_share
        self.schema = schema
        self.thresholds = thresholds
        self.n_thresholds = n_thresholds
        self.classes = classes
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the tree; one fit spends `epsilon` once."""
        settings = self._settings()
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        found, codes = np.unique(y, return_inverse=True)
        self.classes_, codes = declared(self.classes, found, codes.astype(np.int64))
        return self._learn(X, codes, settings, source_of(self.random_state))

    def _settings(self) -> TreeSettings:
        """The parameters, checked; nothing here looks at the data."""
        depth = whole_number(self.max_depth, "max_depth", 0)
        if depth > MAX_DEPTH:
            raise ValueError(f"max_depth must be at most {MAX_DEPTH}, got {depth}")
        criterion = one_of(self.criterion, "criterion", ("errors", "gini"))
        share = exact_number(self.counts_share, "counts_share")
        if not 0 < share < 1:
            raise ValueError(f"counts_share must lie between 0 and 1, got {self.counts_share}")
        return TreeSettings(
            epsilon=budget(self.epsilon),
            depth=depth,
            criterion="gini" if criterion == "gini" else "errors",
            counts_share=share,
            n_thresholds=whole_number(self.n_thresholds, "n_thresholds", 1),
        )

    def _learn(
        self,
        X: npt.NDArray[np.float64],
        codes: npt.NDArray[np.int64],
        settings: TreeSettings,
        source: Randomness,
        tools: Tools = HONEST,
    ) -> Self:
        accountant = (
            Accountant(settings.epsilon)
            if settings.rho is None
            else Accountant(settings.rho, unit="rho")
        )
        literals = public_literals(
            self._names(), self.schema, self.thresholds, settings.n_thresholds
        )
        grown = grow_tree(
            literals.holds(X), codes, len(self.classes_), literals, depth=settings.depth,
            criterion=settings.criterion, counts_share=settings.counts_share,
            accountant=accountant, source=source, tools=tools,
        )  # fmt: skip
        inner = len(grown.literal)
        leaves = np.full(inner + 1, -1, dtype=np.int32)
        self.feature_ = np.append(literals.column[grown.literal].astype(np.int32), leaves)
        self.threshold_ = np.append(literals.cut[grown.literal], np.full(inner + 1, np.nan))
        self.left_ = np.append(2 * np.arange(inner, dtype=np.int32) + 1, leaves)
        self.right_ = np.append(2 * np.arange(inner, dtype=np.int32) + 2, leaves)
        self.counts_ = grown.counts
        self.noise_scale_ = grown.scale
        self.noise_ = tools.noise_name
        self.ledger_ = accountant.lines()
        self.version_ = __version__
        self.privacy_ = guarantee(self, accountant, settings.delta)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Without a schema numbers are cut at 0.5 and nowhere else.
        tags.classifier_tags.poor_score = True
        return tags

    def _provenance(self) -> Provenance:
        return without_seed(super()._provenance())

    def _published_counts(self) -> Counts:
        return Noisy(np.asarray(self.counts_, dtype=np.float64), self.noise_scale_, self.noise_)
