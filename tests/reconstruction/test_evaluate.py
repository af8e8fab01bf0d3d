"""Matching rows and measuring errors, against brute force, by hand and as published."""

from __future__ import annotations

import itertools
import os
import time
from collections import Counter
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from glassleak.errors import SchemaError
from glassleak.models import Exact, Tree
from glassleak.reconstruction.evaluation import _row_matching, _transport
from glassleak.reconstruction.evaluation._evaluate import (
    match_rows,
    random_baseline,
    random_table,
    reconstruction_error,
    row_errors,
)
from glassleak.schema import Binary, Bins, Categorical, Numeric, Ordinal, Schema

MIXED = Schema(
    [
        Binary("sex"),
        Categorical("age", columns=["age:1", "age:2", "age:3"], absent=True),
        Ordinal("grade", low=0, high=4, missing=True),
        Numeric("income", low=-10, high=30),
        Categorical("job", levels=["none", "clerk", "nurse"], missing=True),
        Bins("size", ["size>1", "size>2"], [(0, 0), (1, 0), (1, 1)]),
    ]
)
FLAGS = Schema([Binary(f"f{i}") for i in range(19)])


@st.composite
def tables(draw: st.DrawFn, n_rows: int) -> pd.DataFrame:
    """Rows of `MIXED`, often the same ones."""
    pool_seed, row_seed = draw(st.integers(0, 3)), draw(st.integers(0, 10**6))
    pool = random_table(MIXED, 5, np.random.default_rng(pool_seed))
    other = random_table(MIXED, n_rows, np.random.default_rng(row_seed))
    both = pd.concat([pool, other], ignore_index=True)
    rows = draw(st.lists(st.integers(0, len(both) - 1), min_size=n_rows, max_size=n_rows))
    return both.iloc[rows].reset_index(drop=True)


@st.composite
def pairs_of_tables(draw: st.DrawFn) -> tuple[pd.DataFrame, pd.DataFrame]:
    n_rows = draw(st.integers(1, 6))
    return draw(tables(n_rows)), draw(tables(n_rows))


def distance(one: pd.Series, other: pd.Series, per: str) -> float:
    """The definition, spelled out for `MIXED`."""

    def wrong(columns: list[str]) -> float:
        return float(any(one[c] != other[c] for c in columns))

    def off(column: str, width: float) -> float:
        if pd.isna(one[column]) or pd.isna(other[column]):
            return float(pd.isna(one[column]) != pd.isna(other[column]))
        return abs(one[column] - other[column]) / width

    def job() -> float:
        if pd.isna(one["job"]) and pd.isna(other["job"]):
            return 0.0
        return float(one["job"] != other["job"])

    numbers = off("grade", 4) + off("income", 40) + job()
    groups = [["sex"], ["age:1", "age:2", "age:3"], ["size>1", "size>2"]]
    if per == "attribute":
        return (sum(map(wrong, groups)) + numbers) / 6
    return (sum(wrong([c]) for group in groups for c in group) + numbers) / 9


def cheapest(truth: pd.DataFrame, table: pd.DataFrame, per: str) -> float:
    costs = [[distance(a, b, per) for _, b in table.iterrows()] for _, a in truth.iterrows()]
    return min(
        sum(costs[i][j] for i, j in enumerate(order))
        for order in itertools.permutations(range(len(truth)))
    )


@pytest.mark.parametrize("by_flow", [False, True])
@pytest.mark.parametrize("per", ["column", "attribute"])
@given(pair=pairs_of_tables())
def test_equals_the_best_of_all_permutations(
    by_flow: bool, per: str, pair: tuple[pd.DataFrame, pd.DataFrame]
) -> None:
    truth, table = pair
    with pytest.MonkeyPatch.context() as patch:
        if by_flow:
            patch.setattr(_row_matching, "_FULL", 0)
            patch.setattr(_transport, "_NEIGHBOURS", 1)
            patch.setattr(_transport, "_BLOCK", 1)
        matching = match_rows(truth, table, MIXED, per=per)  # type: ignore[arg-type]
    assert matching.exact
    assert matching.cost == pytest.approx(cheapest(truth, table, per), abs=1e-8)
    assert matching.lower_bound == matching.cost
    assert sorted(matching.pairs[:, 1]) == list(range(len(truth)))
    assert matching.pairs[:, 0].tolist() == list(range(len(truth)))
    for (i, j), error in zip(matching.pairs, matching.errors, strict=True):
        assert error == pytest.approx(distance(truth.iloc[i], table.iloc[j], per), abs=1e-12)


