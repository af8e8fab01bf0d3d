"""The audit as a versioned JSON document: the record a research environment files away."""

from __future__ import annotations

import importlib.metadata
import importlib.resources
import json
import math
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassleak._files import write_text
from glassleak._version import __version__
from glassleak.audit._analysis import Analysis
from glassleak.audit._finding import AnalysisResult
from glassleak.models import Exact, Forest, Model, Noisy, RuleList

if TYPE_CHECKING:
    from glassleak.audit._audit import Audit

FORMAT, VERSION = "glassleak-audit", 1
_LIBRARIES = ("numpy", "scipy", "pandas", "scikit-learn", "skops")


def json_schema() -> dict[str, Any]:
    """The JSON Schema of audit documents."""
    file = importlib.resources.files("glassleak.audit") / "audit.schema.json"
    schema: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return schema


def audit_document(audit: Audit) -> dict[str, Any]:
    """See `Audit.to_document`."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "tool": _tool(),
        "model": _model(audit),
        "policy": audit.policy.to_document(),
        "settings": json_ready(audit.settings),
        "verdict": {
            "decision": audit.verdict,
            "reasons": [
                {"text": r.text, "analysis": r.analysis, "finding": r.finding}
                for r in audit.reasons
            ],
        },
        "analyses": [analysis_document(*outcome) for outcome in audit.outcomes],
        "not_assessed": [
            {"analysis": analysis.id, "question": analysis.question, "reason": result.reason}
            for analysis, result in audit.not_assessed
        ],
        "seconds": round(audit.seconds, 3),
    }


def analysis_document(analysis: Analysis, result: AnalysisResult) -> dict[str, Any]:
    """One question and its answer."""
    return {
        "id": analysis.id,
        "question": analysis.question,
        "status": result.status,
        "exact": result.exact,
        "seconds": round(result.seconds, 3),
        "reason": result.reason,
        "assumptions": list(result.assumptions),
        "findings": [
            {
                "id": f.id,
                "title": f.title,
                "detail": f.detail,
                "effect": f.effect,
                "remedy": f.remedy,
                "evidence": json_ready(dict(f.evidence)),
            }
            for f in result.findings
        ],
        "exhibits": [
            {
                "id": e.id,
                "title": e.title,
                "caption": e.caption,
                "columns": list(e.columns),
                "rows": json_ready(e.rows),
                "chart": e.chart,
                "personal": e.personal,
            }
            for e in result.exhibits
        ],
    }


def dump_document(document: dict[str, Any], path: str | Path | None) -> str:
    """JSON text of `document`; a file is written whole or not at all."""
    text = json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:  # a name holds half a character
        text = json.dumps(document, indent=2, allow_nan=False)
    if path is not None:
        write_text(path, text + "\n")
    return text


def json_ready(value: Any, levels: int = 30) -> Any:
    """`value` with everything replaced by text that JSON would refuse or readers would round."""
    if isinstance(value, Mapping | list | tuple) and not levels:
        return "…"
    if isinstance(value, Mapping):
        return {str(key): json_ready(item, levels - 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_ready(item, levels - 1) for item in value]
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        # Longer than Python turns into decimal text: nothing a model needs.
        return value if abs(value) <= 2**53 else str(value) if abs(value) < 2**4096 else "huge"
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return f"<{type(value).__name__}>"


def _tool() -> dict[str, Any]:
    libraries = {}
    for name in _LIBRARIES:
        try:
            libraries[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            libraries[name] = "not installed"
    return {
        "name": "glassleak",
        "version": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(terse=True),
        "libraries": libraries,
    }


def _model(audit: Audit) -> dict[str, Any]:
    opened, model = audit.opened, audit.opened.model
    out: dict[str, Any] = {
        "name": opened.name,
        "container": opened.container,
        "sha256": opened.sha256,
        "bytes": opened.n_bytes,
        "protection": list(opened.protection),
        "supported": model is not None,
        "problem": str(opened.problem) if opened.problem else None,
    }
    if model is None:
        return out
    provenance = model.provenance
    return out | {
        "kind": type(model).__name__,
        "library": provenance.library,
        "library_version": provenance.library_version,
        "estimator": provenance.estimator,
        "settings": json_ready(provenance.settings),
        "notes": list(provenance.notes),
        "rows": model.n_rows,
        "columns": len(model.columns),
        "classes": json_ready(model.classes),
        "trees": len(model) if isinstance(model, Forest) else None,
        "rules": len(model) if isinstance(model, RuleList) else None,
        "counts": _counts(model),
        "bagging": model.bagging.kind if isinstance(model, Forest) else "none",
    }


def _counts(model: Model) -> str:
    counts = model.trees[0].counts if isinstance(model, Forest) else model.counts
    if isinstance(counts, Exact):
        return "exact"
    return "noisy" if isinstance(counts, Noisy) else "missing"
