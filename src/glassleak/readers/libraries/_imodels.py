"""Rule lists of imodels (GreedyRuleListClassifier, OneRClassifier, OptimalRuleListClassifier).

A fitted list is a list of dicts.  Every entry but the last splits on one column: rows with
``value >= cutoff`` (``value < cutoff`` when ``flip`` is set) stop there, ``num_pts_right`` of them,
of which the share ``val_right`` is of the second class; the others go on.  The last entry holds
those who are left.  Counts and shares together are the exact counts per class.  The optimal list
(imodels 1) is a CORELS object and is read as such.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from glassleak.errors import InconsistentModelError, MalformedModelError, UnsupportedModelError
from glassleak.models import Condition, Exact, Label, Model, Provenance, Rule, RuleList
from glassleak.readers._limits import Limits
from glassleak.readers._state import State, walk
from glassleak.readers.libraries._corels_state import read_corels_state
from glassleak.readers.libraries._typed import check_width, count, integer, located, mapping, number

_RULE_LISTS = ("GreedyRuleListClassifier", "OneRClassifier")
_INDEX_PARTS = 100
_SETTINGS = ("max_depth", "criterion", "class_weight")
_REASONS = {
    "FastFrugalTree": "its rules publish predictions and no counts per class",
    "FIGS": "a sum of trees whose leaves hold fitted values and not counts",
    "HSTree": "shrunk trees: their leaves no longer hold counts; read the tree before shrinking",
    "RuleFit": "a linear model over rules",
    "FPLasso": "a linear model over rules",
    "BoostedRules": "boosted rules: every one was trained on differently weighted rows",
    "Slipper": "boosted rules: every one was trained on differently weighted rows",
    "SkopeRules": "a set of overlapping rules without counts per class",
    "FPSkope": "a set of overlapping rules without counts per class",
    "BayesianRuleSet": "a set of overlapping rules without counts per class",
    "BayesianRuleList": "its rules publish posterior intervals and not counts",
    "SLIM": "a linear model",
    "RiskScore": "a linear model",
    "GAM": "an additive model",
    "Regressor": "a regression model",
}


def read_imodels(state: State, limits: Limits) -> Model:
    """The IR of an imodels estimator given as `State`."""
    if state.name == "OptimalRuleListClassifier":
        return read_corels_state(state, limits)
    if state.name not in _RULE_LISTS:
        why = next((r for part, r in _REASONS.items() if part in state.name), "not a rule list")
        raise UnsupportedModelError(f"{state.type_name} is not read: {why}")
    with located(state.name):
        return _read_rule_list(state, limits)


def _read_rule_list(state: State, limits: Limits) -> RuleList:
    entries = state.need("rules_", list, "model")
    if not entries:
        raise MalformedModelError("no rules", "rules_")
    limits.check_nodes(len(entries))
    classes = _classes(state)
    columns, notes = _columns(state, entries, limits)
    rules: list[Rule] = []
    counts: list[tuple[int, int]] = []
    left = None
    for i, raw in enumerate(entries):
        place = f"rules_[{i}]"
        entry = mapping(raw, place)
        here = count(entry.get("num_pts"), f"{place}.num_pts")
        if left is not None and here != left:
            raise InconsistentModelError(f"{here} rows, but {left} are left", f"{place}.num_pts")
        splits = entry.get("index_col") is not None
        if not splits:
            if i != len(entries) - 1:
                raise MalformedModelError("a rule without a column hides the rest", place)
            share = _share(entry.get("val"), here, f"{place}.val")
            counts.append((here - share, share))
            rules.append(Rule((), _prediction(entry.get("val"), classes)))
            break
        right = count(entry.get("num_pts_right"), f"{place}.num_pts_right")
        if right > here:
            raise InconsistentModelError(f"{right} of {here} rows", f"{place}.num_pts_right")
        left = here - right
        share = _share(entry.get("val_right"), right, f"{place}.val_right")
        rest = _share(entry.get("val"), left, f"{place}.val")
        last = i == len(entries) - 1
        # The library answers with `val` for everybody who reaches the last entry.
        says = entry.get("val") if last else entry.get("val_right")
        rules.append(Rule((_condition(entry, len(columns), place),), _prediction(says, classes)))
        counts.append((right - share, share))
        if last:
            rules.append(Rule((), _prediction(entry.get("val"), classes)))
            counts.append((left - rest, rest))
            notes += ("the list ends with a split; its other side was added as the default rule",)
    _check_shares(entries, counts)
    return RuleList(
        columns=columns,
        classes=classes,
        rules=tuple(rules),
        counts=Exact(np.asarray(counts, dtype=np.int64).reshape(len(counts), 2)),
        precision="float64",
        provenance=Provenance(
            library="imodels",
            estimator=state.name,
            settings={n: v for n in _SETTINGS if _is_plain(v := state.get(n))},
            notes=notes,
        ),
    )


def _condition(entry: Mapping[Any, Any], n_columns: int, place: str) -> Condition:
    column = integer(entry.get("index_col"), f"{place}.index_col")
    if not 0 <= column < n_columns:
        raise MalformedModelError(f"column {column} of {n_columns}", f"{place}.index_col")
    cutoff = number(entry.get("cutoff"), f"{place}.cutoff")
    flip = entry.get("flip")
    if not isinstance(flip, bool):
        raise MalformedModelError("expected true or false", f"{place}.flip")
    # imodels asks value >= cutoff and value < cutoff; the IR asks > and <=.  The next smaller
    # number makes the two the same for every value there is.
    edge = math.nextafter(cutoff, -math.inf)
    if not math.isfinite(edge):
        raise MalformedModelError(f"cutoff {cutoff!r} has nothing below it", f"{place}.cutoff")
    return Condition(column, high=edge) if flip else Condition(column, low=edge)


def _share(value: Any, rows: int, place: str) -> int:
    """Rows of the second class among `rows`, from their share."""
    if rows == 0:
        return 0  # the mean of nothing is NaN
    share = number(value, place)
    if not 0 <= share <= 1:
        raise InconsistentModelError(f"a share of {share!r}", place)
    return count(share * rows, place)


def _check_shares(entries: list[Any], counts: list[tuple[int, int]]) -> None:
    """``val`` of a split is the share among all later rules; hold it against their counts."""
    after_rows = after_second = 0
    for i in range(len(counts) - 1, -1, -1):
        entry = entries[i] if i < len(entries) else None
        if entry is not None and entry.get("index_col") is not None and after_rows:
            place = f"rules_[{i}].val"
            if _share(entry.get("val"), after_rows, place) != after_second:
                raise InconsistentModelError("not the share of the rules that follow", place)
        after_rows += sum(counts[i])
        after_second += counts[i][1]


def _prediction(value: Any, classes: tuple[Label, ...]) -> Label:
    """What the library predicts: the larger share, the first class when equal or undefined."""
    share = value if isinstance(value, float | int) and not isinstance(value, bool) else math.nan
    return classes[int(share > 1 - share)]


def _classes(state: State) -> tuple[Label, ...]:
    found = state.get("classes_")
    labels = found.tolist() if isinstance(found, np.ndarray) else found
    if not isinstance(labels, list) or len(labels) != 2:
        raise MalformedModelError("expected two classes", "classes_")
    return tuple(labels)


def _columns(
    state: State, entries: list[Any], limits: Limits
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Column names, and a note where the object does not hold all of them as text."""
    size = state.get("n_features_in_")
    stated = None if size is None else integer(size, "n_features_in_")
    for attribute in ("feature_names_in_", "feature_names_"):
        names = _names(state.get(attribute))
        if names is not None and stated in (None, len(names)):
            check_width(1, len(names), limits)
            return names, ()
    width = integer(size, "n_features_in_")
    if not 0 < width <= limits.values:
        raise MalformedModelError(f"{width} columns", "n_features_in_")
    named = {}
    for entry in entries:
        if isinstance(entry, Mapping) and isinstance(entry.get("index_col"), int):
            named[entry["index_col"]] = str(entry.get("col"))
    taken = set(named.values())
    columns = tuple(
        named.get(i, f"X{i}" if f"X{i}" not in taken else f"column {i}") for i in range(width)
    )
    return columns, ("columns no rule uses are not named in the object; they are called X0, X1, …",)


def _names(value: Any) -> tuple[str, ...] | None:
    """Column names from a list, an array or the remains of a pandas index."""
    if isinstance(value, State):
        # What a pandas index leaves behind differs between versions; the names are in an array.
        inside = itertools.islice((v.value for v in walk(value)), _INDEX_PARTS)
        found = (_names(v) for v in inside if not isinstance(v, State))
        return next((names for names in found if names is not None), None)
    if isinstance(value, np.ndarray) and value.ndim == 1:
        value = value.tolist()
    if isinstance(value, list | tuple) and value and all(isinstance(v, str) for v in value):
        return tuple(value)
    return None


def _is_plain(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str | int | bool)
