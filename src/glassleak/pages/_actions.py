"""What to do: the remedies of the findings, each once, with what it is for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from glassleak.pages._anchors import Anchors

_ORDER = {"refer": 0, "fix": 1}


@dataclass(frozen=True)
class Action:
    """One remedy and the findings (title, place on the page) it is for."""

    remedy: str
    effect: str
    findings: tuple[tuple[str, str], ...]


def actions(document: Mapping[str, Any], places: Anchors) -> list[Action]:
    """Remedies of everything that stands in the way of a release, decisions first."""
    found: dict[str, tuple[str, list[tuple[str, str]]]] = {}
    for i, analysis in enumerate(document["analyses"]):
        for j, finding in enumerate(analysis["findings"]):
            remedy, effect = finding["remedy"].strip(), finding["effect"]
            if effect not in _ORDER or not remedy:
                continue
            known, titles = found.get(remedy, (effect, []))
            worse = min(known, effect, key=_ORDER.__getitem__)
            found[remedy] = (worse, [*titles, (finding["title"], places.findings[i, j])])
    made = [Action(remedy, effect, tuple(of)) for remedy, (effect, of) in found.items()]
    return sorted(made, key=lambda action: _ORDER[action.effect])
