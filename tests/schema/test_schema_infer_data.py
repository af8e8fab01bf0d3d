"""Inference from tables: what is found, what is not, and that every claim holds in every row."""

from __future__ import annotations

import datetime as dt
import decimal
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from glassleak.errors import SchemaError
from glassleak.schema import Binary, Bins, Categorical, Numeric, Ordinal, Schema


def one_hot(levels, values, prefix):
    return {f"{prefix}{level}": (np.asarray(values) == level).astype(int) for level in levels}


def inferred(columns):
    table = pd.DataFrame(columns)
    schema = Schema.infer(table)
    assert not schema.invalid_rows(table).any()
    assert {guess.attribute for guess in schema.guesses} == {a.name for a in schema}
    return schema


def guess_of(schema, name):
    return [guess for guess in schema.guesses if guess.attribute == name]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


# --------------------------------------------------------------------------------- single columns


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0, 1, 1], Binary("a")),
        ([0.0, 1.0], Binary("a")),
        ([True, False], Binary("a")),
        (np.array([True, False], dtype=object), Binary("a")),
        (pd.array([1, 0], dtype="Int8"), Binary("a")),
        (pd.array([True, False], dtype="boolean"), Binary("a")),
        (pd.Categorical([0, 1, 0]), Binary("a")),
        ([0, 0], Binary("a")),
        ([1], Binary("a")),
        ([0, 1, np.nan], Ordinal("a", 0, 1, missing=True)),
        (pd.array([1, None], dtype="boolean"), Ordinal("a", 1, 1, missing=True)),
        ([True, False, None], Ordinal("a", 0, 1, missing=True)),
        ([3, -2, 7], Ordinal("a", -2, 7)),
        ([3.0, -2.0, np.nan], Ordinal("a", -2, 3, missing=True)),
        (pd.array([5, None, 9], dtype="Int64"), Ordinal("a", 5, 9, missing=True)),
        (np.array([5, 9], dtype=object), Ordinal("a", 5, 9)),
        (np.array([5, None, 9], dtype=object), Ordinal("a", 5, 9, missing=True)),
        (np.array([250, 3], dtype=np.uint8), Ordinal("a", 3, 250)),
        ([0, 999], Ordinal("a", 0, 999)),
        ([0, 1000], Numeric("a", 0, 1000, 1)),
        ([-5e6, 5e6], Numeric("a", -5e6, 5e6, 1)),
        ([0, 2**60], Numeric("a", 0, 2**60)),
        (np.array([2**64 - 1, 2**64 - 2], dtype=np.uint64), Numeric("a", 2**64 - 2, 2**64 - 1)),
        ([0.5, 2.0, 3.7], Numeric("a", 0.5, 3.7, 0.1)),
        ([0.25, 2.0], Numeric("a", 0.25, 2.0, 0.01)),
        ([0.1, 0.2, 0.3000001], Numeric("a", 0.1, 0.3000001, None)),
        ([0.1, 0.2, 0.300001], Numeric("a", 0.1, 0.300001, 1e-6)),
        ([1 / 3, 2 / 3, np.nan], Numeric("a", 1 / 3, 2 / 3, None, missing=True)),
        ([decimal.Decimal("1.25"), decimal.Decimal("2")], Numeric("a", 1.25, 2, 0.01)),
        (np.array([0.1, 12.7], dtype=np.float32), Numeric("a", 0.1, 12.7, 0.1)),
        ([1e15 + 0.5, 3.0], Numeric("a", 3.0, 1e15 + 0.5)),
        (["b", "a", "b"], Categorical("a", levels=["a", "b"])),
        (["b", None, np.nan], Categorical("a", levels=["b"], missing=True)),
        (pd.array(["b", None], dtype="string"), Categorical("a", levels=["b"], missing=True)),
        (pd.Categorical(["z", "b"], ["z", "b", "unused"]), Categorical("a", levels=["b", "z"])),
        (pd.Categorical([3, 2, 3]), Categorical("a", levels=[2, 3])),
        (pd.Categorical([3, None]), Categorical("a", levels=[3.0], missing=True)),
        (["1", 2, "x", 1.5], Categorical("a", levels=[1.5, 2, "1", "x"])),
    ],
)  # fmt: skip
def test_kinds(values, expected):
    table = pd.DataFrame({"a": values})
    schema = Schema.infer(table)
    assert schema.attributes == (expected,)
    assert not schema.invalid_rows(table).any()
    [guess] = schema.guesses
    assert guess.source == "data"
    if isinstance(expected, Ordinal | Numeric):
        assert "true range may be wider" in guess.reason


