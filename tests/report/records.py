"""Audit records for the tests of pages: real ones, and one with everything that can be in one."""

from __future__ import annotations

import copy
import json
import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import glassleak as gl
from glassleak.learners import GreedyRuleListClassifier, PrivateRuleListClassifier

Document = dict[str, Any]
COLUMNS = ("smoker", "urban", "married", "employed", "veteran", "insured", "female", "over 50")
KINDS = ("extra trees", "bagged forest", "tree with data", "rule list", "private", "unsupported")
PERSON = "Zaphod Q. Beeblebrox"


def real_audits() -> dict[str, Document]:
    """Model-only audits of small models, and one with data, after a trip through JSON."""
    rng = np.random.default_rng(0)
    x = pd.DataFrame(rng.integers(0, 2, (60, len(COLUMNS))), columns=list(COLUMNS))
    y = ((x["smoker"] + x["urban"] + rng.integers(0, 2, 60)) > 1).map({True: "ill", False: "well"})
    schema = gl.Schema([gl.Binary(name) for name in COLUMNS])
    models = {
        "extra trees": ExtraTreesClassifier(12, random_state=0),
        "bagged forest": RandomForestClassifier(2, max_depth=2, random_state=0),
        "tree with data": DecisionTreeClassifier(max_depth=3, random_state=0),
        "rule list": GreedyRuleListClassifier(),
        "private": PrivateRuleListClassifier(random_state=0),
        "unsupported": LogisticRegression(max_iter=500),
    }
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, model in models.items():
            data = x.assign(outcome=y) if "data" in name else None
            audit = gl.audit(model.fit(x, y), schema, data=data, budget_seconds=30)
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


def model(**changes: Any) -> Document:
    """A line of the summary of a folder."""
    return {
        "file": "a.skops", "verdict": "fix", "error": None, "reasons": ["Too few people"],
        "report": "a.skops.audit.json", "page": "a.skops.audit.html", "sha256": "ab" * 32,
        "kind": "Tree", "estimator": "DecisionTreeClassifier", "rows": 40, "trees": None,
        "fix": 1, "refer": 0, "notes": 2, "unanswered": 3, "seconds": 1.5, "attempts": 1,
    } | changes  # fmt: skip


def summary(*models: Document, **changes: Any) -> Document:
    """The summary of a folder."""
    outcomes = [m["verdict"] or "error" for m in models]
    order = ("fix", "refer", "error", "not assessed", "release")
    return copy.deepcopy({
        "format": "glassleak-fleet", "version": 1, "created": "2026-11-16T12:00:00+00:00",
        "tool": {"name": "glassleak", "version": "1.2.3"}, "folder": "models",
        "policy": [{"name": "min_people", "value": 10, "reason": "Because."}],
        "settings": {"budget_seconds": 60}, "worst": "fix",
        "totals": {name: outcomes.count(name) for name in order}, "models": list(models),
        "not_looked_at": 0, "seconds": 9.0,
    } | changes)  # fmt: skip
