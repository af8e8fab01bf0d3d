"""Records from strangers: refused with the place of what is wrong, as the JSON Schema says."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import document

from glassleak.audit import json_schema
from glassleak.errors import AuditError
from glassleak.report import html as module
from glassleak.report import read_record
from glassleak.report._check import check, unknown_keywords

SCHEMA = json_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
JUNK = st.sampled_from(
    [None, True, False, 0, 1, -1, 1.0, 1.5, "", "x", [], {}, [1], {"a": 1}, "fix"]
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path]
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, inner in items:
        found += places(inner, (*path, key))
    return found


PLACES = [p for p in places(document()) if p]


def changed(path: tuple[Any, ...], value: Any, *, remove: bool) -> Any:
    record = document()
    parent = record
    for key in path[:-1]:
        parent = parent[key]
    if remove:
        del parent[path[-1]]
    else:
        parent[path[-1]] = copy.deepcopy(value)
    return record


def test_every_keyword_of_the_schema_is_known() -> None:
    assert unknown_keywords(SCHEMA) == set()


def test_an_unknown_keyword_is_noticed() -> None:
    assert unknown_keywords({"properties": {"a": {"items": {"oneOf": []}}}}) == {"oneOf"}


def test_real_records_pass(real: Any) -> None:
    for record in real.values():
        check(record, SCHEMA)


@given(path=st.sampled_from(PLACES), value=JUNK, remove=st.booleans())
def test_agrees_with_the_reference_validator(path: Any, value: Any, remove: bool) -> None:
    record = changed(path, value, remove=remove)
    try:
        check(record, SCHEMA)
        passed = True
    except AuditError:
        passed = False
    assert passed == VALIDATOR.is_valid(record)


def test_agrees_everywhere_about_removals() -> None:
    for path in PLACES:
        record = changed(path, None, remove=True)
        valid = VALIDATOR.is_valid(record)
        if valid:
            check(record, SCHEMA)
        else:
            with pytest.raises(AuditError):
                check(record, SCHEMA)


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("version",), 2, "version: must be 1"),
        (("version",), True, "version: must be 1"),
        (("analyses",), [], "analyses: must have 1 entries"),
        (("analyses", 1, "findings", 0, "effect"), "bad", r"analyses\[1\].findings\[0\].effect"),
        (("analyses", 2, "reason"), "", r"analyses\[2\].reason: must have 1 characters"),
        (("model", "sha256"), "x", "model.sha256: does not match"),
        (("seconds",), -1, "seconds: must be 0 or more"),
        (("tool", "libraries", "numpy"), 2, "tool.libraries.numpy: must be of type string"),
    ],
)
def test_names_the_place(path: Any, value: Any, says: str) -> None:
    with pytest.raises(AuditError, match=says):
        check(changed(path, value, remove=False), SCHEMA)


class TestFiles:
    def test_a_record_is_read(self, tmp_path: Path) -> None:
        file = tmp_path / "record.json"
        file.write_text(json.dumps(document()), encoding="utf-8")
        assert read_record(file) == document()

    def test_with_a_byte_order_mark(self, tmp_path: Path) -> None:
        file = tmp_path / "record.json"
        file.write_text(json.dumps(document()), encoding="utf-8-sig")
        assert read_record(file) == document()

    @pytest.mark.parametrize(
        "content",
        [b"", b"{", b"\xff\xfe\x00", b"[]", b"null", b"7", b"[" * 100_000, b'{"a":' * 100_000,
         b'{"format": NaN}', b"9" * 100_000, b"PK\x03\x04"],
        ids=lambda c: repr(c[:12]),
    )  # fmt: skip
    def test_hostile_files_are_refused(self, tmp_path: Path, content: bytes) -> None:
        file = tmp_path / "hostile.json"
        file.write_bytes(content)
        with pytest.raises(AuditError, match=r"hostile\.json"):
            read_record(file)

    def test_large_files_are_not_parsed(self, tmp_path: Path, monkeypatch: Any) -> None:
        monkeypatch.setattr(module, "MOST_BYTES", 10)
        file = tmp_path / "large.json"
        file.write_text(json.dumps(document()), encoding="utf-8")
        with pytest.raises(AuditError, match="larger than 10 bytes"):
            read_record(file)

    def test_folders_are_refused(self, tmp_path: Path) -> None:
        with pytest.raises(AuditError, match="is a folder"):
            read_record(tmp_path)

    def test_a_missing_file_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError, match="nowhere"):
            read_record(tmp_path / "nowhere.json")
