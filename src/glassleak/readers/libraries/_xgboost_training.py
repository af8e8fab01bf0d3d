"""What is known about how an XGBoost model was trained: settings, row sampling, notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from glassleak.models import Bagging, Tree
from glassleak.readers._state import State, walk
from glassleak.readers.libraries._typed import parameter
from glassleak.readers.libraries._xgboost_rows import Intercept

_SETTINGS = ("eta", "max_depth", "max_leaves", "min_child_weight", "gamma", "lambda", "alpha",
             "max_delta_step", "subsample", "sampling_method", "colsample_bytree",
             "colsample_bylevel", "colsample_bynode", "max_bin", "grow_policy")  # fmt: skip
_FITS = (
    "the file does not say whether rows were sampled; the class shares in base_score fit the rows "
    "of the first round, so it saw all of them"
)


@dataclass(frozen=True)
class Training:
    """What only a fitted object says about its training.

    Attributes
    ----------
    estimator : str
        Name of its class.
    settings : mapping
        Parameters it holds.  A model that was loaded from a file holds the defaults instead.
    notes : tuple of str
    """

    estimator: str = "Booster"
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def config_settings(config: Any) -> dict[str, Any]:
    """Training parameters from ``Booster.save_config``; where they stand differs by version."""
    for visited in walk(config, 100_000):
        found = visited.value
        if isinstance(found, dict) and "subsample" in found and "eta" in found:
            return {name: parameter(found[name]) for name in _SETTINGS if name in found}
    return {}


def missing_note(state: State) -> tuple[str, ...]:
    """Says so where a number stands for a missing value."""
    marker = state.get("missing")
    if isinstance(marker, int | float) and not isinstance(marker, bool) and marker == marker:
        return (f"the value {marker!r} stands for a missing one (parameter missing)",)
    return ()


def sampling(
    training: Training, intercept: Intercept, trees: list[Tree]
) -> tuple[Bagging, tuple[str, ...]]:
    """Whether every tree saw every row: the file does not say, but the intercept may tell."""
    stated = training.settings.get("subsample")
    roots = {tree.n_rows for tree in trees if tree.n_rows is not None}
    # A subsample of 1 proves nothing: a model loaded from a file shows the default.
    if isinstance(stated, int | float) and stated < 1:
        return Bagging("unknown"), ("every tree saw a sample of the rows",)
    if len(roots) == 1 and intercept.fits_whole_table(min(roots)):
        return Bagging(), (_FITS,)
    return Bagging("unknown"), ("the file does not say whether rows were sampled (subsample)",)


def notes_on(
    trees: list[Tree], first_round: int, pruned: int, weighted: bool, per_class: bool
) -> tuple[str, ...]:
    """What the reader worked out about `trees`, in words."""
    notes = []
    known = sum(tree.rows is not None for tree in trees)
    if known:
        notes.append(
            f"rows per node of {known} tree(s) of the first round follow from its cover, taking "
            "every row to weigh the same (whole-number weights look like repeated rows)"
        )
    elif weighted:
        notes.append("one class is weighted (scale_pos_weight), so cover says nothing about rows")
    elif first_round:
        notes.append("cover is not a multiple of one number in the first round: rows are weighted")
    if pruned:
        notes.append(f"the file still holds {pruned} pruned nodes and their cover")
    if per_class:
        notes.append("every round adds one tree per class; tree_info says which")
    return tuple(notes)
