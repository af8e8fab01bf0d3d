"""The model as versioned JSON: data only, so it can be opened without trusting whoever wrote it.

Arrays are lists, or base64 of little-endian bytes (``packed``) for large forests.  Reading
validates everything; writing and reading back gives an equal model.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from glassleak._files import write_text
from glassleak.errors import MalformedModelError, ModelError
from glassleak.models._counts import Counts, Exact, Missing, Noisy
from glassleak.models._forest import Forest
from glassleak.models._resampling import Bagging
from glassleak.models._rule_list import Condition, Rule, RuleList
from glassleak.models._tree import Provenance, Tree

FORMAT, VERSION = "glassleak-model", 1
Model: TypeAlias = Tree | Forest | RuleList
_DTYPES = {"i1", "i2", "i4", "i8", "f4", "f8", "b1"}
_MAX_PACKED_BYTES = 2**32


def dump_model(model: Model, path: str | Path | None = None, *, packed: bool = False) -> str:
    """See `Tree.to_json`."""
    text = json.dumps(model_document(model, packed=packed), allow_nan=False)
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
    top = _Entry(document, "model")
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
    if kind != "forest":
        raise MalformedModelError(f"unknown kind {kind!r}", "kind")
    trees = []
    for i, item in enumerate(top.list("trees")):
        entry = _Entry(item, f"trees[{i}]")
        own = _provenance_in(entry.get("provenance"), f"trees[{i}].provenance")
        trees.append(_tree_in(entry, columns, classes, entry.integer("n_rows"), own))
    bagging = _bagging_in(_Entry(top.get("bagging"), "bagging"))
    return Forest(tuple(trees), bagging, n_rows, top.get("aggregation"), provenance)


def _tree_out(tree: Tree, packed: bool) -> dict[str, Any]:
    names = ("feature", "threshold", "left", "right", "rows", "distinct_rows", "missing_left")
    arrays = {
        n: _array_out(getattr(tree, n), packed) for n in names if getattr(tree, n) is not None
    }
    return arrays | {
        "counts": _counts_out(tree.counts, packed),
        "comparison": tree.comparison,
        "precision": tree.precision,
    }


def _tree_in(entry: _Entry, columns: Any, classes: Any, n_rows: Any, provenance: Any) -> Tree:
    required = {
        n: entry.array(n, d)
        for n, d in (("feature", "i4"), ("threshold", "f8"), ("left", "i4"), ("right", "i4"))
    }
    optional = {
        n: entry.array(n, d, optional=True)
        for n, d in (("rows", "i8"), ("distinct_rows", "i8"), ("missing_left", "b1"))
    }
    try:
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
    except ModelError as error:
        if entry.place == "model":
            raise
        place = f"{entry.place}.{error.place}" if error.place else entry.place
        raise type(error)(error.message, place) from None


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


def _rules_in(entry: _Entry, columns: Any, classes: Any, n_rows: Any, provenance: Any) -> RuleList:
    rules = []
    for i, item in enumerate(entry.list("rules")):
        rule = _Entry(item, f"rules[{i}]")
        conditions = []
        for j, raw in enumerate(rule.list("if")):
            c = _Entry(raw, f"rules[{i}].if[{j}]")
            column = c.integer("column")
            if column is None:
                raise MalformedModelError("no column", c.place)
            low, high = c.number("above"), c.number("up_to")
            conditions.append(
                Condition(
                    column, -math.inf if low is None else low, math.inf if high is None else high
                )
            )
        prediction = rule.get("then")
        if prediction is not None and not isinstance(prediction, str | int | float | bool):
            raise MalformedModelError("not a class label", f"rules[{i}].then")
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


def _counts_in(parent: _Entry, n_classes: int) -> Counts:
    entry = _Entry(parent.get("counts"), "counts")
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
            str(entry.get("mechanism")),
        )
    if kind == "missing":
        return Missing(str(entry.get("reason")))
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


def _bagging_in(entry: _Entry) -> Bagging:
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
    entry = _Entry(value, place)
    texts = {n: entry.get(n) for n in ("library", "library_version", "estimator")}
    notes, settings = entry.list("notes"), entry.get("settings")
    if not isinstance(settings, dict) or not all(
        isinstance(t, str) for t in [*texts.values(), *notes]
    ):
        raise MalformedModelError("malformed", place)
    return Provenance(settings=settings, notes=tuple(notes), **texts)


def _end(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _array_out(values: npt.NDArray[Any], packed: bool) -> Any:
    if packed:
        little = values.astype(values.dtype.newbyteorder("<"), copy=False)
        return {
            "dtype": values.dtype.str.lstrip("<>|="),
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


class _Entry:
    """A JSON object that knows its place, with typed look-ups."""

    def __init__(self, value: Any, place: str) -> None:
        if not isinstance(value, Mapping):
            raise MalformedModelError(f"expected an object, got {type(value).__name__}", place)
        self.value, self.place = value, place

    def _at(self, name: str) -> str:
        return name if self.place == "model" else f"{self.place}.{name}"

    def get(self, name: str) -> Any:
        return self.value.get(name)

    def list(self, name: str) -> list[Any]:
        value = self.value.get(name)
        if not isinstance(value, list):
            raise MalformedModelError("expected a list", self._at(name))
        return value

    def integer(self, name: str) -> int | None:
        value = self.value.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**53:
            raise MalformedModelError("expected a whole number >= 0", self._at(name))
        return value

    def number(self, name: str) -> float | None:
        value = self.value.get(name)
        if value is None:
            return None
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not math.isfinite(value)
        ):
            raise MalformedModelError("expected a number", self._at(name))
        return float(value)

    def array(self, name: str, dtype: str, *, optional: bool = False) -> Any:
        value = self.value.get(name)
        if value is None:
            if optional:
                return None
            raise MalformedModelError("missing", self._at(name))
        if isinstance(value, Mapping):
            return _unpack(value, self._at(name))
        if not isinstance(value, list):
            raise MalformedModelError("expected a list", self._at(name))
        if not value:
            return np.empty(0, dtype=dtype)
        if dtype == "f8":
            value = [math.nan if v is None else v for v in value]
        elif dtype == "i8" and isinstance(value[0], bool):
            raise MalformedModelError("expected whole numbers", self._at(name))
        try:
            # No dtype here: a cast could wrap or truncate; the model's own check decides.
            return np.asarray(value)
        except (ValueError, TypeError, OverflowError) as error:
            raise MalformedModelError(f"not an array: {error}", self._at(name)) from None


def _unpack(value: Mapping[str, Any], place: str) -> npt.NDArray[Any]:
    dtype, shape, text = value.get("dtype"), value.get("shape"), value.get("base64")
    if dtype not in _DTYPES or not isinstance(text, str) or not isinstance(shape, list):
        raise MalformedModelError("a packed array needs dtype, shape and base64", place)
    if not all(type(s) is int and 0 <= s <= _MAX_PACKED_BYTES for s in shape) or len(shape) > 2:
        raise MalformedModelError(f"bad shape {shape}", place)
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise MalformedModelError(f"bad base64: {error}", place) from None
    kind = np.dtype(dtype).newbyteorder("<")
    if len(raw) != math.prod(shape) * kind.itemsize:
        raise MalformedModelError(f"{len(raw)} bytes do not make shape {shape}", place)
    if dtype == "b1" and raw.strip(b"\x00\x01"):
        raise MalformedModelError("not booleans", place)
    return np.frombuffer(raw, dtype=kind).astype(dtype).reshape(shape)
