"""glassleak's own learners, one reader per estimator."""

from __future__ import annotations

from collections.abc import Callable

from glassleak.errors import UnsupportedModelError
from glassleak.models import Model
from glassleak.readers._limits import Limits
from glassleak.readers._state import State
from glassleak.readers.libraries._glassleak import (
    read_learned_forest,
    read_learned_tree,
    read_rule_list,
)
from glassleak.readers.libraries._id3 import read_id3

_READERS: dict[str, Callable[[State, Limits], Model]] = {
    "GreedyRuleListClassifier": read_rule_list,
    "ID3Classifier": read_id3,
    "OptimalRuleListClassifier": read_rule_list,
    "PrivateForestClassifier": read_learned_forest,
    "PrivateRuleListClassifier": read_rule_list,
    "PrivateTreeClassifier": read_learned_tree,
    "OptimalTreeClassifier": read_learned_tree,
}


def read_learner(state: State, limits: Limits) -> Model:
    """The IR of one of glassleak's own estimators given as `State`."""
    reader = _READERS.get(state.name)
    if reader is None:
        raise UnsupportedModelError(f"{state.type_name} is not read")
    return reader(state, limits)
