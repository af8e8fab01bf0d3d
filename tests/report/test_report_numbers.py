"""Figures as people read them."""

from __future__ import annotations

from typing import Any

import pytest

from glassleak.pages._numbers import (
    file_size,
    moment,
    number,
    percent,
    seconds,
    short_number,
    value,
)
from glassleak.pages._prose import sentence, shortened


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (0, "0"),
        (0.0, "0"),
        (1234567, "1,234,567"),
        (2**70, "1,180,591,620,717,411,303,424"),
        (195.43333, "195.4"),
        (0.031249, "0.03125"),
        (-2.5, "-2.5"),
        (5857.54, "5,858"),
        (1.234e-7, "1.234 × 10⁻⁷"),
        (6.02e23, "6.02 × 10²³"),
        (float("inf"), "∞"),
        (float("nan"), "not a number"),
    ],
)
def test_number(given: float, shown: str) -> None:
    assert number(given) == shown


@pytest.mark.parametrize(
    ("given", "shown"),
    [(0, "0"), (1, "100"), (0.5, "50"), (0.123, "12.3"), (1e-9, "< 0.1"), (0.99999, "> 99.9")],
)
def test_percent_is_never_rounded_to_none_or_all(given: float, shown: str) -> None:
    assert percent(given) == f"{shown}\u202f%"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (None, "not known"),
        (True, "yes"),
        (False, "no"),
        ("plain", "plain"),
        ("12345678901234567890", "about 1.234 × 10¹⁹"),
        ("0000000000000000000012", "12"),
        ("-12345678901234567890", "−about 1.234 × 10¹⁹"),
        ([], "none"),
        ([1, 2.5, "x"], "1, 2.5, x"),
        (list(range(20)), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 8 more"),
        ({"a": 1, "b": None}, "a: 1, b: not known"),
    ],
)
def test_value(given: Any, shown: str) -> None:
    assert value(given) == shown


def test_shares_are_percentages_where_they_are_shares() -> None:
    assert value(0.25, share=True) == "25\u202f%"
    assert value(7, share=True) == "7"
    assert value([0.5, 0.1], share=True) == "50\u202f%, 10\u202f%"


@pytest.mark.parametrize(
    ("given", "shown"),
    [(0, "0"), (999, "999"), (1500, "1,500"), (34567, "34,567"), (2.5e6, "2.5M"), (0.6081, "0.608"),
     (3e9, "3G"), (-12, "-12"), (1e-6, "1 × 10⁻⁶"), (1e20, "1 × 10²⁰")],
)  # fmt: skip
def test_short_number(given: float, shown: str) -> None:
    assert short_number(given) == shown


def test_time_and_size() -> None:
    assert [seconds(s) for s in (0, 1.26, 200)] == ["under 0.1 s", "1.3 s", "3 min 20 s"]
    sizes = [file_size(s) for s in (12, 12_345, 3_000_000, 10**10)]
    assert sizes == ["12 bytes", "12.3 kB", "3 MB", "10 GB"]


def test_moments() -> None:
    assert moment("2026-11-16T18:25:06+00:00") == "2026-11-16 18:25 UTC"
    assert moment("2026-11-16T18:25Z") == "2026-11-16 18:25 UTC"
    assert moment("yesterday") == "yesterday"


def test_sentences() -> None:
    assert sentence("do it") == "Do it."
    assert sentence("Done!") == "Done!"
    assert sentence("") == ""


def test_long_words_are_cut_between_words_where_there_are_any() -> None:
    assert shortened("one two three", 20) == "one two three"
    assert shortened("one two three four", 12) == "one two…"
    assert shortened("x" * 50, 10) == "x" * 9 + "…"
