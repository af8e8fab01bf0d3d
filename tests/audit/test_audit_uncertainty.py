"""What the audit says about the uncertainty that remains, and when it says nothing."""

from __future__ import annotations

import dataclasses

import numpy as np
from tiny_models import rules, safe_tree, stump, subject, tree

import glassleak as gl
from glassleak.audit.analyses._uncertainty import UNCERTAINTY
from glassleak.models import Exact, Missing, Tree

PEOPLE = gl.Schema([gl.Ordinal("age", 18, 90), gl.Binary("sex")])


def ask(model: object, schema: gl.Schema | None = PEOPLE, policy: gl.Policy | None = None):
    return UNCERTAINTY.run(dataclasses.replace(subject(model, policy), schema=schema))


def test_what_remains_in_plain_words() -> None:
    result = ask(safe_tree())
    (finding,) = result.findings
    # 65 people with 13 ages, 85 with 60, and either sex.
    assert (result.status, result.exact, finding.effect) == ("done", True, "note")
    assert finding.title == (
        "Given the model, 6.0 of 7.2 bits per person remain to be guessed (83%)"
    )
    assert "Nobody is left with a single possible profile" in finding.detail
    assert finding.evidence["profiles"] == "146"
    assert finding.remedy == ""


def test_people_whose_every_value_follows_are_to_fix() -> None:
    schema = gl.Schema([gl.Ordinal("age", 30, 31), gl.Binary("sex")])
    (finding,) = ask(tree(), schema).findings
    assert finding.effect == "fix"
    assert finding.evidence["people_with_one_profile"] == 16
    assert finding.evidence["people_with_one_profile_in_small_groups"] == 1
    assert finding.remedy
    # Fifteen people in one cell of a table are nobody in particular.
    crowd = tree({1: (12, 9), 3: (10, 0), 4: (15, 0)})
    assert ask(crowd, schema).findings[0].effect == "note"
    strict = gl.Policy(min_people=20)
    assert ask(crowd, schema, strict).findings[0].effect == "fix"


def test_ranges_a_model_does_not_show_are_not_guessed() -> None:
    result = ask(tree(), None)
    assert result.status == "not assessed"
    assert "'age' has no declared range" in result.reason
    assert not result.findings


def test_numbers_without_a_resolution() -> None:
    schema = gl.Schema([gl.Numeric("age", 18, 90), gl.Binary("sex")])
    result = ask(tree(), schema)
    assert result.status == "not assessed"
    assert "'age' has no declared resolution" in result.reason


def test_yes_no_columns_need_no_schema() -> None:
    model = stump((40, 25), (30, 55), threshold=[0.5, np.nan, np.nan])
    result = ask(model, None)
    assert result.status == "done"
    assert "inferred" in result.assumptions[0]


def test_no_counts_no_answer() -> None:
    result = ask(stump((1, 1), (1, 1), counts=Missing("they were removed")))
    assert result.status == "not assessed"
    assert "they were removed" in result.reason


def test_a_schema_the_model_contradicts() -> None:
    result = ask(tree(), gl.Schema([gl.Ordinal("age", 40, 90), gl.Binary("sex")]))
    assert result.status == "not assessed"
    assert "no profile of the schema can reach it" in result.reason


def test_rule_lists_are_assessed() -> None:
    result = ask(rules(Exact(np.array([[10, 20], [30, 5], [40, 2]]))))
    assert result.status == "done"
    assert result.findings[0].evidence["people"] == 107


def test_an_empty_training_set() -> None:
    model = Tree(
        ("age", "sex"), ("no", "yes"), [-1], [np.nan], [-1], [-1],
        Exact(np.zeros((1, 2), dtype=np.int64)),
    )  # fmt: skip
    assert ask(model).findings[0].title == "The training set is empty"
