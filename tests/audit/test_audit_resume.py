"""Interrupted audits go on where they stopped, and never use an answer to another question."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tiny_models import safe_tree, stump

import glassleak as gl
from glassleak.audit import Analysis, AnalysisResult, Exhibit, Finding


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Three questions, of which the quick one is never kept."""
    calls: list[str] = []

    def question(name: str, *, slow: bool) -> Analysis:
        def run(_: Any) -> AnalysisResult:
            calls.append(name)
            finding = Finding(f"{name}.found", "found", "", "note", "", {"many": 10**20, "x": 0.5})
            shown = Exhibit(f"{name}.shown", "t", "c", ("a", "b"), ((1, "x"), (2, None)), "bar")
            if name == "third" and calls.count("third") == 1:
                raise KeyboardInterrupt
            return AnalysisResult(
                "partial", (finding,), False, "why", ("assumed",), exhibits=(shown,)
            )

        return Analysis(name, "?", run, slow=slow)

    questions = (
        question("first", slow=False),
        question("second", slow=True),
        question("third", slow=True),
    )
    monkeypatch.setattr(sys.modules["glassleak.audit._audit"], "ANALYSES", questions)
    return calls


def test_what_was_finished_is_not_worked_out_again(asked: list[str], tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        gl.audit(safe_tree(), resume=tmp_path)
    assert asked == ["first", "second", "third"]
    audit = gl.audit(safe_tree(), resume=tmp_path)
    assert asked[3:] == ["first", "third"]
    assert audit.settings["resumed"] == ["second"]
    fresh = gl.audit(safe_tree())
    for (_, kept), (_, new) in zip(audit.outcomes, fresh.outcomes, strict=True):
        assert kept.findings[0].title == new.findings[0].title
        assert kept.exhibits == new.exhibits
        assert (kept.status, kept.exact, kept.reason) == ("partial", False, "why")
    document = audit.to_document()["analyses"]
    assert document[1]["findings"] == fresh.to_document()["analyses"][1]["findings"]


@pytest.mark.parametrize(
    "change",
    [
        {"source": stump((41, 25), (30, 55))},
        {"policy": gl.Policy(min_people=3)},
        {"seed": 1},
        {"budget_seconds": 7},
        {"data": pd.DataFrame({"age": [1], "sex": [0]})},
        {"schema": gl.Schema([gl.Ordinal("age", 18, 90), gl.Binary("sex")])},
    ],
    ids=["model", "policy", "seed", "budget", "data", "schema"],
)
def test_another_question_is_asked_anew(
    change: dict[str, Any], asked: list[str], tmp_path: Path
) -> None:
    asked.append("third")  # so that it is not interrupted
    options: dict[str, Any] = {"source": safe_tree(), "budget_seconds": 5}
    gl.audit(**options, resume=tmp_path)
    del asked[1:]
    gl.audit(**options | change, resume=tmp_path)
    assert asked[1:] == ["first", "second", "third"]


def test_a_damaged_answer_is_worked_out_again(asked: list[str], tmp_path: Path) -> None:
    asked.append("third")
    gl.audit(safe_tree(), resume=tmp_path)
    for i, path in enumerate(sorted(tmp_path.iterdir())):
        path.write_text(["{", '{"findings": 3}'][i])
    del asked[1:]
    assert gl.audit(safe_tree(), resume=tmp_path).settings["resumed"] == []
    assert asked[1:] == ["first", "second", "third"]
