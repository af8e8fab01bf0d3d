"""Are split-optimality facts true of this model?  Only if its learner's settings make them so.

"No other split was better" (Inequality 3) holds when the learner compared every candidate and took
the best.  Whoever uses it where it does not hold gets answers that are wrong with certainty.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from glassleak.disclosure._measures import Measure
from glassleak.disclosure._problem import Problem
from glassleak.errors import UnsupportedModelError
from glassleak.models import Exact, MultiwayTree, RuleList, Tree

SplitWish = Literal["auto", "gini", "entropy", "gain_ratio"] | bool
_MEASURES: dict[str, Measure] = {
    "gini": "gini",
    "entropy": "entropy",
    "log_loss": "entropy",
    "gain_ratio": "gain_ratio",
}
# Ranks of all values are kept, four bytes each.
_MOST_VALUES = 250_000_000


@dataclass(frozen=True)
class SplitFacts:
    """Every chosen split was a best one.

    Attributes
    ----------
    measure : "gini", "entropy" or "gain_ratio"
        By which measure.
    kind : "thresholds" or "levels"
        What candidates are: a column and a cut between two of its values, or a column.
    min_leaf : int
        Candidates that leave fewer people on a side were not looked at.
    """

    measure: Measure
    kind: Literal["thresholds", "levels"]
    min_leaf: int = 1


def split_facts_of(problem: Problem, wish: SplitWish = "auto") -> tuple[SplitFacts | None, str]:
    """The facts that may be used, and in words why, or why not.

    Parameters
    ----------
    wish : "auto", True, False or a measure
        A measure's name says that the caller knows how splits were chosen.
    """
    if wish is False:
        return None, "split facts were not asked for"
    model = problem.model
    if isinstance(model, RuleList):
        reason = "rules of a list were not chosen split by split"
    elif problem.values.size > _MOST_VALUES:
        reason = f"{problem.values.size:,} values are too many to compare all splits"
    elif isinstance(wish, str) and wish != "auto":
        if wish not in _MEASURES:
            raise ValueError(f"unknown split measure {wish!r}")
        facts = (
            SplitFacts(_MEASURES[wish], "levels")
            if isinstance(model, MultiwayTree)
            else SplitFacts(_MEASURES[wish], "thresholds", _asserted(model))
        )
        return facts, f"every split is taken to be the best by {wish}, as the caller says"
    elif isinstance(model, MultiwayTree):
        found = _multiway(model)
        if isinstance(found, SplitFacts):
            return found, f"every column asked for was the best by {found.measure}"
        reason = found
    else:
        checked = _scikit_learn(model)
        if isinstance(checked, SplitFacts):
            few = checked.min_leaf
            smallest = f" that leave {few:,} people on each side" if few > 1 else ""
            return checked, (
                f"every split was the best by {checked.measure} of all{smallest}, as "
                "scikit-learn's settings have it"
            )
        reason = checked
    if wish is True:
        raise UnsupportedModelError(f"split facts do not hold: {reason}")
    return None, f"split facts are left out: {reason}"


def _multiway(model: MultiwayTree) -> SplitFacts | str:
    estimator, criterion = model.provenance.estimator, model.provenance.settings.get("criterion")
    if estimator not in ("ID3", "C4.5"):
        return "the model does not say that its learner was ID3 or C4.5"
    if criterion not in ("gini", "entropy", "gain_ratio"):
        return f"splits were chosen by an unknown measure ({criterion!r})"
    if estimator == "C4.5" and criterion == "gain_ratio":
        return "C4.5 takes the best gain ratio only among columns of above-average gain"
    return SplitFacts(_MEASURES[criterion], "levels")


def _scikit_learn(tree: Tree) -> SplitFacts | str:
    provenance, settings = tree.provenance, tree.provenance.settings
    if provenance.library not in ("sklearn", "scikit-learn"):
        return "it is not known how the learner chose its splits"
    if provenance.estimator != "DecisionTreeClassifier":
        return f"{provenance.estimator or 'the learner'} does not compare all splits of a node"
    if settings.get("splitter") != "best":
        return f"splitter={settings.get('splitter')!r} does not take the best split"
    features = settings.get("max_features", "not recorded")
    if not (features is None or (type(features) is float and features == 1.0)
            or (type(features) is int and features == len(tree.columns))):  # fmt: skip
        return f"max_features={features!r} compares only some columns at each node"
    for name in ("class_weight", "monotonic_cst"):
        if settings.get(name) is not None:
            return f"with {name} splits were compared by other numbers than the counts"
    criterion = settings.get("criterion")
    if criterion not in ("gini", "entropy", "log_loss"):
        return f"splits were chosen by an unknown measure ({criterion!r})"
    if (
        isinstance(tree.counts, Exact)
        and tree.distinct_rows is not None
        and (tree.counts.totals != tree.distinct_rows).any()
    ):
        return "rows had weights, so splits were compared by other numbers than the counts"
    smallest = _smallest_leaf(settings, tree.n_rows)
    if smallest is None:
        return "min_samples_leaf or min_weight_fraction_leaf is not known"
    return SplitFacts(_MEASURES[criterion], "thresholds", smallest)


def _asserted(model: Tree) -> int:
    """The smallest leaf the learner allowed, as far as the model tells."""
    return _smallest_leaf(model.provenance.settings, model.n_rows) or 1


def _smallest_leaf(settings: Any, n_rows: int | None) -> int | None:
    leaf, share = settings.get("min_samples_leaf"), settings.get("min_weight_fraction_leaf", 0.0)
    if isinstance(leaf, bool) or not isinstance(leaf, int | float) or n_rows is None:
        return None
    if isinstance(share, bool) or not isinstance(share, int | float):
        return None
    if not (math.isfinite(leaf) and math.isfinite(share) and 0 <= share < 1 and leaf > 0):
        return None
    rows = math.ceil(leaf * n_rows) if isinstance(leaf, float) else leaf
    return max(1, rows, math.ceil(share * n_rows))
