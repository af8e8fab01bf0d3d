"""What a model says about each person: which outputs it can tell people apart by."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from glassleak.errors import UnsupportedModelError
from glassleak.models import Forest, Missing, Model, MultiwayTree, RuleList, Tree

FloatArray: TypeAlias = npt.NDArray[np.float64]


@runtime_checkable
class Classifier(Protocol):
    """Anything with scikit-learn's ``predict`` and ``classes_``."""

    classes_: Any

    def predict(self, X: Any, /) -> Any:  # noqa: N803
        """A class per row."""
        ...


def class_names(model: Model | Classifier) -> npt.NDArray[Any]:
    """The classes in the order of `class_shares`."""
    names = model.classes_ if isinstance(model, Classifier) else model.classes
    return np.asarray(names)


def class_shares(model: Model | Classifier, table: Any) -> FloatArray | None:
    """(rows, classes): the probabilities the model gives out; ``None`` if it gives out none."""
    if isinstance(model, Classifier):
        probabilities = getattr(model, "predict_proba", None)
        if probabilities is None:
            return None
        return np.asarray(probabilities(table), dtype=np.float64)
    members = model.trees if isinstance(model, Forest) else (model,)
    shares = [_shares_of(member, _values(member, table)) for member in members]
    return np.asarray(np.mean(shares, axis=0), dtype=np.float64)


def said(model: Model | Classifier, table: Any) -> npt.NDArray[Any]:
    """One line per person: everything the model gives out about them.

    For a tree or a rule list the leaf or rule itself, as the paper has it; otherwise the class
    probabilities, or the class alone where there are none.
    """
    if isinstance(model, Tree | RuleList | MultiwayTree):
        return np.asarray(model.apply(_values(model, table)))[:, None]
    shares = class_shares(model, table)
    if shares is not None:
        return np.round(shares, 12)
    assert isinstance(model, Classifier)
    return np.asarray(model.predict(table))[:, None]


def _values(model: Any, table: Any) -> Any:
    """The table in the model's columns."""
    columns = getattr(table, "columns", None)
    if columns is not None and set(model.columns) <= set(columns):
        table = table.loc[:, list(model.columns)]
    if isinstance(model, MultiwayTree) and columns is not None:
        return model.encode(table)
    return np.asarray(table, dtype=np.float64)


def _shares_of(model: Tree | RuleList | MultiwayTree, values: Any) -> FloatArray:
    shares = _published_shares(model)
    where = np.asarray(model.apply(values))
    # A level nobody in the training set had leads nowhere: the model says nothing.
    found: FloatArray = np.where(where[:, None] >= 0, shares[where], 1 / shares.shape[1])
    return found


def _published_shares(model: Tree | RuleList | MultiwayTree) -> FloatArray:
    """Class shares of every node or rule, from whatever is published."""
    if not isinstance(model.counts, Missing):
        counts = np.maximum(np.asarray(model.counts.values, dtype=np.float64), 0)
        totals = counts.sum(axis=1, keepdims=True)
        found: FloatArray = np.divide(counts, totals, where=totals > 0,
                                      out=np.full_like(counts, 1 / counts.shape[1]))  # fmt: skip
        return found
    if isinstance(model, Tree) and model.shares is not None:
        return np.asarray(model.shares, dtype=np.float64)
    if isinstance(model, RuleList):  # says its class, and is as sure as one can be
        n_classes = len(model.classes)
        shares = np.full((len(model), n_classes), 1 / n_classes)
        for i, rule in enumerate(model.rules):
            if rule.prediction is not None:
                shares[i] = np.eye(n_classes)[model.classes.index(rule.prediction)]
        return shares
    raise UnsupportedModelError(
        f"class counts or shares are needed, and are not published: {model.counts.reason}"
    )
