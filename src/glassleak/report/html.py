"""Records as HTML: one self-contained file, made from the JSON document only."""

from __future__ import annotations

import functools
import importlib.resources
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from glassleak.audit import json_schema
from glassleak.errors import AuditError
from glassleak.pages import audit_page, fleet_page
from glassleak.report._check import check

# A record of a large audit is a few hundred kilobytes.
MOST_BYTES = 20_000_000
_FLEET = "glassleak-fleet"


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


def render_fleet_html(document: Mapping[str, Any]) -> str:
    """The summary of a folder's audits as one HTML file, with links to the single reports.

    Parameters
    ----------
    document : mapping
        ``Fleet.to_document()``, or the ``summary.json`` it wrote.

    Raises
    ------
    AuditError
        When `document` is no such summary; the message names the place.
    """
    check(document, fleet_schema(), "a summary of audits")
    return fleet_page(document)


@functools.cache
def fleet_schema() -> dict[str, Any]:
    """The JSON Schema of summaries of folders."""
    file = importlib.resources.files("glassleak.report") / "fleet.schema.json"
    schema: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return schema


def render_record(document: Mapping[str, Any], redact: bool = False) -> str:
    """Whichever page the record is for: an audit's, or a folder's."""
    if document.get("format") == _FLEET:
        return render_fleet_html(document)
    return render_html(document, redact)


def read_record(path: str | Path) -> dict[str, Any]:
    """A record from a JSON file: of an audit, or of a folder of models.

    What it says is checked when it is rendered.

    Raises
    ------
    AuditError
        When the file is too large or is no JSON object.
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
    if not isinstance(document, dict):
        raise AuditError(f"{file.name}: not an audit record: it is no JSON object")
    return document


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON value")
