"""Sizes, levels and what is allowed are three views of the same thing."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import attributes_on, bins, names, numerics, ordinals, raw_categoricals

from glassleak.errors import SchemaError
from glassleak.schema import Binary, Bins, Categorical, Numeric, Ordinal


def distinct(levels):
    """Number of different rows; NaN is one value."""
    return len({tuple("nan" if v != v else v for v in row) for row in levels.tolist()})


@given(st.data())
def test_every_level_is_allowed_and_there_are_as_many_as_the_size_says(data):
    columns = data.draw(names())
    attribute = data.draw(attributes_on(columns, "a"))
    if isinstance(attribute, Numeric) and attribute.resolution is None:
        assert attribute.size is None
        with pytest.raises(SchemaError, match="no resolution"):
            attribute.level_values()
        return
    levels = attribute.level_values()
    assert levels.shape == (attribute.size, len(attribute.columns))
    assert attribute.columns == tuple(columns)
    if isinstance(attribute, Categorical) and not attribute.one_hot:
        cells = np.empty((attribute.size, 1), dtype=object)
        cells[:, 0] = [*attribute.levels, *([math.nan] * attribute.missing)]
        assert attribute.allows(cells).all()
    else:
        assert distinct(levels) == attribute.size
        assert attribute.allows(levels).all()


@given(numerics(continuous=False))
def test_steps_survive_single_precision_where_it_is_fine_enough(attribute):
    levels = attribute.level_values()
    biggest = max(abs(attribute.low), abs(attribute.high))
    if np.spacing(np.float32(biggest)) < 0.005 * attribute.resolution:
        assert attribute.allows(levels.astype(np.float32)).all()


@given(numerics(continuous=False), st.floats(0.02, 0.98), st.integers(0, 49))
def test_numbers_between_the_steps_are_not_allowed(attribute, part, step):
    between = attribute.low + (step + part) * attribute.resolution
    assert not attribute.allows(np.array([[between]]))[0]


@given(numerics(continuous=False))
def test_numbers_beyond_the_bounds_are_not_allowed(attribute):
    beyond = [attribute.low - attribute.resolution, attribute.high + attribute.resolution]
    beyond += [math.inf, -math.inf]
    assert not attribute.allows(np.array(beyond)[:, None]).any()
    assert attribute.allows(np.array([[math.nan]]))[0] == attribute.missing


@given(ordinals(), st.integers(-200, 200))
def test_whole_numbers(attribute, number):
    cells = np.array([[attribute.low + number]], dtype=float)
    inside = 0 <= number <= attribute.high - attribute.low
    assert attribute.allows(cells)[0] == inside
    odd = np.array([[0.5], [math.inf], [math.nan]])
    assert attribute.allows(odd).tolist() == [False, False, attribute.missing]


@given(raw_categoricals(), st.text(min_size=9, max_size=9))
def test_labels_that_are_no_level(attribute, other):
    cells = np.empty((3, 1), dtype=object)
    cells[:, 0] = [other, None, pd.NA]
    assert attribute.allows(cells).tolist() == [False, attribute.missing, attribute.missing]


@given(names(min_size=2), st.data())
def test_one_hot_columns(columns, data):
    absent = data.draw(st.booleans())
    attribute = Categorical("a", columns, absent=absent)
    row = data.draw(st.lists(st.integers(0, 1), min_size=len(columns), max_size=len(columns)))
    assert attribute.allows(np.array([row]))[0] == (sum(row) == 1 or (absent and sum(row) == 0))
    two = [[2, -1] + [0] * (len(columns) - 2)]
    assert not attribute.allows(np.array(two))[0]
    assert not attribute.allows(np.array([[math.nan] + [0.0] * (len(columns) - 1)]))[0]


def test_yes_or_no():
    cells = np.array([[0], [1], [True], [2], [-1], [0.5], [math.nan]], dtype=float)
    assert Binary("a").allows(cells).tolist() == [True, True, True, False, False, False, False]


@given(names(min_size=2, max_size=4), st.data())
def test_bins_allow_their_patterns_only(columns, data):
    attribute = data.draw(bins(columns))
    row = data.draw(st.tuples(*[st.integers(0, 1)] * len(columns)))
    assert attribute.allows(np.array([row]))[0] == (row in attribute.patterns)


@st.composite
def intervals(draw):
    low = draw(st.integers(-20, 20))
    high = low + draw(st.integers(0, 30))
    resolution = draw(st.sampled_from([1, 2, 0.5, 0.1]))
    end = st.one_of(st.integers(-25, 55).map(lambda i: i * resolution), st.floats(-30, 60))
    pairs = draw(st.lists(st.tuples(end, end).map(sorted), min_size=1, max_size=5))
    if draw(st.booleans()):
        pairs[0][1] = math.inf
    return {f"c{i}": tuple(pair) for i, pair in enumerate(pairs)}, low, high, resolution


@given(intervals())
def test_bins_from_intervals_against_brute_force(drawn):
    named, low, high, resolution = drawn
    found = Bins.from_intervals("a", named, low, high, resolution)
    tolerance = 1e-9 * resolution
    expected, step = [], 0
    while low + step * resolution <= high + tolerance:
        value = min(low + step * resolution, high)
        pattern = tuple(
            int(start - tolerance <= value <= stop + tolerance) for start, stop in named.values()
        )
        if pattern not in expected:
            expected.append(pattern)
        step += 1
    assert found.patterns == tuple(expected)
    assert found.columns == tuple(named)


def test_bins_from_the_intervals_of_a_real_table():
    ages = {"<=25": (-math.inf, 25), "24-30": (24, 30), ">=30": (30, math.inf)}
    found = Bins.from_intervals("age", ages, 18, 90)
    assert found.patterns == ((1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 1, 1), (0, 0, 1))


@pytest.mark.parametrize(
    ("size", "attribute"),
    [
        (4, Numeric("a", 0, 0.3, 0.1)),
        (31, Numeric("a", 0, 3, 0.1)),
        (11, Numeric("a", 0.1, 1.1, 0.1)),
        (7, Numeric("a", 0.7, 1.3, 0.1)),
        (1, Numeric("a", 5, 5, 1)),
        (2, Numeric("a", 5, 5.9, 1, missing=True)),
        (10**6 + 1, Numeric("a", 0, 1, 1e-6)),
        (10**14 + 1, Numeric("a", -5e10, 5e10, 1e-3)),
        (2**54 + 1, Ordinal("a", -(2**53), 2**53)),
    ],
)
def test_sizes_of_decimals(size, attribute):
    assert attribute.size == size


@pytest.mark.parametrize(
    "make",
    [
        lambda: Binary(""),
        lambda: Binary(3),
        lambda: Binary("a", column=3),
        lambda: Binary("a", column=""),
        lambda: Categorical("a"),
        lambda: Categorical("a", columns="abc"),
        lambda: Categorical("a", columns=[]),
        lambda: Categorical("a", columns=["b", "b"]),
        lambda: Categorical("a", columns=["b", 3]),
        lambda: Categorical("a", columns=["b"]),
        lambda: Categorical("a", columns={"b": 1, "c": 2}),
        lambda: Categorical("a", columns=["b", "c"], column="d"),
        lambda: Categorical("a", columns=["b", "c"], levels=["x"]),
        lambda: Categorical("a", columns=["b", "c"], missing=True),
        lambda: Categorical("a", levels="xyz"),
        lambda: Categorical("a", levels=["x", "x"]),
        lambda: Categorical("a", levels=[1, True]),
        lambda: Categorical("a", levels=[["x"]]),
        lambda: Categorical("a", levels=[None, "x"]),
        lambda: Categorical("a", levels=[math.nan, "x"]),
        lambda: Categorical("a", levels=[10**400, 1]),
        lambda: Categorical("a", levels=["x"], absent=True),
        lambda: Categorical("a", columns=["b", "c"], absent="false"),
        lambda: Ordinal("a", 3, 2),
        lambda: Ordinal("a", 0.5, 2),
        lambda: Ordinal("a", "0", 2),
        lambda: Ordinal("a", 0, math.inf),
        lambda: Ordinal("a", 0, 10**400),
        lambda: Ordinal("a", 0, 2**53 + 1),
        lambda: Ordinal("a", 0, 1, missing="yes"),
        lambda: Numeric("a", 3, 2),
        lambda: Numeric("a", 0, math.nan),
        lambda: Numeric("a", None, 1),
        lambda: Numeric("a", -1e308, 1e308),
        lambda: Numeric("a", 0, 10**400),
        lambda: Numeric("a", 0, 1, 0),
        lambda: Numeric("a", 0, 1, -1),
        lambda: Numeric("a", 0, 1, math.inf),
        lambda: Numeric("a", 0, 1, "1"),
        lambda: Numeric("a", 0, 1e18, 1),
        lambda: Numeric("a", 1, 2, 1e-300),
        lambda: Bins("a", ["b", "c"], []),
        lambda: Bins("a", ["b", "c"], [(0, 1), (0, 1)]),
        lambda: Bins("a", ["b", "c"], [(0, 1, 1)]),
        lambda: Bins("a", ["b", "c"], [(0, 0.5)]),
        lambda: Bins("a", ["b", "c"], ["01"]),
        lambda: Bins("a", ["b", "c"], [3]),
        lambda: Bins("a", "bc", [(0, 1)]),
        lambda: Bins.from_intervals("a", {}, 0, 5),
        lambda: Bins.from_intervals("a", [1], 0, 5),
        lambda: Bins.from_intervals("a", {"b": (3, 2)}, 0, 5),
        lambda: Bins.from_intervals("a", {"b": (3,)}, 0, 5),
        lambda: Bins.from_intervals("a", {"b": ("3", 4)}, 0, 5),
        lambda: Bins.from_intervals("a", {"b": (math.nan, 4)}, 0, 5),
        lambda: Bins.from_intervals("a", {"b": (3, 4)}, 0, 5, None),
        lambda: Bins.from_intervals("a", {"b": (3, 4)}, 0, 1e9, 0.001),
    ],
)
def test_attributes_that_are_none(make):
    with pytest.raises(SchemaError):
        make()


@pytest.mark.parametrize(
    "attribute", [Ordinal("a", 0, 2**50), Numeric("a", 0, 1e9, 0.01)], ids=["ordinal", "numeric"]
)
def test_levels_beyond_memory_are_not_listed(attribute):
    assert attribute.size > 10**9
    with pytest.raises(SchemaError, match="too many to list"):
        attribute.level_values()


def test_levels_of_raw_categories_are_numbers_or_codes():
    assert Categorical("a", levels=[3, 1.5]).level_values().tolist() == [[3.0], [1.5]]
    assert Categorical("a", levels=["x", "y"]).level_values().tolist() == [[0.0], [1.0]]
    assert Categorical("a", levels=np.array(["x", "y"])).levels == ("x", "y")
    assert {type(v) for v in Categorical("a", levels=np.array([1, 2])).levels} == {int}
    with_missing = Categorical("a", levels=["x"], missing=True).level_values()
    assert with_missing[0] == 0
    assert np.isnan(with_missing[1])


@pytest.mark.parametrize("attribute", [Binary("a"), Ordinal("a", 0, 1), Numeric("a", 0, 1)])
def test_text_is_no_number(attribute):
    with pytest.raises(SchemaError, match="must be numbers"):
        attribute.allows(np.array([["old"]], dtype=object))
