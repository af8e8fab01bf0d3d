"""When the second of two audits is worse, and when that is not known."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import glassleak as gl
from glassleak.compare import compare_records


@pytest.fixture(scope="module")
def records() -> dict[str, dict[str, Any]]:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (300, 12)).astype(float), rng.integers(0, 2, 300)
    deep = DecisionTreeClassifier(random_state=0).fit(X, y)
    large = DecisionTreeClassifier(max_depth=2, min_samples_leaf=40, random_state=0).fit(X, y)
    models = {
        "deep": deep,
        "large": large,
        "clean": gl.sanitise(deep),
        "seeded": RandomForestClassifier(3, random_state=0).fit(X, y),
        "other": LogisticRegression().fit(X, y),
    }
    return {k: gl.audit(m, budget_seconds=10).to_document() for k, m in models.items()}


def test_the_same_is_not_worse(records: dict[str, Any]) -> None:
    for record in records.values():
        found = compare_records(record, record)
        assert not found.worse
        assert found.gone == found.new == found.changed == ()


def test_a_graver_verdict_is_worse_and_a_milder_one_is_not(records: dict[str, Any]) -> None:
    better = compare_records(records["deep"], records["large"])
    assert better.verdicts == ("fix", "release")
    assert not better.worse
    assert any(c.finding == "structure.small-groups" for c in better.gone)
    worse = compare_records(records["large"], records["deep"])
    assert worse.worse
    assert "graver" in worse.reasons[0]
    assert {c.finding for c in worse.new} == {c.finding for c in better.gone}


def test_a_sanitised_copy_is_not_worse(records: dict[str, Any]) -> None:
    found = compare_records(records["deep"], records["clean"])
    assert found.counts == ("exact", "missing")
    assert not found.worse


def test_what_was_not_assessed_is_not_shown_to_be_better(records: dict[str, Any]) -> None:
    found = compare_records(records["deep"], records["other"])
    assert found.verdicts[1] == "not assessed"
    assert found.worse
    assert not compare_records(records["other"], records["deep"]).worse


def test_with_equal_verdicts_the_figures_decide(records: dict[str, Any]) -> None:
    more = copy.deepcopy(records["deep"])
    for analysis in more["analyses"]:
        for finding in analysis["findings"]:
            if finding["id"] == "reconstruction.rows":
                finding["evidence"]["certain_rows"] += 1
    found = compare_records(records["deep"], more)
    assert found.worse
    assert "proved" in found.reasons[0]
    assert not compare_records(more, records["deep"]).worse


def test_with_equal_verdicts_a_new_thing_to_fix_is_worse(records: dict[str, Any]) -> None:
    found = compare_records(records["deep"], records["seeded"])
    assert found.verdicts == ("fix", "fix")
    assert found.worse
    assert any("artefacts.bootstrap-seeds" in c.finding for c in found.new)


def test_findings_of_one_kind_at_two_places_are_told_apart(records: dict[str, Any]) -> None:
    twice = copy.deepcopy(records["seeded"])
    listed = next(a["findings"] for a in twice["analyses"] if a["id"] == "artefacts")
    second = copy.deepcopy(listed[0])
    second["evidence"]["where"] = "elsewhere"
    listed.append(second)
    found = compare_records(records["seeded"], twice)
    assert any("elsewhere" in c.finding for c in found.new)
    # Even two that cannot be told apart do not get lost.
    listed.append(copy.deepcopy(second))
    assert len(compare_records(records["seeded"], twice).new) > len(found.new)
