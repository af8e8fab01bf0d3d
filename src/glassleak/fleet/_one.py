"""One model of many: audited, written down, and never able to stop the others.

Everything about a model goes to its own files, written whole: a worker that is killed loses the
model it was at and nothing else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from glassleak._files import write_text
from glassleak._version import __version__
from glassleak.audit import Audit, Policy, audit
from glassleak.errors import GlassleakError

STATE = ".state"
# A model whose audit took the whole process down this often is not tried again.
MOST_ATTEMPTS = 2


@dataclass(frozen=True)
class Settings:
    """How every model of a fleet is audited.

    Attributes
    ----------
    folder, out : str
        Where models are, and where results go.
    policy : Policy
    schema : str, optional
        Path of a schema file for all models.
    budget_seconds : float
        For each model.
    trust, seed, html, redact
        As for `glassleak.audit`; whether each model gets a page, and without personal values.
    """

    folder: str
    out: str
    policy: Policy
    schema: str | None = None
    budget_seconds: float = 60
    trust: str = "none"
    seed: int = 0
    html: bool = False
    redact: bool = False


@dataclass(frozen=True)
class Entry:
    """What came out for one model.

    Attributes
    ----------
    file : str
        Path below the folder.
    verdict : str, optional
        ``None`` if there is none: then `error` says why.
    error : str, optional
    reasons : tuple of str
        The first few.
    report : str, optional
        Path of the JSON record below the folder of results.
    page : str, optional
        Path of the HTML page.
    sha256, kind, estimator, rows, trees
        What the model is, as far as it could be read.
    fix, refer, notes, unanswered : int
        Findings by effect; questions not, or not fully, answered.
    seconds : float
    attempts : int
        More than one if a worker died on it.
    """

    file: str
    verdict: str | None = None
    error: str | None = None
    reasons: tuple[str, ...] = ()
    report: str | None = None
    page: str | None = None
    sha256: str | None = None
    kind: str | None = None
    estimator: str | None = None
    rows: int | None = None
    trees: int | None = None
    fix: int = 0
    refer: int = 0
    notes: int = 0
    unanswered: int = 0
    seconds: float = 0.0
    attempts: int = 1

    def to_document(self) -> dict[str, Any]:
        """As JSON-ready data."""
        return asdict(self) | {"reasons": list(self.reasons)}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Entry:
        """Rebuild from `to_document` data."""
        fields = {name: document[name] for name in cls.__dataclass_fields__}
        return cls(**fields | {"reasons": tuple(fields["reasons"])})


def audit_one(file: str, settings: Settings) -> Entry:
    """Audit one model; whatever goes wrong is an entry, never an exception."""
    state = State(file, settings)
    before = state.read()
    if before is not None and before.verdict is not None:
        return before
    attempts = state.begin()
    if attempts > MOST_ATTEMPTS:
        entry = Entry(
            file,
            error=f"the process died {MOST_ATTEMPTS} times while auditing it (out of memory?)",
            attempts=MOST_ATTEMPTS,
        )
    else:
        entry = replace(_audited(file, settings), attempts=attempts)
    state.finish(entry)
    return entry


def _audited(file: str, settings: Settings) -> Entry:
    try:
        result = audit(
            Path(settings.folder) / file,
            schema=settings.schema,
            policy=settings.policy,
            budget_seconds=settings.budget_seconds,
            trust=settings.trust,
            seed=settings.seed,
        )
        return _written(result, file, settings)
    except (GlassleakError, OSError) as error:
        return Entry(file, error=str(error)[:2000])
    except Exception as error:  # one odd model must not cost the user all the others
        return Entry(file, error=f"{type(error).__name__}: {error}"[:2000])


def _written(result: Audit, file: str, settings: Settings) -> Entry:
    out = Path(settings.out)
    report, page = f"{file}.audit.json", f"{file}.audit.html" if settings.html else None
    (out / report).parent.mkdir(parents=True, exist_ok=True)
    if page is not None:
        result.to_html(out / page, redact=settings.redact)
    result.to_json(out / report)
    model = result.to_document()["model"]
    effects = [finding.effect for finding in result.findings]
    return Entry(
        file,
        verdict=result.verdict,
        reasons=tuple(reason.text for reason in result.reasons[:5]),
        report=report,
        page=page,
        sha256=model["sha256"],
        kind=model.get("kind"),
        estimator=model.get("estimator"),
        rows=model.get("rows"),
        trees=model.get("trees"),
        fix=effects.count("fix"),
        refer=effects.count("refer"),
        notes=effects.count("note"),
        unanswered=len(result.not_assessed),
        seconds=round(result.seconds, 3),
    )


class State:
    """What is known about one model from this run and earlier ones, in a file of its own."""

    def __init__(self, file: str, settings: Settings) -> None:
        self.file, self.settings = file, settings
        folder = Path(settings.out) / STATE
        folder.mkdir(parents=True, exist_ok=True)
        self.path = (
            folder
            / f"{hashlib.sha256(file.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}.json"
        )
        self.key = self._key()

    def _key(self) -> str:
        """Changes with the file, the settings and the version: then it is audited anew."""
        asked = {k: v for k, v in asdict(self.settings).items() if k not in ("folder", "out")}
        if self.settings.schema is not None:
            asked["schema"] = _digest(Path(self.settings.schema))
        model = Path(self.settings.folder) / self.file
        text = json.dumps([__version__, _digest(model), asked], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def _read(self) -> dict[str, Any]:
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
            return found if isinstance(found, dict) and found.get("key") == self.key else {}
        except (OSError, ValueError):
            return {}

    def read(self) -> Entry | None:
        """The finished entry, if its report is still there."""
        try:
            entry = Entry.from_document(self._read()["entry"])
        except (KeyError, TypeError):
            return None
        written = [p for p in (entry.report, entry.page) if p is not None]
        return entry if all((Path(self.settings.out) / p).is_file() for p in written) else None

    def forget_failures(self) -> None:
        """Start anew unless there is a verdict: an earlier run may just have been interrupted."""
        entry = self.read()
        if entry is None or entry.verdict is None:
            self.path.unlink(missing_ok=True)

    def begin(self) -> int:
        """Note that an attempt starts; returns which one it is."""
        attempts = self._read().get("attempts", 0)
        attempts = attempts + 1 if isinstance(attempts, int) else 1
        self._write({"attempts": attempts})
        return attempts

    def finish(self, entry: Entry) -> None:
        """Note how it ended; the next run starts counting attempts anew."""
        self._write({"attempts": 0, "entry": entry.to_document()})

    def _write(self, content: dict[str, Any]) -> None:
        text = json.dumps({"file": self.file, "key": self.key, **content})
        write_text(self.path, text)


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        return f"unreadable: {error.strerror}"
