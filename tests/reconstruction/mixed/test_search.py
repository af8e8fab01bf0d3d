"""Search over rows on tables with numbers, codes, one-hot columns and missing values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import glassleak as gl
from glassleak.errors import UnsupportedModelError
from glassleak.knowledge import Known, profile_space, published
from glassleak.reconstruction.evaluation._evaluate import random_baseline, reconstruction_error
from glassleak.reconstruction.mixed._axes import axes_of
from glassleak.reconstruction.mixed._grove import grove_of
from glassleak.reconstruction.mixed._rows import Rows, values_of
from glassleak.reconstruction.mixed._terms import exact_terms

NUMBERS = gl.Schema(
    [
        gl.Ordinal("age", 18, 90),
        gl.Ordinal("amount", 1, 20_000),
        gl.Numeric("rate", 0.0, 1.0),
        gl.Categorical("job", levels=(0, 1, 2, 3)),
        gl.Categorical("home", columns=["home=own", "home=rent", "home=free"]),
        gl.Binary("phone"),
    ]
)


def people(n_rows: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    home = np.eye(3, dtype=int)[rng.integers(0, 3, n_rows)]
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 91, n_rows),
            "amount": rng.integers(1, 20_001, n_rows),
            "rate": rng.random(n_rows).round(3),
            "job": rng.integers(0, 4, n_rows),
            "home=own": home[:, 0],
            "home=rent": home[:, 1],
            "home=free": home[:, 2],
            "phone": rng.integers(0, 2, n_rows),
        }
    )
    score = table["age"] / 70 + table["amount"] / 20_000 + home[:, 0] - table["job"] / 4
    return table, (score + rng.normal(0, 0.3, n_rows) > 1).astype(int).to_numpy()


def forest(table: pd.DataFrame, labels: np.ndarray, n_trees: int = 40, **options):
    return gl.read(
        RandomForestClassifier(n_trees, bootstrap=False, random_state=0, **options).fit(
            table, labels
        )
    )


def prepared(model, schema, midpoints=True):
    facts = published(model)
    space = profile_space(
        schema, facts.columns, facts.thresholds, facts.precision, facts.comparison
    )
    axes = axes_of(space, facts)
    return facts, axes, grove_of(facts, axes, midpoints=midpoints)


def rows_of(facts, grove, levels, labels, seed):
    target = np.concatenate([part.counts for part in facts.parts])
    return Rows(grove, exact_terms(target, len(labels)), levels, labels, seed)


def true_levels(axes, facts, table: pd.DataFrame) -> np.ndarray:
    values = table.to_numpy(dtype=float)
    out = []
    for axis in axes:
        own = values[:, axis.columns]
        if axis.ordered:
            level = np.searchsorted(axis.high[: axis.n_numbers], np.float32(own[:, 0]))
            out.append(np.where(np.isnan(own[:, 0]), len(axis) - 1, level))
        else:
            out.append([int(np.flatnonzero((axis.values == row).all(axis=1))[0]) for row in own])
    return np.column_stack(out).astype(np.int32)


def test_the_true_rows_have_no_energy():
    table, labels = people(60, 1)
    facts, axes, grove = prepared(forest(table, labels), NUMBERS)
    rows = rows_of(facts, grove, true_levels(axes, facts, table), labels, 0)
    assert rows.energy == 0
    assert rows.not_half_way == 0


def test_bookkeeping_survives_many_moves():
    table, labels = people(30, 2)
    facts, axes, grove = prepared(forest(table, labels, 12), NUMBERS)
    rng = np.random.default_rng(0)
    start = np.column_stack([rng.integers(0, k, 30) for k in grove.sizes])
    rows = rows_of(facts, grove, start, labels, 3)
    for heat in (3.0, 1.0, 0.3):
        assert rows.sweep(heat, 0.7) > 0
    fresh = rows_of(facts, grove, rows.levels, labels, 0)
    for name in ("leaf", "held", "counts", "node"):
        np.testing.assert_array_equal(getattr(rows, name), getattr(fresh, name), err_msg=name)
    values = values_of(axes, rows.levels, len(facts.columns))
    for t, part in enumerate(facts.parts):
        offset = sum(p.n_groups for p in facts.parts[:t])
        np.testing.assert_array_equal(part.assign(values) + offset, rows.leaf[:, t])


def test_cold_sweeps_never_raise_the_energy():
    table, labels = people(25, 3)
    facts, _, grove = prepared(forest(table, labels, 15), NUMBERS)
    rng = np.random.default_rng(1)
    rows = rows_of(
        facts, grove, np.column_stack([rng.integers(0, k, 25) for k in grove.sizes]), labels, 1
    )
    energy = [rows.energy + 0.7 * rows.not_half_way]
    for _ in range(6):
        rows.sweep(1e-3, 0.7)
        energy.append(rows.energy + 0.7 * rows.not_half_way)
    assert (np.diff(energy) <= 1e-9).all()
    assert energy[-1] < energy[0] / 2


def test_a_small_table_is_found():
    table, labels = people(24, 4)
    model = forest(table, labels, 60)
    found = gl.reconstruct(model, NUMBERS, formulation="search", budget_seconds=5)
    assert found.formulation == "search"
    assert found.exact == found.certificate.replayed == (found.details["misplaced"] == 0)
    assert not NUMBERS.invalid_rows(found.table).any()
    error = reconstruction_error(table, found.table, NUMBERS)
    assert error < 0.25 * random_baseline(model, NUMBERS, table, repeats=5).mean
    assert 0 < found.details["values"]["share_pinned"] <= 1


def test_the_same_seed_gives_the_same_table():
    table, labels = people(20, 5)
    model = forest(table, labels, 10)
    one, other = (
        gl.reconstruct(model, NUMBERS, formulation="search", budget_seconds=600, seed=7)
        for _ in range(2)
    )
    pd.testing.assert_frame_equal(one.table, other.table)


def test_auto_searches_where_cells_are_too_many():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(0, 1000, (40, 12)), columns=[f"x{i}" for i in range(12)])
    labels = rng.integers(0, 2, 40)
    schema = gl.Schema([gl.Ordinal(c, 0, 999) for c in table])
    found = gl.reconstruct(forest(table, labels, 30), schema, budget_seconds=4)
    assert found.formulation == "search"
    assert found.exact == (found.details["misplaced"] == 0)
    assert (found.status == "partial") == (found.details["misplaced"] > 0)


def test_enumerable_cells_are_still_enumerated():
    table, labels = people(20, 6)
    columns = ["job", "phone"]
    schema = gl.Schema([gl.Categorical("job", levels=(0, 1, 2, 3)), gl.Binary("phone")])
    found = gl.reconstruct(forest(table[columns], labels, 5), schema)
    assert found.formulation == "cells"


def test_random_thresholds_promise_no_midpoints():
    table, labels = people(24, 8)
    trees = ExtraTreesClassifier(30, random_state=0).fit(table, labels)
    found = gl.reconstruct(gl.read(trees), NUMBERS, formulation="search", budget_seconds=3)
    assert found.details["thresholds_not_half_way"] is None
    assert found.details["values"]["share_pinned"] < 1


def test_missing_values_take_their_own_way():
    table, labels = people(30, 9)
    table = table.drop(columns="rate")
    table["age"] = table["age"].astype(float)
    table.loc[::4, "age"] = np.nan
    schema = gl.Schema(
        [
            gl.Ordinal("age", 18, 90, missing=True),
            *[a for a in NUMBERS if a.name not in ("age", "rate")],
        ]
    )
    model = forest(table, labels, 30)
    facts, axes, grove = prepared(model, schema)
    rows = rows_of(facts, grove, true_levels(axes, facts, table), labels, 0)
    assert rows.energy == 0
    rows.sweep(2.0, 0.0)
    fresh = rows_of(facts, grove, rows.levels, labels, 0)
    np.testing.assert_array_equal(rows.leaf, fresh.leaf)
    np.testing.assert_array_equal(rows.node, fresh.node)
    found = gl.reconstruct(model, schema, formulation="search", budget_seconds=3)
    assert found.exact == (found.details["misplaced"] == 0)
    assert found.table["age"].isna().any()


def test_numbers_beyond_single_precision_are_compared_as_the_model_does():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"id": 2**25 + rng.integers(0, 40, 30), "x": rng.integers(0, 9, 30)})
    labels = rng.integers(0, 2, 30)
    schema = gl.Schema([gl.Ordinal("id", 2**25, 2**25 + 39), gl.Ordinal("x", 0, 8)])
    facts, _, grove = prepared(forest(table, labels, 10), schema)
    levels = (table["id"] - 2**25).to_numpy()
    rows = rows_of(facts, grove, np.column_stack([levels, table["x"]]), labels, 0)
    assert rows.energy == 0
    assert rows.not_half_way == 0


def test_a_single_tree_and_three_classes():
    table, labels = people(40, 10)
    labels = labels + (table["phone"].to_numpy() == 1)
    tree = gl.read(DecisionTreeClassifier(random_state=0).fit(table, labels))
    found = gl.reconstruct(tree, NUMBERS, formulation="search", budget_seconds=3)
    assert found.status == "consistent"
    np.testing.assert_array_equal(np.bincount(found.labels), np.bincount(labels))


def test_side_knowledge_is_not_assessed_by_search():
    table, labels = people(20, 11)
    model = forest(table, labels, 5)
    known = Known(rows=table[:2], row_labels=labels[:2])
    with pytest.raises(UnsupportedModelError, match="no side knowledge"):
        gl.reconstruct(model, NUMBERS, known, formulation="search")


def test_the_budget_is_kept_and_said():
    table, labels = people(80, 12)
    found = gl.reconstruct(forest(table, labels), NUMBERS, formulation="search", budget_seconds=0.5)
    assert found.status == "partial"
    assert not found.certificate.replayed
    assert "budget ended" in found.certificate.statements[0]


def test_progress_can_cancel():
    table, labels = people(40, 13)

    def stop(_step: str, share: float) -> None:
        if share > 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gl.reconstruct(forest(table, labels), NUMBERS, formulation="search", progress=stop)
