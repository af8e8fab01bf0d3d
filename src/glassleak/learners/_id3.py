"""ID3 and its relatives as a scikit-learn estimator, to grow the trees of Zhu and Du (2010)."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from glassleak.learners._id3_grow import Criterion, Stops, grow
from glassleak.learners._support import check_counted

_CRITERIA = ("entropy", "gini", "gain_ratio")


class ID3Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A decision tree over categories, with one branch per level.

    Parameters
    ----------
    criterion : "entropy", "gini" or "gain_ratio"
        What the chosen column has most of: information gain (ID3), decrease of Gini impurity, or
        gain per bit of split information (C4.5, without its rule about the average gain).
    max_depth : int, optional
        ``None`` is no limit.
    min_samples_split : int
        Smallest number of rows that is split.
    min_gain : float
        Smallest gain per row of the node that the best split must bring, in bits for "entropy" and
        "gain_ratio".

    Attributes
    ----------
    classes_ : array
    feature_names_in_ : array
        Only if fitted on a DataFrame with text as column names, as everywhere in scikit-learn.
    n_features_in_ : int
    levels_ : list of lists
        The values of every column; a level code is a position in its list.
    feature_, parent_, branch_ : int32 arrays
        As in `glassleak.models.MultiwayTree`: the column a node asks for (-1 at leaves), the node
        above, and the level code that leads from there to here.
    counts_ : (nodes, classes) int64 array
        Training rows per node and class.

    Notes
    -----
    Every value is a category, numbers too.  A column is asked for at most once on a path.  Growing
    stops at pure nodes and where every column left is constant.  Of columns that tell equally
    much (to 1e-12 per row) the first is taken, so the tree does not depend on chance or on the
    order of rows.  Values that were not seen at a node in training get the answer of that node.

    `glassleak.read` gives the tree as a `glassleak.models.MultiwayTree`.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": ["young", "young", "old"], "sex": ["f", "m", "m"]})
    >>> ID3Classifier().fit(people, ["no", "no", "yes"]).predict(people).tolist()
    ['no', 'no', 'yes']
    """

    def __init__(
        self,
        criterion: Criterion = "entropy",
        *,
        max_depth: int | None = None,
        min_samples_split: int = 2,
        min_gain: float = 0.0,
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_gain = min_gain

    def fit(self, X: Any, y: Any) -> ID3Classifier:
        """Grow the tree on the table `X` and the classes `y`."""
        stops = self._checked_stops()
        table = _as_frame(X)
        if not len(table) or not table.shape[1]:
            raise ValueError(f"cannot grow a tree on {len(table)} rows, {table.shape[1]} columns")
        given = np.asarray(y)
        if given.ndim == 2 and given.shape[1] == 1:
            given = given[:, 0]
        if given.shape != (len(table),):
            raise ValueError(f"expected {len(table)} classes, got shape {given.shape}")
        if pd.isna(given).any():
            raise ValueError("a class is missing")
        self.classes_, labels = np.unique(given, return_inverse=True)
        self._remember_columns(X, table)
        self.levels_ = [_levels(table.iloc[:, i], i) for i in range(table.shape[1])]
        codes = self._encode(table)
        tree = grow(codes, labels.reshape(-1), len(self.classes_), self.criterion, stops)
        self.feature_, self.parent_, self.branch_ = tree.feature, tree.parent, tree.branch
        self.counts_ = tree.counts
        return self

    def apply(self, X: Any) -> npt.NDArray[np.int64]:
        """The last node each row reaches: a leaf, or where its value had not been seen."""
        check_is_fitted(self, "counts_")
        table = _as_frame(X)
        if table.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {table.shape[1]} features, but ID3Classifier is expecting "
                f"{self.n_features_in_} features as input"
            )
        names = getattr(self, "feature_names_in_", None)
        if names is not None and isinstance(X, pd.DataFrame) and list(X.columns) != list(names):
            raise ValueError("the columns are not those, or not in the order, of fit")
        codes = self._encode(table)
        child = {
            (above, code): node + 1
            for node, (above, code) in enumerate(
                zip(self.parent_[1:].tolist(), self.branch_[1:].tolist(), strict=True)
            )
        }
        reached, inverse = np.unique(codes, axis=0, return_inverse=True)
        feature = self.feature_.tolist()
        ends = np.empty(len(reached), dtype=np.int64)
        for i, row in enumerate(reached.tolist()):
            node = 0
            while feature[node] >= 0:
                below = child.get((node, row[feature[node]]))
                if below is None:
                    break
                node = below
            ends[i] = node
        nodes: npt.NDArray[np.int64] = ends[inverse.reshape(-1)]
        return nodes

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Shares of the classes among the training rows of the node each row reaches."""
        nodes = self.apply(X)
        check_counted(self.counts_)
        counts = self.counts_[nodes].astype(float)
        shares: npt.NDArray[np.float64] = counts / counts.sum(axis=1, keepdims=True)
        return shares

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The most frequent class there; of equally frequent ones the first."""
        nodes = self.apply(X)
        predicted: npt.NDArray[Any] = self.classes_[np.argmax(self.counts_[nodes], axis=1)]
        return predicted

    def _checked_stops(self) -> Stops:
        if self.criterion not in _CRITERIA:
            raise ValueError(f"criterion must be one of {_CRITERIA}, got {self.criterion!r}")
        depth = self.max_depth
        if depth is not None and (not _whole(depth) or depth < 1):
            raise ValueError(f"max_depth must be a whole number from 1, or None, got {depth!r}")
        if not _whole(self.min_samples_split) or self.min_samples_split < 2:
            raise ValueError(
                f"min_samples_split must be a whole number from 2, got {self.min_samples_split!r}"
            )
        if not (isinstance(self.min_gain, numbers.Real) and 0 <= self.min_gain < math.inf):
            raise ValueError(f"min_gain must be a number from 0, got {self.min_gain!r}")
        return Stops(depth, int(self.min_samples_split), float(self.min_gain))

    def _remember_columns(self, given: Any, table: pd.DataFrame) -> None:
        self.n_features_in_ = table.shape[1]
        names = list(table.columns) if isinstance(given, pd.DataFrame) else []
        if names and all(isinstance(name, str) for name in names):
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _encode(self, table: pd.DataFrame) -> npt.NDArray[np.int64]:
        """Level codes; -1 for a value that was not there in training."""
        codes = np.empty(table.shape, dtype=np.int64)
        for i, levels in enumerate(self.levels_):
            position = {level: code for code, level in enumerate(levels)}
            found, values = pd.factorize(table.iloc[:, i], use_na_sentinel=False)
            known = np.array([position.get(_plain(v), -1) for v in values], dtype=np.int64)
            codes[:, i] = known[found]
        return codes

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _as_frame(table: Any) -> pd.DataFrame:
    if isinstance(table, pd.DataFrame):
        return table
    array = np.asarray(table)
    if array.ndim != 2:
        raise ValueError(f"Expected 2D array, got {array.ndim}D array instead: reshape your data")
    return pd.DataFrame(array)


def _levels(column: pd.Series, number: int) -> list[Any]:
    """The distinct values, sorted; by kind first where numbers and text are mixed."""
    if column.isna().any():
        raise ValueError(
            f"column {number} ({column.name!r}) has missing values; give them a level of their own"
        )
    values = {_plain(v) for v in column.unique()}
    for value in values:
        if not isinstance(value, str | int | float | bool) or (
            isinstance(value, float) and not math.isfinite(value)
        ):
            raise ValueError(f"column {number} ({column.name!r}): {value!r} cannot be a level")
    return sorted(values, key=lambda v: (isinstance(v, str), v))


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)
