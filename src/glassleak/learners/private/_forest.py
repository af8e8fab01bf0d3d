"""A small forest that may be published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from glassleak.learners._literals import Cuts
from glassleak.learners._support import one_of, whole_number
from glassleak.learners.private._accountant import Accountant
from glassleak.learners.private._candidates import Candidates
from glassleak.learners.private._exact import Randomness
from glassleak.learners.private._parameters import (
    Unseeded,
    declared,
    exact_number,
    guarantee,
    source_of,
)
from glassleak.learners.private._tools import CONCENTRATED, HONEST, Tools
from glassleak.learners.private._tree import PrivateTreeClassifier, TreeSettings
from glassleak.learners.private._zcdp import rho_for
from glassleak.models import Bagging, Forest, Tree
from glassleak.schema import Schema


class PrivateForestClassifier(Unseeded, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Forest of private trees.

    Every person is put into one tree by a coin of their own, so each tree may spend the whole
    budget (parallel composition).  More trees smooth the vote and leave fewer people to each.  With
    ``accounting="zcdp"`` everybody is in every tree and the trees share the budget, which pays off
    from about ten trees on.

    Parameters
    ----------
    n_estimators : int
    accounting : "pure" or "zcdp"
        ``"pure"``: epsilon-differential privacy, everybody in one tree.  ``"zcdp"``: everybody in
        every tree, each tree choosing among half of the columns, drawn by lot; costs are added up
        as zero-concentrated differential privacy and amount to (epsilon, delta).
    delta : float
        With ``"zcdp"``, the probability with which nothing is promised; far below one in the number
        of people.
    epsilon, max_depth, criterion, counts_share, schema, thresholds, n_thresholds, classes, \
random_state
        As in `PrivateTreeClassifier`.

    Attributes
    ----------
    estimators_ : list of PrivateTreeClassifier
    ledger_, privacy_
        Of every tree, and so of the forest, where nobody is in two trees; with ``"zcdp"`` of all
        trees together.
    """

    estimators_: list[PrivateTreeClassifier]
    classes_: npt.NDArray[Any]
    ledger_: list[dict[str, Any]]
    privacy_: dict[str, Any]

    def __init__(
        self,
        n_estimators: int = 5,
        epsilon: float = 1.0,
        max_depth: int = 3,
        *,
        criterion: Literal["errors", "gini"] = "gini",
        counts_share: float = 0.4,
        schema: Schema | None = None,
        thresholds: Cuts | None = None,
        n_thresholds: int = 4,
        classes: Sequence[Any] | None = None,
        accounting: Literal["pure", "zcdp"] = "pure",
        delta: float = 1e-6,
        random_state: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.epsilon = epsilon
        self.max_depth = max_depth
        self.criterion = criterion
        self.counts_share = counts_share
        self.schema = schema
        self.thresholds = thresholds
        self.n_thresholds = n_thresholds
        self.classes = classes
        self.accounting = accounting
        self.delta = delta
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the trees; one fit spends `epsilon` once."""
        settings = self._settings()
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        found, codes = np.unique(y, return_inverse=True)
        self.classes_, codes = declared(self.classes, found, codes.astype(np.int64))
        return self._learn(X, codes, settings, source_of(self.random_state))

    def _settings(self) -> TreeSettings:
        """The parameters of every tree, checked; nothing here looks at the data."""
        trees = whole_number(self.n_estimators, "n_estimators", 1)
        settings = PrivateTreeClassifier(**self._of_trees())._settings()
        if one_of(self.accounting, "accounting", ("pure", "zcdp")) == "pure":
            return settings
        delta = exact_number(self.delta, "delta")
        rho = rho_for(settings.epsilon, delta) / trees
        return replace(settings, rho=rho, delta=float(delta))

    def _tools(self) -> Tools:
        return HONEST if self.accounting == "pure" else CONCENTRATED

    def _of_trees(self) -> dict[str, Any]:
        """The parameters a tree has, too."""
        own: dict[str, Any] = self.get_params(deep=False)
        for name in ("n_estimators", "accounting", "delta"):
            del own[name]
        return own

    def _learn(
        self,
        X: npt.NDArray[np.float64],
        codes: npt.NDArray[np.int64],
        settings: TreeSettings,
        source: Randomness,
        tools: Tools | None = None,
    ) -> Self:
        tools = tools or self._tools()
        n_trees, own_parameters = int(self.n_estimators), self._of_trees()
        self.estimators_ = []
        together = None if settings.rho is None else Accountant(settings.rho * n_trees, unit="rho")
        members = (
            tools.assign(len(X), n_trees, source)
            if together is None
            else np.ones((n_trees, len(X)), dtype=bool)
        )
        for i, mine in enumerate(members):
            tree = PrivateTreeClassifier(**own_parameters)
            tree.classes_, tree.n_features_in_ = self.classes_, X.shape[1]
            if hasattr(self, "feature_names_in_"):
                tree.feature_names_in_ = self.feature_names_in_
            own = tools
            if together is not None and settings.rho is not None:
                together.spend(settings.rho, f"tree {i + 1}", "all its choices and counts")
                own = _half_of_the_columns(tools, X.shape[1], source)
            tree._learn(X[mine], codes[mine], settings, source, own)
            self.estimators_.append(tree)
        if together is None:
            # Nobody is in two trees: what one of them costs is what all cost.
            self.ledger_ = self.estimators_[0].ledger_
            self.privacy_ = self.estimators_[0].privacy_
            return self
        self.ledger_ = [
            line | {"what": f"tree {i + 1}: {line['what']}"}
            for i, tree in enumerate(self.estimators_)
            for line in tree.ledger_
        ]
        self.privacy_ = guarantee(self, together, settings.delta)
        return self

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Mean of the trees' shares."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        # The trees were fitted on plain arrays in these columns.
        shares = [tree._shares()[tree._leaves(X)] for tree in self.estimators_]
        return np.asarray(np.mean(shares, axis=0), dtype=np.float64)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class with the largest mean share."""
        shares = self.predict_proba(X)
        predicted: npt.NDArray[Any] = self.classes_[shares.argmax(axis=1)]
        return predicted

    def to_model(self) -> Forest:
        """The published form; the same as ``glassleak.read(self)``."""
        check_is_fitted(self)
        trees: tuple[Tree, ...] = tuple(tree.to_model() for tree in self.estimators_)
        made = trees[0].provenance
        settings = {
            "n_estimators": len(trees), "accounting": self.accounting, "delta": self.delta,
            **made.settings,
        }  # fmt: skip
        made = replace(made, estimator=type(self).__name__, settings=settings)
        return Forest(trees, bagging=Bagging("unknown"), provenance=made)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


def _half_of_the_columns(tools: Tools, n_columns: int, source: Randomness) -> Tools:
    """`tools` that offer splits on half of the columns, drawn by lot: trees should differ."""
    order = list(range(n_columns))
    kept = (n_columns + 1) // 2
    for i in range(kept):
        j = i + source.randrange(n_columns - i)
        order[i], order[j] = order[j], order[i]
    drawn = order[:kept]

    def offer(candidates: Candidates, holds: npt.NDArray[np.bool_]) -> Candidates:
        offered = tools.offer(candidates, holds)
        mine = offered.first[np.isin(offered.literals.column[offered.first], drawn)]
        # A column may have nowhere to be cut; a tree without any choice would be no tree.
        return Candidates(offered.literals, mine, mine) if len(mine) else offered

    return replace(tools, offer=offer)
