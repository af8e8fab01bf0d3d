"""CORELS classifiers as objects: the Python binding, and imodels' wrapper around it."""

from __future__ import annotations

from typing import Any

import numpy as np

from glassleak.errors import MalformedModelError, ModelTooLargeError, UnsupportedModelError
from glassleak.models import Model
from glassleak.readers._limits import Limits
from glassleak.readers._state import State
from glassleak.readers.libraries._corels import read_corels_json
from glassleak.readers.libraries._typed import integer, located, mapping, sequence

_CLASSIFIERS = ("CorelsClassifier", "OptimalRuleListClassifier")


def read_corels_state(state: State, limits: Limits) -> Model:
    """The IR of a fitted CORELS classifier, or of the rule list object inside one."""
    if state.name in _CLASSIFIERS:
        held = state.get("rl_")
        if not isinstance(held, State):
            raise MalformedModelError("no rule list in it; was it trained?", f"{state.name}.rl_")
        place = f"{state.name}.rl_"
    elif state.name == "RuleList":
        held, place = state, state.name
    else:
        raise UnsupportedModelError(f"{state.type_name} is not read: not a rule list")
    with located(place):
        rules = [_plain_rule(r, i) for i, r in enumerate(sequence(_listed(held, "rules"), "rules"))]
        features = _listed(held, "features") or _numbered(rules, limits)
        target = held.get("prediction_name") or ""
        document = {"rules": rules, "features": features, "prediction_name": target}
        return read_corels_json(document, limits)


def _listed(held: State, name: str) -> Any:
    value = held.get(name)
    return value.tolist() if isinstance(value, np.ndarray) else value


def _plain_rule(raw: Any, i: int) -> dict[Any, Any]:
    """A rule with its arrays as lists."""
    rule = mapping(raw, f"rules[{i}]")
    return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in rule.items()}


def _numbered(rules: list[dict[Any, Any]], limits: Limits) -> list[str]:
    """Names for columns that were never named: as many as some rule uses."""
    used = 0
    for i, rule in enumerate(rules):
        place = f"rules[{i}].antecedents"
        for number in sequence(rule.get("antecedents"), place):
            used = max(used, abs(integer(number, place)))
    if used > limits.values:
        raise ModelTooLargeError(f"{used:,} columns", "rules")
    return [f"feature{i}" for i in range(1, max(used, 1) + 1)]
