"""Answers kept in a folder, so that an interrupted audit does not start over.

An answer is used again only if model, supplied data, settings and version are all the same: they
make the name of the file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassleak._files import write_text
from glassleak._version import __version__
from glassleak.audit._analysis import Analysis, Subject
from glassleak.audit._document import analysis_document, json_ready
from glassleak.audit._exhibit import Exhibit
from glassleak.audit._finding import AnalysisResult, Finding

if TYPE_CHECKING:
    import pandas as pd

_FINDING = ("id", "title", "detail", "effect", "remedy", "evidence")
_EXHIBIT = ("id", "title", "caption", "columns", "rows", "chart", "personal")


class Kept:
    """The answers of one audit in a folder.

    Parameters
    ----------
    folder : path
        Made if it does not exist.
    """

    def __init__(self, folder: str | Path, subject: Subject, settings: Mapping[str, Any]) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.key = _key(subject, settings)
        self.used: list[str] = []

    def answer(self, analysis: Analysis) -> AnalysisResult | None:
        """What was found before, if it was."""
        if not analysis.slow:
            return None
        try:
            document = json.loads(self._path(analysis).read_text(encoding="utf-8"))
            result = _result(document)
        except (OSError, ValueError, KeyError, TypeError):
            return None  # not there, or not whole: it is worked out again
        self.used.append(analysis.id)
        return result

    def keep(self, analysis: Analysis, result: AnalysisResult) -> None:
        """Write an answer down; one that failed may succeed next time."""
        if analysis.slow and result.status != "failed":
            document = analysis_document(analysis, result)
            write_text(self._path(analysis), json.dumps(document, allow_nan=False))

    def _path(self, analysis: Analysis) -> Path:
        return self.folder / f"{self.key}-{analysis.id}.json"


def _result(document: Mapping[str, Any]) -> AnalysisResult:
    findings = tuple(Finding(**{key: f[key] for key in _FINDING}) for f in document["findings"])
    exhibits = []
    for e in document["exhibits"]:
        fields = {key: e[key] for key in _EXHIBIT}
        fields["columns"] = tuple(fields["columns"])
        fields["rows"] = tuple(tuple(row) for row in fields["rows"])
        exhibits.append(Exhibit(**fields))
    return AnalysisResult(
        document["status"], findings, bool(document["exact"]), document["reason"],
        tuple(document["assumptions"]), float(document["seconds"]), tuple(exhibits),
    )  # fmt: skip


def _key(subject: Subject, settings: Mapping[str, Any]) -> str:
    model = subject.model
    identity = subject.opened.sha256
    if identity is None:
        text = "" if model is None else model.to_json(packed=True)
        identity = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    parts = {
        "version": __version__,
        "model": identity,
        "policy": subject.policy.values,
        "schema": None if subject.schema is None else subject.schema.to_toml(),
        "data": _digest(subject.data),
        "holdout": _digest(subject.holdout),
        "settings": dict(settings),
    }
    text = json.dumps(json_ready(parts), sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _digest(table: pd.DataFrame | None) -> str | None:
    if table is None:
        return None
    text = table.to_csv(index=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
