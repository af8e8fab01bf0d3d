"""The sections after the findings, from what was not assessed to how the report was made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from glassleak.pages._actions import actions
from glassleak.pages._anchors import Anchors
from glassleak.pages._findings import heading
from glassleak.pages._guidance import guidance_rows
from glassleak.pages._marks import effect_badge, status_badge
from glassleak.pages._markup import Child, Html, tag
from glassleak.pages._numbers import file_size, seconds, value
from glassleak.pages._prose import prose, sentence
from glassleak.pages._table import facts, text_table
from glassleak.pages._words import load, word

_MOST = 200


def not_assessed(document: Mapping[str, Any], places: Anchors) -> Html:
    """Prominent, and never an all-clear."""
    statuses = {a["id"]: a["status"] for a in document["analyses"]}
    items = [
        tag(
            "li",
            tag("a", entry["question"], href=f"#{places.analyses.get(entry['analysis'], 'found')}"),
            " ",
            status_badge(statuses.get(entry["analysis"], "not assessed")),
            tag("br"),
            sentence(entry["reason"]),
        )
        for entry in document["not_assessed"][:_MOST]
    ]
    lead = (
        "The questions below were not answered, or not in full. What this report does not say "
        "about them was not looked at, or not to the end: it is no all-clear."
        if items
        else "Every question of this audit was answered in full. Attacks that the audit does not "
        "try, and data that it was not given, are not covered."
    )
    return tag(
        "section",
        tag("h2", "What was not assessed", id="not-assessed"),
        tag("p", lead),
        tag("ul", items, class_="open") if items else None,
        class_="gaps",
    )


def assumed(document: Mapping[str, Any]) -> Html:
    """What the answers rest on."""
    found: dict[str, list[str]] = {}
    for analysis in document["analyses"]:
        for assumption in analysis["assumptions"][:_MOST]:
            found.setdefault(assumption, []).append(heading(analysis))
    for note in document["model"].get("notes", [])[:_MOST]:
        found.setdefault(note, []).append("Reading the file")
    body: Html
    if found:
        rows = [[sentence(what), ", ".join(dict.fromkeys(where))] for what, where in found.items()]
        body = text_table(["Assumption", "Used for"], rows, "What was assumed")
    else:
        body = tag("p", "No assumption was recorded.", class_="empty")
    given = document["settings"]
    supplied = (
        f"Supplied with the model: schema {value(given['schema'])}, training data "
        f"{value(given['data'])}."
    )
    return tag(
        "section", tag("h2", "What was assumed", id="assumed"), tag("p", prose(supplied)), body
    )


def to_do(document: Mapping[str, Any], places: Anchors) -> Html:
    """Every remedy with the findings it is for."""
    rows: list[list[Child]] = []
    for action in actions(document, places)[:_MOST]:
        links = [
            tag("li", tag("a", prose(title, 200), href=f"#{place}"))
            for title, place in action.findings[:20]
        ]
        rows.append([sentence(action.remedy), effect_badge(action.effect), tag("ul", links)])
    body = (
        text_table(["Step", "Why", "Findings it is for"], rows, "What to do")
        if rows
        else tag("p", "No finding asks for a change.", class_="empty")
    )
    return tag("section", tag("h2", "What to do", id="to-do"), body)


def policy(document: Mapping[str, Any]) -> Html:
    """The thresholds the decision rests on."""
    rows: list[list[Child]] = [
        [
            word("threshold", line["name"]),
            value(line["value"], share="share" in line["name"]),
            [prose(line["reason"]), _origin(line)],
        ]
        for line in document["policy"][:_MOST]
    ]
    body = (
        text_table(["Threshold", "Value", "Reason"], rows, "Policy")
        if rows
        else tag("p", "The record names no thresholds.", class_="empty")
    )
    lead = tag("p", "The decision follows from these thresholds and from nothing else.")
    return tag("section", tag("h2", "Policy", id="policy"), lead, body, class_="thresholds")


def _origin(line: Mapping[str, Any]) -> Html | None:
    """Where a threshold and its reason come from, as far as the record says."""
    parts = [f"Source: {line['source']}."] if line.get("source") else []
    if line.get("origin", "default") != "default":
        parts.append(f"Set by: {line['origin']}; the default is {value(line.get('default'))}.")
    return tag("p", " ".join(parts), class_="how") if parts else None


def guidance(document: Mapping[str, Any]) -> Html:
    """Which items of published guidance the audit speaks to."""
    tables: list[Child] = []
    for source, rows in guidance_rows(document):
        lines: list[list[Child]] = [
            [
                row.item,
                row.asks,
                tag("span", row.status, class_=f"badge status-{row.tone}"),
                row.how,
            ]
            for row in rows
        ]
        tables.append(tag("h3", source["name"]))
        tables.append(tag("p", source["title"], class_="question"))
        head = ["Item", "What it asks", "This audit", "How"]
        tables.append(text_table(head, lines, source["name"]))
    lead = (
        "Which questions of this audit speak to which items. An answer here is evidence for "
        "whoever decides; it is no statement that a requirement is met."
    )
    return tag(
        "section",
        tag("h2", "Coverage of guidance", id="guidance"),
        tag("p", lead),
        tables,
        class_="coverage",
    )


def glossary() -> Html:
    """The words used, in plain words."""
    entries = [(e["term"], e["means"]) for e in load("glossary")["entry"]]
    return tag("section", tag("h2", "Words used", id="words"), facts(entries))


def made(document: Mapping[str, Any]) -> Html:
    """Versions, hash, settings and time: enough to repeat the audit."""
    tool, model, settings = document["tool"], document["model"], document["settings"]
    size = model["bytes"]
    pairs: list[tuple[str, Child]] = [
        ("Audited", document["created"]),
        ("Took", seconds(document["seconds"])),
        ("File", model["name"]),
        ("Opened as", model["container"]),
        ("Size", "not a file" if size is None else file_size(size)),
        ("SHA-256", tag("code", model["sha256"] or "none")),
        ("Protection while reading", value(model["protection"])),
        ("Tool", f"{tool['name']} {tool['version']}, record version {document['version']}"),
        ("Python", f"{tool['python']} on {tool['platform']}"),
        ("Libraries", ", ".join(f"{k} {v}" for k, v in list(tool["libraries"].items())[:30])),
        ("Settings of the audit", value(settings)),
    ]
    if model.get("settings"):
        pairs.append(("Settings of the model", value(model["settings"])))
    return tag("section", tag("h2", "How this report was made", id="made"), facts(pairs))
