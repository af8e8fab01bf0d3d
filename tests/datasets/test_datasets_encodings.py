"""Every table under its schema, and the encodings against the published tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from glassleak.datasets import Dataset, _adult, _default_credit, _embed, _german, _store
from glassleak.datasets._registry import SPECS
from glassleak.errors import DatasetUnavailableError
from glassleak.schema import Bins

Load = Callable[[str, str], Dataset]

ALL = [(name, variant) for name, spec in SPECS.items() for variant in spec.variants]
PUBLISHED = {
    ("adult", "binary"): "adult.csv",
    ("adult", "corels"): "adult_corels24.csv",
    ("compas", "binary"): "compas.csv",
    ("compas", "corels"): "compas_corels27.csv",
    ("default_credit", "binary"): "default_credit.csv",
    ("default_credit", "numerical"): "default_credit_numerical.csv",
}


@pytest.mark.parametrize(("name", "variant"), ALL)
def test_every_row_is_valid_under_the_schema(load_or_skip: Load, name: str, variant: str) -> None:
    table = load_or_skip(name, variant)
    table.schema.check_columns(list(table.data.columns))
    assert not table.schema.invalid_rows(table.data).any()
    assert table.schema.guesses == ()
    assert table.target.name not in table.data.columns
    assert table.target.nunique() == 2


# The published file of this one scatters the columns of an attribute.
@pytest.mark.parametrize(("name", "variant"), [x for x in ALL if x != ("adult", "corels")])
def test_schema_columns_are_in_the_order_of_the_table(
    load_or_skip: Load, name: str, variant: str
) -> None:
    table = load_or_skip(name, variant)
    assert table.schema.columns == tuple(table.data.columns)


@pytest.mark.parametrize(("name", "variant"), PUBLISHED)
def test_encoding_is_the_published_table(
    load_or_skip: Load, reference_folder: Path, name: str, variant: str
) -> None:
    published = pd.read_csv(reference_folder / PUBLISHED[name, variant])
    # Same columns, same rows, same order, same types.
    pd.testing.assert_frame_equal(load_or_skip(name, variant).frame, published)


@pytest.mark.parametrize("name", SPECS)
def test_catalogue_tells_the_size_of_the_raw_table(load_or_skip: Load, name: str) -> None:
    shape = load_or_skip(name, "raw").data.shape
    assert shape == (SPECS[name].n_rows, SPECS[name].n_attributes)


@pytest.mark.parametrize(
    ("name", "variant", "profiles"),
    [
        ("adult", "binary", 4_608),
        ("adult", "corels", 4_608),
        ("compas", "binary", 640),
        ("compas", "corels", 11_520),
        ("german", "binary", 4_423_680_000),
        ("default_credit", "binary", 196_608),
    ],
)
def test_number_of_valid_profiles(name: str, variant: str, profiles: int) -> None:
    assert SPECS[name].variants[variant].schema().n_profiles == profiles


def test_corels_age_has_ten_patterns() -> None:
    age = SPECS["compas"].variants["corels"].schema()["age"]
    assert isinstance(age, Bins)
    assert age.size == 10


def test_one_hot_groups_stand_where_the_papers_say() -> None:
    def places(name: str, attribute: str) -> list[int]:
        schema = SPECS[name].variants["binary"].schema()
        return [schema.columns.index(column) for column in schema[attribute].columns]

    assert places("compas", "age") == [1, 2, 3, 4, 5]
    assert places("compas", "priors") == [9, 10, 11, 12]
    assert places("adult", "education") == [3, 4, 5, 6, 7, 8]
    assert places("default_credit", "EDUCATION") == [0, 1, 2, 3]
    assert places("default_credit", "MARRIAGE") == [5, 6, 7]


@pytest.mark.parametrize("name", SPECS)
def test_raw_levels_are_sorted_as_ordinal_encoders_sort_them(name: str) -> None:
    for attribute in SPECS[name].variants["raw"].schema():
        levels = getattr(attribute, "levels", ())
        assert list(levels) == sorted(levels), attribute.name


def test_adult_cuts_are_medians(load_or_skip: Load) -> None:
    data = load_or_skip("adult", "raw").data
    assert data["age"].median() == _adult.AGE_HIGH
    assert data["hours_per_week"].median() == _adult.HOURS_HIGH


def test_default_credit_cuts_are_medians(load_or_skip: Load) -> None:
    data = load_or_skip("default_credit", "numerical").data
    assert data["LIMIT_BAL"].median() == _default_credit.LIMIT_HIGH
    assert data[list(_default_credit.PAY_AMOUNT_HIGH)].median().to_dict() == (
        _default_credit.PAY_AMOUNT_HIGH
    )


def test_german_cuts_are_medians_and_split_the_table(load_or_skip: Load) -> None:
    raw, binary = load_or_skip("german", "raw").data, load_or_skip("german", "binary").data
    for name in ("duration", "credit_amount", "installment_rate", "residence_since", "age"):
        assert np.ceil(raw[name].median()) == _german.CUTS[name]
    assert not raw.isna().any(axis=None)
    assert binary.sum().between(1, 999).all()


def test_compas_holds_no_direct_identifiers(load_or_skip: Load) -> None:
    columns = set(load_or_skip("compas", "raw").frame.columns)
    assert not columns & {"id", "name", "first", "last", "dob", "c_case_number", "c_jail_in"}
    assert not [column for column in columns if "date" in column or "custody" in column]


def test_corels_target_of_compas_is_not_the_two_year_one(load_or_skip: Load) -> None:
    assert load_or_skip("compas", "corels").target.sum() == 3_471
    assert load_or_skip("compas", "raw").target.sum() == 3_251


def test_embedded_adult_is_made_from_the_originals(
    skip_if_offline: Callable[[DatasetUnavailableError], None],
) -> None:
    try:
        originals = _embed.originals()
    except DatasetUnavailableError as error:
        skip_if_offline(error)
        raise
    rebuilt = _embed.canonical_csv(*originals)
    embedded = _adult.parse(_store.EMBEDDED["adult"].read_bytes())
    assert embedded.to_csv(index=False, lineterminator="\n").encode() == rebuilt