@pytest.mark.parametrize(
    "values",
    [
        pd.to_datetime(["2020-01-01", "2021-01-01"]),
        pd.to_datetime(["2020-01-01", "2021-01-01"]).tz_localize("UTC"),
        pd.to_timedelta([1, 2], unit="D"),
        pd.period_range("2020", periods=2, freq="M"),
        [dt.date(2020, 1, 1), None],
        [dt.time(3), None],
        np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"),
    ],
)
def test_dates_are_for_the_user_to_convert(values):
    with pytest.raises(SchemaError, match=r"column 'when' holds dates.*convert"):
        Schema.infer(pd.DataFrame({"when": values}))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, np.inf], "infinite"),
        ([1.0, -np.inf, np.nan], "infinite"),
        ([np.nan, np.nan], "no value in any row"),
        ([None, None], "no value in any row"),
        ([[1], [2]], "containers"),
        ([b"a", b"b"], "bytes"),
        ([1j, 2j], "complex"),
        ([object(), object()], "object"),
        (pd.cut([1, 2, 3], 2), "Interval"),
        ([10**400, 1], "unusable numbers|cannot"),
    ],
)
def test_columns_that_cannot_be_described(values, message):
    with pytest.raises(SchemaError, match=message):
        Schema.infer(pd.DataFrame({"a": values}))


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame(),
        pd.DataFrame({"a": []}),
        pd.DataFrame(index=[1, 2]),
        np.zeros((0, 3)),
        np.zeros((3, 0)),
        np.zeros(3),
        np.zeros((2, 2, 2)),
        5,
        [[1, 2], [3]],
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pd.DataFrame([[1, 2]], columns=["1", 1]),
    ],
)
def test_tables_that_are_none(table):
    with pytest.raises(SchemaError):
        Schema.infer(table)


def test_names_of_arrays():
    table = np.array([[0, 5, 2.5], [1, 7, 2.6]])
    assert Schema.infer(table).columns == ("x0", "x1", "x2")
    assert Schema.infer(table, ["p", "q", "r"]).columns == ("p", "q", "r")
    assert Schema.infer(table.tolist()) == Schema.infer(table)
    with pytest.raises(SchemaError, match="2 names for 3 columns"):
        Schema.infer(table, ["p", "q"])
    with pytest.raises(SchemaError, match="same name"):
        Schema.infer(table, ["p", "q", "p"])
    with pytest.raises(SchemaError, match="names of its own"):
        Schema.infer(pd.DataFrame(table), ["p", "q", "r"])


def test_mixed_lists_keep_their_numbers():
    schema = Schema.infer([[1, "x"], [5, "y"]])
    assert schema.attributes == (Ordinal("x0", 1, 5), Categorical("x1", levels=["x", "y"]))


def test_a_column_called_like_a_method_of_models():
    table = pd.DataFrame({"split_evidence": [1, 2, 3]})
    assert Schema.infer(table).attributes == (Ordinal("split_evidence", 1, 3),)


def test_columns_that_never_vary_are_said_to():
    schema = inferred({"a": [1] * 9, "b": [0, 1, 1] * 3})
    assert "never varies" in guess_of(schema, "a")[0].reason
    assert "never varies" not in guess_of(schema, "b")[0].reason


def test_identifiers_are_noted():
    schema = inferred({"id": [f"p{i}" for i in range(50)], "job": ["x", "y"] * 25})
    assert "identifier" in guess_of(schema, "id")[0].reason
    assert "identifier" not in guess_of(schema, "job")[0].reason


# ----------------------------------------------------------------------------------------- groups


