"""Guidance, glossary and fixed words: data that fit the audit they describe."""

from __future__ import annotations

import re
from typing import Any

import pytest
from parsed import parse
from records import analysis, document

from glassleak.audit._policy import Policy
from glassleak.audit.analyses import ANALYSES
from glassleak.pages._guidance import guidance_rows
from glassleak.pages._words import load, word
from glassleak.report import render_html

ITEMS = [(s["name"], i) for s in load("guidance")["source"] for i in s["item"]]
STATUSES = ("done", "partial", "not assessed", "failed")


def rows_of(**statuses: str) -> dict[str, str]:
    record = document(
        analyses=[analysis(id=name, status=status, reason="r") for name, status in statuses.items()]
    )
    return {
        f"{source['name']} {row.item}": row.status
        for source, rows in guidance_rows(record)
        for row in rows
    }


@pytest.mark.parametrize(("source", "item"), ITEMS, ids=lambda v: v if isinstance(v, str) else "")
def test_items_name_questions_there_are(source: str, item: dict[str, Any]) -> None:
    known = {a.id for a in ANALYSES}
    assert set(item.get("analyses", [])) <= known
    assert item["asks"].endswith((".", "?"))
    assert item["how"].endswith(".")


def test_the_guidance_people_ask_for_is_there() -> None:
    assert {s for s, _ in ITEMS} == {
        "SATRE", "EDPB 28/2024", "WP29 216", "NIST AI 100-2", "GRAIMATTER",
    }  # fmt: skip


def test_status_follows_from_the_record() -> None:
    everything = {a.id: "done" for a in ANALYSES}
    done = rows_of(**everything)
    assert done["WP29 216 singling out"] == "answered"
    assert done["WP29 216 linkability"] == "answered in part"
    assert done["NIST AI 100-2 model extraction"] == "not covered"
    assert done["SATRE 3.3.07"] == "this record"
    partly = rows_of(**everything | {"uncertainty": "partial"})
    assert partly["WP29 216 singling out"] == "answered in part"
    partly = rows_of(**everything | {"membership": "failed"})
    assert partly["NIST AI 100-2 membership inference"] == "not assessed"
    assert rows_of(structure="done")["EDPB 28/2024 direct extraction"] == "not assessed"


def test_nothing_is_answered_when_nothing_was() -> None:
    found = rows_of(**dict.fromkeys((a.id for a in ANALYSES), "not assessed"))
    assert "answered" not in found.values()
    assert "answered in part" not in found.values()


def test_every_word_of_a_record_has_words() -> None:
    words = load("words")
    assert set(words["decision"]) == {"release", "fix", "refer", "not assessed"}
    assert set(words["effect"]) == {"refer", "fix", "note"}
    assert set(words["status"]) == set(STATUSES)
    assert {s["analysis"] for s in words["section"]} <= {a.id for a in ANALYSES}
    thresholds = {line["name"] for line in Policy().to_document()}
    assert thresholds <= set(words["threshold"])


def test_unknown_words_are_made_readable() -> None:
    assert word("threshold", "max_new_thing") == "max new thing"


@pytest.mark.parametrize("name", ["words", "guidance", "glossary"])
def test_the_word_safe_is_not_used(name: str) -> None:
    assert not re.search(r"\bsafe", str(load(name)), re.IGNORECASE)


def test_the_glossary_is_sorted_and_on_the_page() -> None:
    terms = [entry["term"] for entry in load("glossary")["entry"]]
    assert terms == sorted(terms)
    text = parse(render_html(document())).text()
    assert all(term in text for term in terms)
