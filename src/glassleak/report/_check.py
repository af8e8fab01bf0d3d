"""Check a document against the JSON Schema of audit records, without another dependency.

Knows the keywords that schema uses and refuses any other, so that nothing goes unchecked when the
schema grows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from glassleak.errors import AuditError

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
    "integer": (int,),
    "number": (int, float),
}
_SAYS_NOTHING = frozenset({"$schema", "$id", "$defs", "$comment", "title", "description"})
_HANDLED_TOGETHER = frozenset({"then", "else"})
Schema = Mapping[str, Any] | bool


def check(document: object, schema: Schema, what: str = "an audit record") -> None:
    """Raise `AuditError`, naming the place, if `document` is not as `schema` says."""
    try:
        problem = _problem(document, schema, schema, "")
    except RecursionError:
        problem = "nested too deeply"
    if problem:
        raise AuditError(f"not {what}: {problem}")


def _problem(value: object, schema: Schema, root: Schema, place: str) -> str | None:
    if isinstance(schema, bool):
        return None if schema else f"{place or 'document'}: not allowed"
    for keyword, wanted in schema.items():
        if keyword in _SAYS_NOTHING or keyword in _HANDLED_TOGETHER:
            continue
        found = _KEYWORDS[keyword](value, wanted, schema, root, place)
        if found:
            return found
    return None


def unknown_keywords(schema: Schema) -> set[str]:
    """Keywords anywhere in `schema` that `check` does not know."""
    if isinstance(schema, bool):
        return set()
    known = _SAYS_NOTHING | _HANDLED_TOGETHER | set(_KEYWORDS)
    found = set(schema) - known
    for keyword in ("properties", "$defs"):
        for inner in schema.get(keyword, {}).values():
            found |= unknown_keywords(inner)
    for keyword in ("items", "additionalProperties", "if", "then", "else"):
        if keyword in schema:
            found |= unknown_keywords(schema[keyword])
    return found


def _at(place: str, message: str) -> str:
    return f"{place or 'document'}: {message}"


def _is(value: object, name: str) -> bool:
    if name in ("integer", "number") and isinstance(value, bool):
        return False
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[name])


def _type(value: object, wanted: Any, _s: Any, _r: Schema, place: str) -> str | None:
    if _is(value, wanted) if isinstance(wanted, str) else any(_is(value, w) for w in wanted):
        return None
    names = [wanted] if isinstance(wanted, str) else wanted
    return _at(place, f"must be of type {' or '.join(names)}, is {_name(value)}")


def _name(value: object) -> str:
    return next((name for name in _TYPES if _is(value, name)), type(value).__name__)


def _const(value: object, wanted: Any, _s: Any, _r: Schema, place: str) -> str | None:
    return None if _same(value, wanted) else _at(place, f"must be {wanted!r}")


def _enum(value: object, wanted: Any, _s: Any, _r: Schema, place: str) -> str | None:
    if any(_same(value, one) for one in wanted):
        return None
    return _at(place, f"must be one of {', '.join(map(repr, wanted))}")


def _same(value: object, wanted: object) -> bool:
    # In JSON, true is not 1.
    return isinstance(value, bool) == isinstance(wanted, bool) and value == wanted


def _required(value: object, wanted: Any, _s: Any, _r: Schema, place: str) -> str | None:
    if isinstance(value, dict):
        for name in wanted:
            if name not in value:
                return _at(place, f"lacks {name!r}")
    return None


def _properties(value: object, wanted: Any, _s: Any, root: Schema, place: str) -> str | None:
    if not isinstance(value, dict):
        return None
    for name, schema in wanted.items():
        if name in value:
            found = _problem(value[name], schema, root, f"{place}.{name}" if place else name)
            if found:
                return found
    return None


def _additional(value: object, wanted: Any, schema: Any, root: Schema, place: str) -> str | None:
    if not isinstance(value, dict):
        return None
    declared = schema.get("properties", {})
    for name, inner in value.items():
        if name not in declared:
            found = _problem(inner, wanted, root, f"{place}.{name[:60]}" if place else name[:60])
            if found:
                return found
    return None


def _items(value: object, wanted: Any, _s: Any, root: Schema, place: str) -> str | None:
    if isinstance(value, list):
        for i, inner in enumerate(value):
            found = _problem(inner, wanted, root, f"{place}[{i}]")
            if found:
                return found
    return None


def _min_items(value: object, wanted: Any, _s: Any, _r: Schema, place: str) -> str | None:
    short = isinstance(value, list) and len(value) < wanted
    return _at(place, f"must have {wanted} entries or more") if short else None


def _min_length(value: object, wanted: Any, _s: Any, _r: Schema, place: str) -> str | None:
    short = isinstance(value, str) and len(value) < wanted
    return _at(place, f"must have {wanted} characters or more") if short else None


def _minimum(value: object, wanted: Any, _s: Any, _r: Schema, place: str) -> str | None:
    small = _is(value, "number") and value < wanted
    return _at(place, f"must be {wanted} or more") if small else None


def _maximum(value: object, wanted: Any, _s: Any, _r: Schema, place: str) -> str | None:
    large = _is(value, "number") and value > wanted
    return _at(place, f"must be {wanted} or less") if large else None


def _pattern(value: object, wanted: Any, _s: Any, _r: Schema, place: str) -> str | None:
    wrong = isinstance(value, str) and not re.search(wanted, value)
    return _at(place, f"does not match {wanted}") if wrong else None


def _reference(value: object, wanted: Any, _s: Any, root: Schema, place: str) -> str | None:
    target: Any = root
    for step in str(wanted).removeprefix("#/").split("/"):
        target = target[step]
    return _problem(value, target, root, place)


def _if(value: object, wanted: Any, schema: Any, root: Schema, place: str) -> str | None:
    branch = "then" if _problem(value, wanted, root, place) is None else "else"
    return _problem(value, schema.get(branch, True), root, place)


_KEYWORDS: dict[str, Callable[[object, Any, Any, Schema, str], str | None]] = {
    "$ref": _reference,
    "type": _type,
    "const": _const,
    "enum": _enum,
    "required": _required,
    "properties": _properties,
    "additionalProperties": _additional,
    "items": _items,
    "minItems": _min_items,
    "minLength": _min_length,
    "minimum": _minimum,
    "maximum": _maximum,
    "pattern": _pattern,
    "if": _if,
}
