"""What was found: one section per question, with findings, evidence and exhibits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from glassleak.pages._anchors import Anchors
from glassleak.pages._exhibit import exhibit
from glassleak.pages._marks import effect_badge, status_badge
from glassleak.pages._markup import Child, Html, tag
from glassleak.pages._numbers import seconds, value
from glassleak.pages._prose import prose, sentence
from glassleak.pages._table import facts
from glassleak.pages._words import load, word

_MOST_FINDINGS, _MOST_EXHIBITS, _MOST_FIGURES = 100, 30, 60
_EFFECTS = ("fix", "refer", "note")


def found(document: Mapping[str, Any], places: Anchors, *, redact: bool) -> Html:
    """All questions, those first that show what an attacker gets."""
    order = {s["analysis"]: i for i, s in enumerate(load("words")["section"])}
    numbered = sorted(
        enumerate(document["analyses"]), key=lambda item: (order.get(item[1]["id"], 99), item[0])
    )
    return tag(
        "section",
        tag("h2", "What was found", id="found"),
        [_question(i, analysis, places, redact=redact) for i, analysis in numbered],
    )


def heading(analysis: Mapping[str, Any]) -> str:
    """A short heading; the question itself where there is none."""
    headings = {s["analysis"]: s["heading"] for s in load("words")["section"]}
    return str(headings.get(analysis["id"], analysis["question"]))


def _question(i: int, analysis: Mapping[str, Any], places: Anchors, *, redact: bool) -> Html:
    findings = [(finding, places.findings[i, j]) for j, finding in enumerate(analysis["findings"])]
    findings.sort(key=lambda item: _EFFECTS.index(item[0]["effect"]))
    exhibits = analysis.get("exhibits", [])
    shown: list[Child] = [_finding(f, place) for f, place in findings[:_MOST_FINDINGS]]
    if len(findings) > _MOST_FINDINGS:
        more = len(findings) - _MOST_FINDINGS
        shown.append(tag("p", f"{more:,} more findings are in the JSON record."))
    shown += [
        exhibit(e, f"{i}-{j}", redact=redact) for j, e in enumerate(exhibits[:_MOST_EXHIBITS])
    ]
    if len(exhibits) > _MOST_EXHIBITS:
        more = len(exhibits) - _MOST_EXHIBITS
        shown.append(tag("p", f"{more:,} more tables are in the JSON record."))
    return tag(
        "section",
        tag("h3", heading(analysis)),
        tag("p", analysis["question"], " ", status_badge(analysis["status"]), class_="question"),
        _open(analysis),
        shown,
        tag("p", _how(analysis), class_="how"),
        id=places.sections[i],
        class_="analysis",
    )


def _open(analysis: Mapping[str, Any]) -> Html | None:
    """Why it is not, or not fully, answered; or that nothing was found."""
    if analysis["status"] == "done":
        nothing = not analysis["findings"] and not analysis.get("exhibits")
        words = "Everything was looked at, and nothing was found."
        return tag("p", words, class_="empty") if nothing else None
    lead = {"partial": "Answered only in part: ", "failed": "The analysis failed: "}
    return tag(
        "p",
        tag("strong", lead.get(analysis["status"], "Not assessed: ")),
        prose(analysis["reason"].rstrip(".")),
        ". This is not an all-clear.",
        class_="notice",
    )


def _how(analysis: Mapping[str, Any]) -> str:
    if analysis["status"] not in ("done", "partial"):
        return f"Took {seconds(analysis['seconds'])}."
    exact = "All figures are exact" if analysis["exact"] else "Some figures are estimates or bounds"
    return f"{exact}. Took {seconds(analysis['seconds'])}."


def _finding(finding: Mapping[str, Any], place: str) -> Html:
    remedy = finding["remedy"]
    return tag(
        "article",
        tag("h4", prose(finding["title"]), " ", effect_badge(finding["effect"])),
        tag("p", prose(finding["detail"], 4_000)) if finding["detail"] else None,
        tag("p", tag("strong", "What to do: "), sentence(remedy), class_="remedy")
        if remedy else None,
        _evidence(finding),
        class_=f"finding {finding['effect']}",
        id=place,
    )  # fmt: skip


def _evidence(finding: Mapping[str, Any]) -> Html | None:
    if not finding["evidence"]:
        return None
    return tag(
        "details",
        tag("summary", "Evidence"),
        _figures(finding["evidence"], 2),
        tag("p", "Reference: ", tag("code", finding["id"]), class_="how"),
        class_="evidence",
    )


def _figures(evidence: Mapping[str, Any], levels: int) -> Html:
    pairs: list[tuple[str, Child]] = []
    for key, item in list(evidence.items())[:_MOST_FIGURES]:
        name = word("evidence", key)
        if isinstance(item, Mapping) and item and levels:
            pairs.append((name, _figures(item, levels - 1)))
        elif isinstance(item, list) and any(isinstance(i, str) and len(i) > 40 for i in item):
            lines = [tag("li", prose(value(i))) for i in item[:_MOST_FIGURES]]
            pairs.append((name, tag("ul", lines)))
        else:
            pairs.append((name, value(item, share="share" in key or key.startswith("error"))))
    if len(evidence) > _MOST_FIGURES:
        pairs.append(("and", f"{len(evidence) - _MOST_FIGURES:,} more in the JSON record"))
    return facts(pairs)
