"""Every number the paper works out, to twelve digits, and the published experiment."""

from __future__ import annotations

import os
from math import comb, log2
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from paper_examples import (
    LABELS_I,
    LABELS_III,
    SCHEMA_I,
    SCHEMA_III,
    SCHEMA_V,
    TABLE_I,
    TABLE_III,
    figure_1,
    known_by_rule,
    rule_list_1,
)
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

import glassleak as gl
from glassleak.models import Exact, Tree

DIGITS = 5e-13


def test_figure_1() -> None:
    u = gl.uncertainty(figure_1(), SCHEMA_I)
    assert u.per_leaf is not None
    assert u.per_leaf["profiles"].tolist() == [12, 8, 16]
    assert u.dist == pytest.approx(0.735587774741, abs=DIGITS)
    assert u.bits == pytest.approx(14.584962500721, abs=DIGITS)
    assert u.bits_uninformed == pytest.approx(20.679700005769, abs=DIGITS)
    assert u.dist_g == pytest.approx(0.705279210852, abs=DIGITS)
    assert u.unordered is not None
    assert u.unordered.share == pytest.approx(0.837373736586, abs=DIGITS)
    assert (u.status, u.exact, u.n_rows, u.n_profiles) == ("exact", True, 4, 36)


def test_scikit_learn_regenerates_figure_1() -> None:
    fitted = DecisionTreeClassifier(random_state=42, max_depth=2).fit(TABLE_I, LABELS_I)
    u = gl.uncertainty(gl.read(fitted), SCHEMA_I)
    assert u.per_leaf is not None
    assert sorted(u.per_leaf["profiles"]) == [8, 12, 16]
    assert u.dist_g == pytest.approx(0.705279210852, abs=DIGITS)


def test_rule_list_1() -> None:
    u = gl.uncertainty(rule_list_1(), SCHEMA_III)
    assert u.per_leaf is not None
    assert u.per_leaf["profiles"].tolist() == [2, 3, 3]
    assert u.bits == pytest.approx(6.754887502163, abs=DIGITS)
    assert u.bits_uninformed == 15
    assert u.dist_g == pytest.approx(0.450325833478, abs=DIGITS)
    assert u.unordered is not None
    assert u.unordered.share == pytest.approx(0.597639876600, abs=DIGITS)
    # Attribute by attribute only single values count as reduced (end of Section III-A).
    assert u.dist == pytest.approx((2 * 1 / 3 + 3 * 2 / 3) / 5, abs=DIGITS)


@pytest.mark.parametrize(
    ("model", "dist_g"),
    [
        (known_by_rule(0, 0.5, 1.5), 0.613147192765),
        (known_by_rule(1, 0.5, 1.5), 0.386852807235),
    ],
)
def test_tables_v_to_vii(model: gl.RuleList, dist_g: float) -> None:
    u = gl.uncertainty(model, SCHEMA_V)
    assert u.dist == pytest.approx(0.5, abs=DIGITS)
    assert u.dist_g == pytest.approx(dist_g, abs=DIGITS)


def test_the_original_tables_are_possible() -> None:
    tree, rules = figure_1(), rule_list_1()
    for model, schema, table, labels in (
        (tree, SCHEMA_I, TABLE_I, LABELS_I),
        (rules, SCHEMA_III, TABLE_III, LABELS_III),
    ):
        dataset = gl.uncertainty(model, schema).dataset
        assert dataset is not None
        assert dataset.contains(table, labels)


def test_table_ii_and_table_iv_in_words() -> None:
    dataset = gl.uncertainty(figure_1(), SCHEMA_I).dataset
    assert dataset is not None
    table = dataset.table.set_index("leaf")
    assert table.loc[4, ["rows", "class", "a1", "a2", "a3"]].tolist() == [
        2, 0, "{12, 13, 14, 15}", "{0, 1}", "{2, 3}",
    ]  # fmt: skip
    assert table.loc[1, "a3"] == "1"
    dataset = gl.uncertainty(rule_list_1(), SCHEMA_III).dataset
    assert dataset is not None
    table = dataset.table.set_index("rule")
    assert table.loc[1, ["rows", "class", "a1", "a2", "a3", "and"]].tolist() == [
        2, 0, "{0, 1}", "{0, 1}", "1", "none of rule 0",
    ]  # fmt: skip


