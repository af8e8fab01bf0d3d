"""Trees and small forests that may be published."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from glassleak._version import __version__
from glassleak.learners._literals import Cuts
from glassleak.learners._support import one_of, whole_number
from glassleak.learners._tree_base import BaseTree
from glassleak.learners.private._accountant import Accountant
from glassleak.learners.private._candidates import public_literals
from glassleak.learners.private._exact import Randomness
from glassleak.learners.private._grow_tree import grow_tree
from glassleak.learners.private._parameters import (
    declared,
    exact_number,
    guarantee,
    source_of,
    without_seed,
)
from glassleak.models import Bagging, Counts, Forest, Noisy, Provenance, Tree
from glassleak.schema import Schema

# A complete tree has twice as many leaves with every level.
MAX_DEPTH = 12


class PrivateTreeClassifier(BaseTree):
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
    noise_scale_ : float
        Of the noise at the leaves.
    ledger_, privacy_
        As in `PrivateRuleListClassifier`.
    """

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
        accountant = Accountant(exact_number(self.epsilon, "epsilon"))
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        found, codes = np.unique(y, return_inverse=True)
        self.classes_, codes = declared(self.classes, found, codes.astype(np.int64))
        self._learn(X, codes, accountant, source_of(self.random_state))
        self.privacy_ = guarantee(self, accountant)
        return self

    def _learn(
        self,
        X: npt.NDArray[np.float64],
        codes: npt.NDArray[np.int64],
        accountant: Accountant,
        source: Randomness,
    ) -> None:
        depth = whole_number(self.max_depth, "max_depth", 0)
        if depth > MAX_DEPTH:
            raise ValueError(f"max_depth must be at most {MAX_DEPTH}, got {depth}")
        criterion = one_of(self.criterion, "criterion", ("errors", "gini"))
        share = exact_number(self.counts_share, "counts_share")
        if not 0 < share < 1:
            raise ValueError(f"counts_share must lie between 0 and 1, got {self.counts_share}")
        cuts = whole_number(self.n_thresholds, "n_thresholds", 1)
        literals = public_literals(self._names(), self.schema, self.thresholds, cuts)
        grown = grow_tree(
            literals.holds(X), codes, len(self.classes_), literals, depth=depth,
            criterion="gini" if criterion == "gini" else "errors", counts_share=share,
            accountant=accountant, source=source,
        )  # fmt: skip
        inner = len(grown.literal)
        leaves = np.full(inner + 1, -1, dtype=np.int32)
        self.feature_ = np.append(literals.column[grown.literal].astype(np.int32), leaves)
        self.threshold_ = np.append(literals.cut[grown.literal], np.full(inner + 1, np.nan))
        self.left_ = np.append(2 * np.arange(inner, dtype=np.int32) + 1, leaves)
        self.right_ = np.append(2 * np.arange(inner, dtype=np.int32) + 2, leaves)
        self.counts_ = grown.counts
        self.noise_scale_ = float(grown.scale)
        self.ledger_ = accountant.lines()
        self.version_ = __version__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Without a schema numbers are cut at 0.5 and nowhere else.
        tags.classifier_tags.poor_score = True
        return tags

    def _provenance(self) -> Provenance:
        return without_seed(super()._provenance())

    def _published_counts(self) -> Counts:
        return Noisy(
            np.asarray(self.counts_, dtype=np.float64), self.noise_scale_, "discrete Laplace"
        )


class PrivateForestClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
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
    privacy_ : dict
    """

    estimators_: list[PrivateTreeClassifier]
    classes_: npt.NDArray[Any]
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
        n_trees = whole_number(self.n_estimators, "n_estimators", 1)
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        found, codes = np.unique(y, return_inverse=True)
        self.classes_, codes = declared(self.classes, found, codes.astype(np.int64))
        source = source_of(self.random_state)
        part = np.array([source.randrange(n_trees) for _ in range(len(X))], dtype=np.int64)
        epsilon = exact_number(self.epsilon, "epsilon")
        own = {k: v for k, v in self.get_params(deep=False).items() if k != "n_estimators"}
        self.estimators_ = []
        for t in range(n_trees):
            accountant = Accountant(epsilon)
            tree = PrivateTreeClassifier(**own)
            tree.classes_, tree.n_features_in_ = self.classes_, X.shape[1]
            if hasattr(self, "feature_names_in_"):
                tree.feature_names_in_ = self.feature_names_in_
            tree._learn(X[part == t], codes[part == t], accountant, source)
            tree.privacy_ = guarantee(tree, accountant)
            self.estimators_.append(tree)
        # Nobody is in two trees: what one of them costs is what all cost.
        self.privacy_ = guarantee(self, accountant)
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
        return Forest(trees, bagging=Bagging("unknown"), provenance=trees[0].provenance)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags
