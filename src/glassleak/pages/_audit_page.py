"""An audit as one page, made from its JSON record and from nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from glassleak.pages._anchors import anchors
from glassleak.pages._appendix import (
    assumed,
    glossary,
    guidance,
    made,
    not_assessed,
    policy,
    to_do,
)
from glassleak.pages._findings import found
from glassleak.pages._markup import Html, tag
from glassleak.pages._numbers import moment
from glassleak.pages._page import page
from glassleak.pages._summary import in_a_line, summary, word_of

_CONTENTS = (
    ("decision", "Decision"),
    ("not-assessed", "What was not assessed"),
    ("found", "What was found"),
    ("to-do", "What to do"),
    ("assumed", "What was assumed"),
    ("policy", "Policy"),
    ("guidance", "Coverage of guidance"),
    ("words", "Words used"),
    ("made", "How this report was made"),
)


def audit_page(document: Mapping[str, Any], *, redact: bool = False) -> str:
    """The report of one audit.

    Parameters
    ----------
    document : mapping
        A valid audit record (`glassleak.audit.json_schema`).
    redact : bool
        Leave the values of rows that may describe real people out of the file.
    """
    places = anchors(document)
    name = document["model"]["name"]
    decision = word_of(document["verdict"]["decision"])
    return page(
        f"{decision}: {name} – glassleak audit",
        tag("a", "Skip to the decision", href="#decision", class_="skip"),
        tag(
            "header",
            tag("p", "glassleak", tag("span", "audit of a published model"), class_="brand"),
            tag("h1", name),
            tag("p", f"{in_a_line(document)}. Audited {moment(document['created'])}.",
                class_="sub"),
        ),
        tag(
            "main",
            summary(document, places),
            _contents(),
            tag(
                "div",
                not_assessed(document, places),
                found(document, places, redact=redact),
                to_do(document, places),
                assumed(document),
                policy(document),
                guidance(document),
                glossary(),
                made(document),
                class_="details",
            ),
        ),
        tag("footer", tag("p", _closing(redact=redact))),
    )  # fmt: skip


def _contents() -> Html:
    links = [tag("li", tag("a", words, href=f"#{place}")) for place, words in _CONTENTS]
    return tag("nav", tag("ol", links), aria_label="Contents")


def _closing(*, redact: bool) -> str:
    people = (
        "Values of reconstructed rows were left out of this copy."
        if redact
        else "It may show values of real people: handle it like the training data."
    )
    return f"Made by glassleak from the JSON record of the audit. {people}"
