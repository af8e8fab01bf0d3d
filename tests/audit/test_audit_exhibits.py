"""The tables behind the findings: what they show, and that they add up."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from tiny_models import safe_tree

import glassleak as gl
from glassleak.audit.analyses._reconstruction_exhibits import by_size, readable_rows

RNG = np.random.default_rng(1)
TABLE = pd.DataFrame(RNG.integers(0, 2, (60, 3)), columns=["a", "b", "c"])
LEVEL = RNG.integers(0, 3, 60)
for _i, _name in enumerate(("red", "green", "blue")):
    TABLE[f"colour_{_name}"] = np.equal(LEVEL, _i).astype(int)
TARGET = np.where(RNG.random(60) < 0.3 + 0.4 * TABLE["a"], "yes", "no")
SCHEMA = gl.Schema(
    [gl.Binary("a"), gl.Binary("b"), gl.Binary("c"),
     gl.Categorical("colour", columns=["colour_red", "colour_green", "colour_blue"])]
)  # fmt: skip


def exhibits(model: Any, **options: Any) -> dict[str, Any]:
    audit = gl.audit(model, **{"schema": SCHEMA, "budget_seconds": 10} | options)
    json.loads(audit.to_json())
    return {e.id: e for _, result in audit.outcomes for e in result.exhibits}


@pytest.fixture(scope="module")
def extra() -> dict[str, Any]:
    return exhibits(ExtraTreesClassifier(20, random_state=0).fit(TABLE, TARGET))


def test_sample_rows_are_training_rows(extra: dict[str, Any]) -> None:
    sample = extra["reconstruction.sample"]
    assert sample.personal
    assert sample.columns == ("certainty", "people alike", "class", "a", "b", "c", "colour")
    colours = np.array(["red", "green", "blue"])[LEVEL]
    people = list(zip(TARGET, TABLE["a"], TABLE["b"], TABLE["c"], colours, strict=True))
    assert sample.rows
    for certainty, alike, *row in sample.rows:
        if certainty == "certain":
            assert people.count(tuple(row)) >= 1
            assert people.count(tuple(row)) == alike
    assert len({row[2:] for row in sample.rows}) == len(sample.rows), "each is shown once"


def test_certainty_adds_up(extra: dict[str, Any]) -> None:
    for name in ("reconstruction.certainty", "exposure.people"):
        assert sum(number for _, number in extra[name].rows) == 60
        assert extra[name].chart == "bar"


def test_uncertainty_falls_tree_by_tree(extra: dict[str, Any]) -> None:
    curve = extra["uncertainty.by_trees"]
    assert [row[0] for row in curve.rows] == [1, 2, 5, 10, 20]
    assert curve.chart == "line"
    highs = [high for _, _, high in curve.rows]
    assert highs == sorted(highs, reverse=True)
    assert all(0 <= low <= high <= 100 for _, low, high in curve.rows)


def test_stored_seeds_tell_the_place_of_a_row() -> None:
    forest = RandomForestClassifier(30, random_state=0).fit(TABLE, TARGET)
    shown = exhibits(forest)
    sample = shown["reconstruction.sample"]
    assert sample.columns[0] == "training row"
    for place, certainty, _, label, a, *_rest in sample.rows:
        if certainty == "certain":
            assert TARGET[place - 1] == label
            assert TABLE["a"][place - 1] == a
    assert shown["uncertainty.by_trees"].columns == ("trees", "at most (%)")
    assert shown["artefacts.kept"].rows[0][0] == "bootstrap seeds"


def test_group_sizes_add_up() -> None:
    tree = DecisionTreeClassifier(random_state=0).fit(TABLE, TARGET)
    shown = exhibits(tree)
    sizes = shown["structure.group_sizes"]
    assert sum(people for _, _, people in sizes.rows) == 60
    assert sum(leaves for _, leaves, _ in sizes.rows) == tree.get_n_leaves()
    assert sum(people for _, people in shown["exposure.people"].rows) == 60


def test_rows_nobody_would_bet_on_are_not_shown() -> None:
    shown = exhibits(safe_tree(), schema=None)
    assert "reconstruction.sample" not in shown
    assert shown["reconstruction.certainty"].rows[-1] == ("open (under 50%)", 150)


def test_one_hot_columns_read_as_names() -> None:
    table = TABLE.head(3).copy()
    table.loc[0, ["colour_red", "colour_green", "colour_blue"]] = 0
    read = readable_rows(table, SCHEMA)
    assert read.columns.tolist() == ["a", "b", "c", "colour"]
    assert read["colour"][0] == "none of them"
    assert set(read["colour"][1:]) <= {"red", "green", "blue"}


def test_size_classes_cover_everything() -> None:
    sizes = np.arange(1, 201)
    rows = by_size(sizes, np.ones(200, dtype=int))
    assert [name for name, _ in rows] == ["1", "2 to 4", "5 to 9", "10 to 49", "50 or more"]
    assert [number for _, number in rows] == [1, 3, 5, 40, 151]


def test_numbers_are_shown_although_their_last_digits_are_open(ask_only: Any) -> None:
    ask_only("reconstruction")
    table = pd.DataFrame(np.random.default_rng(2).normal(size=(40, 2)), columns=["x", "z"])
    forest = ExtraTreesClassifier(30, random_state=0).fit(table, table["x"] > 0)
    sample = exhibits(forest, schema=None, budget_seconds=8).get("reconstruction.sample")
    assert sample is not None
    assert {row[0] for row in sample.rows} <= {"approximate", "certain"}
    assert "approximate" in sample.caption
    stumps = ExtraTreesClassifier(3, max_depth=1, random_state=0).fit(table, table["x"] > 0)
    shown = exhibits(stumps, schema=None, budget_seconds=5)
    assert "reconstruction.sample" not in shown, "many other tables fit as well"
