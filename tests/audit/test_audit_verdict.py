"""From findings to a decision: every decision can be reached, and always says why."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from tiny_models import forest, safe_tree, stump, subject, tree

import glassleak as gl
from glassleak.audit import Analysis, AnalysisResult, Finding, Policy
from glassleak.audit._verdict import decide
from glassleak.errors import AuditError, SchemaError


def finding(effect: Any, topic: str = "thing") -> Finding:
    return Finding(f"test.{topic}", f"{topic} is {effect}", "", effect)


def outcome(status: Any = "done", *found: Finding, needed: bool = True, id_: str = "test") -> Any:
    result = AnalysisResult(status, found, reason="" if status == "done" else "too little time")
    analysis = Analysis(id_, "Is it so?", lambda _: result, needed=lambda _: needed)
    return analysis, result


UNREADABLE = {"no": "model"}
CASES = {
    "nothing found": ([outcome()], "release", []),
    "only notes": ([outcome("done", finding("note"))], "release", []),
    "unneeded gap": ([outcome(), outcome("not assessed", needed=False)], "release", []),
    "to fix": ([outcome("done", finding("fix"))], "fix", ["thing is fix"]),
    "to refer": ([outcome("done", finding("refer"))], "refer", ["thing is refer"]),
    "fix before refer": (
        [outcome("done", finding("refer", "b"), finding("fix", "a"))],
        "fix",
        ["a is fix", "b is refer"],
    ),
    "needed, not assessed": (
        [outcome("not assessed")], "refer", ["Is it so? Not assessed: too little time."]),
    "needed, in part": (
        [outcome("partial")], "refer", ["Is it so? Assessed only in part: too little time."]),
    "needed, failed": (
        [outcome("failed")], "refer", ["Is it so? The analysis failed: too little time."]),
    "fix despite a gap": (
        [outcome("partial", finding("fix"))],
        "fix",
        ["thing is fix", "Is it so? Assessed only in part: too little time."],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_decisions(name: str) -> None:
    outcomes, decision, texts = CASES[name]
    found, reasons = decide(subject(safe_tree()), outcomes)
    assert found == decision
    assert [r.text for r in reasons] == texts


def test_reasons_point_to_what_they_rest_on() -> None:
    outcomes = [outcome("done", finding("fix"), id_="one"), outcome("failed", id_="two")]
    _, reasons = decide(subject(safe_tree()), outcomes)
    assert [(r.analysis, r.finding) for r in reasons] == [("one", "test.thing"), ("two", None)]


def test_a_model_that_cannot_be_read_is_not_assessed() -> None:
    found, reasons = decide(subject(UNREADABLE), [outcome("not assessed")])
    assert found == "not assessed"
    assert reasons


@pytest.mark.parametrize("effect", ["fix", "refer"])
def test_what_an_unreadable_file_holds_still_counts(effect: str) -> None:
    outcomes = [outcome("done", finding(effect)), outcome("not assessed")]
    assert decide(subject(UNREADABLE), outcomes)[0] == effect


def only(monkeypatch: pytest.MonkeyPatch, *analyses: Analysis) -> None:
    # By its entry in sys.modules: the attribute `audit` of the package is the function.
    monkeypatch.setattr(sys.modules["glassleak.audit._audit"], "ANALYSES", analyses)


def test_a_failing_analysis_never_sinks_the_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Any) -> AnalysisResult:
        raise ZeroDivisionError("by chance")

    fine, _ = outcome("done", finding("note"), id_="fine")
    only(monkeypatch, Analysis("broken", "Does it work?", broken), fine)
    audit = gl.audit(safe_tree())
    assert [r.status for _, r in audit.outcomes] == ["failed", "done"]
    assert audit.outcomes[0][1].reason == "ZeroDivisionError: by chance"
    assert [f.id for f in audit.findings] == ["test.thing"]
    assert [a.id for a, _ in audit.not_assessed] == ["broken"]
    assert audit.verdict == "release", "nobody needed it"


def test_a_needed_analysis_that_fails_means_refer(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Any) -> AnalysisResult:
        raise MemoryError

    only(monkeypatch, Analysis("broken", "Does it work?", broken, needed=lambda _: True))
    audit = gl.audit(safe_tree())
    assert audit.verdict == "refer"
    assert "The analysis failed: MemoryError" in audit.reasons[0].text


def test_every_analysis_gets_what_was_supplied(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def look(given: Any) -> AnalysisResult:
        seen.append(given)
        return AnalysisResult("done")

    only(monkeypatch, Analysis("look", "What is there?", look))
    schema = gl.Schema([gl.Numeric("age", 0, 99, 1), gl.Binary("sex")])
    policy, calls = Policy(min_people=3), []
    audit = gl.audit(
        safe_tree(), schema=schema, policy=policy, budget_seconds=7, seed=5,
        progress=lambda name, state: calls.append((name, state)),
    )  # fmt: skip
    (given,) = seen
    assert given.schema is schema
    assert given.policy is policy
    assert given.seed == 5
    assert 0 < given.remaining() <= 7
    assert calls == [("look", "start"), ("look", "done")]
    assert audit.settings["schema"] == "given"
    assert audit.settings["data"] == "not given"
    assert audit.seconds >= audit.outcomes[0][1].seconds >= 0


def test_a_schema_file_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    only(monkeypatch, outcome()[0])
    path = tmp_path / "schema.toml"
    gl.Schema([gl.Numeric("age", 0, 99, 1), gl.Binary("sex")]).to_toml(path)
    assert gl.audit(safe_tree(), schema=path).settings["schema"] == "given"


def test_a_schema_of_other_columns_is_refused() -> None:
    with pytest.raises(SchemaError, match="lacks column 'age'"):
        gl.audit(safe_tree(), schema=gl.Schema([gl.Binary("sex")]))


@pytest.mark.parametrize("budget", [0, -1, float("nan"), float("inf")])
def test_budgets_that_are_none(budget: float) -> None:
    with pytest.raises(AuditError, match="budget_seconds"):
        gl.audit(safe_tree(), budget_seconds=budget)


@pytest.mark.parametrize("people", [0, -1, 2.5, True, "10"])
def test_thresholds_that_are_none(people: Any) -> None:
    with pytest.raises(AuditError, match="min_people"):
        Policy(min_people=people)


def test_real_analyses_reach_release_fix_and_refer() -> None:
    """Refer: each tree is harmless, but what they say together was not worked out in time."""
    safe = gl.audit(safe_tree(), budget_seconds=5)
    assert safe.verdict == "release", safe.reasons
    assert safe.reasons == ()
    assert gl.audit(tree(), budget_seconds=5).verdict == "fix"


def test_a_forest_is_not_released_on_the_size_of_its_leaves_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from glassleak.audit.analyses import ANALYSES

    def never(_: Any) -> AnalysisResult:
        return AnalysisResult("not assessed", reason="out of time")

    changed = [
        Analysis(a.id, a.question, never, a.needed) if a.id == "reconstruction" else a
        for a in ANALYSES
    ]
    only(monkeypatch, *changed)
    several = forest(safe_tree(), stump((35, 45), (35, 35)))
    assert gl.audit(several).verdict == "refer"
    assert gl.audit(safe_tree()).verdict == "release"


def test_quasi_identifiers_find_their_people() -> None:
    """Everybody's row follows from the leaves; age alone tells two of the three apart."""
    schema = gl.Schema([gl.Ordinal("age", 30, 31), gl.Binary("sex")])
    small = tree({1: (1, 0), 3: (0, 1), 4: (1, 0)})
    columns = {"schema": schema, "budget_seconds": 5}
    both = gl.audit(small, quasi_identifiers=["age", "sex"], **columns)
    found = next(f for f in both.findings if f.id == "reconstruction.rows").evidence
    assert found["certain_rows_alone_with_their_quasi_identifiers"] == 2
    age = gl.audit(small, quasi_identifiers=["age"], **columns)
    found = next(f for f in age.findings if f.id == "reconstruction.rows").evidence
    assert found["rows_alone_with_their_quasi_identifiers"] == 1
    assert found["certain_rows_alone_with_their_quasi_identifiers"] == 0
