"""Which items of published guidance a record speaks to, worked out from its statuses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from glassleak.pages._words import load


@dataclass(frozen=True)
class Covered:
    """One item: what it asks, and whether and how the audit speaks to it."""

    item: str
    asks: str
    status: str
    tone: str
    how: str


def guidance_rows(document: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], list[Covered]]]:
    """Every source with its items."""
    statuses = {a["id"]: a["status"] for a in document["analyses"]}
    for source in load("guidance")["source"]:
        rows = []
        for item in source["item"]:
            status, tone = _status(item, statuses)
            rows.append(Covered(item["id"], item["asks"], status, tone, item["how"]))
        yield source, rows


def _status(item: Mapping[str, Any], statuses: Mapping[str, str]) -> tuple[str, str]:
    if item.get("record"):
        return "this record", "done"
    if not item.get("analyses"):
        return "not covered", "open"
    found = [statuses.get(analysis, "not assessed") for analysis in item["analyses"]]
    if all(status == "done" for status in found) and not item.get("partly"):
        return "answered", "done"
    if any(status in ("done", "partial") for status in found):
        return "answered in part", "partial"
    return "not assessed", "open"
