"""What every tree learner shares: predicting, printing, publishing."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from glassleak.learners._support import check_counted, plain_settings, published
from glassleak.models import Counts, Label, Noisy, Provenance, Tree


class BaseTree(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the tree classifiers; not for direct use.

    Attributes
    ----------
    classes_ : array
    feature_, threshold_, left_, right_ : arrays
        One entry per node, node 0 the root; -1 (NaN) at leaves.  ``value <= threshold`` goes left.
    counts_ : (nodes, classes) array
    n_features_in_, feature_names_in_
        As in scikit-learn.
    """

    classes_: npt.NDArray[Any]
    feature_: npt.NDArray[np.int32]
    threshold_: npt.NDArray[np.float64]
    left_: npt.NDArray[np.int32]
    right_: npt.NDArray[np.int32]
    counts_: npt.NDArray[Any]
    n_features_in_: int
    version_: str

    def apply(self, X: Any) -> npt.NDArray[np.int64]:
        """The node of the leaf each row falls into."""
        check_is_fitted(self)
        return self._leaves(validate_data(self, X, dtype=np.float64, reset=False))

    def _leaves(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        at = np.zeros(len(values), dtype=np.int64)
        while (inner := self.feature_[at] >= 0).any():
            rows, nodes = np.flatnonzero(inner), at[inner]
            low = values[rows, self.feature_[nodes]] <= self.threshold_[nodes]
            at[rows] = np.where(low, self.left_[nodes], self.right_[nodes])
        return at

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The majority class of the leaf of each row."""
        leaves = self.apply(X)
        predicted: npt.NDArray[Any] = self.classes_[self.counts_.argmax(axis=1)[leaves]]
        return predicted

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Shares of the classes among the training rows of the leaf of each row."""
        leaves = self.apply(X)
        if not isinstance(self._published_counts(), Noisy):
            check_counted(self.counts_)
        return self._shares()[leaves]

    def _shares(self) -> npt.NDArray[np.float64]:
        """Per node."""
        counts = np.maximum(np.asarray(self.counts_, dtype=np.float64), 0)
        # Noise may leave a leaf without anybody: then it says nothing.
        counts[counts.sum(axis=1) == 0] = 1
        shares: npt.NDArray[np.float64] = counts / counts.sum(axis=1, keepdims=True)
        return shares

    def to_text(self) -> str:
        """The tree as text, one condition a line, with the rows of each class at the leaves."""
        check_is_fitted(self)
        names, lines = self._names(), []
        stack = [(0, 0, "")]
        while stack:
            node, depth, condition = stack.pop()
            head = "  " * max(0, depth - 1) + condition
            if self.feature_[node] < 0:
                held = self.counts_[node].tolist()
                per_class = zip(self.classes_.tolist(), held, strict=True)
                counts = ", ".join(f"{label}: {count:g}" for label, count in per_class)
                lines.append(f"{head}{self.classes_[int(np.argmax(held))]}  ({counts})")
                continue
            if depth:
                lines.append(head.rstrip())
            name, cut = names[int(self.feature_[node])], self.threshold_[node]
            stack.append((int(self.right_[node]), depth + 1, f"if {name} > {cut:g}: "))
            stack.append((int(self.left_[node]), depth + 1, f"if {name} <= {cut:g}: "))
        return "\n".join(lines)

    def to_model(self) -> Tree:
        """The published form; the same as ``glassleak.read(self)``."""
        check_is_fitted(self)
        labels: list[Label] = self.classes_.tolist()
        return Tree(
            columns=self._names(),
            classes=tuple(labels),
            feature=self.feature_,
            threshold=self.threshold_,
            left=self.left_,
            right=self.right_,
            counts=self._published_counts(),
            precision="float64",
            provenance=self._provenance(),
        )

    def _published_counts(self) -> Counts:
        return published(self.counts_)

    def _provenance(self) -> Provenance:
        return Provenance(
            library="glassleak",
            library_version=self.version_,
            estimator=type(self).__name__,
            settings=plain_settings(self.get_params(deep=False)),
        )

    def _names(self) -> tuple[str, ...]:
        given = getattr(self, "feature_names_in_", None)
        if given is None:
            return tuple(f"x{i}" for i in range(self.n_features_in_))
        return tuple(str(name) for name in given)
