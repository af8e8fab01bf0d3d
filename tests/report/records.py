"""Audit records for the tests of pages: real ones, and one with everything that can be in one."""

from __future__ import annotations

import copy
import json
import warnings
from typing import Any

from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import glassleak as gl
from glassleak import datasets
from glassleak.learners import GreedyRuleListClassifier, PrivateRuleListClassifier

Document = dict[str, Any]
KINDS = ("extra trees", "bagged forest", "tree with data", "rule list", "private", "unsupported")
PERSON = "Zaphod Q. Beeblebrox"


def real_audits() -> dict[str, Document]:
    """Model-only audits of small models, and one with data, after a trip through JSON."""
    adult = datasets.load("adult", variant="binary")
    x, y = adult.data.iloc[:120], adult.target.iloc[:120]
    models = {
        "extra trees": ExtraTreesClassifier(8, random_state=0),
        "bagged forest": RandomForestClassifier(4, max_depth=4, random_state=0),
        "tree with data": DecisionTreeClassifier(max_depth=3, random_state=0),
        "rule list": GreedyRuleListClassifier(),
        "private": PrivateRuleListClassifier(random_state=0),
        "unsupported": LogisticRegression(max_iter=500),
    }
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, model in models.items():
            data = x.assign(income=y) if "data" in name else None
            audit = gl.audit(model.fit(x, y), adult.schema, data=data, budget_seconds=4)
            found[name] = json.loads(audit.to_json())
    assert tuple(found) == KINDS
    return found


def exhibit(**changes: Any) -> Document:
    return {
        "id": "test.exhibit",
        "title": "What is seen",
        "caption": "How to read it.",
        "columns": ["trees", "at most (%)"],
        "rows": [[1, 90.0], [10, 40.5], [100, 2.0]],
        "chart": "line",
        "personal": False,
    } | changes


def finding(**changes: Any) -> Document:
    return {
        "id": "structure.small-groups",
        "title": "Fewer than 10 people in 3 leaves",
        "detail": "They stand out.",
        "effect": "fix",
        "remedy": "Prune",
        "evidence": {"people": 1234, "share_remaining": 0.25, "profiles": "9" * 30},
    } | changes


def analysis(**changes: Any) -> Document:
    return {
        "id": "structure",
        "question": "How small are the groups?",
        "status": "done",
        "exact": True,
        "seconds": 0.2,
        "reason": "",
        "assumptions": [],
        "findings": [],
        "exhibits": [],
    } | changes


def document(**changes: Any) -> Document:
    """A record with findings of every effect, charts, a table of people and open questions."""
    people = exhibit(
        id="reconstruction.sample",
        title="Rows of people",
        columns=["certainty", "class", "name"],
        rows=[["certain", 1, PERSON], ["90%", 0, "Trillian"]],
        chart="none",
        personal=True,
    )
    rows = finding(id="reconstruction.rows", title="Rows are proved", effect="refer")
    return copy.deepcopy(
        {
            "format": "glassleak-audit",
            "version": 1,
            "created": "2026-11-16T12:00:00+00:00",
            "tool": {"name": "glassleak", "version": "1.2.3", "python": "3.11", "platform": "x",
                     "libraries": {"numpy": "2.0"}},
            "model": {"name": "model.skops", "container": "skops", "sha256": "ab" * 32,
                      "bytes": 12_345, "protection": [], "supported": True, "problem": None,
                      "kind": "Forest", "library": "sklearn", "library_version": "1.9",
                      "estimator": "RandomForestClassifier", "settings": {"max_depth": 3},
                      "notes": ["a note of the reader"], "rows": 4321, "columns": 7,
                      "classes": ["no", "yes"], "trees": 3, "rules": None, "counts": "exact",
                      "bagging": "unknown"},
            "policy": [{"name": "min_people", "value": 10, "reason": "Because of groups."}],
            "settings": {"budget_seconds": 60, "seed": 0, "trust": "none",
                         "schema": "not given", "data": "not given"},
            "verdict": {"decision": "refer", "reasons": [
                {"text": "Rows are proved", "analysis": "reconstruction",
                 "finding": "reconstruction.rows"},
                {"text": "Fewer than 10 people in 3 leaves", "analysis": "structure",
                 "finding": "structure.small-groups"},
                {"text": "Is it open? Not assessed: no data.", "analysis": "membership",
                 "finding": None}]},
            "analyses": [
                analysis(findings=[finding(), finding(effect="note", title="By the way"),
                                   finding(title="Fewer than 10 people elsewhere")],
                         assumptions=["one row is one person"],
                         exhibits=[exhibit(chart="bar", rows=[["1", 7], ["2 to 4", 0]])]),
                analysis(id="reconstruction", question="What comes back?", status="partial",
                         reason="the budget ended", findings=[rows], exhibits=[people, exhibit()]),
                analysis(id="membership", question="Is it open?", status="not assessed",
                         exact=False, reason="no data"),
            ],
            "not_assessed": [
                {"analysis": "reconstruction", "question": "What comes back?",
                 "reason": "the budget ended"},
                {"analysis": "membership", "question": "Is it open?", "reason": "no data"}],
            "seconds": 3.5,
        } | changes
    )  # fmt: skip
