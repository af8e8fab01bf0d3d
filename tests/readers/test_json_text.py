"""JSON from strangers: every way it can be wrong ends in a typed error, in little memory."""

from __future__ import annotations

import math
from typing import Any

import pytest

from glassleak.errors import MalformedModelError, ModelTooLargeError
from glassleak.readers import Limits
from glassleak.readers.files._json_text import parse_json


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, -2.5, true, null, "ä"]}', {"a": [1, -2.5, True, None, "ä"]}),
        ('\ufeff{"bom": 1}'.encode(), {"bom": 1}),
        ("1.7976931348623157e+308", 1.7976931348623157e308),
        ("1e-999", 0.0),
        ('"e999 is text"', "e999 is text"),
        (r'"\ud83d\ude00"', "😀"),
        (str(2**128 - 1), 2**128 - 1),
        ("0." + "1" * 400, 1 / 9),
    ],
)
def test_what_is_json_is_read(text: Any, value: Any) -> None:
    assert parse_json(text, Limits()) == value


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[1,]", "{'a': 1}", "NaN", "[Infinity]", "[-Infinity]", "nul", '{"a":1}x',
        "[" * 100_000, '{"a":' * 50_000, "1e999", "[-1e400]", "1" + "0" * 400 + ".0",
        "1" * 400, "1" * 5000, b"\xff\xfe\x00", b'"\xed\xa0\x80"', r'"\ud800"', r'{"\udfff": 1}',
        '"tab\tin text"',
    ],
    ids=lambda t: repr(t)[:24],
)  # fmt: skip
def test_what_is_not_is_refused_with_its_place(text: Any) -> None:
    with pytest.raises(MalformedModelError, match=r"^schema\.json: "):
        parse_json(text, Limits(), "schema.json")


def test_constants_python_writes_pass_where_they_are_expected() -> None:
    value = parse_json("[NaN, -Infinity]", Limits(), constants=True)
    assert math.isnan(value[0])
    assert value[1] == -math.inf


def test_long_documents_are_refused_unparsed() -> None:
    with pytest.raises(ModelTooLargeError, match="more than 10 bytes of JSON"):
        parse_json("[" * 11, Limits(json_bytes=10))


@pytest.mark.parametrize("piece", ["[],", "{},", "0.5,", '"ab",'])
def test_documents_that_would_fill_the_memory_are_refused_unparsed(piece: str) -> None:
    text = "[" + piece * 100_000 + "0]"
    assert len(parse_json(text, Limits(memory_bytes=10**9))) == 100_001
    with pytest.raises(ModelTooLargeError, match="would take about"):
        parse_json(text, Limits(memory_bytes=10**6))
