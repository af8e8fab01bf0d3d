"""The audit's question about people one knows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import glassleak as gl
from glassleak.learners import ID3Classifier

PEOPLE = pd.DataFrame(
    [line.split() for line in """Masters USA Female low
        Masters USA Male high
        Masters Canada Male low
        Masters Canada Male low
        Masters Canada Female low
        Masters Canada Female high
        Doctorate Canada Female high
        Doctorate Canada Female high
        Doctorate USA Male low
        Doctorate USA Male high
        Doctorate USA Female high""".splitlines()],
    columns=["education", "country", "gender", "salary"],
)  # fmt: skip


def outcome(report):
    return next(result for analysis, result in report.outcomes if analysis.id == "disclosure")


@pytest.fixture(scope="module")
def tree():
    return ID3Classifier(min_samples_split=3).fit(PEOPLE.drop(columns="salary"), PEOPLE["salary"])


def test_with_data_it_is_answered(tree):
    result = outcome(gl.audit(tree, data=PEOPLE, budget_seconds=30))
    assert result.status == "done"
    (finding,) = result.findings
    assert finding.id == "disclosure.known-people"
    assert "lower means that more is disclosed" in finding.detail
    assert finding.evidence["d_overall"] == pytest.approx(0.0775, abs=5e-5)
    # Two people in a mixed leaf whose salary the choice of splits gives away.
    assert finding.evidence["certain_in_mixed_leaves"] == 2
    assert finding.effect == "fix"
    lenient = gl.Policy(allow_pure_leaves=True)
    allowed = outcome(gl.audit(tree, data=PEOPLE, policy=lenient, budget_seconds=30))
    assert allowed.findings[0].effect == "note"


def test_without_data_it_says_why_not(tree):
    result = outcome(gl.audit(tree, budget_seconds=30))
    assert result.status == "not assessed"
    assert "training data" in result.reason
    assert not result.findings


def test_without_the_class_nothing_is_said_about_right_and_wrong(tree):
    result = outcome(gl.audit(tree, data=PEOPLE.drop(columns="salary"), budget_seconds=30))
    assert result.findings[0].evidence["likely_right"] is None
    twice = PEOPLE.assign(copy=PEOPLE["salary"])
    ambiguous = outcome(gl.audit(tree, data=twice, budget_seconds=30))
    assert ambiguous.findings[0].evidence["d_overall"] is None


@pytest.mark.parametrize(
    "data",
    [PEOPLE.iloc[:5], PEOPLE.drop(columns="gender"), PEOPLE.assign(gender="other")],
    ids=["not everybody", "a column missing", "unknown values"],
)
def test_data_that_do_not_fit_are_no_failure(tree, data):
    result = outcome(gl.audit(tree, data=data, budget_seconds=30))
    assert result.status == "not assessed"
    assert result.reason


def test_bagged_forests_are_not_assessed(ask_only):
    ask_only("disclosure")
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(0, 2, (60, 3)), columns=["a", "b", "c"])
    forest = RandomForestClassifier(3, random_state=0).fit(table, rng.integers(0, 2, 60))
    result = outcome(gl.audit(forest, data=table, budget_seconds=10))
    assert result.status == "not assessed"


def test_the_class_is_not_taken_for_a_column_with_lists():
    table = pd.DataFrame({"a": [0, 0, 1, 1, 1]})
    fitted = DecisionTreeClassifier(max_depth=1).fit(table, [0, 1, 1, 1, 1])
    odd = table.assign(odd=[[0]] * 5, y=[0, 1, 1, 1, 1])
    result = outcome(gl.audit(fitted, data=odd, budget_seconds=10))
    assert result.findings[0].evidence["likely_right"] == 3
