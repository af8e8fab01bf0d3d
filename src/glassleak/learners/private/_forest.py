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
from glassleak.learners._support import whole_number
from glassleak.learners.private._exact import Randomness
from glassleak.learners.private._parameters import Unseeded, declared, source_of
from glassleak.learners.private._tools import HONEST, Tools
from glassleak.learners.private._tree import PrivateTreeClassifier, TreeSettings
from glassleak.models import Bagging, Forest, Tree
from glassleak.schema import Schema


class PrivateForestClassifier(Unseeded, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Forest of private trees, each on its own part of the people.

    Every person is put into one part by a coin of their own, so they are in one tree only and each
    tree may spend the whole budget (parallel composition).  More trees smooth the vote and leave
    fewer people to each.

    Parameters
    ----------
    n_estimators : int
    epsilon, max_depth, criterion, counts_share, schema, thresholds, n_thresholds, classes, \
random_state
        As in `PrivateTreeClassifier`.

    Attributes
    ----------
    estimators_ : list of PrivateTreeClassifier
    ledger_, privacy_
        Of every tree, and so of the forest: nobody is in two trees.
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
        """The parameters, checked; nothing here looks at the data."""
        whole_number(self.n_estimators, "n_estimators", 1)
        return self._tree()._settings()

    def _tree(self) -> PrivateTreeClassifier:
        own = {k: v for k, v in self.get_params(deep=False).items() if k != "n_estimators"}
        return PrivateTreeClassifier(**own)

    def _learn(
        self,
        X: npt.NDArray[np.float64],
        codes: npt.NDArray[np.int64],
        settings: TreeSettings,
        source: Randomness,
        tools: Tools = HONEST,
    ) -> Self:
        n_trees = int(self.n_estimators)
        self.estimators_ = []
        for mine in tools.assign(len(X), n_trees, source):
            tree = self._tree()
            tree.classes_, tree.n_features_in_ = self.classes_, X.shape[1]
            if hasattr(self, "feature_names_in_"):
                tree.feature_names_in_ = self.feature_names_in_
            tree._learn(X[mine], codes[mine], settings, source, tools)
            self.estimators_.append(tree)
        # Nobody is in two trees: what one of them costs is what all cost.
        self.ledger_ = self.estimators_[0].ledger_
        self.privacy_ = self.estimators_[0].privacy_
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
        settings = {"n_estimators": len(trees), **made.settings}
        made = replace(made, estimator=type(self).__name__, settings=settings)
        return Forest(trees, bagging=Bagging("unknown"), provenance=made)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags
