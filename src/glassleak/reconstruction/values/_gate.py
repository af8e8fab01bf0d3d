"""When a threshold is known to lie exactly half way between two training values."""

from __future__ import annotations

from glassleak.models import Forest, Tree

_LEARNERS = (
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
)


def thresholds_are_midpoints(model: Tree | Forest) -> tuple[bool, str]:
    """Whether every threshold is half way between two values of its node, and in words why.

    scikit-learn's exhaustive splitter sets ``float32(a) / 2 + float32(b) / 2``, a and b being
    neighbours among the values of the rows that reached the node.  Random splitters draw a
    threshold from the gap, and other libraries have rules of their own.
    """
    origin = model.provenance
    if origin.library not in ("sklearn", "scikit-learn"):
        return False, "it is not known how the library chooses thresholds"
    splitter = origin.settings.get("splitter")
    if splitter == "random":
        return False, "splitter='random' draws thresholds at random"
    if origin.estimator not in _LEARNERS or splitter != "best":
        return False, f"{origin.estimator or 'the learner'} is not known to split half way"
    return True, "every threshold is half way between two values of the rows in its node"
