"""The report as a page: complete, linked, self-contained, and proof against what names contain."""

from __future__ import annotations

import base64
import copy
import hashlib
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parsed import Element, parse, skeleton
from records import KINDS, PERSON, analysis, document, exhibit, finding

from glassleak.errors import AuditError
from glassleak.report import render_html

HOSTILE = {
    "script": "<script>alert(1)</script>",
    "closes a tag": "</td></table></main></style>--><img src=x onerror=alert(1)>",
    "attribute": '" onmouseover="alert(1)" x=\'',
    "entity": "&lt;b&gt; &#x3c;script&#x3e; &amp;",
    "comment": "<!-- <![CDATA[ ]]>",
    "template": "{{7*7}} ${7*7} %s {0}",
    "control": "a\x00b\x1b[2Jc\x07\x9b",
    "turned around": "\u202eesaeler\u2066",
    "half a character": "\ud800",
    "lines": "a\nb\r\n\tc\u2028d",
    "url": "javascript:alert(1)",
}
# Fields the schema restricts to certain words, and what other parts look up.
_FIXED = frozenset({
    "format", "decision", "effect", "status", "chart", "kind", "counts", "bagging", "sha256",
    "analysis", "finding", "id",
})  # fmt: skip


def page_of(record: dict[str, Any], **options: Any) -> Element:
    return parse(render_html(record, **options))


def ids(page: Element) -> list[str]:
    return [str(e.attributes["id"]) for e in page.every() if "id" in e.attributes]


def by_id(page: Element, place: str) -> Element:
    return next(e for e in page.every() if e.attributes.get("id") == place)


def section(page: Element, heading: str) -> Element:
    """The section whose heading has this id."""
    return next(
        s for s in page.every("section")
        if any(c.attributes.get("id") == heading for c in s.children)
    )  # fmt: skip


def with_strings(value: Any, words: str, key: str = "") -> Any:
    """The record with every free text replaced."""
    if isinstance(value, dict):
        return {k: with_strings(v, words, k) for k, v in value.items()}
    if isinstance(value, list):
        return [with_strings(v, words, key) for v in value]
    if isinstance(value, str) and key not in _FIXED:
        return "glassleak" if value == "glassleak" else words
    return value


@pytest.mark.parametrize("kind", KINDS)
class TestRealAudits:
    def test_is_well_formed_with_ids_that_occur_once(self, real: Any, kind: str) -> None:
        found = ids(page_of(real[kind]))
        assert len(found) == len(set(found))

    def test_every_link_leads_somewhere_on_the_page(self, real: Any, kind: str) -> None:
        page = page_of(real[kind])
        targets = {f"#{i}" for i in ids(page)}
        links = [e.attributes["href"] for e in page.every("a")]
        assert links
        assert set(links) <= targets

    def test_loads_and_runs_nothing(self, real: Any, kind: str) -> None:
        text = render_html(real[kind])
        page = parse(text)
        names = {e.name for e in page.every()}
        assert not names & {"script", "link", "img", "iframe", "object", "embed", "base", "form"}
        for element in page.every():
            for name in element.attributes:
                assert not name.startswith("on")
                assert name not in ("src", "style", "xlink:href", "action", "srcset")
        style = page.every("style")[0].words[0]
        assert "url(" not in style
        assert "@import" not in style

    def test_the_policy_of_the_page_allows_its_style_only(self, real: Any, kind: str) -> None:
        page = page_of(real[kind])
        rule = next(
            str(e.attributes["content"]) for e in page.every("meta")
            if e.attributes.get("http-equiv") == "Content-Security-Policy"
        )  # fmt: skip
        style = "".join(page.every("style")[0].words)
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        assert rule.startswith("default-src 'none'; ")
        assert f"style-src 'sha256-{digest}'" in rule

    def test_the_decision_comes_first_as_a_word_and_a_shape(self, real: Any, kind: str) -> None:
        page = page_of(real[kind])
        first = page.every("section")[0]
        decision = real[kind]["verdict"]["decision"]
        assert by_id(first, "decision").text().lower() == decision
        verdict = next(e for e in first.every("div") if "verdict" in str(e.attributes.get("class")))
        assert verdict.every("svg")

    def test_every_reason_leads_to_its_evidence(self, real: Any, kind: str) -> None:
        record = real[kind]
        page = page_of(record)
        shown = next(e for e in page.every("ul") if e.attributes.get("class") == "reasons")
        links = shown.every("a")
        reasons = record["verdict"]["reasons"]
        assert len(links) == min(len(reasons), 6)
        for link, reason in zip(links, reasons, strict=False):
            target = by_id(page, str(link.attributes["href"])[1:])
            if reason["finding"] is None:
                question = next(a for a in record["analyses"] if a["id"] == reason["analysis"])
                assert question["question"] in target.text()
            else:
                assert target.name == "article"
                title = next(
                    f["title"] for a in record["analyses"] for f in a["findings"]
                    if f["id"] == reason["finding"]
                )  # fmt: skip
                assert title.split("`")[0] in target.text()

    def test_everything_not_assessed_is_said(self, real: Any, kind: str) -> None:
        record = real[kind]
        text = section(page_of(record), "not-assessed").text()
        for entry in record["not_assessed"]:
            assert entry["question"] in text
            assert " ".join(entry["reason"].replace("`", "").split())[5:60] in text
        assert "all-clear" in text or not record["not_assessed"]

    def test_never_calls_a_model_safe(self, real: Any, kind: str) -> None:
        assert not re.search(r"\bsafe\b", parse(render_html(real[kind])).text(), re.IGNORECASE)

    def test_every_chart_can_be_read_without_seeing_it(self, real: Any, kind: str) -> None:
        page = page_of(real[kind])
        for figure in page.every("figure"):
            for chart in figure.every("svg"):
                assert chart.attributes["role"] == "img"
                assert by_id(chart, str(chart.attributes["aria-labelledby"])).text()
                assert by_id(chart, str(chart.attributes["aria-describedby"])).text()
            if figure.every("svg"):
                assert figure.every("details")[0].every("table")

    def test_the_record_is_left_as_it_was(self, real: Any, kind: str) -> None:
        before = copy.deepcopy(real[kind])
        render_html(real[kind], redact=True)
        assert real[kind] == before


