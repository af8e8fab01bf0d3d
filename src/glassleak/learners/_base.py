"""What every rule list learner shares: checking input, predicting, printing, publishing.

A fitted list is its conditions, one line of counts per rule, and nothing about single rows:
``conditions_``, ``counts_`` and ``predictions_`` are plain lists and small arrays, so that the
saved object (pickle, skops) holds exactly what `to_model` shows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from glassleak._version import __version__
from glassleak.learners._literals import Interval
from glassleak.learners._support import check_counted, plain_settings, published
from glassleak.models import (
    Condition,
    Counts,
    Exact,
    Label,
    Missing,
    Noisy,
    Provenance,
    Rule,
    RuleList,
)


class BaseRuleList(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the rule list classifiers; not for direct use.

    Attributes
    ----------
    classes_ : array
    conditions_ : list of list of (column, low, high)
        Of each rule, ``low < value <= high``; the last rule has none.
    predictions_ : int array
        Per rule, the position in `classes_` of the class it predicts.
    counts_ : (rules, classes) array
        Training rows each rule captured.
    version_ : str
        The glassleak it was trained with.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    """

    classes_: npt.NDArray[Any]
    conditions_: list[list[Interval]]
    predictions_: npt.NDArray[np.int64]
    counts_: npt.NDArray[Any]
    n_features_in_: int
    version_: str

    def _checked(self, X: Any, y: Any) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        """The table as float64 and the classes as 0, 1, …; sets `classes_`."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        return X, codes.astype(np.int64)

    def _publish(
        self, X: npt.NDArray[np.float64], codes: npt.NDArray[np.int64], rules: list[list[Interval]]
    ) -> Self:
        """Keep `rules` (without the default rule) and what they captured, and forget the table."""
        self.conditions_ = [*rules, []]
        self.version_ = __version__
        captured = self._rule_list(None).apply(X)
        shape = (len(self.conditions_), len(self.classes_))
        self.counts_ = np.zeros(shape, dtype=np.int64)
        np.add.at(self.counts_, (captured, codes), 1)
        self.predictions_ = self.counts_.argmax(axis=1).astype(np.int64)
        # A rule nobody reached says what it would say of the whole table.
        empty = self.counts_.sum(axis=1) == 0
        self.predictions_[empty] = self.counts_.sum(axis=0).argmax()
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The majority class of the rule that captures each row."""
        captured = self.apply(X)
        return self.classes_[self.predictions_[captured]]

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Shares of the classes among the training rows of the rule that captures each row."""
        captured = self.apply(X)
        if not isinstance(self._published_counts(), Noisy):
            check_counted(self.counts_)
        counts = np.maximum(np.asarray(self.counts_, dtype=np.float64), 0)
        counts[counts.sum(axis=1) == 0] = np.maximum(counts.sum(axis=0), 1e-300)
        shares: npt.NDArray[np.float64] = counts / counts.sum(axis=1, keepdims=True)
        return shares[captured]

    def apply(self, X: Any) -> npt.NDArray[np.int32]:
        """The rule that captures each row: 0 for the first, the last for "everybody else"."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return self._rule_list(None).apply(X)

    @property
    def rules_(self) -> list[str]:
        """The conditions of each rule in words; "otherwise" for the last."""
        check_is_fitted(self)
        names = self._names()
        two = self._two_valued()
        return [
            " and ".join(_words(names[c], low, high, c in two) for c, low, high in conditions)
            or "otherwise"
            for conditions in self.conditions_
        ]

    def to_text(self) -> str:
        """The list as text, one rule a line, with the rows of each class it captured."""
        lines = []
        for i, words in enumerate(self.rules_):
            head = "if" if i == 0 else "else if"
            head = "else" if words == "otherwise" else f"{head} {words} then"
            lines.append(f"{head} {self._says(i)}  {self._captured(i)}".rstrip())
        return "\n".join(lines)

    def to_model(self) -> RuleList:
        """The published form; the same as ``glassleak.read(self)``."""
        check_is_fitted(self)
        return self._rule_list(self._published_counts())

    def _published_counts(self) -> Counts:
        return published(self.counts_)

    def _provenance(self) -> Provenance:
        return Provenance(
            library="glassleak",
            library_version=self.version_,
            estimator=type(self).__name__,
            settings=plain_settings(self.get_params(deep=False)),
        )

    def _rule_list(self, counts: Counts | None) -> RuleList:
        labels: list[Label] = self.classes_.tolist()
        rules = [
            Rule(
                tuple(Condition(c, low, high) for c, low, high in conditions),
                None if counts is None else labels[self.predictions_[i]],
            )
            for i, conditions in enumerate(self.conditions_)
        ]
        nothing = Exact(np.zeros((len(rules), len(labels)), dtype=np.int64))
        return RuleList(
            columns=self._names(),
            classes=tuple(labels),
            rules=tuple(rules),
            counts=nothing if counts is None else counts,
            provenance=self._provenance(),
        )

    def _names(self) -> tuple[str, ...]:
        given: Sequence[str] | None = getattr(self, "feature_names_in_", None)
        if given is None:
            return tuple(f"x{i}" for i in range(self.n_features_in_))
        return tuple(str(name) for name in given)

    def _two_valued(self) -> set[int]:
        """Columns every condition cuts at 0.5, which are printed as yes/no."""
        ends: dict[int, set[float]] = {}
        for conditions in self.conditions_:
            for column, low, high in conditions:
                ends.setdefault(column, set()).update({low, high} - {-math.inf, math.inf})
        return {column for column, found in ends.items() if found == {0.5}}

    def _says(self, i: int) -> str:
        return str(self.classes_[self.predictions_[i]])

    def _captured(self, i: int) -> str:
        if isinstance(self._published_counts(), Missing):
            return ""
        per_class = zip(self.classes_.tolist(), self.counts_[i].tolist(), strict=True)
        return "(" + ", ".join(f"{label}: {count:g}" for label, count in per_class) + ")"


def _words(name: str, low: float, high: float, two_valued: bool) -> str:
    if two_valued:
        return name if high == math.inf else f"not {name}"
    if low == -math.inf:
        return f"{name} <= {high:g}"
    return f"{name} > {low:g}" if high == math.inf else f"{low:g} < {name} <= {high:g}"
