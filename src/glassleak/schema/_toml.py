"""Schemas as TOML files: readable, diffable, written by hand or by ``glassleak schema``."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import tomli_w

from glassleak._files import write_text
from glassleak.errors import SchemaError
from glassleak.schema._attributes import KINDS, Attribute, Bins, Categorical
from glassleak.schema._schema import Guess, Schema

FORMAT_VERSION = 1
_MAX_BYTES = 16 * 1024 * 1024


def dump_toml(schema: Schema, path: str | Path | None) -> str:
    """Write `schema`; see `Schema.to_toml`."""
    document: dict[str, Any] = {
        "glassleak_schema": FORMAT_VERSION,
        "attribute": [_attribute_table(a) for a in schema.attributes],
    }
    if schema.guesses:
        document["guess"] = [vars(g) for g in schema.guesses]
    text = tomli_w.dumps(document)
    try:
        text.encode()
    except UnicodeEncodeError as error:  # half a surrogate pair, which no file can hold
        raise SchemaError(f"a name cannot be written as text: {error}") from None
    if path is not None:
        write_text(path, text)
    return text


def load_toml(source: str | Path) -> Schema:
    """Read a schema; see `Schema.from_toml`."""
    is_text = isinstance(source, str) and "\n" in source
    text = str(source) if is_text else _read(Path(source))
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SchemaError(f"not valid TOML: {error}") from None
    version = document.get("glassleak_schema")
    if version != FORMAT_VERSION or isinstance(version, bool):
        raise SchemaError(
            f"expected glassleak_schema = {FORMAT_VERSION} at the top of the file, got {version!r}"
        )
    tables = document.get("attribute")
    if not isinstance(tables, list):
        raise SchemaError("the file has no [[attribute]] tables")
    attributes = [_attribute(table, f"attribute {i + 1}") for i, table in enumerate(tables)]
    notes = document.get("guess", [])
    if not isinstance(notes, list):
        raise SchemaError("guess must be a list of [[guess]] tables")
    guesses = [_guess(table, f"guess {i + 1}") for i, table in enumerate(notes)]
    return Schema(attributes, guesses)


def _read(file: Path) -> str:
    try:
        if not file.is_file():
            raise SchemaError(f"no schema file at {str(file)!r}")
        if file.stat().st_size > _MAX_BYTES:
            raise SchemaError(f"{file.name} is larger than a schema can be")
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise SchemaError(f"{file.name} is not text: {error}") from None
    except OSError as error:  # such as one line of TOML, taken for a file name that is too long
        raise SchemaError(f"cannot open a schema file: {error.strerror}") from None


def _attribute_table(attribute: Attribute) -> dict[str, Any]:
    table: dict[str, Any] = {"name": attribute.name, "kind": attribute.kind}
    if isinstance(attribute, Categorical):
        if attribute.one_hot:
            table["columns"] = list(attribute.columns)
            if attribute.levels != attribute.columns:
                table["levels"] = list(attribute.levels)
            if attribute.absent:
                table["absent"] = True
        else:
            table["levels"] = list(attribute.levels)
            if attribute.columns != (attribute.name,):
                table["column"] = attribute.columns[0]
            if attribute.missing:
                table["missing"] = True
    elif isinstance(attribute, Bins):
        table["columns"] = list(attribute.columns)
        table["patterns"] = [list(p) for p in attribute.patterns]
    else:
        table |= {
            k: v for k, v in vars(attribute).items() if k != "name" and v not in (None, False)
        }
        # `0` is a bound, not an absent one: `v not in (None, False)` would drop it.
        for bound in ("low", "high"):
            if hasattr(attribute, bound):
                table[bound] = getattr(attribute, bound)
    return table


def _attribute(table: Any, place: str) -> Attribute:
    if not isinstance(table, dict):
        raise SchemaError(f"{place} is not a table")
    fields = dict(table)
    kind = fields.pop("kind", None)
    cls = KINDS.get(kind) if isinstance(kind, str) else None
    if cls is None:
        raise SchemaError(f"{place}: kind must be one of {', '.join(KINDS)}, got {kind!r}")
    try:
        if cls is Bins and "intervals" in fields:
            return Bins.from_intervals(**fields)
        return cls(**fields)
    except SchemaError as error:
        raise SchemaError(f"{place}: {error}") from None
    except (TypeError, ValueError, OverflowError) as error:
        raise SchemaError(f"{place} ({fields.get('name', 'unnamed')!r}): {error}") from None


def _guess(table: Any, place: str) -> Guess:
    if not isinstance(table, dict):
        raise SchemaError(f"{place} is not a table")
    try:
        guess = Guess(**table)
    except TypeError as error:
        raise SchemaError(f"{place}: {error}") from None
    if not all(isinstance(value, str) for value in vars(guess).values()):
        raise SchemaError(f"{place}: every entry must be text")
    return guess