def test_real_forests_show_sample_and_trees(real: Any) -> None:
    text = page_of(real["extra trees"]).text()
    assert "Training rows as an attacker would write them down" in text
    assert "What remains uncertain as trees are added" in text


def test_all_sections_are_there_in_order() -> None:
    headings = [e.text() for e in page_of(document()).every("h2")]
    assert headings == [
        "Refer", "What was not assessed", "What was found", "What to do", "What was assumed",
        "Policy", "Coverage of guidance", "Words used", "How this report was made",
    ]  # fmt: skip


@pytest.mark.parametrize("decision", ["release", "fix", "refer", "not assessed"])
def test_every_decision_has_its_own_shape(decision: str) -> None:
    record = document(verdict={"decision": decision, "reasons": document()["verdict"]["reasons"]})
    verdict = page_of(record).every("section")[0].every("svg")[0]
    paths = [e.attributes.get("d", e.name) for e in verdict.every()[1:]]
    others = [
        page_of(document(verdict={"decision": d, "reasons": record["verdict"]["reasons"]}))
        for d in ("release", "fix", "refer", "not assessed") if d != decision
    ]  # fmt: skip
    for other in others:
        shape = other.every("section")[0].every("svg")[0]
        assert paths != [e.attributes.get("d", e.name) for e in shape.every()[1:]]


def test_a_release_with_open_questions_says_so_beside_the_decision() -> None:
    record = document(verdict={"decision": "release", "reasons": []})
    verdict = next(
        e for e in page_of(record).every("div") if "verdict" in str(e.attributes.get("class"))
    )
    assert "2 of 3 questions were not, or not fully, answered" in verdict.text()


class TestRedaction:
    def test_removes_the_values_from_the_file(self) -> None:
        assert PERSON in render_html(document())
        redacted = render_html(document(), redact=True)
        assert PERSON not in redacted
        assert "Trillian" not in redacted
        assert "2 rows describe people" in parse(redacted).text()

    def test_keeps_what_is_no_person(self) -> None:
        redacted = parse(render_html(document(), redact=True)).text()
        assert "40.5" in redacted
        assert "Rows are proved" in redacted

    def test_removes_charts_of_people(self) -> None:
        people = exhibit(personal=True, chart="bar", rows=[["Arthur Dent", 42.4242]])
        record = document(analyses=[analysis(exhibits=[people])])
        redacted = render_html(record, redact=True)
        assert "Arthur" not in redacted
        assert "42.4242" not in redacted
        assert not page_of(record, redact=True).every("figure")[0].every("svg")

    def test_of_a_real_audit_leaves_no_row_behind(self, real: Any) -> None:
        record = copy.deepcopy(real["extra trees"])
        marked = 0
        for question in record["analyses"]:
            for one in question["exhibits"]:
                if one["personal"]:
                    one["rows"] = [[f"secret{i}.{j}" for j, _ in enumerate(row)]
                                   for i, row in enumerate(one["rows"])]  # fmt: skip
                    marked += len(one["rows"])
        assert marked
        assert "secret0.0" in render_html(record)
        assert "secret" not in render_html(record, redact=True)


