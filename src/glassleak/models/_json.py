"""The model as versioned JSON: data only, so it can be opened without trusting whoever wrote it.

Arrays are lists, or base64 of little-endian bytes (``packed``) for large forests.  Reading
validates everything; writing and reading back gives an equal model.
"""

from __future__ import annotations

import base64
import json
import math
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from glassleak._files import write_text
from glassleak.errors import MalformedModelError
from glassleak.models._counts import Counts, Exact, Missing, Noisy
from glassleak.models._forest import Forest
from glassleak.models._json_entry import Entry, within
from glassleak.models._multiway import MultiwayTree
from glassleak.models._resampling import Bagging
from glassleak.models._rule_list import Condition, Rule, RuleList
from glassleak.models._tree import Provenance, Tree

FORMAT, VERSION = "glassleak-model", 1
_MAX_SETTINGS_DEPTH = 20
Model: TypeAlias = Tree | Forest | RuleList | MultiwayTree


def dump_model(model: Model, path: str | Path | None = None, *, packed: bool = False) -> str:
    """See `Tree.to_json`."""
    try:
        text = json.dumps(model_document(model, packed=packed), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:  # settings may hold anything
        raise MalformedModelError(f"cannot be written as JSON: {error}", "provenance") from None
    if path is not None:
        write_text(path, text)
    return text


def model_document(model: Model, *, packed: bool = False) -> dict[str, Any]:
    """`model` as JSON-ready data."""
    head = {
        "format": FORMAT,
        "version": VERSION,
        "columns": list(model.columns),
        "classes": list(model.classes),
        "n_rows": model.n_rows,
        "provenance": _provenance_out(model.provenance),
    }
    if isinstance(model, Tree):
        return head | {"kind": "tree"} | _tree_out(model, packed)
    if isinstance(model, RuleList):
        return head | {"kind": "rule list"} | _rules_out(model, packed)
    if isinstance(model, MultiwayTree):
        return head | {"kind": "multiway tree"} | _multiway_out(model, packed)
    trees = [_tree_out(t, packed) | {"n_rows": t.n_rows} for t in model.trees]
    if any(t.provenance != Provenance() for t in model.trees):
        for entry, tree in zip(trees, model.trees, strict=True):
            entry["provenance"] = _provenance_out(tree.provenance)
    return head | {
        "kind": "forest",
        "aggregation": model.aggregation,
        "bagging": _bagging_out(model.bagging, packed),
        "trees": trees,
    }


def model_from_document(document: Any) -> Model:
    """Rebuild and validate a model from JSON data; errors name the place."""
    top = Entry(document, "model")
    if top.get("format") != FORMAT:
        raise MalformedModelError(f"not a {FORMAT} document", "format")
    if top.get("version") != VERSION:
        raise MalformedModelError(
            f"version {top.get('version')!r}; this glassleak reads version {VERSION}", "version"
        )
    columns = tuple(top.list("columns"))
    classes = tuple(top.list("classes"))
    n_rows = top.integer("n_rows")
    provenance = _provenance_in(top.get("provenance"), "provenance")
    kind = top.get("kind")
    if kind == "tree":
        return _tree_in(top, columns, classes, n_rows, provenance)
    if kind == "rule list":
        return _rules_in(top, columns, classes, n_rows, provenance)
    if kind == "multiway tree":
        return _multiway_in(top, columns, classes, n_rows, provenance)
    if kind != "forest":
        raise MalformedModelError(f"unknown kind {kind!r}", "kind")
    trees = []
    for i, item in enumerate(top.list("trees")):
        entry = Entry(item, f"trees[{i}]")
        own = _provenance_in(entry.get("provenance"), f"trees[{i}].provenance")
        trees.append(_tree_in(entry, columns, classes, entry.integer("n_rows"), own))
    bagging = _bagging_in(Entry(top.get("bagging"), "bagging"))
    return Forest(tuple(trees), bagging, n_rows, top.get("aggregation"), provenance)


def _tree_out(tree: Tree, packed: bool) -> dict[str, Any]:
    names = ("feature", "threshold", "left", "right", "rows", "distinct_rows", "missing_left",
             "shares", "targets", "spread")  # fmt: skip
    arrays = {
        n: _array_out(getattr(tree, n), packed) for n in names if getattr(tree, n) is not None
    }
    return arrays | {
        "counts": _counts_out(tree.counts, packed),
        "comparison": tree.comparison,
        "precision": tree.precision,
    }


def _tree_in(entry: Entry, columns: Any, classes: Any, n_rows: Any, provenance: Any) -> Tree:
    required = {
        n: entry.array(n, d)
        for n, d in (("feature", "i4"), ("threshold", "f8"), ("left", "i4"), ("right", "i4"))
    }
    optional = {
        n: entry.array(n, d, optional=True)
        for n, d in (
            ("rows", "i8"),
            ("distinct_rows", "i8"),
            ("missing_left", "b1"),
            ("shares", "f8"),
            ("targets", "f8"),
            ("spread", "f8"),
        )
    }
    with within("" if entry.place == "model" else entry.place):
        return Tree(
            columns=columns,
            classes=classes,
            counts=_counts_in(entry, len(classes)),
            comparison=entry.get("comparison"),
            precision=entry.get("precision"),
            n_rows=n_rows,
            provenance=provenance,
            **required,
            **optional,
        )


def _rules_out(model: RuleList, packed: bool) -> dict[str, Any]:
    rules = [
        {
            "if": [
                {"column": c.column, "above": _end(c.low), "up_to": _end(c.high)}
                for c in rule.conditions
            ],
            "then": rule.prediction,
        }
        for rule in model.rules
    ]
    out = {
        "rules": rules,
        "counts": _counts_out(model.counts, packed),
        "precision": model.precision,
    }
    if model.rows is not None:
        out["rows"] = _array_out(model.rows, packed)
    return out


def _rules_in(entry: Entry, columns: Any, classes: Any, n_rows: Any, provenance: Any) -> RuleList:
    rules = []
    for i, item in enumerate(entry.list("rules")):
        rule = Entry(item, f"rules[{i}]")
        conditions = []
        for j, raw in enumerate(rule.list("if")):
            c = Entry(raw, f"rules[{i}].if[{j}]")
            column = c.integer("column")
            if column is None:
                raise MalformedModelError("no column", c.place)
            low, high = c.number("above"), c.number("up_to")
            low = -math.inf if low is None else low
            high = math.inf if high is None else high
            with within(c.place):
                conditions.append(Condition(column, low, high))
        prediction = rule.get("then")
        if prediction is not None and not isinstance(prediction, str | int | float | bool):
            raise MalformedModelError("not a class label", f"rules[{i}].then")
        with within(f"rules[{i}]"):
            rules.append(Rule(tuple(conditions), prediction))
    return RuleList(
        columns=columns,
        classes=classes,
        rules=tuple(rules),
        counts=_counts_in(entry, len(classes)),
        rows=entry.array("rows", "i8", optional=True),
        precision=entry.get("precision"),
        n_rows=n_rows,
        provenance=provenance,
    )


def _multiway_out(model: MultiwayTree, packed: bool) -> dict[str, Any]:
    names = ("feature", "parent", "branch", "label", "rows", "errors")
    arrays = {
        n: _array_out(getattr(model, n), packed) for n in names if getattr(model, n) is not None
    }
    return arrays | {
        "levels": [list(levels) for levels in model.levels],
        "counts": _counts_out(model.counts, packed),
    }


def _multiway_in(
    entry: Entry, columns: Any, classes: Any, n_rows: Any, provenance: Any
) -> MultiwayTree:
    levels = entry.list("levels")
    for i, own in enumerate(levels):
        if not isinstance(own, list):
            raise MalformedModelError("expected a list", f"levels[{i}]")
    return MultiwayTree(
        columns=columns,
        classes=classes,
        levels=tuple(tuple(own) for own in levels),
        feature=entry.array("feature", "i4"),
        parent=entry.array("parent", "i4"),
        branch=entry.array("branch", "i4"),
        counts=_counts_in(entry, len(classes)),
        label=entry.array("label", "i4", optional=True),
        rows=entry.array("rows", "i8", optional=True),
        errors=entry.array("errors", "i8", optional=True),
        n_rows=n_rows,
        provenance=provenance,
    )


def _counts_out(counts: Counts, packed: bool) -> dict[str, Any]:
    if isinstance(counts, Missing):
        return {"kind": "missing", "reason": counts.reason}
    if isinstance(counts, Noisy):
        return {
            "kind": "noisy",
            "values": _array_out(counts.values, packed),
            "scale": counts.scale,
            "mechanism": counts.mechanism,
        }
    return {"kind": "exact", "values": _array_out(counts.values, packed)}


def _counts_in(parent: Entry, n_classes: int) -> Counts:
    entry = Entry(parent.get("counts"), "counts")
    kind = entry.get("kind")
    if kind == "exact":
        return Exact(_two_dimensional(entry.array("values", "i8"), n_classes))
    if kind == "noisy":
        scale = entry.number("scale")
        if scale is None:
            raise MalformedModelError("noisy counts need a scale", "counts.scale")
        return Noisy(
            _two_dimensional(entry.array("values", "f8"), n_classes),
            scale,
            entry.text("mechanism"),
        )
    if kind == "missing":
        return Missing(entry.text("reason"))
    raise MalformedModelError(f"unknown kind {kind!r}", "counts.kind")


def _two_dimensional(values: npt.NDArray[Any] | None, n_classes: int) -> npt.NDArray[Any]:
    assert values is not None
    # An empty list carries no second dimension.
    return values.reshape(0, n_classes) if values.size == 0 else values


def _bagging_out(bagging: Bagging, packed: bool) -> dict[str, Any]:
    out: dict[str, Any] = {
        "kind": bagging.kind,
        "draws": bagging.draws,
        "recipe": bagging.recipe,
        "features": list(bagging.features),
    }
    for name in ("seeds", "row_weights", "matrix"):
        value = getattr(bagging, name)
        if value is not None:
            out[name] = _array_out(value, packed)
    return out


def _bagging_in(entry: Entry) -> Bagging:
    features = entry.list("features")
    if [type(f) for f in features] != [int, int, bool]:
        raise MalformedModelError("expected columns, columns drawn, replaced", "bagging.features")
    return Bagging(
        entry.get("kind"),
        entry.integer("draws"),
        entry.array("seeds", "i8", optional=True),
        entry.get("recipe"),
        entry.array("row_weights", "f8", optional=True),
        tuple(features),
        entry.array("matrix", "i4", optional=True),
    )


def _provenance_out(p: Provenance) -> dict[str, Any]:
    return {
        "library": p.library,
        "library_version": p.library_version,
        "estimator": p.estimator,
        "settings": dict(p.settings),
        "notes": list(p.notes),
    }


def _provenance_in(value: Any, place: str) -> Provenance:
    if value is None:
        return Provenance()
    entry = Entry(value, place)
    texts = {n: entry.get(n) for n in ("library", "library_version", "estimator")}
    notes, settings = entry.list("notes"), entry.get("settings")
    if not isinstance(settings, dict) or not all(
        isinstance(t, str) for t in [*texts.values(), *notes]
    ):
        raise MalformedModelError("malformed", place)
    _check_depth(settings, f"{place}.settings")
    return Provenance(settings=settings, notes=tuple(notes), **texts)


def _check_depth(settings: dict[str, Any], place: str) -> None:
    """Settings are copied, compared and shown level by level; none has many."""
    level: list[Any] = [settings]
    for _ in range(_MAX_SETTINGS_DEPTH):
        level = [
            item
            for value in level
            for item in (value.values() if isinstance(value, dict) else value)
            if isinstance(item, dict | list)
        ]
        if not level:
            return
    raise MalformedModelError("nested too deeply", place)


def _end(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _smallest(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same numbers in as few bytes each as hold them exactly."""
    if values.dtype.kind == "f":
        with np.errstate(over="ignore"):
            single = values.astype(np.float32)
        return single if np.array_equal(single, values, equal_nan=True) else values
    if values.dtype.kind == "i" and values.size:
        low, high = int(values.min()), int(values.max())
        for dtype in (np.int8, np.int16, np.int32):
            if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max:
                return values.astype(dtype)
    return values


def _array_out(values: npt.NDArray[Any], packed: bool) -> Any:
    if packed:
        small = _smallest(values)
        little = small.astype(small.dtype.newbyteorder("<"), copy=False)
        return {
            "dtype": small.dtype.str.lstrip("<>|="),
            "shape": list(values.shape),
            "base64": base64.b64encode(little.tobytes()).decode("ascii"),
        }
    if values.dtype.kind == "f":
        return (
            [None if v != v else v for v in values.tolist()]
            if values.ndim == 1
            else values.tolist()
        )
    return values.tolist()