@pytest.mark.parametrize("separator", ["_", ":", "=", ".", "-", " ", "/"])
def test_one_hot_columns_with_common_names(rng, separator):
    values = rng.choice(["a", "b", "c"], 60)
    schema = inferred(one_hot("abc", values, f"job{separator}"))
    [attribute] = schema
    assert attribute == Categorical("job", [f"job{separator}{v}" for v in "abc"])
    [guess] = schema.guesses
    assert guess.source == "column name"
    assert "each of 60 rows" in guess.reason


def test_one_hot_columns_need_not_be_neighbours(rng):
    values = rng.choice(["a", "b", "c"], 60)
    columns = one_hot("abc", values, "job_")
    schema = inferred({"job_a": columns["job_a"], "n": rng.integers(0, 9, 60), **columns})
    assert schema["job"].columns == ("job_a", "job_b", "job_c")
    assert schema.columns == ("job_a", "job_b", "job_c", "n")


def test_a_pair_that_completes_each_other(rng):
    male = rng.integers(0, 2, 40)
    assert inferred({"sex_m": male, "sex_f": 1 - male}).attributes == (
        Categorical("sex", ["sex_m", "sex_f"]),
    )


def test_rows_with_none_make_an_absent_level(rng):
    values = rng.choice(["a", "b", "c", "dropped"], 200)
    schema = inferred(one_hot("abc", values, "job_"))
    assert schema["job"].absent
    none = int((values == "dropped").sum())
    assert f"in {none:,} rows none is" in guess_of(schema, "job")[0].reason


def test_a_single_row_with_two_refutes(rng):
    columns = one_hot("abc", rng.choice(["a", "b", "c"], 500), "job_")
    columns["job_a"][7] = columns["job_b"][7] = 1
    schema = Schema.infer(pd.DataFrame(columns))
    assert not any(isinstance(a, Categorical) for a in schema)
    assert not schema.invalid_rows(pd.DataFrame(columns)).any()


def test_rare_columns_that_never_meet_by_chance_stay_apart():
    n = 1000
    columns = {"word_a": np.zeros(n, int), "word_b": np.zeros(n, int)}
    columns["word_a"][:20] = 1
    columns["word_b"][50:70] = 1  # 0.4 rows with both would be expected
    schema = inferred(columns)
    assert schema.attributes == (Binary("word_a"), Binary("word_b"))
    for name in columns:
        [_, doubt] = guess_of(schema, name)
        assert doubt.source == "column name"
        assert "names suggest otherwise, the data do not settle it" in doubt.reason
        assert "20 of 1,000 rows" in doubt.reason


def test_a_rare_level_of_a_full_group_belongs_to_it():
    values = ["a"] * 500 + ["b"] * 499 + ["c"]
    assert inferred(one_hot("abc", values, "job_"))["job"].columns == ("job_a", "job_b", "job_c")


def test_a_rare_level_beside_an_open_group_is_left_out():
    values = ["a"] * 400 + ["b"] * 300 + ["none"] * 299 + ["c"]
    schema = inferred(one_hot("abc", values, "job_"))
    assert schema["job"].columns == ("job_a", "job_b")
    assert schema["job_c"] == Binary("job_c")
    assert "do not settle it" in guess_of(schema, "job_c")[1].reason


def test_a_level_nobody_has_is_left_out(rng):
    values = rng.choice(["a", "b"], 100)
    schema = inferred(one_hot("abc", values, "job_"))
    assert schema["job"].columns == ("job_a", "job_b")
    assert schema["job_c"] == Binary("job_c")


def test_too_few_rows_settle_nothing():
    schema = inferred({"sex_m": [1, 0, 1], "sex_f": [0, 1, 0]})
    assert schema.attributes == (Binary("sex_m"), Binary("sex_f"))


def test_names_alone_group_nothing(rng):
    table = pd.DataFrame(rng.integers(0, 2, (300, 5)), columns=[f"age_{i}" for i in range(5)])
    schema = Schema.infer(table)
    assert all(isinstance(a, Binary) for a in schema)


