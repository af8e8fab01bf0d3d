"""Audit records as HTML: one self-contained file, made from the JSON document only."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from glassleak.audit import json_schema
from glassleak.errors import AuditError
from glassleak.pages import audit_page
from glassleak.report._check import check

# A record of a large audit is a few hundred kilobytes.
MOST_BYTES = 20_000_000


def render_html(document: Mapping[str, Any], redact: bool = False) -> str:
    """The report of an audit as one HTML file: no scripts, nothing loaded from elsewhere.

    Parameters
    ----------
    document : mapping
        ``Audit.to_document()``, or a record written earlier.
    redact : bool
        Leave the values of rows that may describe real people out of the file.

    Raises
    ------
    AuditError
        When `document` is not an audit record; the message names the place.
    """
    check(document, json_schema())
    return audit_page(document, redact=redact)


def read_record(path: str | Path) -> dict[str, Any]:
    """An audit record from a JSON file, checked against the published schema.

    Raises
    ------
    AuditError
        When the file is too large, is not JSON, or is no audit record.
    """
    file = Path(path)
    if file.is_dir():
        raise AuditError(f"{file.name}: is a folder, not a JSON record of an audit")
    with file.open("rb") as stream:
        data = stream.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise AuditError(f"{file.name}: larger than {MOST_BYTES:,} bytes, which no record is")
    try:
        document = json.loads(data.decode("utf-8-sig"), parse_constant=_no_constant)
    except RecursionError:
        raise AuditError(f"{file.name}: not JSON of an audit: nested too deeply") from None
    except ValueError as error:
        raise AuditError(f"{file.name}: not JSON: {error}") from None
    try:
        check(document, json_schema())
    except AuditError as error:
        raise AuditError(f"{file.name}: {error}") from None
    record: dict[str, Any] = document
    return record


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON value")
