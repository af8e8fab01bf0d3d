"""The report in a real browser: offline, silent, accessible, at every width and on paper.

Skipped where Chromium is missing; ``make test-browser`` needs it.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chromium import Browser, find_chromium
from records import KINDS, document, model, summary

from glassleak.report import render_fleet_html, render_html

PROGRAM = find_chromium()
# ``make test-browser`` must not pass because everything was skipped.
REQUIRED = os.environ.get("GLASSLEAK_BROWSER") == "required"
pytestmark = pytest.mark.skipif(
    PROGRAM is None and not REQUIRED,
    reason="no Chromium: install Debian's package chromium, or set CHROMIUM",
)
LOOKS = {
    "light": {},
    "dark": {"dark": True},
    "narrow": {"width": 375},
    "narrow and dark": {"width": 375, "dark": True},
}
PAGES = (*KINDS, "redacted", "long names", "folder")


def _axe() -> Path | None:
    """axe-core as bundled by a package of the Python index; the package is not imported."""
    found = importlib.util.find_spec("axe_playwright_python")
    places = (found.submodule_search_locations or []) if found else []
    return next((p for p in (Path(f) / "axe.min.js" for f in places) if p.is_file()), None)


AXE = _axe()
NEEDS_AXE = pytest.mark.skipif(
    AXE is None and not REQUIRED, reason="no axe-core: run make test-browser"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    assert PROGRAM is not None
    with Browser(PROGRAM) as started:
        yield started


@pytest.fixture(scope="module")
def pages(real: Any, tmp_path_factory: Any) -> dict[str, Path]:
    """Reports of real audits, a redacted one, and one whose every name is long."""
    records = {kind: (real[kind], False) for kind in KINDS}
    records["redacted"] = (real["extra trees"], True)
    records["long names"] = (_stretched(document()), False)
    folder = tmp_path_factory.mktemp("pages")
    written = {}
    for i, (name, (record, redact)) in enumerate(records.items()):
        written[name] = folder / f"{i}.html"
        written[name].write_text(render_html(record, redact=redact), encoding="utf-8")
    written["folder"] = folder / "summary.html"
    written["folder"].write_text(render_fleet_html(_folder()), encoding="utf-8")
    return written


def _folder() -> dict[str, Any]:
    """A summary with every outcome and a name that does not end."""
    long = "nameWithoutEnd" * 30
    reasons = ["Few people", long]
    files = {"fix": "a.skops", "refer": long, "not assessed": "c.skops", "release": "d.skops"}
    return summary(
        *(model(file=file, verdict=v, reasons=reasons) for v, file in files.items()),
        model(file="e.pkl", verdict=None, error=long, page=None, report=None),
        not_looked_at=3,
    )


def _stretched(record: dict[str, Any]) -> dict[str, Any]:
    long = "withoutAnySpaceInIt" * 20
    record["model"]["name"] = f"{long}.skops"
    record["model"]["estimator"] = long
    record["policy"][0]["name"] = long
    for analysis in record["analyses"]:
        for finding in analysis["findings"]:
            finding["title"] = long
            finding["evidence"] = {long: long, "nested": {long: [long, long]}}
        for exhibit in analysis["exhibits"]:
            exhibit["title"] = long
            exhibit["columns"] = [long + name for name in exhibit["columns"]]
    record["verdict"]["reasons"][0]["text"] = long
    return record


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("name", PAGES)
def test_opens_without_complaints_and_asks_for_nothing(
    browser: Browser, pages: dict[str, Path], name: str, look: str
) -> None:
    browser.open(pages[name], **LOOKS[look])
    assert browser.run("document.readyState") == "complete"
    assert browser.run("getComputedStyle(document.querySelector('main')).display") == "grid"
    assert browser.complaints() == []
    assert browser.requests() == [pages[name].resolve().as_uri()]
    # Nothing sticks out of the page.
    wide, there = browser.run(
        "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert wide <= there


@NEEDS_AXE
@pytest.mark.parametrize(
    ("name", "look"),
    [*((n, k) for n in PAGES for k in ("light", "dark")),
     *((n, k) for n in ("extra trees", "long names") for k in ("narrow", "narrow and dark"))],
)  # fmt: skip
def test_axe_finds_no_barrier(
    browser: Browser, pages: dict[str, Path], name: str, look: str
) -> None:
    assert AXE is not None
    browser.open(pages[name], **LOOKS[look])
    # What is folded is part of the report too.
    browser.run("document.querySelectorAll('details').forEach(d => { d.open = true })")
    browser.run(AXE.read_text(encoding="utf-8"))
    found = browser.run(
        "axe.run(document).then(r => r.violations.map(v => "
        "[v.id, v.impact, v.nodes.length, v.nodes[0].html.slice(0, 200)]))"
    )
    assert found == []


@NEEDS_AXE
def test_axe_would_find_a_barrier(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "bad.html"
    page.write_text("<html><body><img src='data:,'><p style='color:#eee'>pale</p></body></html>")
    assert AXE is not None
    browser.open(page)
    browser.run(AXE.read_text(encoding="utf-8"))
    found = browser.run("axe.run(document).then(r => r.violations.map(v => v.id))")
    assert {"image-alt", "color-contrast", "html-has-lang"} <= set(found)


def test_dark_is_dark(browser: Browser, pages: dict[str, Path]) -> None:
    shades = []
    for dark in (False, True):
        browser.open(pages["extra trees"], dark=dark)
        colour = browser.run("getComputedStyle(document.body).backgroundColor")
        shades.append(sum(map(int, re.findall(r"\d+", colour)[:3])))
    assert shades[0] > 700
    assert shades[1] < 120


@pytest.mark.parametrize("width", [375, 1280])
def test_one_chart_is_shown_for_the_width(
    browser: Browser, pages: dict[str, Path], width: int
) -> None:
    browser.open(pages["extra trees"], width=width)
    shown = browser.run(
        "[...document.querySelectorAll('svg.chart')].filter(c => c.getClientRects().length)"
        ".map(c => c.classList.contains('wide'))"
    )
    assert shown
    assert all(wide == (width > 500) for wide in shown)
    size = browser.run(
        "(() => { const c = [...document.querySelectorAll('svg.chart')]"
        ".find(c => c.getClientRects().length);"
        "return 12 * c.getBoundingClientRect().width / c.viewBox.baseVal.width })()"
    )
    assert size >= 10.5  # pixels of the smallest letters


def test_words_of_charts_do_not_leave_them(browser: Browser, pages: dict[str, Path]) -> None:
    for width in (375, 1280):
        browser.open(pages["extra trees"], width=width)
        outside = browser.run(
            "[...document.querySelectorAll('svg.chart')].filter(c => c.getClientRects().length)"
            ".flatMap(c => { const b = c.getBoundingClientRect();"
            "return [...c.querySelectorAll('text')].filter(t => {"
            "const r = t.getBoundingClientRect();"
            "return r.left < b.left - 1 || r.right > b.right + 1 || r.top < b.top - 1 ||"
            "r.bottom > b.bottom + 1 }).map(t => t.textContent) })"
        )
        assert outside == []


def test_links_lead_to_their_evidence(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["extra trees"])
    browser.run("document.querySelector('.reasons a').click()")
    title = browser.run("document.querySelector(':target h4').textContent")
    assert browser.run("document.querySelector('.reasons a').textContent") in title


def test_the_decision_is_on_the_first_screen(browser: Browser, pages: dict[str, Path]) -> None:
    for width, most in ((1280, 300), (375, 450)):
        browser.open(pages["extra trees"], width=width)
        bottom = browser.run("document.querySelector('.verdict').getBoundingClientRect().bottom")
        assert bottom < most


@pytest.mark.parametrize("name", [*KINDS])
def test_the_summary_is_the_first_printed_page(
    browser: Browser, pages: dict[str, Path], name: str
) -> None:
    browser.open(pages[name])
    browser.call("Emulation.setEmulatedMedia", media="print", features=[])
    # A4 at 96 pixels to the inch, less the margins of the style sheet.
    browser.call("Emulation.setDeviceMetricsOverride", width=673, height=1005,
                 deviceScaleFactor=1, mobile=False)  # fmt: skip
    top, bottom = browser.run(
        "[document.querySelector('header').getBoundingClientRect().top,"
        "document.querySelector('.summary').getBoundingClientRect().bottom]"
    )
    assert bottom - top <= 1005
    assert browser.run("getComputedStyle(document.querySelector('.summary')).breakAfter") == "page"
    assert browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_prints(browser: Browser, pages: dict[str, Path], tmp_path: Path) -> None:
    browser.open(pages["extra trees"], dark=True)
    browser.pdf(tmp_path / "report.pdf")
    data = (tmp_path / "report.pdf").read_bytes()
    assert data.startswith(b"%PDF-")
    assert 3 <= len(re.findall(rb"/Type\s*/Page\b", data)) <= 20
