"""The summary of a folder: every model, every outcome, and links that stay beside the page."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from parsed import Element, parse, skeleton
from records import model, summary
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import glassleak as gl
from glassleak.cli import main
from glassleak.errors import AuditError
from glassleak.fleet import audit_folder
from glassleak.report import render_fleet_html
from glassleak.report._check import unknown_keywords
from glassleak.report.html import fleet_schema

X = [[0, 1], [0, 0], [1, 0], [1, 1], [1, 0]] * 8
Y = [0, 0, 1, 1, 0] * 8


MIXED = (
    model(file="z.skops", verdict="release", reasons=[], page=None, unanswered=0),
    model(),
    model(file="b.pkl", verdict=None, error="b.pkl: not a model", report=None, page=None),
    model(file="c.skops", verdict="not assessed"),
    model(file="d.skops", verdict="refer"),
)


def page_of(document: dict[str, Any]) -> Element:
    return parse(render_fleet_html(document))


def rows(page: Element) -> list[Element]:
    table = next(e for e in page.every("table") if e.attributes.get("class") == "fleet")
    return table.every("tr")[1:]


def test_the_gravest_come_first() -> None:
    names = [r.every("th")[0].text() for r in rows(page_of(summary(*MIXED)))]
    assert [n[:1] for n in names] == ["a", "d", "b", "c", "z"]


def test_every_outcome_is_counted_even_if_it_is_none() -> None:
    cards = next(e for e in page_of(summary(model())).every("ul")
                 if e.attributes.get("class") == "cards")  # fmt: skip
    found = {c.every("span")[0].text(): c.every("strong")[0].text() for c in cards.every("li")}
    assert found == {
        "Fix": "1", "Refer": "0", "Could not be audited": "0", "Not assessed": "0", "Release": "0",
    }  # fmt: skip


def test_lines_say_why() -> None:
    text = [r.text() for r in rows(page_of(summary(*MIXED)))]
    assert "Too few people" in text[0]
    assert "not a model" in text[2]
    assert "No finding stands against a release" in text[4]


def test_what_is_open_is_no_all_clear() -> None:
    text = page_of(summary(*MIXED, not_looked_at=2)).text()
    assert "For 4 models some questions were not, or not fully, answered: no all-clear" in text
    assert "2 files with other endings in the folder were not looked at" in text


@pytest.mark.parametrize(
    ("target", "linked"),
    [
        ("a.html", "./a.html"),
        ("sub folder/ü#?.html", "./sub%20folder/%C3%BC%23%3F.html"),
        ("javascript:alert(1)", "./javascript%3Aalert%281%29"),
        ("//example.org/x", None),
        ("/etc/passwd", None),
        ("../../x.html", None),
        ("a/../../x", None),
        ("..\\x", None),
    ],
)
def test_links_stay_beside_the_page(target: str, linked: str | None) -> None:
    links = rows(page_of(summary(model(page=target))))[0].every("a")
    assert [e.attributes["href"] for e in links] == ([linked] if linked else [])


def test_without_a_page_the_record_is_linked() -> None:
    link = rows(page_of(summary(model(page=None))))[0].every("a")[0]
    assert link.attributes["href"] == "./a.skops.audit.json"


def test_hostile_names_cannot_add_markup() -> None:
    evil = "</td><script>alert(1)</script>\"' onclick=x \ud800\u202e\x00"
    shape = [model(file=n, estimator=n, reasons=[n, n], page="p") for n in ("name", evil)]
    plain, hostile = (render_fleet_html(summary(m, folder=m["file"])) for m in shape)
    assert skeleton(plain) == skeleton(hostile)
    hostile.encode()


def test_an_empty_folder_says_so() -> None:
    assert "no model file in the folder" in page_of(summary()).text()


def test_what_is_no_summary_is_refused() -> None:
    with pytest.raises(AuditError, match=r"not a summary of audits: models\[0\]"):
        render_fleet_html(summary(model(verdict="fine")))
    with pytest.raises(AuditError, match="not a summary of audits"):
        render_fleet_html({})


def test_every_keyword_of_the_schema_is_known() -> None:
    assert unknown_keywords(fleet_schema()) == set()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    models = tmp_path / "models"
    (models / "sub").mkdir(parents=True)
    gl.read(DecisionTreeClassifier(max_depth=1).fit(X, Y)).to_json(models / "tree.json")
    gl.read(DecisionTreeClassifier().fit(X, Y)).to_json(models / "sub" / "deep tree.json")
    (models / "corrupt.skops").write_bytes(b"PK\x03\x04 not really")
    (models / "other.pkl").write_bytes(pickle.dumps(LogisticRegression().fit(X, Y)))
    return models


def test_a_real_folder(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    fleet = audit_folder(
        folder, out, html=True, budget_seconds=5, trust="sandbox", backend="sequential"
    )
    written = (out / "summary.html").read_text(encoding="utf-8")
    page = parse(written)
    assert len(rows(page)) == len(fleet.entries) == 4
    links = [str(e.attributes["href"]) for r in rows(page) for e in r.every("a")]
    assert len(links) == 3
    for link in links:
        report = parse((out / unquote(link)).read_text(encoding="utf-8"))
        assert report.every("h1")
    later = tmp_path / "later.html"
    assert main(["report", str(out / "summary.json"), "--html", str(later)]) == 0
    assert later.read_text(encoding="utf-8") == render_fleet_html(
        json.loads((out / "summary.json").read_text())
    )


def test_no_page_unless_asked_for(folder: Path, tmp_path: Path) -> None:
    (folder / "other.pkl").unlink()
    (folder / "sub" / "deep tree.json").unlink()
    out = tmp_path / "out"
    audit_folder(folder, out, budget_seconds=5, backend="sequential")
    assert not list(out.rglob("*.html"))
