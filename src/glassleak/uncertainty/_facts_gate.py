"""When a tree's learner is known well enough to say which tables it cannot have seen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from glassleak.models import Exact, Tree

Measure = Literal["gini", "entropy"]
_MEASURES: dict[Any, Measure] = {"gini": "gini", "entropy": "entropy", "log_loss": "entropy"}


@dataclass(frozen=True)
class LearnerFacts:
    """What holds for every table the learner could have made this tree from.

    Attributes
    ----------
    measure : "gini" or "entropy"
        No allowed split of a node is better, by this measure, than the one that was made.
    min_leaf : int
        Splits with fewer rows on a side were not allowed.
    min_split : int
        Nodes with fewer rows were not split.
    max_depth : int or None
    leaves : bool
        Whether an impure leaf that was neither too deep nor too small shows that no split of it
        was allowed.
    """

    measure: Measure
    min_leaf: int
    min_split: int
    max_depth: int | None
    leaves: bool


def learner_facts(tree: Tree) -> tuple[LearnerFacts | None, str]:
    """The facts that hold, and in words why, or why none do.

    They hold for scikit-learn's ``DecisionTreeClassifier`` when every node compared all splits by
    the published counts: ``splitter="best"``, all columns, no weights.
    """
    settings = tree.provenance.settings
    reason = _refused(tree, settings)
    if reason:
        return None, f"knowledge of the learner is not used: {reason}"
    n_rows = tree.n_rows or 0
    leaf = _smallest(settings.get("min_samples_leaf", 1), n_rows, 1)
    split = _smallest(settings.get("min_samples_split", 2), n_rows, 2)
    share = settings.get("min_weight_fraction_leaf", 0.0)
    depth = settings.get("max_depth")
    if leaf is None or split is None or not _number(share) or not 0 <= share < 1:
        return None, "knowledge of the learner is not used: the smallest leaf is not recorded"
    leaf = max(leaf, math.ceil(share * n_rows))
    grown_out = (
        settings.get("max_leaf_nodes", "unknown") is None
        and settings.get("min_impurity_decrease") == 0
        and settings.get("ccp_alpha") == 0
        and (depth is None or (isinstance(depth, int) and not isinstance(depth, bool)))
    )
    measure = _MEASURES[settings.get("criterion")]
    found = LearnerFacts(measure, leaf, split, depth if grown_out else None, grown_out)
    also = " and impure leaves could not be split" if grown_out else ""
    return found, f"every split was the best by {measure}{also}, as scikit-learn's settings have it"


def _refused(tree: Tree, settings: Any) -> str:
    """Why nothing is known about the learner; empty if enough is."""
    provenance = tree.provenance
    if provenance.library not in ("sklearn", "scikit-learn"):
        return "it is not known how splits were chosen"
    if provenance.estimator != "DecisionTreeClassifier":
        return f"{provenance.estimator or 'the learner'} does not compare all splits of a node"
    if settings.get("splitter") != "best":
        return f"splitter={settings.get('splitter')!r} does not take the best split"
    features = settings.get("max_features", "not recorded")
    everything = features is None or (_number(features) and (
        (isinstance(features, float) and features == 1.0) or features == len(tree.columns)
    ))  # fmt: skip
    if not everything:
        return f"max_features={features!r} compares only some columns at each node"
    for name in ("class_weight", "monotonic_cst"):
        if settings.get(name) is not None:
            return f"with {name} splits were compared by other numbers than the counts"
    if settings.get("criterion") not in _MEASURES:
        return f"splits were chosen by an unknown measure ({settings.get('criterion')!r})"
    if not isinstance(tree.counts, Exact):
        return "the counts are not exact"
    weighted = tree.distinct_rows is not None and bool(
        (tree.counts.totals != tree.distinct_rows).any()
    )
    return "rows had weights" if weighted else ""


def _smallest(value: Any, n_rows: int, least: int) -> int | None:
    """A number of rows, given as such or as a share of all rows."""
    if not _number(value) or value <= 0:
        return None
    return max(least, math.ceil(value * n_rows) if isinstance(value, float) else int(value))


def _number(value: Any) -> bool:
    usual = isinstance(value, int | float) and not isinstance(value, bool)
    return usual and math.isfinite(value)
