"""Group sizes on models small enough to count by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tiny_models import counts_of, forest, rules, safe_tree, stump, subject, tree

from glassleak.audit import AnalysisResult, Policy
from glassleak.audit.analyses import ANALYSES
from glassleak.models import Bagging, Exact, Missing, Noisy, Provenance

STRUCTURE = next(a for a in ANALYSES if a.id == "structure")


def run(model: Any, **policy: Any) -> AnalysisResult:
    return STRUCTURE.run(subject(model, Policy(**policy)))


def evidence(result: AnalysisResult, topic: str) -> dict[str, Any] | None:
    found = [f for f in result.findings if f.id == f"structure.{topic}"]
    assert len(found) <= 1
    return dict(found[0].evidence) if found else None


def effect(result: AnalysisResult, topic: str) -> str:
    return next(f.effect for f in result.findings if f.id == f"structure.{topic}")


def test_a_tree_by_hand() -> None:
    result = run(tree())
    assert result.status == "done"
    assert result.exact
    assert evidence(result, "shape") == {
        "groups": 3, "trees": 1, "people": 37, "smallest": 1, "median": 15.0,
        "classes": 2, "columns": 2,
    }  # fmt: skip
    assert evidence(result, "small-groups") == {
        "groups": 1, "people": 1, "of_people": 37, "tree": 0, "mean_people": 1.0,
        "threshold": 10, "people_alone": 1, "groups_of_one": 1,
    }  # fmt: skip
    assert evidence(result, "pure-groups") == {
        "groups": 2, "people": 16, "of_people": 37, "tree": 0, "mean_people": 16.0,
    }  # fmt: skip
    assert evidence(result, "small-classes") == {
        "groups": 1, "people": 21, "of_people": 37, "tree": 0, "mean_people": 21.0,
        "threshold": 10,
    }  # fmt: skip
    assert {effect(result, t) for t in ("small-groups", "pure-groups", "small-classes")} == {"fix"}
    assert effect(result, "shape") == "note"
    words = " ".join(f.title + f.detail for f in result.findings)
    assert "16 of 37 people (43%)" in words
    assert "tree 0" not in words, "a single tree needs no number"


def test_a_safe_tree_has_nothing_to_report_but_its_shape() -> None:
    result = run(safe_tree())
    assert result.status == "done"
    assert [f.id for f in result.findings] == ["structure.shape"]


@pytest.mark.parametrize(
    ("limit", "groups", "people", "classes"),
    [(1, 0, 0, 0), (2, 1, 1, 0), (9, 1, 1, 0), (10, 1, 1, 1), (15, 1, 1, 1), (16, 2, 16, 1),
     (22, 3, 37, 0)],
)  # fmt: skip
def test_the_threshold_decides(limit: int, groups: int, people: int, classes: int) -> None:
    """Small classes are looked for in groups that are themselves large enough."""
    result = run(tree(), min_people=limit)
    small = evidence(result, "small-groups")
    assert (small or {"groups": 0})["groups"] == groups
    assert (small or {"people": 0})["people"] == people
    assert (evidence(result, "small-classes") or {"groups": 0})["groups"] == classes


def test_what_the_policy_allows_is_only_noted() -> None:
    result = run(tree(), allow_pure_leaves=True, allow_small_classes=True)
    assert effect(result, "pure-groups") == "note"
    assert effect(result, "small-classes") == "note"
    assert effect(result, "small-groups") == "fix"


def test_empty_leaves_describe_nobody() -> None:
    result = run(stump((0, 0), (40, 25)))
    assert evidence(result, "shape") is not None
    assert evidence(result, "shape")["smallest"] == 65  # type: ignore[index]
    assert evidence(result, "small-groups") is None
    assert evidence(result, "pure-groups") is None


def test_one_class_is_no_secret() -> None:
    counts = Exact(np.array([[50], [20], [30]]))
    result = run(stump((1, 1), (1, 1), classes=("all",), counts=counts))
    assert evidence(result, "pure-groups") is None


def test_rules_by_hand() -> None:
    result = run(rules(Exact(np.array([[3, 4], [20, 0], [30, 11]]))))
    assert evidence(result, "small-groups") == {
        "groups": 1, "people": 7, "of_people": 68, "tree": 0, "mean_people": 7.0,
        "threshold": 10, "people_alone": 0, "groups_of_one": 0,
    }  # fmt: skip
    assert evidence(result, "pure-groups")["people"] == 20  # type: ignore[index]
    assert evidence(result, "small-classes") is None
    assert "Fewer than 10 people in 1 rule" in [f.title for f in result.findings]


def test_a_forest_is_as_bad_as_its_worst_tree() -> None:
    mild = stump((4, 5), (40, 51))
    result = run(forest(mild, stump((2, 0), (42, 56)), stump((20, 24), (24, 32))))
    small = evidence(result, "small-groups")
    assert small is not None
    assert (small["groups"], small["people"], small["tree"]) == (2, 9, 0)
    assert small["mean_people"] == pytest.approx((9 + 2 + 0) / 3)
    assert (small["people_alone"], small["of_people"]) == (0, 100)
    pure = evidence(result, "pure-groups")
    assert pure is not None
    assert (pure["groups"], pure["people"], pure["tree"]) == (1, 2, 1)
    assert any("in tree 1 alone" in f.detail for f in result.findings)


def test_the_worst_tree_keeps_its_number_when_others_say_nothing() -> None:
    silent = stump((1, 1), (1, 1), counts=Missing("stripped"))
    result = run(forest(silent, stump((2, 0), (42, 56)), n_rows=100))
    assert evidence(result, "small-groups")["tree"] == 1  # type: ignore[index]
    assert result.status == "partial"
    assert result.reason == "stripped"


def test_people_and_not_drawn_rows_are_counted_under_bagging() -> None:
    drawn = stump((14, 20), (30, 36), distinct_rows=np.array([60, 9, 51]))
    result = run(forest(drawn, bagging=Bagging("unknown", 100), n_rows=100))
    small = evidence(result, "small-groups")
    assert small is not None
    assert (small["people"], small["of_people"]) == (9, 60)


def test_repeated_rows_may_hide_a_small_class() -> None:
    # 42 rows of 30 people: the 12 of the second class may be one person drawn 12 times.
    drawn = stump((30, 12), (60, 60), distinct_rows=np.array([100, 30, 70]))
    result = run(forest(drawn, bagging=Bagging("unknown", 162), n_rows=162))
    assert evidence(result, "small-classes") is None
    assert result.status == "partial"
    assert "drawn more than once" in result.reason
    clear = stump((30, 22), (60, 60), distinct_rows=np.array([140, 40, 100]))
    assert run(forest(clear, bagging=Bagging("unknown", 172), n_rows=172)).status == "done"


def test_drawn_rows_alone_do_not_say_how_many_people() -> None:
    bagging = Bagging("unknown", 150)
    result = run(forest(safe_tree(), bagging=bagging, n_rows=150))
    assert result.status == "partial"
    assert "drawn more than once" in result.reason
    small = run(forest(stump((1, 1), (60, 60)), bagging=bagging, n_rows=150))
    assert evidence(small, "small-groups") is not None, "2 draws are at most 2 people"


def test_rows_without_classes_are_assessed_in_part() -> None:
    rows = np.array([40, 7, 33])
    result = run(stump((1, 1), (1, 1), counts=Missing("only totals are published"), rows=rows))
    assert result.status == "partial"
    assert result.reason == "only totals are published"
    assert evidence(result, "small-groups")["people"] == 7  # type: ignore[index]
    assert evidence(result, "pure-groups") is None


def test_without_counts_the_splits_still_speak() -> None:
    result = run(rules(Missing("rules and predictions only")))
    assert result.status == "done"
    assert [f.id for f in result.findings] == ["structure.no-counts"]
    assert "rules and predictions only" in result.findings[0].detail
    assert "at least one training row" in result.assumptions[0]


def test_a_leaf_that_one_profile_reaches_proves_a_person() -> None:
    silent = tree(counts=Missing("removed"), threshold=[0.5, np.nan, 0.5, np.nan, np.nan])
    found = {f.id: f for f in run(silent).findings}
    pinned = found["structure.single-profiles"]
    assert pinned.effect == "refer"
    assert pinned.evidence["groups"] == 2, "the first leaf leaves both sexes open"
    large = Provenance(settings={"min_samples_leaf": 10})
    crowded = run(tree(counts=Missing("removed"), threshold=silent.threshold, provenance=large))
    assert effect(crowded, "single-profiles") == "note"


def test_labels_of_leaves_grown_until_pure_are_everybodys_class() -> None:
    grown = Provenance(settings={"max_depth": None, "min_samples_leaf": 1, "ccp_alpha": 0.0})
    silent = tree(counts=Missing("removed"), provenance=grown)
    effects = {f.id: f.effect for f in run(silent).findings}
    assert effects["structure.grown-until-pure"] == "refer"
    effects = {f.id: f.effect for f in run(silent, allow_pure_leaves=True).findings}
    assert effects["structure.grown-until-pure"] == "note"
    pruned = Provenance(settings={"max_depth": 3, "min_samples_leaf": 1})
    silent = tree(counts=Missing("removed"), provenance=pruned)
    assert "structure.grown-until-pure" not in {f.id for f in run(silent).findings}


def test_classes_nobody_has() -> None:
    three = {"classes": ("a", "b", "c"), "counts": Exact(counts_of(
        {1: (20, 20, 20), 3: (20, 20, 0), 4: (15, 0, 0)}))}  # fmt: skip
    found = run(tree(**three))
    assert evidence(found, "absent-classes")["people"] == 40  # type: ignore[index]
    assert evidence(found, "pure-groups")["people"] == 15  # type: ignore[index]
    effect = {f.id: f.effect for f in found.findings}["structure.absent-classes"]
    assert effect == "fix"
    allowed = run(tree(**three), zeros_are_disclosive=False)
    assert {f.id: f.effect for f in allowed.findings}["structure.absent-classes"] == "note"


def test_degrees_of_freedom() -> None:
    # Two parameters for each of two splits, one for each of three leaves, 12 rows.
    few = run(tree({1: (2, 2), 3: (2, 2), 4: (2, 2)}))
    found = evidence(few, "degrees-of-freedom")
    assert found is not None
    assert (found["parameters"], found["degrees_of_freedom"]) == (7, 5)
    assert evidence(run(safe_tree()), "degrees-of-freedom") is None
    several = forest(*[safe_tree()] * 40)
    effects = {f.id: f.effect for f in run(several).findings}
    assert effects["structure.degrees-of-freedom"] == "note"
    effects = {f.id: f.effect for f in run(several, forests_need_degrees_of_freedom=True).findings}
    assert effects["structure.degrees-of-freedom"] == "refer"


def test_noise_is_not_taken_for_people() -> None:
    noisy = Noisy(np.array([[3.2, -1.0], [20.0, 0.1], [30.0, 11.0]]), 1.0, "laplace")
    result = run(rules(noisy))
    assert result.status == "not assessed"
    assert "noise" in result.reason


def test_exact_rows_beside_noisy_classes_still_count() -> None:
    noisy = Noisy(np.array([[30.0, 9.7], [3.1, 3.3], [27.2, 6.0]]), 1.0, "laplace")
    rows = np.array([40, 7, 33])
    result = run(stump((1, 1), (1, 1), counts=noisy, rows=rows))
    assert result.status == "partial"
    assert "noise" in result.reason
    assert evidence(result, "small-groups")["people"] == 7  # type: ignore[index]


def test_an_unreadable_model_passes_its_reason_on() -> None:
    result = STRUCTURE.run(subject({"some": "document"}))
    assert result.status == "not assessed"
    assert "no model glassleak knows" in result.reason
