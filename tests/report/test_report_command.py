"""``glassleak audit --html`` and ``glassleak report``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from parsed import parse
from records import PERSON, document
from sklearn.tree import DecisionTreeClassifier

import glassleak as gl
from glassleak.cli import main

X = [[0], [0], [1], [1], [1]] * 8
Y = [0, 0, 1, 1, 0] * 8


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.json"
    gl.read(DecisionTreeClassifier(max_depth=1).fit(X, Y)).to_json(path)
    return path


@pytest.fixture
def record(tmp_path: Path) -> Path:
    path = tmp_path / "record.json"
    path.write_text(json.dumps(document()), encoding="utf-8")
    return path


def test_an_audit_writes_its_page(model: Path, tmp_path: Path, capsys: Any) -> None:
    page = tmp_path / "report.html"
    main(["audit", str(model), "--html", str(page)])
    assert str(page) in capsys.readouterr().out.replace("\n", "")
    assert "model.json" in parse(page.read_text(encoding="utf-8")).every("h1")[0].text()


def test_the_page_of_an_audit_is_that_of_its_record(model: Path, tmp_path: Path) -> None:
    first, later, kept = (tmp_path / n for n in ("first.html", "later.html", "record.json"))
    main(["audit", str(model), "--quiet", "--html", str(first), "--json", str(kept)])
    assert main(["report", str(kept), "--html", str(later)]) == 0
    # Written at two moments of the same second, or not.
    made = json.loads(kept.read_text())["created"][:16]
    assert made.replace("T", " ") in later.read_text(encoding="utf-8")
    pages = [parse(p.read_text(encoding="utf-8")) for p in (first, later)]
    headings = [[h.text() for h in p.every("h3")] for p in pages]
    assert headings[0] == headings[1]


def test_to_html_returns_what_it_writes(tmp_path: Path) -> None:
    audit = gl.audit(DecisionTreeClassifier(max_depth=1).fit(X, Y))
    text = audit.to_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == text
    assert audit.to_html(redact=True).startswith("<!DOCTYPE html>")


def test_redaction_from_the_command_line(record: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    assert main(["report", str(record), "--html", str(page)]) == 0
    assert PERSON in page.read_text(encoding="utf-8")
    assert main(["report", str(record), "--html", str(page), "--redact"]) == 0
    assert PERSON not in page.read_text(encoding="utf-8")


def test_redaction_without_a_page_is_refused(model: Path, tmp_path: Path, capsys: Any) -> None:
    kept = tmp_path / "record.json"
    assert main(["audit", str(model), "--json", str(kept), "--redact"]) == 2
    assert "records keep all values" in capsys.readouterr().err
    assert not kept.exists()


def test_the_page_goes_to_standard_output(record: Path, capsys: Any) -> None:
    assert main(["report", str(record)]) == 0
    assert parse(capsys.readouterr().out).every("h1")[0].text() == "model.skops"


@pytest.mark.parametrize("content", ["{", "[]", '{"format": "glassleak-audit"}'])
def test_what_is_no_record_is_one_line_and_code_2(
    tmp_path: Path, capsys: Any, content: str
) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text(content)
    page = tmp_path / "report.html"
    assert main(["report", str(bad), "--html", str(page)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: bad.json")
    assert "Traceback" not in error
    assert not page.exists()


def test_an_unwritable_page_is_code_2(record: Path, tmp_path: Path, capsys: Any) -> None:
    assert main(["report", str(record), "--html", str(tmp_path / "no" / "report.html")]) == 2
    assert "no such folder" in capsys.readouterr().err
