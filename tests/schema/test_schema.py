"""A schema as a whole: its number of profiles, and which rows it allows."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import schemas

from glassleak.errors import SchemaError
from glassleak.schema import Binary, Bins, Categorical, Numeric, Ordinal, Schema


@given(schemas())
def test_profiles_are_the_product_of_the_levels(schema):
    sizes = [attribute.size for attribute in schema]
    if None in sizes:
        assert schema.n_profiles is None
    else:
        assert schema.n_profiles == math.prod(sizes)


def test_profiles_beyond_any_machine_number_are_exact():
    schema = Schema([Numeric(f"n{i}", 0, 999_999, 1) for i in range(50)] + [Binary("b")])
    assert schema.n_profiles == 2 * 10**300
    assert schema.n_profiles % 10**18 == 0
    ones = Schema([Ordinal(f"o{i}", 1, 3, missing=i == 0) for i in range(100)])
    assert ones.n_profiles == 4 * 3**99


def test_profiles_counted_by_trying_them_all():
    schema = Schema(
        [
            Binary("a"),
            Categorical("b", ["b1", "b2"], absent=True),
            Ordinal("c", 0, 1),
            Bins("d", ["d1", "d2"], [(0, 0), (1, 1)]),
        ]
    )
    every = np.array(list(itertools.product([0, 1, 2], repeat=6)))
    assert len(every) - schema.invalid_rows(every).sum() == schema.n_profiles == 24


@given(schemas(max_columns=4), st.integers(0, 10**6))
def test_rows_made_of_levels_are_valid_and_a_spoilt_one_is_not(schema, seed):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(index=range(5))
    for attribute in schema:
        if isinstance(attribute, Numeric) and attribute.resolution is None:
            values = np.full((5, 1), attribute.low)
        elif isinstance(attribute, Categorical) and not attribute.one_hot:
            values = np.empty((5, 1), dtype=object)
            values[:, 0] = [
                attribute.levels[i] for i in rng.integers(len(attribute.levels), size=5)
            ]
        else:
            levels = attribute.level_values()
            values = levels[rng.integers(len(levels), size=5)]
        for i, column in enumerate(attribute.columns):
            table[column] = values[:, i]
    shuffled = table[rng.permutation(table.columns)]
    assert not schema.invalid_rows(shuffled).any()
    column = schema.columns[rng.integers(len(schema.columns))]
    spoilt = shuffled.astype({column: object})
    spoilt.iloc[2, list(spoilt.columns).index(column)] = 1e200
    assert schema.invalid_rows(spoilt).tolist() == [False, False, True, False, False]


def test_frames_go_by_name_and_arrays_by_the_order_of_the_schema():
    schema = Schema([Ordinal("a", 0, 5), Binary("b")])
    assert schema.invalid_rows(np.array([[5, 1], [1, 5]])).tolist() == [False, True]
    frame = pd.DataFrame({"b": [1, 5], "more": ["x", "y"], "a": [5, 1]})
    assert schema.invalid_rows(frame).tolist() == [False, True]
    with pytest.raises(SchemaError, match="lacks column 'a'"):
        schema.invalid_rows(frame[["b"]])
    with pytest.raises(SchemaError, match="table of 2 columns"):
        schema.invalid_rows(np.zeros((2, 3)))
    with pytest.raises(SchemaError, match="same name"):
        schema.invalid_rows(pd.concat([frame, frame], axis=1))


def test_numbered_columns_and_pandas_own_missing_values():
    schema = Schema(
        [Ordinal("0", 0, 5, missing=True), Categorical("1", levels=["x"], missing=True)]
    )
    frame = pd.DataFrame({0: pd.array([1, None, 9], dtype="Int64"), 1: ["x", pd.NA, None]})
    assert schema.invalid_rows(frame).tolist() == [False, False, True]


def test_looking_attributes_up():
    schema = Schema([Binary("a", column="x"), Categorical("b", ["b1", "b2"])])
    assert schema["a"] == Binary("a", "x")
    assert schema.attribute_of("b2").name == "b"
    assert schema.columns == ("x", "b1", "b2")
    assert len(schema) == 2
    with pytest.raises(KeyError):
        schema["x"]
    with pytest.raises(SchemaError, match="'a'"):
        schema.attribute_of("a")


def test_columns_that_do_not_fit():
    schema = Schema([Binary("a"), Binary("b")])
    schema.check_columns(["b", "a"])
    with pytest.raises(SchemaError, match=r"lacks column 'c'; the schema has column 'b'"):
        schema.check_columns(["a", "c"])
    with pytest.raises(SchemaError, match="and 3 more"):
        schema.check_columns(["a", "b", *"cdefghij"])


@pytest.mark.parametrize(
    "attributes",
    [[], [Binary("a"), Binary("a")], [Binary("a"), Binary("b", "a")], ["a"], [None]],
)
def test_schemas_that_are_none(attributes):
    with pytest.raises(SchemaError):
        Schema(attributes)
