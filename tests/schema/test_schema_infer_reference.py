"""Inference on the tables of the published experiments, where a copy of them is at hand.

Set GLASSLEAK_REFERENCE to a folder with ``data/*.csv``.
"""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest

from glassleak.schema import Bins, Categorical, Schema

REFERENCE = os.environ.get("GLASSLEAK_REFERENCE")
pytestmark = pytest.mark.skipif(
    not REFERENCE, reason="GLASSLEAK_REFERENCE does not name a folder with the published tables"
)


def table(name):
    # The last column is the class.
    return pd.read_csv(Path(str(REFERENCE)) / "data" / f"{name}.csv").iloc[:, :-1]


def groups(schema, columns):
    return {
        a.name: (sorted(list(columns).index(c) for c in a.columns), a.absent)
        for a in schema
        if isinstance(a, Categorical)
    }


def test_compas_with_overlapping_bins_has_11520_profiles():
    data = table("compas_corels27")
    schema = Schema.infer(data)
    assert schema.n_profiles == 11_520
    assert not schema.invalid_rows(data).any()
    assert {a.name: a.size for a in schema} == {
        "Age": 10, "Gender=Male": 2, "Race": 6, "Juvenile-Felonies": 3, "Juvenile-Crimes": 4,
        "Prior-Crimes": 4, "Current-Charge-Degree=Misdemeanor": 2,
    }  # fmt: skip
    age = schema["Age"]
    assert isinstance(age, Bins)
    # The name says otherwise, but nobody has both "Age<=40" and "Age=18-20".
    lying, young = age.columns.index("Age<=40"), age.columns.index("Age=18-20")
    assert not any(pattern[lying] and pattern[young] for pattern in age.patterns)


def test_compas():
    data = table("compas")
    schema = Schema.infer(data)
    assert groups(schema, data.columns) == {
        "age": ([1, 2, 3, 4, 5], False),
        "priors": ([9, 10, 11, 12], False),
    }
    assert schema["juvenile"].size == 5
    assert not schema.invalid_rows(data).any()


def test_adult():
    data = table("adult")
    schema = Schema.infer(data)
    assert groups(schema, data.columns) == {
        "capital": ([1, 2], True),
        "education": ([3, 4, 5, 6, 7, 8], False),
        "occupation": ([11, 12, 13, 14, 15], True),
        "workclass": ([16, 17, 18], True),
    }
    assert not schema.invalid_rows(data).any()


def test_default_credit():
    data = table("default_credit")
    schema = Schema.infer(data)
    assert groups(schema, data.columns) == {
        "EDUCATION": ([0, 1, 2, 3], False),
        "MARRIAGE": ([5, 6, 7], False),
    }
    assert schema.n_profiles == 4 * 3 * 2**14
    assert not schema.invalid_rows(data).any()
