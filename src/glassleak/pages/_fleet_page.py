"""A folder of models as one page: how many of each decision, and a line for every model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from glassleak.pages._appendix import policy
from glassleak.pages._marks import shape, tone
from glassleak.pages._markup import Child, Html, tag
from glassleak.pages._numbers import moment, number, seconds, value
from glassleak.pages._page import page
from glassleak.pages._prose import prose, shortened
from glassleak.pages._summary import word_of
from glassleak.pages._table import facts, scrolling

_ERROR = "error"
_REASONS = 3
MOST_MODELS = 10_000


def fleet_page(document: Mapping[str, Any]) -> str:
    """The summary of a folder's audits, made from its JSON record (`Fleet.to_document`)."""
    models = document["models"]
    return page(
        f"{document['folder']} – glassleak audits",
        tag(
            "header",
            tag("p", "glassleak", tag("span", "audits of a folder of models"), class_="brand"),
            tag("h1", document["folder"]),
            tag("p", f"Audited {moment(document['created'])}: ",
                "1 model" if len(models) == 1 else f"{number(len(models))} models", ".",
                class_="sub"),
        ),
        tag(
            "main",
            tag("section", _totals(document), class_="summary"),
            tag(
                "div",
                tag("section", tag("h2", "Models", id="models"), _models(document)),
                policy(document),
                tag("section", tag("h2", "How this page was made", id="made"), _made(document)),
                class_="details whole",
            ),
        ),
        tag("footer", tag("p", "Made by glassleak from the JSON record of the audits.")),
    )  # fmt: skip


def _totals(document: Mapping[str, Any]) -> Html:
    """How many models there are of each outcome; nothing is left out because it is none."""
    cards = [
        tag(
            "li",
            shape(outcome),
            tag("strong", number(count)),
            tag("span", _name(outcome)),
            class_=f"card {_tone(outcome)}",
        )
        for outcome, count in document["totals"].items()
    ]
    open_ = sum(m["unanswered"] > 0 for m in document["models"])
    notes = []
    if open_:
        some = "For 1 model" if open_ == 1 else f"For {number(open_)} models"
        notes.append(f"{some} some questions were not, or not fully, answered: no all-clear.")
    if document["not_looked_at"]:
        files = document["not_looked_at"]
        many = "1 file" if files == 1 else f"{number(files)} files"
        notes.append(f"{many} with other endings in the folder were not looked at.")
    return tag(
        "div",
        tag("h2", "Decisions", class_="quiet"),
        tag("ul", cards, class_="cards"),
        [tag("p", words, class_="notice") for words in notes],
    )


def _models(document: Mapping[str, Any]) -> Html:
    models = document["models"]
    if not models:
        return tag("p", "There is no model file in the folder.", class_="empty")
    order = {outcome: i for i, outcome in enumerate(document["totals"])}
    listed = sorted(models, key=lambda m: (order.get(_outcome(m), 99), m["file"]))
    head = ["Decision", "Model", "Why", "Not answered", "Took"]
    kinds = [None, None, None, "number", "number"]
    cells = [tag("th", h, scope="col", class_=k) for h, k in zip(head, kinds, strict=True)]
    top = tag("thead", tag("tr", cells))
    table = tag(
        "table", top, tag("tbody", [_line(m) for m in listed[:MOST_MODELS]]), class_="fleet"
    )
    more = len(listed) - MOST_MODELS
    cut = tag("p", f"{number(more)} more are in the JSON record.") if more > 0 else None
    return tag("div", scrolling(table, "models"), cut)


def _line(model: Mapping[str, Any]) -> Html:
    outcome = _outcome(model)
    return tag(
        "tr",
        tag("td", shape(outcome), " ", _name(outcome), class_=f"outcome {_tone(outcome)}"),
        tag("th", _link(model), tag("p", _what(model), class_="how"), scope="row"),
        tag("td", _why(model)),
        tag("td", "" if outcome == _ERROR else number(model["unanswered"]), class_="number"),
        tag("td", seconds(model["seconds"]), class_="number"),
    )


def _outcome(model: Mapping[str, Any]) -> str:
    return str(model["verdict"] or _ERROR)


def _why(model: Mapping[str, Any]) -> Child:
    if model["verdict"] is None:
        return prose(shortened(model["error"] or "no reason was recorded", 400))
    reasons = model["reasons"]
    if not reasons:
        return "No finding stands against a release under this policy."
    return tag("ul", [tag("li", prose(shortened(r, 160))) for r in reasons[:_REASONS]])


def _what(model: Mapping[str, Any]) -> str:
    parts = [model["estimator"] or model["kind"] or ""]
    if model["trees"]:
        parts.append(f"{number(model['trees'])} trees")
    if model["rows"] is not None:
        parts.append(f"{number(model['rows'])} rows")
    return ", ".join(p for p in parts if p)


def _link(model: Mapping[str, Any]) -> Child:
    """The model's own report beside this page, if its path stays there."""
    target = model["page"] or model["report"]
    if not target or target.startswith("/") or "\\" in target or ".." in target.split("/"):
        return str(model["file"])
    # The leading dot keeps a name such as "data:x" from being taken for an address.
    address = "./" + quote(target.encode("utf-8", "surrogatepass"))
    return tag("a", str(model["file"]), href=address)


def _name(outcome: str) -> str:
    return "Could not be audited" if outcome == _ERROR else word_of(outcome)


def _tone(outcome: str) -> str:
    return "failed" if outcome == _ERROR else tone(outcome)


def _made(document: Mapping[str, Any]) -> Html:
    tool = document["tool"]
    pairs: list[tuple[str, Child]] = [
        ("Audited", document["created"]),
        ("Took", seconds(document["seconds"])),
        ("Tool", f"{tool['name']} {tool['version']}, record version {document['version']}"),
        ("Settings of the audits", value(document["settings"])),
    ]
    return facts(pairs)