@given(pair=pairs_of_tables())
def test_every_row_that_has_an_equal_gets_one(pair: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    truth, table = pair

    def rows(frame: pd.DataFrame) -> Counter[tuple[object, ...]]:
        plain = frame.astype(object).where(frame.notna(), None)
        return Counter(plain.itertuples(index=False, name=None))

    matching = match_rows(truth, table, MIXED)
    assert (matching.errors == 0).sum() == (rows(truth) & rows(table)).total()


def test_what_one_error_is() -> None:
    schema = Schema([Binary("sex"), Categorical("age", columns=["a", "b", "c"])])
    truth, table = [[1, 1, 0, 0]], [[1, 0, 1, 0]]
    assert reconstruction_error(truth, table, schema) == 2 / 4
    assert reconstruction_error(truth, table, schema, per="attribute") == 1 / 2
    assert reconstruction_error(truth, [[0, 0, 0, 1]], schema) == 3 / 4
    assert reconstruction_error(truth, truth, schema) == 0


def test_numbers_count_by_how_far_they_are_off() -> None:
    schema = Schema([Ordinal("grade", 0, 4), Numeric("income", -10, 30), Ordinal("one", 3, 3)])
    assert reconstruction_error([[0, 0, 3]], [[1, 10, 3]], schema) == (1 / 4 + 10 / 40) / 3
    # Beyond the declared range nothing is more than wrong, and a fixed value is right or wrong.
    assert reconstruction_error([[0, 0, 3]], [[9, 0, 5]], schema) == pytest.approx(2 / 3)


def test_missing_is_a_value() -> None:
    schema = Schema([Ordinal("grade", 0, 4, missing=True)])
    nan = np.nan
    assert reconstruction_error([[nan]], [[nan]], schema) == 0
    assert reconstruction_error([[nan]], [[2]], schema) == 1
    assert row_errors([[1], [nan], [2]], [[nan], [2], [2]], schema).tolist() == [0.25, 0, 0]


def test_columns_go_by_name_rows_by_position() -> None:
    rng = np.random.default_rng(0)
    truth = random_table(MIXED, 8, rng)
    table = random_table(MIXED, 8, rng)
    expected = reconstruction_error(truth, table, MIXED)
    turned = table.iloc[:, ::-1].assign(label=1).set_index(np.arange(8)[::-1] * 3)
    assert expected > 0
    assert reconstruction_error(truth, turned, MIXED) == expected
    assert reconstruction_error(truth.to_numpy(), table, MIXED) == expected
    typed = table.astype({"sex": "boolean", "grade": "Int64", "job": "category"})
    assert reconstruction_error(truth, typed, MIXED) == expected


def test_errors_are_aligned_with_the_truth() -> None:
    truth = np.eye(6)
    table = truth[::-1].copy()
    table[5, 3] = 1  # the reconstruction of true row 0
    schema = Schema([Binary(f"x{i}") for i in range(6)])
    assert row_errors(truth, table, schema).tolist() == [1 / 6, 0, 0, 0, 0, 0]


def hamming(
    one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    return one.sum(axis=1)[:, None] + other.sum(axis=1) - 2 * one @ other.T


def test_thousands_of_rows_by_flow_equal_the_full_matrix() -> None:
    rng = np.random.default_rng(1)
    truth = (rng.random((2000, 19)) < rng.random(19)).astype(float)
    table = rng.integers(0, 2, (2000, 19)).astype(float)
    costs = hamming(truth, table)
    rows, columns = linear_sum_assignment(costs)
    matching = match_rows(truth, table, FLAGS)
    assert matching.exact
    assert matching.cost * 19 == pytest.approx(costs[rows, columns].sum(), abs=1e-6)
    assert matching.errors.sum() == pytest.approx(matching.cost)


def test_thousands_of_numeric_rows_by_flow_equal_the_full_matrix() -> None:
    rng = np.random.default_rng(2)
    truth, table = rng.random((700, 3)), rng.random((700, 3)) ** 2
    schema = Schema([Numeric(f"x{i}", 0, 1) for i in range(3)])
    costs = np.abs(truth[:, None] - table[None]).sum(axis=2)
    rows, columns = linear_sum_assignment(costs)
    matching = match_rows(truth, table, schema)
    assert matching.exact
    assert matching.cost * 3 == pytest.approx(costs[rows, columns].sum(), abs=1e-5)


def test_a_whole_census_with_few_errors_takes_seconds() -> None:
    rng = np.random.default_rng(3)
    truth = (rng.random((48_842, 19)) < 0.3).astype(float)
    table = truth.copy()
    touched = rng.choice(len(table), size=300, replace=False)
    table[touched, rng.integers(0, 19, size=300)] += 1
    table %= 2
    started = time.monotonic()
    matching = match_rows(truth, table[rng.permutation(len(table))], FLAGS)
    assert time.monotonic() - started < 30
    assert matching.exact
    assert 0 < matching.cost * 19 <= 300 + 1e-6
    assert (matching.errors > 0).sum() <= 300


def test_out_of_time_is_said_and_still_a_matching() -> None:
    rng = np.random.default_rng(4)
    truth = (rng.random((900, 19)) < 0.2).astype(float)
    table = rng.integers(0, 2, (900, 19)).astype(float)
    best = match_rows(truth, table, FLAGS)
    rushed = match_rows(truth, table, FLAGS, budget_seconds=0)
    assert best.exact
    assert not rushed.exact
    assert sorted(rushed.pairs[:, 1]) == list(range(900))
    assert rushed.lower_bound <= best.cost <= rushed.cost
    with pytest.warns(RuntimeWarning, match="between"):
        error = reconstruction_error(truth, table, FLAGS, budget_seconds=0)
    assert error == pytest.approx(rushed.cost / 900)
    np.testing.assert_array_equal(
        rushed.errors, np.abs(truth - table[rushed.pairs[:, 1]]).sum(axis=1) / 19
    )


@pytest.mark.parametrize(
    ("truth", "table", "match"),
    [
        (np.zeros((3, 2)), np.zeros((2, 2)), "3 true rows"),
        (np.zeros((3, 2)), np.zeros((3, 4)), "expected 2 columns"),
        (np.zeros((3, 2)), np.zeros(3), "shape"),
        (np.zeros((1, 2)), pd.DataFrame({"x": [1]}), "0 columns named 'grade'"),
        (np.zeros((1, 2)), np.array([["a", "b"]]), "numbers"),
        (np.zeros((1, 2)), np.array([[np.inf, 0]]), "infinite"),
        (np.zeros((1, 2)), np.array([[1.0, 7.0]]), "'job' holds '7.0'"),
    ],
)
def test_tables_that_do_not_fit_are_refused(truth: object, table: object, match: str) -> None:
    schema = Schema([Ordinal("grade", 0, 4), Categorical("job", levels=[0, 1])])
    with pytest.raises(SchemaError, match=match):
        reconstruction_error(truth, table, schema)  # type: ignore[arg-type]


def test_an_unknown_way_of_counting_is_refused() -> None:
    with pytest.raises(SchemaError, match="per"):
        reconstruction_error([[1]], [[1]], Schema([Binary("a")]), per="row")  # type: ignore[arg-type]


def test_no_rows_no_error() -> None:
    assert reconstruction_error(np.empty((0, 1)), np.empty((0, 1)), Schema([Binary("a")])) == 0


def test_random_tables_are_valid_and_uniform() -> None:
    schema = Schema([a for a in MIXED if a.name != "income"])
    drawn = random_table(schema, 40_000, np.random.default_rng(0))
    assert not schema.invalid_rows(drawn).any()
    assert drawn["job"].isna().any()
    plain = drawn.astype(object).where(drawn.notna(), None)
    counts = np.array(list(Counter(plain.itertuples(index=False, name=None)).values()))
    assert schema.n_profiles == 2 * 4 * 6 * 4 * 3
    assert len(counts) == schema.n_profiles
    mean = 40_000 / schema.n_profiles
    # Chi-squared with 575 degrees of freedom: mean 575, standard deviation 34.
    assert ((counts - mean) ** 2 / mean).sum() < 575 + 4 * 34
    long = random_table(
        Schema([Numeric("x", 0, 1e12, resolution=0.5)]), 1000, np.random.default_rng(0)
    )
    assert ((long["x"] * 2) % 1 == 0).all()
    assert long["x"].max() > 9e11


def test_the_baseline_of_one_yes_no_column() -> None:
    """N fair coins against all zeros: on average half of them are wrong, with a known spread."""
    schema = Schema([Binary("a")])
    baseline = random_baseline(None, schema, np.zeros((100, 1)), repeats=400, seed=1)
    assert baseline.mean == pytest.approx(0.5, abs=4 * 0.05 / 20)
    assert baseline.std == pytest.approx(0.05, rel=0.2)
    assert baseline.repeats == 400
    assert random_baseline(None, schema, np.zeros((100, 1)), repeats=400, seed=1) == baseline
    assert random_baseline(None, schema, np.zeros((100, 1)), repeats=400, seed=2) != baseline


def test_the_baseline_checks_what_it_is_given() -> None:
    schema = Schema([Binary("a")])
    tree = Tree(("a",), (0,), [-1], [np.nan], [-1], [-1], Exact(np.array([[4]])))
    assert random_baseline(tree, schema, np.zeros((4, 1)), repeats=3).repeats == 3
    with pytest.raises(SchemaError, match="4 rows"):
        random_baseline(tree, schema, np.zeros((5, 1)))
    with pytest.raises(SchemaError, match="repeat"):
        random_baseline(tree, schema, np.zeros((4, 1)), repeats=0)


# ------------------------------------------------------------------------------- as published

GROUPS = {
    "compas": [range(1, 6), range(9, 13)],
    "adult": [range(3, 9)],
    "default_credit": [range(4), range(5, 8)],
}


def published(name: str, seed: int) -> tuple[npt.NDArray[np.int64], Schema, float]:
    """The paper's training set, what its adversary knows, and the published baseline."""
    root = os.environ.get("GLASSLEAK_REFERENCE")
    if not root:
        pytest.skip("GLASSLEAK_REFERENCE is not set: no published figures to compare with")
    frame = pd.read_csv(Path(root) / "data" / f"{name}.csv").iloc[:, :-1]
    columns = list(frame.columns)
    attributes: list[Binary | Categorical] = []
    for i, column in enumerate(columns):
        group = next((g for g in GROUPS[name] if i in g), None)
        if group is None:
            attributes.append(Binary(column))
        elif i == group[0]:
            attributes.append(Categorical(f"group {i}", columns=[columns[j] for j in group]))
    runs = pd.read_csv(Path(root) / "reference" / "forest_reconstruction_published.csv")
    mine = runs[(runs["dataset"] == name) & (runs["seed"] == seed)]
    assert mine["random_error"].nunique() == 1
    sampled = frame.sample(n=1500, random_state=seed, ignore_index=True)
    return sampled.to_numpy()[:100], Schema(attributes), float(mine["random_error"].iloc[0])


@pytest.mark.parametrize("name", list(GROUPS))
@pytest.mark.parametrize("seed", range(5))
def test_the_baseline_agrees_with_the_published_one(name: str, seed: int) -> None:
    truth, schema, error = published(name, seed)
    baseline = random_baseline(None, schema, truth, repeats=100, seed=seed)
    # Two means of 100 runs each.
    assert abs(baseline.mean - error) < 4 * baseline.std * np.sqrt(2 / 100)


@pytest.mark.parametrize("name", list(GROUPS))
def test_the_error_is_the_published_one_to_the_last_digit(name: str) -> None:
    """The same random tables as published (same generator and order of draws), the same figure."""
    truth, schema, error = published(name, seed=2)
    rng = np.random.RandomState(2)
    errors = []
    for _ in range(100):
        table = rng.randint(2, size=truth.shape)
        for row in table:
            for group in GROUPS[name]:
                hot = np.eye(len(group), dtype=int)[0]
                row[list(group)] = rng.choice(hot, len(group), replace=False)
        errors.append(reconstruction_error(truth, table, schema))
    assert np.mean(errors) == pytest.approx(error, abs=1e-12)
