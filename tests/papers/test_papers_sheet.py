from __future__ import annotations

import csv
import io

import pytest

from glassleak.papers import Column, Sheet
from glassleak.papers._sheet import Form, formatted, ratio


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (None, "seconds", "–"),
        ("not solved", "seconds", "not solved"),
        (0.0432, "seconds", "0.04"),
        (36.47, "seconds", "36.5"),
        (13911.5, "seconds", "13,912"),
        (1234.0, "count", "1,234"),
        (93.6, "count", "93.6"),
        (0.00031579, "error", "0.0003"),
        (0.896, "share", "0.896"),
        (8354.4, "ratio", "8,354×"),
        (1.64, "ratio", "1.6×"),
        (0.0123, "ratio", "0.012×"),
        (5, "text", "5"),
    ],
)
def test_numbers_are_written_for_people(value: object, form: Form, text: str) -> None:
    assert formatted(value, form) == text


def test_ratio_says_in_words_what_a_zero_means() -> None:
    assert ratio(10.0, 2.0) == 5.0
    assert ratio(0.0, 0.0) == "both 0"
    assert ratio(0.01, 0.0) == "ours is 0"
    assert ratio(0.0, 0.01) == "published is 0"
    assert ratio(None, 1.0) is None
    assert ratio(1.0, None) is None
    assert ratio(float("nan"), 1.0) is None


SHEET = Sheet(
    "Table 2: a title",
    (
        Column("dataset", "dataset"),
        Column("paper", "paper s", "seconds"),
        Column("ours", "ours s", "seconds"),
        Column("extra", "extra", terminal=False),
    ),
    (
        {"dataset": "a|b", "paper": 100.8, "ours": 0.0625, "extra": "x"},
        {"dataset": "c", "paper": 20.0, "ours": "not solved"},
    ),
    ("first note", "second note"),
)


def test_csv_has_every_column_and_full_precision() -> None:
    rows = list(csv.DictReader(io.StringIO(SHEET.to_csv())))
    assert rows == [
        {"dataset": "a|b", "paper": "100.8", "ours": "0.0625", "extra": "x"},
        {"dataset": "c", "paper": "20.0", "ours": "not solved", "extra": ""},
    ]


def test_markdown_is_a_table_with_notes() -> None:
    assert SHEET.to_markdown().splitlines() == [
        "# Table 2: a title",
        "",
        "| dataset | paper s | ours s | extra |",
        "| :-- | --: | --: | :-- |",
        "| a\\|b | 100.8 | 0.06 | x |",
        "| c | 20.0 | not solved | – |",
        "",
        "- first note",
        "- second note",
    ]


def test_a_terminal_gets_fewer_columns() -> None:
    titles, rows = SHEET.cells(terminal=True)
    assert titles == ["dataset", "paper s", "ours s"]
    assert rows[1] == ["c", "20.0", "not solved"]