class TestHostileNames:
    @pytest.mark.parametrize("words", HOSTILE.values(), ids=HOSTILE.keys())
    def test_cannot_add_markup(self, words: str) -> None:
        page = render_html(with_strings(document(), words))
        page.encode("utf-8")
        assert skeleton(page) == skeleton(render_html(with_strings(document(), "name")))

    def test_cannot_turn_or_clear_the_text(self) -> None:
        for words in HOSTILE.values():
            page = render_html(with_strings(document(), words))
            assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page)

    def test_ids_are_never_taken_from_names(self) -> None:
        record = document()
        for question in record["analyses"]:
            question["id"] = '"><b>' + question["id"]
        page = page_of(record)
        assert all(re.fullmatch(r"[a-z0-9.-]+", i) for i in ids(page))
        assert {e.attributes["href"] for e in page.every("a")} <= {f"#{i}" for i in ids(page)}

    def test_equal_ids_are_told_apart(self) -> None:
        record = document()
        record["analyses"] *= 2
        found = ids(page_of(record))
        assert len(found) == len(set(found))

    def test_code_and_emphasis_are_the_only_marks(self) -> None:
        record = document(
            analyses=[analysis(findings=[finding(detail="set `a<b>` *and* `c`, 2*3*4")])]
        )
        article = page_of(record).every("article")[0]
        assert [e.text() for e in article.every("p")[0].every("code")] == ["a<b>", "c"]
        assert [e.text() for e in article.every("em")] == ["and"]


class TestSizes:
    def test_very_long_names_are_cut(self) -> None:
        long = "x" * 100_000
        assert len(render_html(with_strings(document(), long))) < 600_000

    def test_a_huge_record_gives_a_page_one_can_open(self) -> None:
        rows = [[i, i * 1.5] for i in range(5_000)]
        many = [finding(title=f"finding {i}") for i in range(5_000)]
        record = document(
            analyses=[analysis(findings=many, exhibits=[exhibit(rows=rows)] * 50)],
            not_assessed=[{"analysis": "structure", "question": "q", "reason": "r"}] * 5_000,
            policy=[{"name": "p", "value": 1, "reason": "r"}] * 5_000,
        )
        page = render_html(record)
        assert len(page) < 5_000_000
        text = parse(page).text()
        assert "4,900 more findings are in the JSON record" in text
        assert "4,700 more lines are in the JSON record" in text
        assert "20 more tables are in the JSON record" in text


class TestEmpty:
    def test_sections_without_content_say_so(self) -> None:
        record = document(
            analyses=[analysis()], not_assessed=[], policy=[],
            verdict={"decision": "release", "reasons": []},
        )  # fmt: skip
        record["model"]["notes"] = []
        page = page_of(record)
        assert "Every question of this audit was answered in full" in page.text()
        assert "are not covered" in section(page, "not-assessed").text()
        assert "No finding asks for a change" in section(page, "to-do").text()
        assert "No assumption was recorded" in section(page, "assumed").text()
        assert "The record names no thresholds" in section(page, "policy").text()
        assert "nothing was found" in section(page, "found").text()
        assert "No finding stands against a release" in page.every("section")[0].text()

    def test_an_empty_table_says_so(self) -> None:
        for changes in ({"rows": []}, {"columns": [], "rows": [[]]}):
            record = document(analyses=[analysis(exhibits=[exhibit(**changes)])])
            assert "the table is empty" in page_of(record).text()

    def test_records_from_before_there_were_exhibits(self) -> None:
        record = document()
        for question in record["analyses"]:
            del question["exhibits"]
        assert not page_of(record).every("figure")


def test_an_unsupported_model_is_not_passed(real: Any) -> None:
    first = page_of(real["unsupported"]).every("section")[0].text()
    assert "could not be judged" in first
    assert "says nothing about its risk" in first
    assert "Do not read this as a pass" in first
    assert "LogisticRegression" in first


def test_figures_are_readable() -> None:
    evidence = page_of(document()).every("article")[0].every("dl")[0].text()
    assert "1,234" in evidence
    assert "25\u202f%" in evidence or "25 %" in evidence
    assert "10 × 10²⁹" in evidence or "9.999 × 10²⁹" in evidence


def test_a_finding_that_shares_its_id_is_found_by_its_title() -> None:
    record = document()
    record["verdict"]["reasons"] = [
        {"text": "Fewer than 10 people elsewhere", "analysis": "structure",
         "finding": "structure.small-groups"},
    ]  # fmt: skip
    page = page_of(record)
    link = next(e for e in page.every("ul") if e.attributes.get("class") == "reasons").every("a")[0]
    assert "elsewhere" in by_id(page, str(link.attributes["href"])[1:]).text()


def test_what_is_no_record_is_refused() -> None:
    with pytest.raises(AuditError, match="lacks 'verdict'"):
        render_html({k: v for k, v in document().items() if k != "verdict"})


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.integers(-5, 50), st.text(max_size=8),
    st.floats(allow_nan=False, allow_infinity=False), st.lists(st.integers(), max_size=2),
    st.floats(0, 100),
)  # fmt: skip


@given(
    columns=st.lists(st.text(max_size=10), max_size=9),
    rows=st.lists(st.lists(SCALARS, max_size=10), max_size=12),
    chart=st.sampled_from(["none", "bar", "line"]),
    redact=st.booleans(),
)
def test_any_table_becomes_a_page(columns: Any, rows: Any, chart: Any, redact: bool) -> None:
    one = exhibit(columns=columns, rows=rows, chart=chart, personal=True)
    page = page_of(document(analyses=[analysis(exhibits=[one])]), redact=redact)
    assert len(page.every("figure")) == 1
    for shape in page.every("figure")[0].every("rect"):
        assert float(str(shape.attributes["width"])) >= 0
