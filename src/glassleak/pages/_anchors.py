"""Where things stand on the page: one id for every question and finding, and links to them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_OTHER = re.compile(r"[^a-z0-9.]+")


@dataclass(frozen=True)
class Anchors:
    """Ids for a record.

    Attributes
    ----------
    sections : dict
        Place of an analysis to the id of its section.
    analyses : dict
        Id of an analysis to the id of its section.
    findings : dict
        (place of the analysis, place of the finding) to the id of the finding on the page.
    """

    sections: dict[int, str] = field(default_factory=dict)
    analyses: dict[str, str] = field(default_factory=dict)
    findings: dict[tuple[int, int], str] = field(default_factory=dict)
    _titles: dict[tuple[str, str], str] = field(default_factory=dict)
    _first: dict[str, str] = field(default_factory=dict)

    def of_reason(self, reason: Mapping[str, Any]) -> str:
        """The id of what is behind a reason; questions nobody answered stand under "open"."""
        named = reason["finding"]
        if named is not None:
            # Several findings may share an id: one seed in each of ten places, say.
            exact = self._titles.get((named, reason["text"]))
            if exact or named in self._first:
                return exact or self._first[named]
        return self.analyses.get(reason["analysis"], "not-assessed")


def anchors(document: Mapping[str, Any]) -> Anchors:
    """Ids for everything in `document` that is linked to."""
    made = Anchors()
    taken: dict[str, int] = {}
    for i, analysis in enumerate(document["analyses"]):
        place = _unique("question-" + _plain(analysis["id"]), taken)
        made.sections[i] = place
        made.analyses.setdefault(analysis["id"], place)
        for j, finding in enumerate(analysis["findings"]):
            place = _unique("finding-" + _plain(finding["id"]), taken)
            made.findings[i, j] = place
            made._titles.setdefault((finding["id"], finding["title"]), place)
            made._first.setdefault(finding["id"], place)
    return made


def _plain(name: str) -> str:
    return _OTHER.sub("-", name.lower())[:80]


def _unique(name: str, taken: dict[str, int]) -> str:
    # Numbers are counted on, and not searched: a record may repeat one id a million times.
    number = taken.get(name, 0) + 1
    taken[name] = number
    return name if number == 1 else f"{name}--{number}"
