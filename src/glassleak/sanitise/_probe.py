"""Do two versions of a model give the same answers?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.sanitise._cells import representatives, sample_cells, sample_profiles, space_of
from glassleak.sanitise._coarsen import column_names, labels, takes_missing
from glassleak.sanitise._estimators import BAGS, FORESTS, TREES, fitted_trees
from glassleak.schema import Schema

PROBES = 5_000


@dataclass(frozen=True)
class Agreement:
    """How often two models agree.

    Attributes
    ----------
    inputs : int
        Inputs compared: values right at and right above thresholds of the first model, drawn at
        random.
    different : int
        Of these, with another label.
    rows, different_rows : int or None
        The same for the rows of a table, if one was given.
    scores : bool or None
        Whether probabilities agree to the last bit on all of them; ``None`` if there are none.
    """

    inputs: int
    different: int
    rows: int | None = None
    different_rows: int | None = None
    scores: bool | None = None

    @property
    def identical(self) -> bool:
        """Whether no label differs."""
        return not self.different and not self.different_rows

    @property
    def share(self) -> float:
        """The share of answers that differ: of the table's rows, or else of the inputs."""
        if self.rows:
            return (self.different_rows or 0) / self.rows
        return self.different / self.inputs if self.inputs else 0.0


def agreement(
    one: Any, other: Any, table: Any = None, seed: int = 0, schema: Schema | None = None
) -> Agreement:
    """Compare the answers of two models of the same columns.

    Parameters
    ----------
    one, other : fitted estimators
        Pipelines are compared at their last step, and as a whole on `table`.
    table : DataFrame or array, optional
        Rows to compare on as well.
    seed : int
    schema : Schema, optional
        Compare on inputs it allows only.
    """
    first, second = last_step(one), last_step(other)
    probes = probes_of(first, seed, schema)
    different, same_scores = _differences(first, second, probes)
    if table is None or not len(table):
        return Agreement(len(probes), different, scores=same_scores)
    in_table = int((_rows(one.predict(table)) != _rows(other.predict(table))).any(axis=1).sum())
    return Agreement(len(probes), different, len(table), in_table, same_scores)


def probes_of(
    model: Any, seed: int = 0, schema: Schema | None = None, n: int = PROBES
) -> npt.NDArray[Any]:
    """Inputs that would show a difference first."""
    if type(model).__name__ in (*TREES, *FORESTS, *BAGS):
        if schema is not None:
            space = space_of(fitted_trees(model), column_names(model), schema)
            return sample_profiles(space, n, seed)
        values = representatives(fitted_trees(model), model.n_features_in_)
        return sample_cells(values, n, seed, missing=takes_missing(model))
    if hasattr(model, "levels_"):
        random = np.random.default_rng(seed)
        drawn = [random.choice(np.array(own, dtype=object), n) for own in model.levels_]
        return np.column_stack(drawn)
    values = [_around(cuts) for cuts in _cuts_of(model)]
    return sample_cells(values, n, seed, missing=False)


def last_step(model: Any) -> Any:
    """What decides: the last step of a pipeline."""
    return model.steps[-1][1] if hasattr(model, "steps") else model


def _differences(one: Any, other: Any, probes: npt.NDArray[Any]) -> tuple[int, bool | None]:
    different = (_rows(labels(one, probes)) != _rows(labels(other, probes))).any(axis=1)
    scores = None
    if hasattr(one, "predict_proba") and hasattr(other, "predict_proba"):
        try:
            scores = np.array_equal(
                labels(one, probes, "predict_proba"), labels(other, probes, "predict_proba")
            )
        except ValueError:  # counts were removed, so there are no probabilities
            scores = False
    return int(different.sum()), scores


def _rows(answers: Any) -> npt.NDArray[Any]:
    found = np.asarray(answers)
    return found.reshape(len(found), -1)


def _cuts_of(model: Any) -> list[npt.NDArray[np.float64]]:
    """Thresholds of glassleak's own rule lists and trees, column by column."""
    cuts: list[list[float]] = [[] for _ in range(model.n_features_in_)]
    for conditions in getattr(model, "conditions_", ()):
        for column, low, high in conditions:
            cuts[column] += [low, high]
    threshold = getattr(model, "threshold_", None)
    if threshold is not None:
        for column, cut in zip(model.feature_.tolist(), threshold.tolist(), strict=True):
            if column >= 0:
                cuts[column].append(cut)
    return [np.array(sorted(set(c))) for c in cuts]


def _around(cuts: npt.NDArray[np.float64]) -> Any:
    finite = cuts[np.isfinite(cuts)]
    if not finite.size:
        return np.array([0.0, 1.0])
    return np.unique(np.concatenate([finite, np.nextafter(finite, np.inf)]))