def test_two_attributes_with_the_same_beginning_stay_two(rng):
    gain, loss = rng.random(2000) < 0.1, rng.random(2000) < 0.1
    loss &= ~gain  # never both, so that only three combinations occur
    schema = inferred(
        {"capital_gain_0": 1 - gain, "capital_gain_>0": gain + 0,
         "capital_loss_0": 1 - loss, "capital_loss_>0": loss + 0}
    )  # fmt: skip
    assert [(a.name, a.size) for a in schema] == [("capital_gain", 2), ("capital_loss", 2)]


def test_values_with_separators_of_their_own(rng):
    levels = ["South_Korea", "South_Africa", "Trinidad_and_Tobago", "Peru"]
    schema = inferred(one_hot(levels, rng.choice(levels, 90), "native_country_"))
    assert [(a.name, a.size) for a in schema] == [("native_country", 4)]


def test_a_group_does_not_take_a_name_that_is_taken(rng):
    columns = {"job": rng.integers(0, 9, 60), **one_hot("ab", rng.choice(["a", "b"], 60), "job_")}
    assert [a.name for a in inferred(columns)] == ["job", "job (2)"]


def test_neighbours_that_add_up_to_one_without_names(rng):
    codes = rng.integers(0, 4, 50)
    table = np.column_stack([rng.integers(0, 2, 50), np.eye(4, dtype=int)[codes], codes])
    schema = Schema.infer(table)
    assert schema.attributes == (
        Binary("x0"),
        Categorical("x1…x4", ["x1", "x2", "x3", "x4"]),
        Ordinal("x5", 0, 3),
    )
    guess = schema.guesses[1]
    assert guess.source == "data"
    assert "4 adjacent columns" in guess.reason
    assert "50 rows" in guess.reason


@pytest.mark.parametrize("change", ["few rows", "two columns", "one row with none", "constant"])
def test_neighbours_are_not_grouped_on_less(rng, change):
    block = np.eye(3, dtype=int)[rng.integers(0, 3, 60)]
    if change == "few rows":
        block = block[:19]
    elif change == "two columns":
        block = np.column_stack([block[:, 0], 1 - block[:, 0]])
    elif change == "one row with none":
        block[5] = 0
    else:
        block = np.tile([1, 0, 0], (60, 1))
    assert all(isinstance(a, Binary) for a in Schema.infer(block))


def test_two_runs_side_by_side(rng):
    first, second = (np.eye(3, dtype=int)[rng.integers(0, 3, 60)] for _ in range(2))
    schema = Schema.infer(np.hstack([first, second]))
    assert [a.columns for a in schema] == [("x0", "x1", "x2"), ("x3", "x4", "x5")]


# ------------------------------------------------------------------------------------------- bins


def bins_of(values, edges, prefix="age"):
    return {
        f"{prefix}={low}-{high}": ((values >= low) & (values <= high)).astype(int)
        for low, high in edges
    }


def test_overlapping_bins(rng):
    ages = rng.integers(18, 80, 800)
    edges = [(18, 25), (24, 30), (24, 40), (30, 99), (45, 99)]
    schema = inferred(bins_of(ages, edges))
    [attribute] = schema
    assert isinstance(attribute, Bins)
    expected = Bins.from_intervals("age", {f"age={a}-{b}": (a, b) for a, b in edges}, 18, 79)
    assert set(attribute.patterns) == set(expected.patterns)
    assert "would be possible in principle" in schema.guesses[0].reason
    assert f"{attribute.size} of 32 combinations" in schema.guesses[0].reason


def test_bins_whose_names_lie(rng):
    ages = rng.integers(18, 80, 800)
    columns = bins_of(ages, [(18, 25), (18, 40)])
    columns["age<=45"] = (ages > 45).astype(int)
    [attribute] = inferred(columns)
    assert set(attribute.patterns) == {(1, 1, 0), (0, 1, 0), (0, 0, 0), (0, 0, 1)}


def test_nested_bins_named_with_the_same_separators(rng):
    ages = rng.integers(18, 80, 800)
    columns = {
        f"age_{low}_{high}": ((ages >= low) & (ages <= high)).astype(int)
        for low, high in [(18, 20), (18, 25), (24, 30), (24, 40), (35, 80)]
    }
    [attribute] = inferred(columns)
    assert isinstance(attribute, Bins)
    assert len(attribute.columns) == 5


