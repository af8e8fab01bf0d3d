"""The audit on a terminal: complete, and proof against names that try to take it over."""

from __future__ import annotations

import io
import math
from typing import Any

import pytest
from rich.console import Console

from glassleak.audit import Analysis, AnalysisResult, Audit, Finding, Policy, Reason
from glassleak.errors import UnsupportedModelError
from glassleak.models import Forest, Missing, Provenance, RuleList, Tree
from glassleak.models import Rule as OneRule
from glassleak.readers import Opened
from glassleak.report import print_audit, printable

HOSTILE = {
    "closing tag": "[/]",
    "style": "[bold red]RELEASE[/bold red]",
    "link": "[link=https://example.org]click[/link]",
    "emoji": ":warning: :thumbs_up:",
    "clears the screen": "\x1b[2J\x1b[H RELEASE",
    "title": "\x1b]0;owned\x07",
    "bell": "\a\b\r",
    "eight bit control": "\x9b2J",
    "new lines": "a\nRELEASE — all is well\n",
    "turned around": "\u202eesaeler",
    "invisible": "a\u200bb\ufeff",
    "half a character": "\ud800",
    "backslash": "ends with \\",
    "opening": "[" * 50,
}


def model(text: str = "x", **changes: Any) -> Tree:
    fields: dict[str, Any] = {
        "columns": (text, "other"),
        "classes": (text, "no"),
        "feature": [-1],
        "threshold": [math.nan],
        "left": [-1],
        "right": [-1],
        "counts": Missing(text),
        "provenance": Provenance(text, text, text, {}, (text,)),
    }
    return Tree(**(fields | changes))


def audit(verdict: Any = "fix", text: str = "thing", **changes: Any) -> Audit:
    finding = Finding("test.one", f"title {text}", f"detail {text}", "fix", f"remedy {text}")
    note = Finding("test.two", f"noted {text}", "", "note")
    analysis = Analysis("test", "Is it so?", lambda _: AnalysisResult("done"))
    result = AnalysisResult("partial", (finding, note), True, f"reason {text}", (f"guess {text}",))
    fields: dict[str, Any] = {
        "verdict": verdict,
        "reasons": (Reason(f"because {text}", "test", "test.one"),),
        "outcomes": ((analysis, result),),
        "opened": Opened(model(text), None, (), True, "skops", text, "0" * 64, 10, (text,)),
        "policy": Policy(),
        "settings": {},
        "seconds": 0.1,
    }
    return Audit(**(fields | changes))


def shown(subject: Audit, *, terminal: bool = False) -> str:
    stream = io.StringIO()
    console = Console(
        file=stream, width=120, highlight=False, force_terminal=terminal,
        color_system="truecolor" if terminal else None, legacy_windows=False,
    )  # fmt: skip
    print_audit(subject, console)
    return stream.getvalue()


@pytest.mark.parametrize("verdict", ["release", "fix", "refer", "not assessed"])
def test_the_verdict_comes_first_with_its_meaning_and_reason(verdict: str) -> None:
    lines = shown(audit(verdict)).splitlines()
    assert verdict.upper() in lines[1]
    assert "because thing" in lines[2]


def test_everything_found_asked_and_assumed_is_there() -> None:
    text = shown(audit())
    for words in ("title thing", "detail thing", "remedy thing", "noted thing", "Is it so?",
                  "partial: reason thing", "assumed: guess thing", "0" * 64, "min_people=10",
                  "training rows", "not published"):  # fmt: skip
        assert words in text


def test_each_kind_of_model_is_described() -> None:
    tree = model()
    forest = Opened(Forest((tree, tree), n_rows=1234), None, (), True, "skops", "f")
    rules = RuleList(("a",), ("x", "y"), (OneRule(()),), Missing("none"))
    assert "1,234" in shown(audit(opened=forest))
    assert "every tree saw every row" in shown(audit(opened=forest))
    assert "rules" in shown(audit(opened=Opened(rules, None, (), True, "text", "r")))


def test_an_unreadable_model_shows_its_problem() -> None:
    opened = Opened(None, UnsupportedModelError("a [boosted] model"), (), True, "skops", "x")
    assert "a [boosted] model" in shown(audit("not assessed", opened=opened))


def test_long_lists_are_cut_and_say_so() -> None:
    many = tuple(Finding("test.x", f"number {i}.", "", "fix") for i in range(20))
    analysis = Analysis("test", "Is it so?", lambda _: AnalysisResult("done"))
    reasons = tuple(Reason(f.title, "test", f.id) for f in many)
    text = shown(audit(outcomes=((analysis, AnalysisResult("done", many)),), reasons=reasons))
    assert "number 11." in text
    assert "number 12." not in text
    assert "and 8 more; --json has them all" in text
    assert "and 16 more below" in text


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_shown_and_not_obeyed(name: str) -> None:
    hostile = HOSTILE[name]
    text = shown(audit(text=hostile))
    assert printable(hostile) in "".join(line.strip("│ ") for line in text.splitlines())
    assert all(c.isprintable() or c == "\n" for c in text)
    text.encode("utf-8")
    plain = shown(audit(text="x" * len(printable(hostile))))
    assert text.count("\n") == plain.count("\n"), "no line more than a harmless name takes"


@pytest.mark.parametrize("name", HOSTILE)
def test_on_a_terminal_only_the_report_itself_is_styled(name: str) -> None:
    def codes(text: str) -> list[str]:
        return [part.split("m")[0] for part in text.split("\x1b[")[1:]]

    hostile, harmless = (
        shown(audit(text=t), terminal=True)
        for t in (HOSTILE[name], "x" * len(printable(HOSTILE[name])))
    )
    assert codes(hostile) == codes(harmless)


def test_very_long_names_are_cut() -> None:
    text = shown(audit(text="y" * 1_000_000))
    assert len(text) < 20_000
    assert "…" in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain ä 😀", "plain ä 😀"),
        ("a\tb", "a\\tb"),
        ("\x1b[0m", "\\x1b[0m"),
        ("\u202e", "\\u202e"),
        ("\udcff", "\\udcff"),
        (3.5, "3.5"),
        ("z" * 500, "z" * 399 + "…"),
    ],
)
def test_printable(text: Any, expected: str) -> None:
    assert printable(text) == expected
    assert printable(expected) == expected
