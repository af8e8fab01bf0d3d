"""The set of possible tables: what is in it, drawing from it, pairing with it, writing it down."""

from __future__ import annotations

import json
from collections import Counter as Tally

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paper_examples import (
    LABELS_I,
    LABELS_III,
    SCHEMA_I,
    SCHEMA_III,
    TABLE_I,
    TABLE_III,
    figure_1,
    rule_list_1,
)
from scipy.stats import chisquare
from sklearn.tree import DecisionTreeClassifier

import glassleak as gl
from glassleak.errors import BudgetExhaustedError, ModelTooLargeError, SchemaError
from glassleak.models import Condition, Exact, Rule, RuleList
from glassleak.uncertainty import ProbabilisticDataset


def dataset_of(model: gl.Tree | gl.RuleList, schema: gl.Schema) -> ProbabilisticDataset:
    dataset = gl.uncertainty(model, schema).dataset
    assert dataset is not None
    return dataset


def test_order_does_not_matter_but_labels_and_values_do() -> None:
    dataset = dataset_of(figure_1(), SCHEMA_I)
    order = [2, 0, 3, 1]
    assert dataset.contains(TABLE_I.iloc[order], [LABELS_I[i] for i in order])
    assert dataset.contains(TABLE_I)
    assert not dataset.contains(TABLE_I, [1, 0, 0, 1])
    assert "class 0" in (dataset.why_not(TABLE_I, [1, 0, 0, 1]) or "")
    assert dataset.why_not(TABLE_I[:3]) == "3 rows, not 4"
    outside = TABLE_I.copy()
    outside.loc[0, "a1"] = 16
    assert dataset.why_not(outside) == "row 0 is no valid profile"
    moved = TABLE_I.copy()
    moved.loc[0, "a1"] = 10
    assert dataset.why_not(moved) == "leaf 3 holds 2 rows, not 1"


def test_wrong_tables_are_named() -> None:
    dataset = dataset_of(figure_1(), SCHEMA_I)
    with pytest.raises(SchemaError, match="lacks column 'a2'"):
        dataset.contains(TABLE_I[["a1", "a3"]])
    with pytest.raises(SchemaError, match="no class 7"):
        dataset.contains(TABLE_I, [0, 0, 1, 7])
    with pytest.raises(SchemaError, match="3 labels for 4 rows"):
        dataset.contains(TABLE_I, [0, 0, 1])
    with pytest.raises(SchemaError, match="'a1' is not numeric"):
        dataset.contains(TABLE_I.assign(a1="x"))


def worlds(dataset: ProbabilisticDataset, n: int, seed: int) -> Tally[str]:
    drawn = dataset.sample(n, seed, shuffle=False)
    return Tally(str(world.table.to_numpy().tolist()) for world in drawn)


def test_sampling_of_a_tree_is_uniform() -> None:
    tree = DecisionTreeClassifier(random_state=0).fit([[0, 0], [0, 1], [1, 1]], [0, 0, 1])
    schema = gl.Schema([gl.Binary("x0"), gl.Binary("x1")])
    model = gl.read(tree)
    assert isinstance(model, gl.Tree)
    dataset = dataset_of(model, schema)
    found = worlds(dataset, 1600, 1)
    assert len(found) == 8  # two profiles for each of three rows
    assert chisquare(list(found.values())).pvalue > 1e-3


def test_sampling_of_a_rule_list_is_uniform() -> None:
    dataset = dataset_of(rule_list_1(), SCHEMA_III)
    found = worlds(dataset, 4320, 2)
    assert len(found) == 2**2 * 3**2 * 3
    assert chisquare(list(found.values())).pvalue > 1e-3