def test_correlated_columns_are_not_bins(rng):
    base = rng.normal(size=2000)
    table = {f"pay_{i}": (base + rng.normal(size=2000) > 1).astype(int) for i in range(5)}
    assert all(isinstance(a, Binary) for a in inferred(table))


def test_two_unrelated_scales_are_not_one(rng):
    a, b = rng.integers(0, 3, 500), rng.integers(0, 3, 500)
    schema = inferred({"q:a1": a > 0, "q:a2": a > 1, "q:b1": b > 0, "q:b2": b > 1})
    assert not any(isinstance(attribute, Bins) for attribute in schema)


def test_tied_columns_that_are_no_intervals_are_not_bins(rng):
    # In each row all but one are 1: no order of the three combinations keeps them together.
    ring = 1 - np.eye(3, dtype=int)[rng.integers(0, 3, 300)]
    assert all(isinstance(a, Binary) for a in inferred({f"x:{i}": ring[:, i] for i in range(3)}))
    # Four questions asked only of those who said yes to the first: 17 combinations.
    first = rng.integers(0, 2, 600)
    table = {"q:0": first} | {f"q:{i}": first * rng.integers(0, 2, 600) for i in range(1, 5)}
    assert all(isinstance(a, Binary) for a in inferred(table))


def test_combinations_that_are_missing_by_chance_do_not_make_bins():
    table = {"x:a": [0, 1, 1, 0] * 10, "x:b": [1, 0, 1, 0] * 10, "x:c": [0] * 39 + [1]}
    assert all(isinstance(a, Binary) for a in inferred(table))


# ----------------------------------------------------------------------------------- properties

cells = st.one_of(st.integers(0, 1), st.integers(0, 1), st.integers(-3, 3), st.just(0.25))


@given(
    hnp.arrays(np.float64, st.tuples(st.integers(1, 40), st.integers(1, 8)), elements=cells),
    st.lists(st.sampled_from(["a_1", "a_2", "a:1", "b_1", "b_2", "b:x", "c", "d1", "d2", "e"]),
             min_size=8, max_size=8, unique=True),
)  # fmt: skip
def test_the_table_itself_is_always_valid(table, names):
    frame = pd.DataFrame(table, columns=names[: table.shape[1]])
    schema = Schema.infer(frame)
    assert sorted(schema.columns) == sorted(frame.columns)
    assert not schema.invalid_rows(frame).any()
    assert {g.attribute for g in schema.guesses} == {a.name for a in schema}
    assert Schema.from_toml(schema.to_toml()) == schema


@given(st.integers(0, 10**6))
def test_one_hot_tables_of_any_make(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(100, 400))
    columns, truth = {}, {}
    for name in "pqr"[: rng.integers(1, 4)]:
        k = int(rng.integers(2, 6))
        codes = rng.integers(0, k, n)
        dropped = bool(rng.integers(2)) and k > 2
        truth[name] = (k - dropped, dropped)
        columns |= one_hot(range(k - dropped), codes, f"{name}_")
    order = rng.permutation(list(columns))
    schema = inferred({c: columns[c] for c in order})
    assert {a.name: (len(a.columns), a.absent) for a in schema} == truth


def test_a_large_table_takes_well_under_two_seconds(rng):
    n = 48_842
    columns = {}
    for g in range(12):
        columns |= one_hot(range(6), rng.integers(0, 6, n), f"g{g}_")
    columns |= {f"yes_{i}": rng.integers(0, 2, n) for i in range(16)}
    columns |= {f"number{i}": np.round(rng.normal(size=n), 2) for i in range(6)}
    columns |= {f"real{i}": rng.normal(size=n) for i in range(3)}
    columns |= {f"text{i}": rng.choice(["x", "y", "z"], n) for i in range(3)}
    table = pd.DataFrame(columns)
    assert table.shape == (n, 100)
    start = time.perf_counter()
    schema = Schema.infer(table)
    assert time.perf_counter() - start < 2
    assert sum(isinstance(a, Categorical) and a.one_hot for a in schema) == 12
    assert schema["number0"].resolution == 0.01
