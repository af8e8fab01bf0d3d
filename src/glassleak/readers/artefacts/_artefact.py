"""One finding of the artefact scan: what a fitted object keeps about its training rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from glassleak.errors import MalformedModelError

Severity: TypeAlias = Literal["note", "fix", "refer"]
Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

SEVERITIES: tuple[str, ...] = get_args(Severity)
_TEXTS = ("kind", "where", "reveals", "severity", "remedy")
_NESTING = 8
_ENTRIES = 10_000


@dataclass(frozen=True)
class Artefact:
    """Something in the file itself, readable without any attack.

    Attributes
    ----------
    kind : str
        Stable identifier, such as ``"row-array"`` or ``"bootstrap-seeds"``.
    where : str
        Path inside the object; of the first occurrence where several were grouped.
    reveals : str
        What an outsider learns, in plain words.
    severity : "note", "fix" or "refer"
        Worth knowing; strip it before release; personal rows are in the file itself.
    remedy : str
        What to do about it.
    evidence : mapping
        JSON-ready figures: shapes, counts, positions.  Never values of a person.
    """

    kind: str
    where: str
    reveals: str
    severity: Severity
    remedy: str
    evidence: Mapping[str, Json] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in _TEXTS:
            if not isinstance(getattr(self, name), str):
                raise MalformedModelError("expected a text", f"artefact.{name}")
        if not self.kind:
            raise MalformedModelError("empty", "artefact.kind")
        if self.severity not in SEVERITIES:
            raise MalformedModelError(
                f"expected one of {', '.join(SEVERITIES)}", "artefact.severity"
            )
        if not isinstance(self.evidence, Mapping):
            raise MalformedModelError("expected an object", "artefact.evidence")
        copied = _json(dict(self.evidence), "artefact.evidence", 0)
        object.__setattr__(self, "evidence", copied)

    def to_document(self) -> dict[str, Any]:
        """As JSON-ready data."""
        return {name: getattr(self, name) for name in _TEXTS} | {
            "evidence": _json(dict(self.evidence), "artefact.evidence", 0)
        }

    @classmethod
    def from_document(cls, document: Any) -> Artefact:
        """Rebuild from `to_document` data, refusing anything else."""
        if not isinstance(document, Mapping):
            raise MalformedModelError(
                f"expected an object, got {type(document).__name__}", "artefact"
            )
        unknown = [key for key in document if key not in (*_TEXTS, "evidence")]
        if unknown:
            raise MalformedModelError(f"unknown entry {str(unknown[0])[:60]!r}", "artefact")
        missing = [key for key in _TEXTS if key not in document]
        if missing:
            raise MalformedModelError("missing", f"artefact.{missing[0]}")
        return cls(**{n: document[n] for n in _TEXTS}, evidence=document.get("evidence", {}))


def _json(value: Any, place: str, depth: int) -> Any:
    """A copy of `value` if it is plain JSON data, otherwise an error that says where it is not."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        if abs(value) >= 2**63:
            raise MalformedModelError("a number of more than 63 bits", place)
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise MalformedModelError("not a finite number", place)
        return float(value)
    if depth >= _NESTING:
        raise MalformedModelError(f"nested deeper than {_NESTING}", place)
    if isinstance(value, list | tuple | dict) and len(value) > _ENTRIES:
        raise MalformedModelError(f"more than {_ENTRIES:,} entries", place)
    if isinstance(value, list | tuple):
        return [_json(item, f"{place}[{i}]", depth + 1) for i, item in enumerate(value)]
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise MalformedModelError("a key is not a text", place)
        return {key: _json(item, f"{place}.{key[:60]}", depth + 1) for key, item in value.items()}
    raise MalformedModelError(f"{type(value).__name__} is not JSON data", place)
