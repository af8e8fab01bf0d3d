"""How many values are right to the last digit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import glassleak as gl
from glassleak.errors import SchemaError

SCHEMA = gl.Schema(
    [
        gl.Ordinal("age", 0, 100, missing=True),
        gl.Numeric("rate", 0, 10, resolution=0.1),
        gl.Numeric("score", -5, 5),
        gl.Categorical("home", columns=["own", "rent"]),
        gl.Categorical("job", levels=["clerk", "nurse"], missing=True),
    ]
)


def table() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": [20.0, np.nan, 40.0],
            "rate": [0.3, 1.2, 9.9],
            "score": [0.1, -2.0, 4.25],
            "own": [1, 0, 1],
            "rent": [0, 1, 0],
            "job": ["clerk", None, "nurse"],
        }
    )


def test_everything_right_in_another_order():
    truth = table()
    found = gl.exact_cells(truth, truth.iloc[[2, 0, 1]].reset_index(drop=True), SCHEMA)
    assert (found.n_cells, found.n_numbers) == (15, 9)
    assert found.share == found.share_of_numbers == 1
    assert found.error == 0


def test_what_is_wrong_is_counted_once_per_attribute():
    truth, other = table(), table()
    other.loc[0, ["own", "rent"]] = [0, 1]  # two columns, one attribute
    other.loc[1, "age"] = 33  # the truth is missing
    other.loc[2, "rate"] = 9.8
    found = gl.exact_cells(truth, other, SCHEMA)
    assert found.right == 15 - 3
    assert found.numbers_right == 9 - 2
    assert found.error == pytest.approx(gl.reconstruction_error(truth, other, SCHEMA))


def test_decimals_are_compared_in_steps_and_others_in_single_precision():
    truth, other = table(), table()
    other["rate"] = [0.1 + 0.2, 1.2, 9.9]
    other["score"] = other["score"].astype(np.float32).astype(float)
    assert gl.exact_cells(truth, other, SCHEMA).share == 1
    other.loc[0, "score"] = np.nextafter(np.float32(0.1), np.float32(1))
    assert gl.exact_cells(truth, other, SCHEMA).right == 14


def test_numbers_a_step_apart_are_not_right_however_large():
    schema = gl.Schema([gl.Ordinal("amount", 0, 10**9)])
    truth, other = pd.DataFrame({"amount": [2.0**25]}), pd.DataFrame({"amount": [2.0**25 + 1]})
    assert gl.exact_cells(truth, other, schema).share_of_numbers == 0


def test_tables_without_numbers_or_rows():
    schema = gl.Schema([gl.Binary("a")])
    found = gl.exact_cells(np.array([[0], [1]]), np.array([[1], [1]]), schema)
    assert (found.n_numbers, found.share_of_numbers, found.share) == (0, 1.0, 0.5)
    nobody = gl.exact_cells(np.empty((0, 1)), np.empty((0, 1)), schema)
    assert (nobody.share, nobody.error) == (1.0, 0.0)


def test_tables_of_different_length_are_refused():
    with pytest.raises(SchemaError, match="matched"):
        gl.exact_cells(table(), table().iloc[:2], SCHEMA)
