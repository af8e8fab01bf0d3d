"""The values a column can hold, as scikit-learn sees them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glassleak as gl
from glassleak.reconstruction.values._lattice import (
    at_least,
    at_most,
    in_full_precision,
    lattice_of,
)

ATTRIBUTES = [
    gl.Ordinal("few", 0, 7),
    gl.Ordinal("many", -5_000, 5_000),
    gl.Numeric("tenths", 0, 30, resolution=0.1),
    gl.Numeric("many tenths", 0, 3_000, resolution=0.1),
    # Steps finer than single precision: many levels look the same to the model.
    gl.Numeric("fine", 1e6, 1e6 + 1_000, resolution=0.01),
    gl.Categorical("codes", levels=[3.0, 0.0, 11.0]),
]


def singles(attribute) -> np.ndarray:
    if isinstance(attribute, gl.Ordinal):
        levels = np.arange(attribute.low, attribute.high + 1.0)
    elif isinstance(attribute, gl.Numeric):
        count = round((attribute.high - attribute.low) / attribute.resolution)
        levels = attribute.low + attribute.resolution * np.arange(count + 1)
    else:
        levels = np.array(attribute.levels)
    return np.unique(levels.astype(np.float32)).astype(float)


@pytest.mark.parametrize("attribute", ATTRIBUTES, ids=lambda a: a.name)
@given(share=st.floats(-0.2, 1.2), moved=st.sampled_from([0.0, 1e-12, -1e-12]))
def test_neighbours_are_those_of_the_list(attribute, share, moved):
    values = singles(attribute)
    lattice = lattice_of(attribute)
    nearest = values[int(np.clip(share, 0, 1) * (len(values) - 1))]
    for x in (values[0] + share * (values[-1] - values[0]), nearest * (1 + moved)):
        above, below = values[values >= x], values[values <= x]
        assert at_least(lattice, x) == (above[0] if len(above) else np.inf)
        assert at_most(lattice, x) == (below[-1] if len(below) else -np.inf)


@given(x=st.floats(-2, 3))
def test_without_steps_every_single_is_a_value(x):
    lattice = lattice_of(gl.Numeric("any", -1, 2))
    low, high = at_most(lattice, x), at_least(lattice, x)
    if -1 <= x <= 2:
        assert low <= x <= high
        assert {low, high} <= {float(np.float32(low)), float(np.float32(high))}
        assert np.nextafter(np.float32(low), np.float32(9)) >= high
    else:
        assert (low, high) == ((2.0, np.inf) if x > 2 else (-np.inf, -1.0))


def test_decimals_come_back_as_they_were():
    attribute = gl.Numeric("tenths", 0, 30, resolution=0.1)
    values = np.array([0.1, 0.7, 29.9])
    back = in_full_precision(attribute, values.astype(np.float32).astype(float))
    np.testing.assert_allclose(back, values, rtol=0, atol=1e-12)


def test_yes_no_columns_have_no_lattice():
    assert lattice_of(gl.Binary("b")) is None
    assert lattice_of(gl.Categorical("c", columns=["c1", "c2"])) is None
