"""CORELS objects, as the Python binding and imodels 1 leave them in a pickle."""

from __future__ import annotations

import numpy as np
import pytest

from glassleak.errors import MalformedModelError, UnsupportedModelError
from glassleak.models import Condition, Exact, Missing, RuleList
from glassleak.readers._interpret import interpret
from glassleak.readers._limits import Limits
from glassleak.readers._state import State

RULES = [
    {"antecedents": [1, -2], "prediction": True, "train_labels": np.array([3, 9])},
    {"antecedents": [0], "prediction": False, "train_labels": [20, 4]},
]
HOLDERS = [
    ("corels.corels", "CorelsClassifier"),
    ("imodels.rule_list.corels_wrapper", "OptimalRuleListClassifier"),
]


def rule_list(**more: object) -> State:
    held = {"rules": RULES, "features": ["male", "young"], "prediction_name": "again"}
    return State("corels.corels", "RuleList", held | more)


def read(state: State) -> RuleList:
    found = interpret(state, Limits())
    if found.problem is not None:
        raise found.problem
    assert isinstance(found.model, RuleList)
    return found.model


@pytest.mark.parametrize(("module", "name"), HOLDERS)
def test_classifiers(module, name):
    model = read(State(module, name, {"rl_": rule_list()}))
    assert model.columns == ("male", "young")
    assert model.rules[0].conditions == (Condition(0, low=0.5), Condition(1, high=0.5))
    assert [rule.prediction for rule in model.rules] == [1, 0]
    assert isinstance(model.counts, Exact)
    np.testing.assert_array_equal(model.counts.values, [[3, 9], [20, 4]])


def test_the_list_alone_without_counts_and_names():
    rules = [{k: v for k, v in rule.items() if k != "train_labels"} for rule in RULES]
    model = read(rule_list(rules=rules, features=[]))
    assert isinstance(model.counts, Missing)
    assert model.columns == ("feature1", "feature2")


@pytest.mark.parametrize(
    "rules", [None, [], ["a"], [{"antecedents": "x", "prediction": 0}], [{"antecedents": [0]}]]
)
def test_damaged_lists(rules):
    with pytest.raises(MalformedModelError, match="rules"):
        read(State("corels.corels", "CorelsClassifier", {"rl_": rule_list(rules=rules)}))


def test_untrained_and_unknown():
    with pytest.raises(MalformedModelError, match="trained"):
        read(State("corels.corels", "CorelsClassifier"))
    with pytest.raises(UnsupportedModelError, match="not a rule list"):
        read(State("corels.corels", "Other"))
