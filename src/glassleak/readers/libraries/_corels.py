"""CORELS rule lists: as printed by its two programs, as saved, and as JSON.

All columns are yes/no.  A printed antecedent is the *name* of a column, whatever it looks like:
``age<=22`` is a column of zeros and ones and not a threshold.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from glassleak.errors import MalformedModelError, ModelTooLargeError
from glassleak.models import (
    Condition,
    Counts,
    Exact,
    Label,
    Missing,
    Model,
    Provenance,
    Rule,
    RuleList,
)
from glassleak.readers._limits import Limits
from glassleak.readers.libraries._corels_text import looks_like_rules, parse_rules
from glassleak.readers.libraries._typed import count, integer, mapping, sequence, shown, text, texts

_NO_COUNTS = "CORELS publishes its rules and predictions, not how many rows each rule captured"
# The saved form uses single letters.
_LONG = {"r": "rules", "f": "features", "p": "prediction_name"}
_YES_NO = {"0": 0, "1": 1, "False": 0, "True": 1, "false": 0, "true": 1}


def looks_like_corels_text(head: str) -> bool:
    """Whether the beginning of a text is a printed or saved CORELS rule list."""
    return looks_like_rules(head)


def looks_like_corels_json(document: Any) -> bool:
    """Whether a JSON document has the layout of CORELS' own rule list object."""
    if not isinstance(document, Mapping) or "format" in document or "learner" in document:
        return False
    long = _long_names(document)
    rules = long.get("rules")
    return (
        "features" in long
        and isinstance(rules, list)
        and bool(rules)
        and all(isinstance(r, Mapping) and "antecedents" in r for r in rules[:3])
    )


def read_corels_text(content: str, limits: Limits) -> Model:
    """A rule list as printed by CORELS (Python or C++), or as its C++ program saves it."""
    if len(content) > limits.json_bytes:
        raise ModelTooLargeError(f"more than {limits.json_bytes:,} characters")
    parsed = parse_rules(content)
    limits.check_nodes(len(parsed.rules))
    columns = parsed.features or tuple(
        dict.fromkeys(name for line in parsed.rules for name, _ in line.literals)
    )
    index = {name: i for i, name in enumerate(columns)}
    for i, line in enumerate(parsed.rules):
        for name, _ in line.literals:
            if name not in index:
                raise MalformedModelError(f"{shown(name)} is not among the features", f"rules[{i}]")
    classes = _classes([line.label for line in parsed.rules])
    rules = tuple(
        Rule(
            tuple(_condition(index[name], positive) for name, positive in line.literals),
            _YES_NO.get(line.label, line.label),
        )
        for line in parsed.rules
    )
    notes: tuple[str, ...] = ()
    if not parsed.features:
        notes += ("only columns that occur in a rule are known",)
    if len(classes) == 1:
        notes += ("every rule predicts the same class; the name of the other one is not known",)
    return RuleList(
        columns, classes, rules, Missing(_NO_COUNTS),
        provenance=_provenance(parsed.target, notes),
    )  # fmt: skip


def read_corels_json(document: Any, limits: Limits) -> Model:
    """CORELS' rule list object as JSON, with captured counts where ``train_labels`` are there."""
    long = _long_names(mapping(document, "document"))
    features = texts(long.get("features"), "features")
    raw_rules = sequence(long.get("rules"), "rules")
    limits.check_nodes(len(raw_rules))
    target = text(long.get("prediction_name", ""), "prediction_name")
    rules: list[Rule] = []
    captured: list[list[int] | None] = []
    for i, raw in enumerate(raw_rules):
        place = f"rules[{i}]"
        entry = mapping(raw, place)
        conditions = _antecedents(entry.get("antecedents"), len(features), place)
        prediction = entry.get("prediction")
        if not isinstance(prediction, int) or prediction not in (0, 1):
            raise MalformedModelError(
                f"expected 0 or 1, got {shown(prediction)}", f"{place}.prediction"
            )
        rules.append(Rule(conditions, int(prediction)))
        captured.append(_captured(entry.get("train_labels"), f"{place}.train_labels"))
    return RuleList(
        features, (0, 1), tuple(rules), _counts(captured), provenance=_provenance(target)
    )


def _long_names(document: Mapping[Any, Any]) -> dict[Any, Any]:
    return {_LONG.get(key, key) if isinstance(key, str) else key: v for key, v in document.items()}


def _condition(column: int, positive: bool) -> Condition:
    return Condition(column, low=0.5) if positive else Condition(column, high=0.5)


def _antecedents(value: Any, n_features: int, place: str) -> tuple[Condition, ...]:
    """Signed, 1-based feature numbers; a single 0 is the default rule."""
    numbers = [
        integer(v, f"{place}.antecedents[{j}]")
        for j, v in enumerate(sequence(value, f"{place}.antecedents"))
    ]
    if numbers == [0]:
        return ()
    for j, number in enumerate(numbers):
        if not 1 <= abs(number) <= n_features:
            raise MalformedModelError(
                f"feature {number} of {n_features}", f"{place}.antecedents[{j}]"
            )
    if not numbers:
        raise MalformedModelError("empty; the default rule is [0]", f"{place}.antecedents")
    return tuple(_condition(abs(number) - 1, number > 0) for number in numbers)


def _captured(value: Any, place: str) -> list[int] | None:
    if value is None:
        return None
    entries = sequence(value, place)
    if len(entries) != 2:
        raise MalformedModelError(f"{len(entries)} entries for two classes", place)
    return [count(v, f"{place}[{c}]") for c, v in enumerate(entries)]


def _counts(captured: list[list[int] | None]) -> Counts:
    present = [c for c in captured if c is not None]
    if not present:
        return Missing(_NO_COUNTS)
    if len(present) != len(captured):
        at = captured.index(None)
        raise MalformedModelError(
            "missing, though other rules have it", f"rules[{at}].train_labels"
        )
    return Exact(np.asarray(present, dtype=np.int64).reshape(-1, 2))


def _classes(labels: list[str]) -> tuple[Label, ...]:
    """Both classes as 0 and 1 where labels are yes/no words, otherwise the labels seen."""
    if all(label in _YES_NO for label in labels):
        return (0, 1)
    found = sorted(set(labels))
    if len(found) > 2 or any(label in _YES_NO for label in found):
        at = next(i for i, label in enumerate(labels) if label != labels[0])
        raise MalformedModelError(
            f"label {shown(labels[at])} does not go with {shown(labels[0])}", f"rules[{at}]"
        )
    return tuple(found)


def _provenance(target: str, notes: tuple[str, ...] = ()) -> Provenance:
    settings = {"prediction_name": target} if target else {}
    return Provenance(library="corels", estimator="RuleList", settings=settings, notes=notes)
