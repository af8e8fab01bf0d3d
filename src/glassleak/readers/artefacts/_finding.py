"""What a detector hands over, and how many equal findings become one artefact."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from glassleak.readers._state import Visited
from glassleak.readers.artefacts._artefact import Artefact, Json, Severity
from glassleak.readers.artefacts._survey import Survey

_LONGEST = 200
_KEY = re.compile(r"\['((?:[^'\\]|\\.)*)'\]|\[\"((?:[^\"\\]|\\.)*)\"\]")
_PLAIN_KEY = re.compile(r"^[A-Za-z_][\w.:-]{0,60}$")
_UNPRINTABLE = re.compile(r"[^\x20-\x7e\u00a0-\ud7ff\ue000-\ufffd]")


@dataclass(frozen=True)
class Finding:
    """An artefact in the making: the same fields, with the value it is about."""

    kind: str
    visited: Visited
    severity: Severity
    reveals: str
    remedy: str
    evidence: Mapping[str, Json] = field(default_factory=dict)
    claims: tuple[Any, ...] = ()
    """Further values this finding accounts for, so that no other detector reports them again."""


def claimed(findings: Iterable[Finding]) -> set[int]:
    """Identities of every value that some finding accounts for."""
    return {id(value) for f in findings for value in (f.visited.value, *f.claims)}


def grouped(findings: Iterable[Finding], survey: Survey) -> list[Artefact]:
    """One artefact for equal findings at the same kind of place, with how many there were."""
    groups: dict[tuple[str, str, str, str], list[Finding]] = {}
    for finding in findings:
        key = (finding.kind, finding.severity, *survey.place(finding.visited))
        groups.setdefault(key, []).append(finding)
    return [_artefact(members) for members in groups.values()]


def _artefact(members: list[Finding]) -> Artefact:
    first, reveals = members[0], members[0].reveals
    evidence = dict(first.evidence)
    if len(members) > 1:
        evidence["occurrences"] = len(members)
        reveals += f" This is so in {len(members):,} places; the first one is named."
    where = tidy(first.visited.path) or "(the whole object)"
    return Artefact(first.kind, where, reveals, first.severity, first.remedy, evidence)


def tidy(text: str, longest: int = _LONGEST) -> str:
    """A path or name for the report: printable, short, without keys that may be somebody's."""
    text = text[: 20 * longest]
    text = _KEY.sub(lambda m: m.group(0) if _PLAIN_KEY.match(m.group(1) or "") else "['…']", text)
    text = _UNPRINTABLE.sub("?", text)
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]}…{text[-half:]}"
