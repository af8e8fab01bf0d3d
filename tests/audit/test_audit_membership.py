"""Membership in the audit: asked when training data and a hold-out are there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import glassleak as gl
from glassleak.errors import AuditError

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def membership_only(ask_only: Any) -> None:
    """The command line's tests ask it among all the others."""
    ask_only("membership")


def people(n: int) -> pd.DataFrame:
    table = pd.DataFrame(RNG.normal(size=(n, 5)), columns=list("abcde"))
    return table.assign(y=(table["a"] + RNG.normal(size=n) > 0).map({True: "yes", False: "no"}))


TRAIN, OTHERS = people(300), people(300)


def fitted(**settings: Any) -> Any:
    tree = DecisionTreeClassifier(random_state=0, **settings)
    return tree.fit(TRAIN.drop(columns="y"), TRAIN["y"])


def answer(model: Any, **options: Any) -> Any:
    asked = {"data": TRAIN, "holdout": OTHERS, "target": "y"} | options
    audit = gl.audit(model, budget_seconds=10, **asked)
    return next(r for a, r in audit.outcomes if a.id == "membership")


def test_memorised_people_are_told_from_others() -> None:
    result = answer(fitted())
    assert result.status == "done"
    assert not result.exact
    (finding,) = result.findings
    assert finding.effect == "refer"
    assert finding.evidence["auc"]["confidence"] > 0.6
    assert finding.evidence["auc_low"]["confidence"] < finding.evidence["auc"]["confidence"]
    (exhibit,) = result.exhibits
    assert exhibit.chart == "line"
    assert exhibit.rows[-1][1:] == (100.0, 100.0)
    lenient = gl.Policy(max_membership_auc=1.0, max_members_found=1.0)
    assert answer(fitted(), policy=lenient).findings[0].effect == "note"


def test_large_leaves_hide_members() -> None:
    finding = answer(fitted(max_depth=1, min_samples_leaf=50)).findings[0]
    assert finding.effect == "note"
    assert finding.evidence["auc"]["confidence"] < 0.6


def test_a_file_is_asked_without_running_it(tmp_path: Any) -> None:
    skops.io.dump(fitted(), tmp_path / "tree.skops")
    stored, live = answer(tmp_path / "tree.skops"), answer(fitted())
    assert stored.findings[0].evidence == live.findings[0].evidence


def test_a_sanitised_model_still_says_its_shares() -> None:
    forest = RandomForestClassifier(5, random_state=0)
    forest.fit(TRAIN.drop(columns="y"), TRAIN["y"])
    clean = gl.sanitise(forest, keep=("predict_proba",))
    told = answer(forest).findings[0].evidence["auc"]
    assert answer(clean).findings[0].evidence["auc"] == told
    assert answer(gl.read(clean)).findings[0].evidence["auc"] == told


def test_what_a_description_does_not_answer_the_estimator_does() -> None:
    table = TRAIN.drop(columns="y")
    weights = np.linspace(1, 2, len(table))
    weighted = DecisionTreeClassifier(max_depth=3).fit(table, TRAIN["y"], sample_weight=weights)
    assert answer(weighted).status == "done"
    from_description = answer(gl.read(weighted))
    assert from_description.status == "not assessed"
    assert "give the estimator itself" in from_description.reason


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"holdout": None}, "needs the training data and a hold-out"),
        ({"data": None, "holdout": None, "target": None}, "needs the training data"),
        ({"data": TRAIN.drop(columns="e")}, "have no column 'e'"),
        ({"holdout": OTHERS.iloc[:0]}, "have no rows"),
        ({"holdout": OTHERS.assign(a="x")}, "not in the form the model was trained on"),
        ({"holdout": OTHERS.assign(y="perhaps")}, "'perhaps', which is no class"),
        (
            {"target": None, "data": TRAIN.assign(z=TRAIN["y"]), "holdout": OTHERS},
            "which column of the data is the class",
        ),
    ],
)
def test_tables_that_do_not_fit(options: dict[str, Any], words: str) -> None:
    result = answer(fitted(max_depth=2), **options)
    assert result.status == "not assessed"
    assert words in result.reason


def test_labels_may_be_spelled_as_a_file_spells_them() -> None:
    tree = DecisionTreeClassifier(random_state=0)
    tree.fit(TRAIN.drop(columns="y"), (TRAIN["y"] == "yes").astype(int).astype(str))
    numbers = {"yes": 1.0, "no": 0.0}
    tables = {
        "data": TRAIN.assign(y=TRAIN["y"].map(numbers)),
        "holdout": OTHERS.assign(y=OTHERS["y"].map(numbers)),
    }
    assert answer(tree, **tables).status == "done"


def test_what_cannot_be_meant() -> None:
    with pytest.raises(AuditError, match="give both"):
        gl.audit(fitted(), holdout=OTHERS)
    with pytest.raises(AuditError, match="no column 'z'"):
        gl.audit(fitted(), data=TRAIN, target="z")
    with pytest.raises(AuditError, match="needs data"):
        gl.audit(fitted(), target="y")
    with pytest.raises(AuditError, match="no column 'sex'"):
        gl.audit(fitted(), quasi_identifiers=["sex"])