def test_rare_profiles_are_drawn_by_counting() -> None:
    # Rule 20 captures 2 of 2**21 profiles: drawing and throwing away would be hopeless.
    n = 21
    rules = [Rule((Condition(i, low=0.5),), 1) for i in range(n - 1)]
    counts = np.zeros((n, 2), dtype=np.int64)
    counts[-1, 0] = 1
    model = RuleList(tuple(f"a{i}" for i in range(n)), (0, 1), (*rules, Rule((), 0)), Exact(counts))
    dataset = dataset_of(model, gl.Schema([gl.Binary(f"a{i}") for i in range(n)]))
    found = worlds(dataset, 400, 0)
    assert len(found) == 2
    assert chisquare(list(found.values())).pvalue > 1e-3


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_true_and_sampled_tables_are_possible(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({
        "age": rng.integers(18, 30, 40),
        "sex": rng.integers(0, 2, 40),
        "x": np.round(rng.random(40), 1),
    })  # fmt: skip
    labels = rng.integers(0, 3, 40)
    fitted = DecisionTreeClassifier(max_depth=4, random_state=0).fit(table, labels)
    schema = gl.Schema([
        gl.Ordinal("age", 18, 29), gl.Binary("sex"), gl.Numeric("x", 0, 1, 0.1),
    ])  # fmt: skip
    model = gl.read(fitted)
    assert isinstance(model, gl.Tree)
    dataset = dataset_of(model, schema)
    assert dataset.contains(table, labels)
    (world,) = dataset.sample(1, seed)
    assert dataset.contains(world.table, world.labels)
    assert dataset.align(world.table, world.labels).cost == 0


def test_categories_by_name_or_code() -> None:
    schema = gl.Schema([gl.Categorical("city", levels=["A", "B", "C"])])
    rules = RuleList(
        ("city",), (0, 1), (Rule((Condition(0, low=0.5),), 1), Rule((), 0)),
        Exact(np.array([[0, 2], [1, 0]])),
    )  # fmt: skip
    dataset = dataset_of(rules, schema)
    assert dataset.contains(pd.DataFrame({"city": ["B", "A", "C"]}), [1, 0, 1])
    assert dataset.contains(pd.DataFrame({"city": [1, 0, 2]}), [1, 0, 1])
    assert dataset.why_not(pd.DataFrame({"city": ["B", "A", "D"]})) == "row 2 is no valid profile"
    assert dataset.table["city"].tolist() == ["{B, C}", "A"]


def test_alignment_costs_what_differs() -> None:
    dataset = dataset_of(figure_1(), SCHEMA_I)
    aligned = dataset.align(TABLE_I, LABELS_I)
    assert aligned.cost == 0
    assert [dataset.lines[i].leaf for i in aligned.line] == [4, 4, 3, 1]
    moved = TABLE_I.copy()
    moved.loc[0, "a1"] = 10
    assert dataset.align(moved, LABELS_I).cost == 1
    assert dataset.align(TABLE_I, [1, 0, 1, 1]).cost == 1
    with pytest.raises(SchemaError, match="cannot be paired"):
        dataset.align(TABLE_I[:2])


def test_alignment_is_minimal_against_all_assignments() -> None:
    from itertools import permutations

    dataset = dataset_of(rule_list_1(), SCHEMA_III)
    rng = np.random.default_rng(1)
    slots = [line for line in dataset.lines for _ in range(line.rows)]
    model = rule_list_1()
    for _ in range(10):
        table = pd.DataFrame(rng.integers(0, 2, (5, 3)), columns=["a1", "a2", "a3"])
        labels = rng.integers(0, 2, 5)
        place = model.apply(table.to_numpy())

        def cost(row: int, slot: int, table=table, labels=labels, place=place) -> int:
            line = slots[slot]
            known = {0: {"a1": 1, "a2": 1}, 1: {"a3": 1}, 2: {"a3": 0}}[line.group]
            wrong = sum(table[name][row] != value for name, value in known.items())
            return max(wrong, int(place[row] != line.group)) + int(labels[row] != line.label)

        best = min(sum(cost(r, s) for r, s in enumerate(p)) for p in permutations(range(5)))
        assert dataset.align(table, labels).cost == best


def test_written_down_and_read_again(tmp_path) -> None:
    dataset = dataset_of(rule_list_1(), SCHEMA_III)
    dataset.to_csv(tmp_path / "d.csv")
    assert pd.read_csv(tmp_path / "d.csv")["rows"].tolist() == [2, 2, 1]
    text = dataset.to_json(tmp_path / "d.json")
    assert (tmp_path / "d.json").read_text(encoding="utf-8") == text
    document = json.loads(text)
    assert document["profiles"] == "8"
    assert [g["profiles"] for g in document["groups"]] == ["2", "3", "3"]
    assert document["groups"][1]["none_of_the_rules_before"] is True
    assert sum(line["rows"] for line in document["lines"]) == 5


def test_printed_for_people() -> None:
    text = str(dataset_of(rule_list_1(), SCHEMA_III))
    assert "rule 1: 2 rows of class 0, 3 profiles left: a3 = 1; none of rule 0" in text
    assert repr(dataset_of(figure_1(), SCHEMA_I)).startswith("<ProbabilisticDataset: 4 rows")


def test_attributes_may_be_called_like_our_columns() -> None:
    rules = RuleList(
        ("rows", "class"), (0, 1), (Rule((Condition(0, low=0.5),), 1), Rule((), 0)),
        Exact(np.array([[0, 2], [1, 0]])),
    )  # fmt: skip
    table = dataset_of(rules, gl.Schema([gl.Binary("rows"), gl.Binary("class")])).table
    assert len(set(table.columns)) == len(table.columns)
    assert table["rows"].tolist() == ["1", "0"]
    assert table["rows (glassleak)"].tolist() == [2, 1]


def test_true_tables_of_rule_lists_are_possible() -> None:
    assert dataset_of(rule_list_1(), SCHEMA_III).contains(TABLE_III, LABELS_III)


def test_tables_that_do_not_fit_into_memory_are_refused() -> None:
    with pytest.raises(ModelTooLargeError):
        dataset_of(figure_1(), SCHEMA_I).sample(10**9)


def test_no_draw_from_what_was_only_bounded() -> None:
    rng = np.random.default_rng(0)
    n = 60
    rules = []
    for _ in range(110):
        columns = rng.choice(n, 3, replace=False).tolist()
        rules.append(
            Rule(tuple(Condition(c, *((0.5, np.inf) if rng.random() < 0.5 else (-np.inf, 0.5)))
                       for c in columns), 1)
        )  # fmt: skip
    counts = np.zeros((111, 2), dtype=np.int64)
    counts[-1, 0] = 1
    model = RuleList(tuple(f"a{i}" for i in range(n)), (0, 1), (*rules, Rule((), 0)), Exact(counts))
    u = gl.uncertainty(
        model, gl.Schema([gl.Binary(f"a{i}") for i in range(n)]), budget_seconds=1e-3
    )
    assert u.status == "bounded"
    assert not u.exact
    assert 0 <= u.bits_low < u.bits_high <= 60
    assert u.bits == u.bits_low
    assert u.dataset is not None
    with pytest.raises(BudgetExhaustedError):
        u.dataset.sample(1, budget_seconds=1e-3)


def test_classes_that_are_equal_but_not_the_same() -> None:
    rules = RuleList(("a",), (1, 1.0, True), (Rule((), 1),), Exact(np.array([[1, 2, 3]])))
    dataset = dataset_of(rules, gl.Schema([gl.Binary("a")]))
    (world,) = dataset.sample(1)
    assert world.labels is not None
    assert sorted(type(label).__name__ for label in world.labels) == (
        ["bool"] * 3 + ["float"] * 2 + ["int"]
    )
    assert dataset.contains(world.table, world.labels)
    assert dataset.align(world.table, world.labels).cost == 0


def test_names_from_strangers_are_spelt_out() -> None:
    rules = RuleList(
        ("a\x1b[2J",), ("no\n", "yes"), (Rule((Condition(0, low=0.5),), "yes"), Rule((), "yes")),
        Exact(np.array([[1, 2], [0, 1]])),
    )  # fmt: skip
    schema = gl.Schema([gl.Categorical("a\x1b[2J", levels=["x\r", "y\x07"])])
    u = gl.uncertainty(rules, schema)
    assert u.per_leaf is not None
    shown = str(u.dataset) + "".join(u.per_leaf["conditions"])
    assert not set(shown) & {"\x1b", "\r", "\x07"}
    assert "a\\x1b[2J = y\\x07" in shown


def test_two_columns_of_the_same_name() -> None:
    table = pd.DataFrame(np.zeros((4, 4)), columns=["a1", "a2", "a3", "a3"])
    with pytest.raises(SchemaError, match="two columns of the same name"):
        dataset_of(figure_1(), SCHEMA_I).contains(table)
