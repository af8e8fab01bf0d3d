"""What to do: the remedies of the findings, each once, with what it is for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from glassleak.pages._anchors import Anchors

_ORDER = {"fix": 0, "refer": 1}


@dataclass(frozen=True)
class Action:
    """One remedy and the findings (title, place on the page) it is for."""

    remedy: str
    effect: str
    findings: tuple[tuple[str, str], ...]


def actions(document: Mapping[str, Any], places: Anchors) -> list[Action]:
    """Remedies of everything that stands in the way of a release, in the order of the reasons."""
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
    rank: dict[str, int] = {}
    for i, reason in enumerate(document["verdict"]["reasons"]):
        rank.setdefault(places.of_reason(reason), i)
    last = len(rank)

    def order(action: Action) -> tuple[int, int]:
        named = (rank.get(place, last) for _, place in action.findings)
        return min(named, default=last), _ORDER[action.effect]

    return sorted(made, key=order)