def test_uncertainty_of_several_rows_in_mixed_leaves_by_hand() -> None:
    # 2 rows of class 0 and 1 of class 1 in a leaf of 3 profiles; nobody elsewhere (1 profile).
    tree = Tree(
        ("a",), (0, 1), [0, -1, -1], [2.5, float("nan"), float("nan")], [1, -1, -1], [2, -1, -1],
        Exact(np.array([[2, 1], [2, 1], [0, 0]])),
    )  # fmt: skip
    u = gl.uncertainty(tree, gl.Schema([gl.Ordinal("a", 0, 3)]))
    assert u.bits == pytest.approx(3 * log2(3))
    assert u.unordered is not None
    assert u.unordered.bits == pytest.approx(log2(comb(5, 3)))
    assert u.unordered.uninformed == pytest.approx(log2(comb(6, 3)))
    assert u.unordered_by_class is not None
    assert u.unordered_by_class.bits == pytest.approx(log2(comb(4, 2) * 3))
    assert u.unordered_by_class.uninformed == pytest.approx(log2(comb(5, 2) * 4))


def reference() -> Path:
    root = os.environ.get("GLASSLEAK_REFERENCE")
    if not root:
        pytest.skip("GLASSLEAK_REFERENCE is not set: no published figures to compare with")
    return Path(root)


def check_published(rows: pd.DataFrame, table: pd.DataFrame) -> None:
    X, y = table.iloc[:, :-1], table.iloc[:, -1]
    schema = gl.Schema([gl.Binary(c) for c in X.columns])
    for row in rows.itertuples():
        seed = row.random_state_value
        train, _, target, _ = train_test_split(X, y, test_size=0.2, random_state=seed)
        fitted = DecisionTreeClassifier(
            random_state=1 + seed, max_depth=row.max_depth,
            min_samples_leaf=max(1, int(row.min_support * len(train))),
        ).fit(train, target)  # fmt: skip
        u = gl.uncertainty(gl.read(fitted), schema, columns_independent=True)
        assert u.dist_g == pytest.approx(row.entropy_reduction_ratio, abs=1e-9)
        assert u.bits == pytest.approx(row.reconstructed_dataset_entropy, abs=1e-6)
        assert u.bits_uninformed == pytest.approx(row.no_knowledge_dataset_entropy, abs=1e-6)


def test_published_compas_results_of_one_seed() -> None:
    root = reference()
    rows = pd.read_csv(root / "reference" / "uncertainty_sklearn_tree_compas_published.csv")
    some = rows[(rows["random_state_value"] == 3) & (rows["min_support"].isin([0.01, 0.04]))]
    assert len(some) == 20
    check_published(some, pd.read_csv(root / "data" / "compas_corels27.csv"))


@pytest.mark.slow
def test_all_published_compas_results() -> None:
    root = reference()
    rows = pd.read_csv(root / "reference" / "uncertainty_sklearn_tree_compas_published.csv")
    assert len(rows) == 250
    check_published(rows, pd.read_csv(root / "data" / "compas_corels27.csv"))


def test_one_hot_columns_counted_properly_leave_less() -> None:
    root = reference()
    table = pd.read_csv(root / "data" / "compas_corels27.csv")
    X, y = table.iloc[:, :-1], table.iloc[:, -1]
    fitted = DecisionTreeClassifier(max_depth=10, min_samples_leaf=57, random_state=1).fit(X, y)
    u = gl.uncertainty(gl.read(fitted), gl.Schema.infer(X))
    assert u.n_profiles == 11_520
    assert u.conventions is not None
    assert u.conventions["profiles"].tolist() == [11_520, 2**27]
    valid, apart = u.conventions["dist_g"]
    assert valid == u.dist_g
    assert 0.4 < valid < 0.6 < 0.7 < apart < 0.8
    again = gl.uncertainty(gl.read(fitted), gl.Schema.infer(X), columns_independent=True)
    assert again.dist_g == apart
    assert again.conventions is not None
    assert again.conventions["dist_g"].tolist() == [valid, apart]
